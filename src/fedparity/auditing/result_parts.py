"""The parts of an audit's result; each mirrors an object of ``fedparity/audit/1``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from fedparity.auditing.result_reading import Amount, Reach, written_fields
from fedparity.documents.fields import group_text
from fedparity.documents.json_text import canonical_bytes
from fedparity.documents.message_cells import Withheld
from fedparity.documents.plan_fields import Favorable, ReviewUnit
from fedparity.laws.bounds import Interval
from fedparity.laws.labels import Group
from fedparity.thresholds.at_threshold import ThresholdReport
from fedparity.thresholds.rates import FourFifths
from fedparity.thresholds.tail_rates import TailReport
from fedparity.uncertainty.assessment import Verdict

__all__ = [
    "AttributionResult",
    "Bounded",
    "Burden",
    "Compared",
    "Curves",
    "DecompositionResult",
    "DisparityResult",
    "Estimate",
    "GroupCurve",
    "GroupResult",
    "HeterogeneityResult",
    "InDeviations",
    "MagnitudesResult",
    "PairResult",
    "PartIntervals",
    "PlanSummary",
    "SetAside",
    "SiloInfluenceResult",
    "SiloResult",
    "StandIn",
    "Standardized",
    "TailResult",
    "ThresholdResult",
    "Verdicts",
    "WorstPair",
    "as_json",
    "group_key",
]


@dataclass(frozen=True, kw_only=True)
class PlanSummary:
    """What was asked: the parts of the plan that the numbers depend on, and its digest."""

    title: str
    digest: str
    levels: int
    """The k of the sketches, or the bins of the histograms."""
    sketch: Literal["mean", "quantile", "counts", "histogram"]
    estimator: Literal["grid", "exact"]
    order: Literal[1, 2]
    score_range: Interval
    score_step: float | None
    """Scores lie on this grid; ``None`` if they may lie anywhere in the range."""
    thresholds: tuple[float, ...]
    """Scores at which the silos were asked to count."""
    favorable: Favorable
    """On which side of a threshold it is good to be."""
    trim: float


@dataclass(frozen=True, kw_only=True)
class GroupResult:
    """One group in all silos together."""

    group: Group
    n: Amount
    """Records released, or their weight."""
    share: float
    mean: float


@dataclass(frozen=True, kw_only=True)
class SetAside:
    """A group that no silo released, or too small in a secure sum: in outer bounds, in no estimate."""

    group: Group
    withheld: int
    """Silos that withheld its cell."""
    most: float | None
    """At most so many records; ``None`` without a limit."""
    known: str
    """The same in words."""


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """A number of the raw data, and what it could be."""

    value: float
    certificate: Interval
    """What the raw data of the released cells could be, given the sketches."""
    outer: Interval
    """What all raw data could be: withheld cells, missing silos and groups set aside are counted."""


@dataclass(frozen=True, kw_only=True)
class Estimate(Bounded):
    """A number of the population, with its errors kept apart."""

    corrected: float
    """The value without what sampling and sketches add on average: the one to print."""
    interval: Interval
    """What the population could be: sampling and the estimated error of the sketches counted.

    It holds ``value`` and ``corrected``.
    """
    combined: Interval
    """The interval with the guaranteed error of the sketches; it contains ``interval``."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The number that the review level speaks of, in the plan's review unit."""

    value: float | None
    """The corrected estimate; ``None`` for standard deviations where scores do not vary in groups."""
    answered: Reach
    """What it could be among the silos and cells that answered."""
    all: Reach
    """What it could be for all, whatever the missing ones hold; it contains ``answered``."""


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Where the number compared lies with respect to the review level."""

    answered: Verdict
    """Among the silos and cells that answered."""
    all: Verdict
    """For all, whatever the missing ones hold."""


@dataclass(frozen=True, kw_only=True)
class DisparityResult(Estimate):
    """The global disparity, its errors, and where the audit lies with respect to the review level."""

    p_value: float
    """How often sampling noise alone would show at least this much."""
    review_level: float | None
    review_unit: ReviewUnit
    compared: Compared
    verdict: Verdicts

    @property
    def level(self) -> float | None:
        """The review level where it speaks of the disparity itself, not of the worst pair."""
        return self.review_level if self.review_unit == "squared" else None


@dataclass(frozen=True, kw_only=True)
class WorstPair(Estimate):
    """The two groups furthest apart: their distance in score points, for all pairs at once."""

    groups: tuple[Group, Group]
    higher: Group | None
    """The one of higher mean; ``None`` if the means are equal."""
    share_of_range: float
    """``corrected`` as a share of the score range."""


@dataclass(frozen=True, kw_only=True)
class InDeviations:
    """A number in standard deviations; ``None``, and no limit, where these may be zero."""

    value: float | None
    certificate: Reach
    outer: Reach


@dataclass(frozen=True, kw_only=True)
class Standardized:
    """The worst pair in standard deviations of the scores within groups."""

    deviation: Bounded
    """One standard deviation, in score points."""
    distance: InDeviations
    """The largest distance of two groups, divided by it."""
    mean_gap: InDeviations
    """The mean of the worst pair's first group minus that of its second, divided by it."""


@dataclass(frozen=True, kw_only=True)
class Burden(Bounded):
    """How far one group is from the center of all, in score points."""

    group: Group


