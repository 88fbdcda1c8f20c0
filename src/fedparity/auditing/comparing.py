"""The disparity and its magnitudes with all their errors, compared with the plan's review level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from fedparity.auditing.beyond import Beyond
from fedparity.auditing.parts import (
    Bounded,
    Burden,
    Compared,
    DisparityResult,
    Estimate,
    MagnitudesResult,
    Verdicts,
    WorstPair,
)
from fedparity.diagnostics.assessment import Assessment, Bounds, DisparityAssessment, verdict
from fedparity.diagnostics.brackets import Bracket
from fedparity.diagnostics.intervals import Interval
from fedparity.diagnostics.magnitudes import Magnitudes
from fedparity.federated.pairs import Pair
from fedparity.protocol.plan import Plan

__all__ = ["Comparison"]


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
    pairs: Sequence[Pair]
    seen: Magnitudes
    """With bounds of the raw data of the cells released."""
    all: Magnitudes
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
        seen, everyone = self.seen, self.all
        return MagnitudesResult(
            points=self._points(),
            worst_pair=self._worst_pair,
            standardized=self._bounded(seen.standardized, everyone.standardized),
            variance_share=self._bounded(seen.variance_share, everyone.variance_share),
            location_share=self._bounded(seen.location_share, everyone.location_share),
            equal_weights=self._bounded(seen.equal_weights, everyone.equal_weights),
            burden=tuple(
                Burden(
                    group=group,
                    value=seen.burden[group].value,
                    certificate=_ends(seen.burden[group]),
                    outer=self.beyond.burden(_ends(everyone.burden[group])),
                )
                for group in seen.burden
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
        return [
            _Ranges(
                interval=found.simultaneous,
                combined=self._disparity.with_sketches(
                    found.simultaneous, found.value, _ends(seen)
                ),
                all=self._disparity.with_all(
                    found.simultaneous, found.value, _ends(seen), _ends(everyone)
                ),
            )
            for found, seen, everyone in zip(
                self.assessment.pairs, self.seen.pairs, self.all.pairs, strict=True
            )
        ]

    @cached_property
    def _worst_pair(self) -> WorstPair:
        """The largest distance: as large as the largest lower end, no larger than the largest upper.

        Intervals of all pairs hold at once, so these do too, whichever pair is the worst.
        """
        worst = max(self.assessment.pairs, key=lambda pair: (pair.corrected, pair.value))
        place = self.assessment.pairs.index(worst)
        ranges = [_largest(each) for each in zip(*self._distances, strict=True)]
        hull = Interval(min(worst.value, worst.corrected), max(worst.value, worst.corrected))
        interval, combined, _ = (_hull(each, hull) for each in ranges)
        certificate = _largest(map(_ends, self.seen.pairs))
        outer = _hull(_largest(map(_ends, self.all.pairs)), certificate)
        return WorstPair(
            groups=worst.groups,
            higher=_higher(self.pairs[place]),
            value=worst.value,
            corrected=worst.corrected,
            share_of_range=worst.corrected / self.beyond.width,
            interval=interval,
            certificate=certificate,
            combined=combined,
            outer=self.beyond.largest_distance(outer),
        )

    def _compared(self) -> Compared:
        """The number that the review level speaks of."""
        if self.plan.review_unit == "squared":
            found = self._disparity
            return Compared(value=found.corrected, answered=found.combined, all=found.combined_all)
        worst = self._worst_pair
        everyone = _hull(_largest(each.all for each in self._distances), worst.combined)
        points = Compared(
            value=worst.corrected,
            answered=worst.combined,
            all=self.beyond.largest_distance(everyone),
        )
        return _in_unit(points, self)

    def _bounded(self, seen: Bracket, everyone: Bracket) -> Bounded:
        return Bounded(
            value=seen.value,
            certificate=_ends(seen),
            outer=_hull(_ends(everyone), _ends(seen)),
        )


def _in_unit(points: Compared, comparison: Comparison) -> Compared:
    """A number in score points, in the plan's review unit."""
    unit = comparison.plan.review_unit
    if unit == "points":
        return points
    width = comparison.beyond.width
    return replace(
        points,
        value=points.value / width,
        answered=_scaled(points.answered, 1 / width),
        all=_scaled(points.all, 1 / width),
    )


def _higher(pair: Pair) -> object:
    """The group of higher mean; None if the means are equal."""
    first, second = pair.groups
    if pair.mean_gap == 0:
        return None
    return first if pair.mean_gap > 0 else second


def _ends(bounds: Bracket | Bounds) -> Interval:
    return Interval(bounds.lower, bounds.upper)


def _power(exponent: float) -> Callable[[Interval], Interval]:
    return lambda ends: Interval(ends.lower**exponent, ends.upper**exponent)


def _scaled(ends: Interval, factor: float) -> Interval:
    return Interval(ends.lower * factor, ends.upper * factor)


def _largest(ranges: Iterable[Interval]) -> Interval:
    """What the largest of several numbers can be, each known up to a range."""
    lower, upper = zip(*ranges, strict=True)
    return Interval(max(lower), max(upper))


def _hull(ends: Interval, other: Interval) -> Interval:
    return Interval(min(ends.lower, other.lower), max(ends.upper, other.upper))
