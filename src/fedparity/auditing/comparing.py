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
from fedparity.diagnostics.assessment import Assessment, DisparityAssessment, verdict
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
