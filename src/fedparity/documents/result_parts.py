"""The parts of an audit's result; each mirrors an object of ``fedparity/audit/1``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, cast

from fedparity.documents.fields import group_text
from fedparity.documents.json_text import canonical_bytes
from fedparity.documents.message_cells import Withheld
from fedparity.documents.plan_fields import Favorable, ReviewUnit
from fedparity.documents.tabular import Columns, Part, Parts, Tabular
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group

__all__ = [
    "SILO_LEVELS",
    "Amount",
    "AttributionResult",
    "Bounded",
    "Burden",
    "Compared",
    "Curves",
    "DecompositionResult",
    "DisparityResult",
    "Estimate",
    "FourFifths",
    "GroupCurve",
    "GroupRate",
    "GroupResult",
    "HeterogeneityResult",
    "InDeviations",
    "MagnitudesResult",
    "PairResult",
    "PartIntervals",
    "PlanSummary",
    "Ratio",
    "Reach",
    "ResultSignature",
    "Sampled",
    "SetAside",
    "SiloInfluenceResult",
    "SiloResult",
    "StandIn",
    "Standardized",
    "TailReport",
    "TailResult",
    "Terms",
    "ThresholdReport",
    "ThresholdResult",
    "Verdict",
    "Verdicts",
    "WorstPair",
    "as_json",
    "group_key",
    "unseen_records",
    "verdict",
    "written_fields",
]

Amount: TypeAlias = Annotated[int | float, "amount"]
"""A number of records, or their weight."""
Reach: TypeAlias = Annotated[Bounds, "reach"]
"""Bounds whose ends may be infinite; JSON has null for these."""
Terms: TypeAlias = Annotated[Mapping[str, Any], "terms"]
"""Names with texts, numbers, booleans and nulls."""
FourFifths: TypeAlias = Literal["below four fifths", "at least four fifths", "undetermined"]
"""Where a ratio to the highest rate lies, according to its interval."""
Verdict: TypeAlias = Literal["below", "above", "inconclusive", "none"]
"""Where a disparity lies with respect to a review level, according to its errors."""


def verdict(interval: Bounds, review_level: float | None) -> Verdict:
    """Return where a number known up to an interval lies with respect to a level."""
    if review_level is None:
        return "none"
    if interval.lower > review_level:
        return "above"
    return "below" if interval.upper <= review_level else "inconclusive"


@dataclass(frozen=True, kw_only=True)
class PlanSummary(Part):
    """The request: the parts of the plan that the numbers depend on, and its digest."""

    title: str
    digest: str
    levels: int
    """The k of the sketches, or the bins of the histograms."""
    sketch: Literal["mean", "quantile", "counts", "histogram"]
    estimator: Literal["grid", "exact"]
    order: Literal[1, 2]
    score_range: Bounds
    score_step: float | None
    """Scores lie on this grid; ``None`` if they may lie anywhere in the range."""
    thresholds: tuple[float, ...]
    """Scores at which the silos counted records."""
    favorable: Favorable
    """On which side of a threshold it is good to be."""
    period: tuple[str, str] | None
    """First and last day of the records, if the plan names them."""
    trim: float
    simulated: bool
    """Whether the plan comes from the settings of a simulation: then there is no plan file and no message."""


@dataclass(frozen=True, kw_only=True)
class GroupResult(Part):
    """One group in all silos together."""

    group: Group
    n: Amount
    """Records released, or their weight."""
    share: float
    mean: float

    @property
    def found_by(self) -> Group:
        """What finds it among others."""
        return self.group


@dataclass(frozen=True, kw_only=True)
class SetAside(Part):
    """A group that no silo released, or too small in a secure sum: in outer bounds, in no estimate."""

    group: Group
    withheld: int
    """Silos that withheld its cell."""
    most: float | None
    """Upper bound on the number of records; ``None`` without a limit."""
    known: str
    """The same in words."""

    @property
    def found_by(self) -> Group:
        """What finds it among others."""
        return self.group


def unseen_records(groups: Iterable[SetAside]) -> float:
    """Return the most records that groups set aside have together; infinite without a limit."""
    return math.fsum(math.inf if each.most is None else each.most for each in groups)


@dataclass(frozen=True, kw_only=True)
class Bounded(Part):
    """A number of the raw data, and what it could be."""

    value: float
    certificate: Bounds
    """What the raw data of the released cells could be, given what the silos sent."""
    outer: Bounds
    """What all raw data could be: withheld cells, missing silos and groups set aside are counted."""


@dataclass(frozen=True, kw_only=True)
class Estimate(Bounded):
    """A number of the population, with its errors kept apart."""

    corrected: float
    """The value without what sampling and sketches add on average: the one to print."""
    interval: Bounds
    """What the population could be: sampling and the estimated error of the sketches counted.

    It holds ``value`` and ``corrected``.
    """
    combined: Bounds
    """The interval with the guaranteed error of the sketches; it contains ``interval``."""


@dataclass(frozen=True, kw_only=True)
class Compared(Part):
    """The number that is compared with the review level, in the plan's review unit."""

    value: float | None
    """The corrected estimate; ``None`` for standard deviations where scores do not vary in groups."""
    answered: Reach
    """What it could be among the silos and cells that answered."""
    all: Reach
    """What it could be for all, whatever the missing ones hold; it contains ``answered``."""