@dataclass(frozen=True, kw_only=True)
class MagnitudesResult:
    """The disparity in units that people can read."""

    points: Estimate
    """Score points that a record must move to reach parity: the root mean square; for order 1 the mean."""
    worst_pair: WorstPair
    standardized: Standardized
    variance_share: Bounded
    """The disparity of order 2 as a share of the variance of all scores."""
    location_share: Bounded
    """How much of the disparity of order 2 is differences of means; the rest is spread and shape."""
    equal_weights: Bounded
    """The disparity of order 2 in score points if all groups were equally large."""
    burden: tuple[Burden, ...]


@dataclass(frozen=True, kw_only=True)
class ThresholdResult(ThresholdReport):
    """Rates at a threshold among the silos and cells that answered."""

    all: FourFifths
    """What can be said of four fifths for all, whatever the missing ones hold."""


@dataclass(frozen=True, kw_only=True)
class TailResult(TailReport):
    """Shares above a quantile of the records of the silos and cells that answered."""

    all: FourFifths
    """What can be said of four fifths for all, whatever the missing ones hold."""


@dataclass(frozen=True, kw_only=True)
class HeterogeneityResult:
    """The Cramér counterpart of the disparity."""

    value: float
    interval: Interval
    corrected: float


@dataclass(frozen=True, kw_only=True)
class PairResult:
    """Distances between two groups, in score points."""

    groups: tuple[Group, Group]
    wasserstein: float
    corrected: float
    """``wasserstein`` without what sampling and sketches add on average."""
    interval: Interval
    """Of ``wasserstein``; it holds it and ``corrected``."""
    certificate: Interval
    """What ``wasserstein`` of the raw data could be, given the sketches."""
    cramer: float
    mean_gap: float
    """Mean of the first minus mean of the second."""


@dataclass(frozen=True, kw_only=True)
class DecompositionResult:
    """V_mix, V_bar and R; for order 1 the terms of the triangle inequality, without R.

    ``None`` in a secure mode: they are no function of a sum over silos.
    """

    v_mix: float | None
    v_bar: float | None
    remainder: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True, kw_only=True)
class SiloInfluenceResult:
    """What one silo adds to the disparity."""

    silo: str
    influence: float | None
    """The disparity of all minus that without the silo; ``None`` if nothing is left to compare."""


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """A silo without a group: its pooled law stood in for it in the attribution."""

    silo: str
    group: Group


@dataclass(frozen=True, kw_only=True)
class PartIntervals:
    """Intervals of the two parts of the attribution; ``None`` where the silos were not seen."""

    selection: Interval | None
    within: Interval | None


@dataclass(frozen=True, kw_only=True)
class AttributionResult:
    """How much comes from who is where, how much from inside the silos.

    ``None`` in a secure mode: they are no function of a sum over silos.
    """

    selection: float | None
    within: float | None
    silos: tuple[SiloInfluenceResult, ...]
    intervals: PartIntervals
    stand_ins: tuple[StandIn, ...]


@dataclass(frozen=True, kw_only=True)
class SiloResult:
    """What one silo would see alone; ``None`` where fewer than two groups can be compared."""

    silo: str
    n: Mapping[Group, Amount | None]
    """Records by group; ``None`` where the cell was withheld."""
    disparity: float | None
    heterogeneity: float | None
    wasserstein: float | None
    mean_gap: float | None
    """Of the two groups whose means are furthest apart: the first minus the second, in their order."""
    interval: Interval | None
    note: str
    """What is missing, or the empty string."""
    levels: Mapping[Group, int]
    """The k of each cell; 0 where it has no values."""
    withheld: Mapping[Group, Withheld]
    """Why a cell was withheld, by group."""
    rows_dropped: int
    quantiles: Mapping[Group, tuple[float, ...] | None]
    """At levels 0.05, 0.25, 0.5, 0.75 and 0.95 by group; ``None`` where no values were released."""


@dataclass(frozen=True, kw_only=True)
class GroupCurve:
    """The quantile function of one group in all silos together."""

    group: Group
    quantiles: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Curves:
    """The laws that were compared, as quantiles at the same levels; read from the sketches."""

    levels: tuple[float, ...]
    """From 0, where the smallest atom stands, to 1."""
    groups: tuple[GroupCurve, ...]
    center: tuple[float, ...]
    """The barycenter; for order 1 the lower weighted median of the groups' quantiles."""


def group_key(group: Group) -> str:
    """Return the name of a group's field in JSON: its text, or its list for an intersection.

    Two groups of one plan never have the same: they differ by their texts, and either all or
    none are intersections.

    Examples
    --------
    >>> group_key("A"), group_key(("F", True))
    ('A', '["F",true]')
    """
    if isinstance(group, tuple):
        return canonical_bytes(list(group)).decode()
    return cast("str", group_text(group))


def as_json(value: Any) -> Any:  # noqa: ANN401 -- whatever a result holds
    """Return a part, or what it holds, as JSON has it."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: as_json(getattr(value, name)) for name in _names(value)}
    if isinstance(value, Mapping):
        return {
            name if isinstance(name, str) else group_key(name): as_json(held)
            for name, held in value.items()
        }
    if isinstance(value, float) and math.isinf(value):
        return None
    return [as_json(item) for item in value] if isinstance(value, tuple) else value


def _names(part: object) -> tuple[str, ...]:
    kind: Any = type(part)
    return written_fields(kind)
