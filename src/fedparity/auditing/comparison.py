"""The disparity and its magnitudes with all their errors, compared with the plan's review level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import NormalDist
from typing import NamedTuple, TypeVar

import numpy as np

from fedparity.documents.plan import Plan
from fedparity.documents.result_parts import (
    Bounded,
    Burden,
    Compared,
    DisparityResult,
    Estimate,
    InDeviations,
    MagnitudesResult,
    SetAside,
    Standardized,
    Verdicts,
    WorstPair,
    unseen_records,
    verdict,
)
from fedparity.documents.tabular import Parts
from fedparity.federated.estimate import Method, mixtures
from fedparity.federated.federation import Federation
from fedparity.functionals.curves import largest_disparity
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group
from fedparity.uncertainty.assessment import Assessment, DisparityAssessment
from fedparity.uncertainty.certificate import certify_pairs
from fedparity.uncertainty.intervals import LengthAssessment
from fedparity.uncertainty.magnitudes import Magnitudes, magnitudes

__all__ = [
    "Beyond",
    "Comparison",
    "Sizes",
    "compare",
    "sampled_deviation",
    "within_range",
]


@dataclass(frozen=True, kw_only=True)
class Beyond:
    r"""How far groups that no silo released can move the numbers of all groups together.

    Nothing is known of their scores, and at most how many records they have. Let :math:`\rho` be the
    largest share of all records that can be theirs, and w the width of the score range.

    **Disparity.** :math:`G_p = \min_\mu \sum_s \alpha_s W_p^p(\nu_s, \mu)`. Leaving the groups set aside
    out of the sum makes it smaller, and what is left is at least :math:`1 - \rho` times the disparity of
    the others. Keeping the center of the others as :math:`\mu` makes it larger, and no law in the range is
    further than w from another. Hence

    .. math:: (1 - \rho) \, G_p^{others} \le G_p \le (1 - \rho) \, G_p^{others} + \rho \, w^p .

    **Worst pair.** The distance of the two groups furthest apart is at least that of the others, and at
    most w.

    **Burden.** Quantiles of the center move by at most :math:`\rho w`, so that no group's distance from
    it changes by more.

    **Deviation.** The mean variance within groups is at least :math:`1 - \rho` times that of the others,
    and the groups set aside add at most :math:`\rho w^2 / 4`.

    **Equal weights.** :math:`S^{-2} \sum_{s<t} W_2^2(s, t)` has the same sum and more, over a larger
    number S of groups, and is at most :math:`w^2 / 4`.
    """

    share: float
    """The largest share of all records that can be theirs; 0 where none is set aside."""
    groups: int
    """How many of them can have records."""
    width: float
    """Of the score range."""
    order: int

    @classmethod
    def from_groups(
        cls,
        aside: Sequence[SetAside],
        *,
        seen: float,
        score_range: tuple[float, float],
        order: int,
    ) -> Beyond:
        """Return what these groups can do next to ``seen`` records of others.

        Examples
        --------
        >>> few = SetAside(group="C", withheld=1, most=10.0, known="at most 10 records")
        >>> Beyond.from_groups([few], seen=190.0, score_range=(0, 2), order=2)
        Beyond(share=0.05, groups=1, width=2, order=2)
        """
        most = unseen_records(aside)
        share = most / (seen + most) if math.isfinite(most) else 1.0
        low, high = score_range
        groups = sum(each.most != 0 for each in aside)
        return cls(share=share, groups=groups, width=high - low, order=order)

    def disparity(self, others: Bounds) -> Bounds:
        """Return what the disparity of all groups can be, given bounds of that of the others."""
        if not self.share:
            return others
        widest = largest_disparity(self.width, self.order)
        upper = (1 - self.share) * others.upper + self.share * self.width**self.order
        return Bounds(
            lower=(1 - self.share) * others.lower, upper=max(others.upper, min(widest, upper))
        )

    def largest_distance(self, others: Bounds) -> Bounds:
        """Return what the distance of the groups furthest apart can be."""
        return Bounds(others.lower, max(others.upper, self.width)) if self.share else others

    def burden(self, others: Bounds) -> Bounds:
        """Return what the distance of a group from the center can be."""
        moved = self.share * self.width
        return Bounds(max(0.0, others.lower - moved), others.upper + moved)

    def deviation(self, others: Bounds) -> Bounds:
        """Return what the standard deviation within groups can be."""
        upper = (1 - self.share) * others.upper**2 + self.share * self.width**2 / 4
        return Bounds(
            math.sqrt(1 - self.share) * others.lower, max(others.upper, math.sqrt(upper))
        )

    def equal_weights(self, others: Bounds, groups: int) -> Bounds:
        """Return what the disparity in points of equally large groups can be."""
        if not self.groups:
            return others
        lower = others.lower * groups / (groups + self.groups)
        return Bounds(lower, max(others.upper, self.width / 2))

    def part(self, others: Bounds) -> Bounds:
        """Return what a share of a variance or a disparity can be: anything, once there are more."""
        return Bounds(0.0, 1.0) if self.share else others


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Magnitudes with bounds, and bounds of the distances that the plan has compared."""

    magnitudes: Magnitudes
    pairs: tuple[Bounds, ...]
    """What the distance of every two groups can be, of the plan's order and trim."""

    @classmethod
    def from_federation(
        cls,
        federation: Federation,
        method: Method,
        *,
        score_range: tuple[float, float],
        unseen: Mapping[Group, float] | None = None,
        unseen_total: float | None = None,
    ) -> Sizes:
        """Return them for a federation; options are those of :func:`fedparity.theory.certify`."""
        found = magnitudes(
            federation, method, score_range=score_range, unseen=unseen, unseen_total=unseen_total
        )
        bounds: Iterable[Bounds] = (pair.distance for pair in found.pairs)
        if method.order == 1 or method.trim:
            bounds = certify_pairs(
                federation,
                score_range=score_range,
                order=method.order,
                trim=method.trim,
                unseen=unseen,
                unseen_total=unseen_total,
            )
        return cls(magnitudes=found, pairs=tuple(map(_ends, bounds)))