@dataclass(frozen=True, kw_only=True)
class Verdicts(Part):
    """Where the number compared lies with respect to the review level."""

    answered: Verdict
    """Among the silos and cells that answered."""
    all: Verdict
    """For all, whatever the missing ones hold."""


@dataclass(frozen=True, kw_only=True)
class DisparityResult(Estimate):
    """The global disparity, its errors, and where the audit lies with respect to the review level."""

    p_value: float
    """How often chance alone would show at least this much."""
    review_level: float | None
    review_unit: ReviewUnit
    compared: Compared
    verdict: Verdicts

    @property
    def level(self) -> float | None:
        """The review level where it limits the disparity itself, not the worst pair."""
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
class InDeviations(Part):
    """A number in standard deviations; ``None``, and no limit, where these may be zero."""

    value: float | None
    certificate: Reach
    outer: Reach


@dataclass(frozen=True, kw_only=True)
class Standardized(Part):
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

    @property
    def found_by(self) -> Group:
        """What finds it among others."""
        return self.group


@dataclass(frozen=True, kw_only=True)
class MagnitudesResult(Part):
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
    burden: Parts[Burden]


@dataclass(frozen=True, kw_only=True)
class Sampled(Bracket):
    """A bracket of the raw data's number, and an interval of the population's."""

    interval: Bounds
    """It counts sampling and what the sketches leave open, and contains the bracket."""


@dataclass(frozen=True, kw_only=True)
class Ratio(Bounds):
    """A ratio of two rates that are known up to intervals."""

    value: float | None
    """The estimate; ``None`` where its denominator is zero."""
    upper: Annotated[float, "limit"]
    """``math.inf`` if there is no bound, as the other rate may be zero; JSON has null for it."""
    interval: Reach
    """Of the population's ratio; it counts sampling and what the sketches leave open."""


@dataclass(frozen=True, kw_only=True)
class GroupRate(Part):
    """The rate of one group, next to those of the others."""

    group: Group
    rate: Sampled
    ratio: Ratio
    """To the highest rate of all groups, whichever it is: at most 1."""
    ratio_to_largest: Ratio
    """To the rate of the group with the most records."""
    difference_to_best: Sampled
    """Minus the highest rate of all groups: at most 0."""
    difference_to_largest: Sampled
    """Minus the rate of the group with the most records."""
    answer: FourFifths
    """Where the interval of ``ratio`` lies."""

    @property
    def found_by(self) -> Group:
        """What finds it among others."""
        return self.group


@dataclass(frozen=True, kw_only=True)
class _RateReport(Part, Tabular):
    """Rates of all groups and their comparison, with brackets and intervals."""

    confidence: float
    """Of all intervals."""
    largest: Group
    """The group with the most records."""
    groups: Parts[GroupRate]
    widest_gap: Sampled
    """The highest rate minus the lowest."""
    answer: FourFifths
    """Where the smallest ratio to the highest rate lies."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, as JSON holds them."""
        document: dict[str, Any] = as_json(self)
        return document

    def table_columns(self) -> Columns:
        """Return the columns of a table with one row for each group."""
        return self.groups.table_columns()


@dataclass(frozen=True, kw_only=True)
class ThresholdReport(_RateReport):
    """Selection rates at a threshold and their comparison, with brackets and intervals."""

    score: float
    """The threshold."""
    favorable: Favorable

    @property
    def found_by(self) -> float:
        """What finds it among others."""
        return self.score

    def table_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each group."""
        yield from (
            {"threshold": self.score} | row for each in self.groups for row in each.table_rows()
        )


@dataclass(frozen=True, kw_only=True)
class TailReport(_RateReport):
    """Shares above a quantile of the whole population, with brackets and intervals."""

    level: float
    """The level of the quantile: 0.5 for the median."""
    cutoff: Bracket
    """The quantile of the records."""

    @property
    def found_by(self) -> float:
        """What finds it among others."""
        return self.level

    def table_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each group."""
        yield from (
            {"level": self.level} | row for each in self.groups for row in each.table_rows()
        )


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
class HeterogeneityResult(Part):
    """The Cramér counterpart of the disparity."""

    value: float
    interval: Bounds
    corrected: float


