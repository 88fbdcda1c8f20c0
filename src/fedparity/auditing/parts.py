"""The parts of an audit's result; each mirrors an object of ``fedparity/audit/1``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from fedparity.auditing.reading import Amount, Label, written_fields
from fedparity.diagnostics.assessment import Verdict
from fedparity.diagnostics.intervals import Interval
from fedparity.laws.labels import Group
from fedparity.protocol.canonical import canonical_bytes
from fedparity.protocol.labels import group_text
from fedparity.protocol.sketched_cell import Withheld

__all__ = [
    "AttributionResult",
    "Curves",
    "DecompositionResult",
    "DisparityResult",
    "GroupCurve",
    "GroupResult",
    "HeterogeneityResult",
    "PairResult",
    "PartIntervals",
    "PlanSummary",
    "SiloInfluenceResult",
    "SiloResult",
    "StandIn",
    "TermIntervals",
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
    sketch: Literal["quantile", "mean", "histogram"]
    estimator: Literal["grid", "exact"]
    order: Literal[1, 2]
    score_range: Interval
    trim: float


@dataclass(frozen=True, kw_only=True)
class GroupResult:
    """One group in all silos together."""

    group: Label
    n: Amount
    """Records released, or their weight."""
    share: float
    mean: float


@dataclass(frozen=True, kw_only=True)
class DisparityResult:
    """The global disparity, its errors, and where it lies with respect to the review level."""

    value: float
    interval: Interval
    """What the population could be, given the data."""
    certificate: Interval
    """What the raw data of the released cells could be, given the sketches."""
    p_value: float
    """How often sampling noise alone would show at least this much."""
    verdict: Verdict
    outer: Interval
    """What all raw data could be, withheld cells and missing silos counted."""
    combined: Interval
    """What the population could be, all errors counted: what the verdict compares."""
    corrected: float
    """The value without the part that sampling noise adds on average."""
    review_level: float | None


@dataclass(frozen=True, kw_only=True)
class HeterogeneityResult:
    """The Cramér counterpart of the disparity."""

    value: float
    interval: Interval
    corrected: float


@dataclass(frozen=True, kw_only=True)
class PairResult:
    """Distances between two groups, in score points."""

    groups: tuple[Label, Label]
    wasserstein: float
    cramer: float
    mean_gap: float
    """Mean of the first minus mean of the second."""


@dataclass(frozen=True, kw_only=True)
class TermIntervals:
    """Intervals of the terms; ``None`` where there is no such term, or no interval of it."""

    v_mix: Interval | None
    v_bar: Interval | None
    remainder: Interval | None


@dataclass(frozen=True, kw_only=True)
class DecompositionResult:
    """V_mix, V_bar and R; for order 1 the terms of the triangle inequality, without R.

    ``None`` where a secure sum does not hold what they need.
    """

    v_mix: float | None
    v_bar: float | None
    remainder: float | None
    lower: float | None
    upper: float | None
    intervals: TermIntervals


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
    group: Label


@dataclass(frozen=True, kw_only=True)
class PartIntervals:
    """Intervals of the two parts of the attribution; ``None`` where the silos were not seen."""

    selection: Interval | None
    within: Interval | None


@dataclass(frozen=True, kw_only=True)
class AttributionResult:
    """How much comes from who is where, how much from inside the silos.

    ``None`` where a secure sum does not hold what they need.
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

    group: Label
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
    return [as_json(item) for item in value] if isinstance(value, tuple) else value


def _names(part: object) -> tuple[str, ...]:
    kind: Any = type(part)
    return written_fields(kind)