def sampled_deviation(federation: Federation, known: Bracket, confidence: float) -> Bounds:
    r"""Return what the standard deviation within groups could be in the population.

    The mean V of the squares :math:`(Z - \mu_s)^2` of n independent records has the variance
    :math:`(E(Z - \mu_s)^4 - V^2) / n`, and its root that over 4 V. The moments are those of the
    mixtures; bounds of the raw data's deviation are added.
    """
    laws = mixtures(federation)
    centered = [law.atoms - law.mean for law in laws.values()]
    squares, fourths = (
        float(
            np.sum(
                federation.shares
                * [
                    np.sum(law.masses * part**power)
                    for law, part in zip(laws.values(), centered, strict=True)
                ]
            )
        )
        for power in (2, 4)
    )
    weight = federation.counts.astype(np.float64)
    records = weight.sum() ** 2 / np.sum(weight**2 / federation.effective)
    error = math.sqrt(max(0.0, fourths - squares**2) / records)
    error = NormalDist().inv_cdf((1 + confidence) / 2) * error / (2 * math.sqrt(squares or 1.0))
    return Bounds(max(0.0, known.lower - error), known.upper + error)


_Length = TypeVar("_Length", bound=LengthAssessment)


def within_range(assessment: Assessment, *, width: float, order: int) -> Assessment:
    """Return the assessment with no length beyond what scores in a range of this width allow.

    Redraws of very few records scatter beyond it.
    """
    largest = largest_disparity(width, order)

    def limited(found: _Length, most: float) -> _Length:
        most = max(most, found.value)  # which rounding may take an ulp beyond
        return replace(
            found,
            corrected=min(found.corrected, most),
            interval=_common(found.interval, Bounds(0.0, most)),
        )

    return replace(
        assessment,
        disparity=limited(assessment.disparity, largest),
        heterogeneity=limited(assessment.heterogeneity, largest * width ** (1 - order)),
        pairs=tuple(
            replace(
                limited(pair, width),
                simultaneous=_common(pair.simultaneous, Bounds(0.0, max(width, pair.value))),
            )
            for pair in assessment.pairs
        ),
        attribution={  # each is the mean of a disparity and the difference of two others
            name: _common(ends, Bounds(-largest / 2, largest))
            for name, ends in assessment.attribution.items()
        },
        local={
            silo: None if found is None else limited(found, largest)
            for silo, found in assessment.local.items()
        },
    )


_ONE = Bounds(1.0, 1.0)