@dataclass(frozen=True, kw_only=True)
class PairResult(Part):
    """Distances between two groups, in score points."""

    groups: tuple[Group, Group]
    wasserstein: float
    corrected: float
    """``wasserstein`` without what sampling and sketches add on average."""
    interval: Bounds
    """Of ``wasserstein``; it holds it and ``corrected``."""
    certificate: Bounds
    """What ``wasserstein`` of the raw data could be, given what the silos sent."""
    cramer: float
    mean_gap: float
    """Mean of the first minus mean of the second."""

    @property
    def found_by(self) -> tuple[Group, Group]:
        """What finds it among others."""
        return self.groups


@dataclass(frozen=True, kw_only=True)
class DecompositionResult(Part):
    """V_mix, V_bar and R; for order 1 the terms of the triangle inequality, without R.

    ``None`` in a secure mode: they are no function of a sum over silos.
    """

    v_mix: float | None
    v_bar: float | None
    remainder: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True, kw_only=True)
class SiloInfluenceResult(Part):
    """What one silo adds to the disparity."""

    silo: str
    influence: float | None
    """The disparity of all minus that without the silo; ``None`` if nothing is left to compare."""

    @property
    def found_by(self) -> str:
        """What finds it among others."""
        return self.silo


@dataclass(frozen=True, kw_only=True)
class StandIn(Part):
    """A silo without a group: its pooled law replaced it in the attribution."""

    silo: str
    group: Group


@dataclass(frozen=True, kw_only=True)
class PartIntervals(Part):
    """Intervals of the two parts of the attribution; ``None`` where the silos were not seen."""

    selection: Bounds | None
    within: Bounds | None


@dataclass(frozen=True, kw_only=True)
class AttributionResult(Part):
    """How much comes from who is where, how much from inside the silos.

    ``None`` in a secure mode: they are no function of a sum over silos.
    """

    selection: float | None
    within: float | None
    silos: Parts[SiloInfluenceResult]
    intervals: PartIntervals
    stand_ins: tuple[StandIn, ...]


SILO_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Levels at which a result holds the quantiles of each silo's groups."""


@dataclass(frozen=True, kw_only=True)
class SiloResult(Part):
    """What one silo would see alone; ``None`` where fewer than two groups can be compared."""

    silo: str
    n: Mapping[Group, Amount | None]
    """Records by group; ``None`` where the cell was withheld."""
    disparity: float | None
    heterogeneity: float | None
    wasserstein: float | None
    mean_gap: float | None
    """Of the two groups whose means are furthest apart: the first minus the second, in their order."""
    interval: Bounds | None
    note: str
    """What is missing, or the empty string."""
    levels: Mapping[Group, int]
    """The k of each cell; 0 where it has no values."""
    withheld: Mapping[Group, Withheld]
    """Why a cell was withheld, by group."""
    rows_dropped: int
    quantiles: Mapping[Group, tuple[float, ...] | None]
    """At :data:`SILO_LEVELS` by group; ``None`` where no values were released."""

    @property
    def found_by(self) -> str:
        """What finds it among others."""
        return self.silo


@dataclass(frozen=True, kw_only=True)
class GroupCurve(Part):
    """The quantile function of one group in all silos together."""

    group: Group
    quantiles: tuple[float, ...]

    @property
    def found_by(self) -> Group:
        """What finds it among others."""
        return self.group


@dataclass(frozen=True, kw_only=True)
class Curves(Part):
    """The laws that were compared, as quantiles at the same levels; read from the sketches."""

    levels: tuple[float, ...]
    """From 0, at the smallest atom, to 1."""
    groups: Parts[GroupCurve]
    center: tuple[float, ...]
    """The barycenter; for order 1 the lower weighted median of the groups' quantiles."""


@dataclass(frozen=True, kw_only=True)
class ResultSignature(Part):
    """A signature, and the key that it fits."""

    key: str
    """The Ed25519 public key, the base64 of 32 bytes."""
    value: str
    """The base64 of 64 bytes."""


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
    """Return a part, or what it holds, as JSON has it; bounds and nothing else are a pair."""
    if type(value) is Bounds or isinstance(value, tuple):
        return [as_json(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        part: Any = type(value)
        return {name: as_json(getattr(value, name)) for name in written_fields(part)}
    if isinstance(value, Mapping):
        return {
            name if isinstance(name, str) else group_key(name): as_json(item)
            for name, item in value.items()
        }
    return None if isinstance(value, float) and math.isinf(value) else value


@cache
def written_fields(part: Any) -> tuple[str, ...]:  # noqa: ANN401 -- a type
    """Return the fields that JSON holds: those without a default."""
    return tuple(each.name for each in fields(part) if each.default is MISSING)
