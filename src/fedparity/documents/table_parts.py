"""The tables of a result: the same records by each axis of the plan, and by its groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from fedparity.documents.outcome_parts import OutcomeResult, RateTests
from fedparity.documents.result_parts import (
    Amount,
    DisparityResult,
    HeterogeneityResult,
    MagnitudesResult,
    PairResult,
    Sampled,
    TailResult,
    ThresholdResult,
)
from fedparity.documents.tabular import Part, Parts
from fedparity.laws.labels import Group

if TYPE_CHECKING:
    from fedparity.federated.federation import Federation

__all__ = ["CategoryStatus", "TableAttribution", "TableGroup", "TableResult", "TableSilo"]

CategoryStatus: TypeAlias = Literal["compared", "unknown", "set aside", "withheld"]
"""``unknown``: the label says that it is not known; ``set aside``: below the plan's share; ``withheld``: no
silo released a record."""


@dataclass(frozen=True, kw_only=True)
class TableGroup(Part):
    """One row of a table, compared or not."""

    group: Group
    n: Amount
    """Records released; 0 where none were."""
    share: float
    """Of the records of the table, unknown ones included."""
    mean: float | None
    status: CategoryStatus
    known: str
    """Why it is not compared, and what is known of it; empty where it is compared."""
    rates: tuple[Sampled | None, ...]
    """At each threshold of the plan; ``None`` where nothing was released."""

    @property
    def found_by(self) -> Group:
        """What finds it among others."""
        return self.group


@dataclass(frozen=True, kw_only=True)
class TableAttribution(Part):
    """How much of a table's disparity comes from who is where, how much from inside the silos."""

    selection: float
    within: float


@dataclass(frozen=True, kw_only=True)
class TableSilo(Part):
    """What one silo would see alone; ``None`` where fewer than two rows can be compared."""

    silo: str
    n: Amount
    disparity: float | None
    mean_gap: float | None

    @property
    def found_by(self) -> str:
        """What finds it among others."""
        return self.silo


@dataclass(frozen=True, kw_only=True)
class TableResult(Part):
    """One table: its rows, and the disparity of those that are compared."""

    by: tuple[str, ...]
    """The axis; none for the groups of the plan."""
    n: Amount
    groups: Parts[TableGroup]
    note: str
    """Why nothing is compared, or the empty string."""
    disparity: DisparityResult | None
    magnitudes: MagnitudesResult | None
    heterogeneity: HeterogeneityResult | None
    pairs: Parts[PairResult]
    thresholds: Parts[ThresholdResult]
    tails: Parts[TailResult]
    attribution: TableAttribution | None
    silos: Parts[TableSilo]
    tests: tuple[RateTests, ...]
    """At each threshold of the plan, of the rows that are compared."""
    outcome: OutcomeResult | None
    """Of the rows that are compared and of which both outcomes were released; ``None`` without any."""
    federation: Federation | None = field(default=None, compare=False)
    """The cells of the rows that are compared."""
    unseen: Mapping[Group, float] | None = field(default=None, compare=False)
    """Upper bound on the further records of each row that is compared."""
    unseen_others: float = field(default=0.0, compare=False)
    """Upper bound on the records of the rows that no silo released."""

    @property
    def found_by(self) -> str:
        """What finds it among others: its axis, or the empty string."""
        return ", ".join(self.by)

    def with_rates(
        self, thresholds: tuple[ThresholdResult, ...], tails: tuple[TailResult, ...]
    ) -> TableResult:
        """Return the table with these rates besides those that it has."""
        at = {each.score: each for each in (*self.thresholds, *thresholds)}
        above = {each.level: each for each in (*self.tails, *tails)}
        return replace(
            self,
            thresholds=Parts(at[score] for score in sorted(at)),
            tails=Parts(above[level] for level in sorted(above)),
        )