class _Ranges(NamedTuple):
    """What a distance could be, from the narrowest range to the widest."""

    interval: Bounds
    combined: Bounds
    all: Bounds


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What was measured of all groups, and how far each number may be from the truth."""

    plan: Plan
    assessment: Assessment
    federation: Federation
    seen: Sizes
    """With bounds of the raw data of the cells released."""
    all: Sizes
    """With bounds of all raw data of the groups measured."""
    beyond: Beyond
    """What the groups set aside can do."""

    def disparity(self) -> DisparityResult:
        """Return the disparity with its errors, and what the review level says.

        The number compared is the distance of the two groups furthest apart, in points, as a share
        of the range or in standard deviations; or the disparity, for a review unit of ``squared``.
        """
        found, level = self._disparity, self.plan.review_level
        compared = self._compared()
        return DisparityResult(
            value=found.value,
            corrected=found.corrected,
            interval=found.interval,
            certificate=found.certificate,
            combined=self._possible(found.combined),
            outer=found.outer,
            p_value=found.p_value,
            review_level=level,
            review_unit=self.plan.review_unit,
            compared=compared,
            verdict=Verdicts(
                answered=verdict(compared.answered, level), all=verdict(compared.all, level)
            ),
        )

    def magnitudes(self) -> MagnitudesResult:
        """Return the disparity in units that people can read."""
        seen, everyone = self.seen.magnitudes, self.all.magnitudes
        groups, beyond = len(self.federation.groups), self.beyond
        return MagnitudesResult(
            points=self._points(),
            worst_pair=self._worst_pair,
            standardized=self._standardized(),
            variance_share=_bounded(seen.variance_share, everyone.variance_share, beyond.part),
            location_share=_bounded(seen.location_share, everyone.location_share, beyond.part),
            equal_weights=_bounded(
                _root(seen.equal_weights),
                _root(everyone.equal_weights),
                lambda others: beyond.equal_weights(others, groups),
            ),
            burden=Parts(
                Burden(group=group, **vars(_bounded(own, everyone.burden[group], beyond.burden)))
                for group, own in seen.burden.items()
            ),
        )

    @property
    def _disparity(self) -> DisparityAssessment:
        return self.assessment.disparity

    def _possible(self, ends: Bounds) -> Bounds:
        """Bounds of the disparity, no wider than the score range allows."""
        largest = largest_disparity(self.beyond.width, self.plan.order)
        return _common(ends, Bounds(0.0, largest)).hull(self._disparity.interval)

    def _points(self) -> Estimate:
        """The disparity in score points: for order 2 its root."""
        found = self._disparity
        root = _power(1 / self.plan.order)
        return Estimate(
            value=found.value ** (1 / self.plan.order),
            corrected=found.corrected ** (1 / self.plan.order),
            interval=root(found.interval),
            certificate=root(found.certificate),
            combined=root(self._possible(found.combined)),
            outer=root(found.outer),
        )

    @cached_property
    def _distances(self) -> list[_Ranges]:
        """What the distance of every two groups could be, for all pairs at once."""
        combine, widest = self._disparity, Bounds(0.0, self.beyond.width)
        found = []
        for pair, seen, everyone in zip(
            self.assessment.pairs, self.seen.pairs, self.all.pairs, strict=True
        ):
            own = pair.simultaneous
            combined = combine.with_sketches(own, pair.value, seen)
            in_all = combine.with_all(own, pair.value, seen, everyone)
            found.append(
                _Ranges(
                    interval=own,
                    combined=_common(combined, widest).hull(own),
                    all=_common(in_all, widest).hull(own),
                )
            )
        return found

    @cached_property
    def _place(self) -> int:
        """Which pair is the worst: the one with the largest estimate, noise taken off."""
        pairs = self.assessment.pairs
        return max(range(len(pairs)), key=lambda i: (pairs[i].corrected, pairs[i].value))

    @cached_property
    def _worst_pair(self) -> WorstPair:
        """The largest distance: as large as the largest lower end, no larger than the largest upper.

        Intervals of all pairs hold at once, so these do too, whichever pair is the worst.
        """
        worst = self.assessment.pairs[self._place]
        estimates = Bounds(*sorted((worst.value, worst.corrected)))
        interval, combined, _ = (
            _largest(ranges).hull(estimates) for ranges in zip(*self._distances, strict=True)
        )
        certificate = _largest(self.seen.pairs)
        outer = _largest(self.all.pairs).hull(certificate)
        return WorstPair(
            groups=worst.groups,
            higher=self.seen.magnitudes.pairs[self._place].higher,
            value=worst.value,
            corrected=worst.corrected,
            share_of_range=worst.corrected / self.beyond.width,
            interval=interval,
            certificate=certificate,
            combined=combined,
            outer=self.beyond.largest_distance(outer),
        )

    def _standardized(self) -> Standardized:
        """The worst pair in standard deviations within groups."""
        seen, everyone = self.seen.magnitudes, self.all.magnitudes
        deviation = _bounded(
            seen.standardized.deviation, everyone.standardized.deviation, self.beyond.deviation
        )
        worst = self._worst_pair
        gap, gap_of_all = (each.pairs[self._place].mean_gap for each in (seen, everyone))
        return Standardized(
            deviation=deviation,
            distance=_in_deviations(worst.value, worst.certificate, worst.outer, deviation),
            mean_gap=_in_deviations(gap.value, _ends(gap), gap_of_all.hull(gap), deviation),
        )

    def _compared(self) -> Compared:
        """The number that the review level speaks of, in its unit."""
        worst, found = self._worst_pair, self._disparity
        value, answered = worst.corrected, worst.combined
        everyone = _largest(each.all for each in self._distances).hull(answered)
        everyone = self.beyond.largest_distance(everyone)
        if self.plan.review_unit == "squared":
            value = found.corrected
            answered, everyone = map(self._possible, (found.combined, found.combined_all))
        unit, units = {
            "points": lambda: (1.0, (_ONE, _ONE)),
            "squared": lambda: (1.0, (_ONE, _ONE)),
            "share": self._width,
            "sd": self._deviation,
        }[self.plan.review_unit]()
        return Compared(
            value=value / unit if unit else None,
            answered=_quotient(answered, units[0]),
            all=_quotient(everyone, units[1]),
        )

    def _width(self) -> tuple[float, tuple[Bounds, Bounds]]:
        width = self.beyond.width
        return width, (Bounds(width, width), Bounds(width, width))

    def _deviation(self) -> tuple[float, tuple[Bounds, Bounds]]:
        """One standard deviation, and what it could be among those who answered, and among all."""
        known, everyone = (
            sampled_deviation(
                self.federation, each.magnitudes.standardized.deviation, self.assessment.confidence
            )
            for each in (self.seen, self.all)
        )
        value = self.seen.magnitudes.standardized.deviation.value
        known = known.hull(Bounds(value, value))
        return value, (known, self.beyond.deviation(everyone.hull(known)))


def _bounded(seen: Bracket, everyone: Bracket, beyond: Callable[[Bounds], Bounds]) -> Bounded:
    """A magnitude with bounds of what was seen, and of all that may exist."""
    certificate = _ends(seen)
    outer = beyond(everyone.hull(certificate))
    return Bounded(value=seen.value, certificate=certificate, outer=outer.hull(certificate))


def _in_deviations(
    value: float, certificate: Bounds, outer: Bounds, deviation: Bounded
) -> InDeviations:
    return InDeviations(
        value=value / deviation.value if deviation.value else None,
        certificate=_quotient(certificate, deviation.certificate),
        outer=_quotient(outer, deviation.outer),
    )


def _quotient(ends: Bounds, unit: Bounds) -> Bounds:
    """What a number can be in units that are known up to a range; without limit if one may be 0."""
    most = 1 / unit.lower if unit.lower > 0 else math.inf
    least = 1 / unit.upper
    lower = ends.lower * (least if ends.lower > 0 else most) if ends.lower else 0.0
    upper = ends.upper * (most if ends.upper > 0 else least) if ends.upper else 0.0
    return Bounds(lower, upper)


def _ends(bounds: Bounds) -> Bounds:
    """The bounds alone, of a bracket too."""
    return Bounds(bounds.lower, bounds.upper)


def _root(square: Bracket) -> Bracket:
    return Bracket(
        value=math.sqrt(square.value),
        lower=math.sqrt(square.lower),
        upper=math.sqrt(square.upper),
    )


def _power(exponent: float) -> Callable[[Bounds], Bounds]:
    return lambda ends: Bounds(ends.lower**exponent, ends.upper**exponent)


def _largest(ranges: Iterable[Bounds]) -> Bounds:
    """What the largest of several numbers can be, each known up to a range."""
    lower, upper = zip(*ranges, strict=True)
    return Bounds(max(lower), max(upper))


def _common(ends: Bounds, other: Bounds) -> Bounds:
    return Bounds(max(ends.lower, other.lower), min(ends.upper, other.upper))


def compare(
    plan: Plan,
    federation: Federation,
    method: Method,
    assessment: Assessment,
    *,
    unseen: Mapping[Group, float],
    unseen_total: float,
    aside: Sequence[SetAside],
    known: Federation | None = None,
) -> Comparison:
    """Return what was measured of some groups, with bounds of all that was not seen.

    ``known`` has the errors that certificates of magnitudes count, where ``federation`` has not.
    """
    sizes = partial(
        Sizes.from_federation, known or federation, method, score_range=plan.score_range
    )
    seen = sizes()
    beyond = Beyond.from_groups(
        aside,
        seen=float(federation.counts.sum()),
        score_range=plan.score_range,
        order=plan.order,
    )
    assessment = within_range(assessment, width=beyond.width, order=plan.order)
    disparity = assessment.disparity
    return Comparison(
        plan=plan,
        assessment=replace(
            assessment, disparity=replace(disparity, outer=beyond.disparity(disparity.outer))
        ),
        federation=federation,
        seen=seen,
        all=sizes(unseen=unseen, unseen_total=unseen_total) if unseen else seen,
        beyond=beyond,
    )
