"""The disparity and its magnitudes with all their errors, compared with the plan's review level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from fedparity.auditing.beyond import Beyond
from fedparity.auditing.parts import (
    Bounded,
    Burden,
    Compared,
    DisparityResult,
    Estimate,
    InDeviations,
    MagnitudesResult,
    Standardized,
    Verdicts,
    WorstPair,
)
from fedparity.auditing.sizes import Sizes, sampled_deviation
from fedparity.diagnostics.assessment import Assessment, Bounds, DisparityAssessment, verdict
from fedparity.diagnostics.brackets import Bracket
from fedparity.diagnostics.intervals import Interval
from fedparity.federated.federation import Federation
from fedparity.protocol.plan import Plan

__all__ = ["Comparison"]

_ONE = Interval(1.0, 1.0)


class _Ranges(NamedTuple):
    """What a distance could be, from the narrowest range to the widest."""

    interval: Interval
    combined: Interval
    all: Interval


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
            certificate=_ends(found.certificate),
            combined=found.combined,
            outer=_ends(found.outer),
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
            burden=tuple(
                Burden(group=group, **vars(_bounded(own, everyone.burden[group], beyond.burden)))
                for group, own in seen.burden.items()
            ),
        )

    @property
    def _disparity(self) -> DisparityAssessment:
        return self.assessment.disparity

    def _points(self) -> Estimate:
        """The disparity in score points: for order 2 its root."""
        found = self._disparity
        root = _power(1 / self.plan.order)
        return Estimate(
            value=found.value ** (1 / self.plan.order),
            corrected=found.corrected ** (1 / self.plan.order),
            interval=root(found.interval),
            certificate=root(_ends(found.certificate)),
            combined=root(found.combined),
            outer=root(_ends(found.outer)),
        )

    @cached_property
    def _distances(self) -> list[_Ranges]:
        """What the distance of every two groups could be, for all pairs at once."""
        combine, widest = self._disparity, Interval(0.0, self.beyond.width)
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
                    combined=_hull(_common(combined, widest), own),
                    all=_hull(_common(in_all, widest), own),
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
        estimates = Interval(*sorted((worst.value, worst.corrected)))
        interval, combined, _ = (
            _hull(_largest(ranges), estimates) for ranges in zip(*self._distances, strict=True)
        )
        certificate = _largest(self.seen.pairs)
        outer = _hull(_largest(self.all.pairs), certificate)
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
            mean_gap=_in_deviations(
                gap.value, _ends(gap), _hull(_ends(gap_of_all), _ends(gap)), deviation
            ),
        )

    def _compared(self) -> Compared:
        """The number that the review level speaks of, in its unit."""
        worst, found = self._worst_pair, self._disparity
        value, answered = worst.corrected, worst.combined
        everyone = _hull(_largest(each.all for each in self._distances), answered)
        everyone = self.beyond.largest_distance(everyone)
        if self.plan.review_unit == "squared":
            value, answered, everyone = found.corrected, found.combined, found.combined_all
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

    def _width(self) -> tuple[float, tuple[Interval, Interval]]:
        width = self.beyond.width
        return width, (Interval(width, width), Interval(width, width))

    def _deviation(self) -> tuple[float, tuple[Interval, Interval]]:
        """One standard deviation, and what it could be among those who answered, and among all."""
        known, everyone = (
            sampled_deviation(
                self.federation, each.magnitudes.standardized.deviation, self.assessment.confidence
            )
            for each in (self.seen, self.all)
        )
        value = self.seen.magnitudes.standardized.deviation.value
        known = _hull(known, Interval(value, value))
        return value, (known, self.beyond.deviation(_hull(everyone, known)))


def _bounded(seen: Bracket, everyone: Bracket, beyond: Callable[[Interval], Interval]) -> Bounded:
    """A magnitude with bounds of what was seen, and of all that may exist."""
    certificate = _ends(seen)
    outer = beyond(_hull(_ends(everyone), certificate))
    return Bounded(value=seen.value, certificate=certificate, outer=_hull(outer, certificate))


def _in_deviations(
    value: float, certificate: Interval, outer: Interval, deviation: Bounded
) -> InDeviations:
    return InDeviations(
        value=value / deviation.value if deviation.value else None,
        certificate=_quotient(certificate, deviation.certificate),
        outer=_quotient(outer, deviation.outer),
    )


def _quotient(ends: Interval, unit: Interval) -> Interval:
    """What a number can be in units that are known up to a range; without limit if one may be 0."""
    most = 1 / unit.lower if unit.lower > 0 else math.inf
    least = 1 / unit.upper
    lower = ends.lower * (least if ends.lower > 0 else most) if ends.lower else 0.0
    upper = ends.upper * (most if ends.upper > 0 else least) if ends.upper else 0.0
    return Interval(lower, upper)


def _ends(bounds: Bracket | Bounds) -> Interval:
    return Interval(bounds.lower, bounds.upper)


def _root(square: Bracket) -> Bracket:
    return Bracket(
        value=math.sqrt(square.value),
        lower=math.sqrt(square.lower),
        upper=math.sqrt(square.upper),
    )


def _power(exponent: float) -> Callable[[Interval], Interval]:
    return lambda ends: Interval(ends.lower**exponent, ends.upper**exponent)


def _largest(ranges: Iterable[Interval]) -> Interval:
    """What the largest of several numbers can be, each known up to a range."""
    lower, upper = zip(*ranges, strict=True)
    return Interval(max(lower), max(upper))


def _hull(ends: Interval, other: Interval) -> Interval:
    return Interval(min(ends.lower, other.lower), max(ends.upper, other.upper))


def _common(ends: Interval, other: Interval) -> Interval:
    return Interval(max(ends.lower, other.lower), min(ends.upper, other.upper))
