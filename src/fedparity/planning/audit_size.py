"""How large an audit must be: the levels and the records per cell for a target error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fedparity.documents.tabular import Columns, Tabular, columns_of
from fedparity.federated.estimate import Estimator
from fedparity.laws.progress import Progress, callback, shows_progress
from fedparity.planning.detection import strength_at
from fedparity.planning.scenario import (
    Scenario,
    Shape,
    Steps,
    checked_shape,
    checked_shares,
    disparity_between,
)
from fedparity.planning.simulation import (
    LEVELS,
    RECORDS,
    SizeRow,
    errors_by_levels,
    errors_by_records,
    smallest,
)
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_SKETCH, Kind, check_levels
from fedparity.uncertainty.checks import check_positive

__all__ = ["SizePlan", "plan_size"]

_SKETCH_PART = 0.25
"""The share of the target error for the sketch. Levels are cheap, and a k whose error nearly used up the
target would leave the number of records to chance."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SizePlan(Tabular):
    """The size of audit that reaches a target error, simulated and by bounds."""

    error: float
    """The target error, in the units of the disparity."""
    disparity: float
    """The disparity of the simulated laws."""
    levels: int | None
    """The required k, by simulation; None if no k of the ladder is enough."""
    records: int | None
    """The required records per cell, by simulation; None if no number tried is enough."""
    levels_bound: int
    records_bound: int | None
    """The same by bounds; None if no number of records makes up for the levels given."""
    by_levels: tuple[SizeRow, ...]
    """Error of the sketch against k."""
    by_records: tuple[SizeRow, ...]
    """Error of the audit against the number of records, at the k of the plan."""
    scenario: Scenario

    @property
    def sketch_error(self) -> float:
        """The part of the target error for the sketch alone: a quarter."""
        return _SKETCH_PART * self.error

    @property
    def table(self) -> tuple[SizeRow, ...]:
        """All simulated sizes."""
        return self.by_levels + self.by_records

    def table_columns(self) -> Columns:
        """Return the columns of a table of all settings that were simulated, in :meth:`to_frame`."""
        return columns_of(asdict(row) for row in self.table)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "error": self.error,
            "disparity": self.disparity,
            "simulated": {"levels": self.levels, "records": self.records},
            "bounds": {"levels": self.levels_bound, "records": self.records_bound},
            "by_levels": [asdict(row) for row in self.by_levels],
            "by_records": [asdict(row) for row in self.by_records],
            **self.scenario.to_dict(),
        }

    def __repr__(self) -> str:
        return (
            f"SizePlan(error {self.error:.3g} of {self.disparity:.3g}: "
            f"levels={self.levels}, records={self.records}; "
            f"by bounds levels={self.levels_bound}, records={self.records_bound})"
        )


@shows_progress
def plan_size(
    *,
    error: float,
    relative: bool = True,
    levels: int | None = None,
    silos: int = 5,
    groups: int = 2,
    shares: Sequence[float] | None = None,
    shape: str | Shape = "beta",
    score_range: tuple[float, float] | None = None,
    disparity: float | None = None,
    confidence: float = 0.95,
    kind: Kind = DEFAULT_SKETCH,
    estimator: Estimator = DEFAULT_ESTIMATOR,
    replicates: int = 400,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> SizePlan:
    r"""Return the levels and the records per cell for a target error of :math:`G_2`.

    The number of levels is the smallest of a ladder (5, 10, 15, 20, 30, 50, …) from which on
    the sketch takes at most a quarter of the target error: it is compared with the exact
    disparity of the same 2000 simulated records per cell. The number of records is the smallest
    of a ladder (30, 50, 100, 200, 500, …) from which on the audit, at that k, is within the
    target error of the disparity of the laws. Both hold in the given share of simulated audits.
    Shares and counts are taken as given; what is random are the scores.

    In addition it returns the numbers that are sufficient for any laws on the range (or any whose
    density is at least the shape's, where the shape has a least density); the proofs are in
    ``fedparity.planning.provable``.

    Parameters
    ----------
    error : float
        The target error, as a share of the disparity, or in its units if not ``relative``.
    levels : int, optional
        The k if it is already fixed; only the records are then planned.
    silos, groups : int
    shares : sequence of numbers, optional
        How large the groups are, up to a factor; equal if absent. Cells are in proportion,
        and the records planned are those of the smallest.
    shape : "beta", "uniform", "normal", "deciles" or a Shape
        The laws of the groups. All silos have the same ones.
    score_range : two numbers, optional
        The range of the scores; the shape's own if absent.
    disparity : float, optional
        The disparity that is expected: the laws are moved until they have it.
    confidence : float in (0, 1)
    kind, estimator
        What the silos send and how the auditor combines it, as in :class:`fedparity.Method`.
    replicates : int
        Simulated audits of each size.
    seed : int
        The same seed gives the same plan.
    progress : bool or callable, optional
        True draws a bar. A callback is called with the steps done and their total.

    Raises
    ------
    OptionError
        If an option is out of its range.

    Examples
    --------
    >>> plan = plan_size(error=0.25, replicates=50)
    >>> plan.levels, plan.levels_bound
    (5, 1051)
    >>> plan.records < 1000 < plan.records_bound
    True
    """
    scenario = Scenario(
        shape=checked_shape(shape, score_range),
        silos=silos,
        shares=checked_shares(groups, shares),
        kind=kind,
        estimator=estimator,
        confidence=confidence,
        replicates=replicates,
        seed=seed,
    )
    check_positive(error, "error")
    fixed = None if levels is None else check_levels(levels)
    strength = 1.0
    if disparity is not None:
        strength = strength_at(scenario.shape, scenario.shares, disparity)
    expected = disparity_between(scenario.laws(strength), scenario.shares)
    return _Search(
        scenario=scenario,
        strength=strength,
        disparity=expected,
        error=error * expected if relative else float(error),
        fixed=fixed,
    ).plan(Steps(callback(progress), total=1 + len(RECORDS)))


@dataclass(frozen=True, kw_only=True)
class _Search:
    """The question, once its options are checked."""

    scenario: Scenario
    strength: float
    disparity: float
    error: float
    fixed: int | None
    """The levels, if they are not to be planned."""

    def plan(self, steps: Steps) -> SizePlan:
        by_levels = errors_by_levels(
            self.scenario, self.strength, (self.fixed,) if self.fixed else LEVELS
        )
        steps.advance()
        levels = self.fixed or smallest("levels", by_levels, wanted=_SKETCH_PART * self.error)
        by_records = self._by_records(levels, steps)
        steps.finish()
        levels_bound, records_bound = self._bounded()
        return SizePlan(
            error=self.error,
            disparity=self.disparity,
            levels=levels,
            records=smallest("records", by_records, wanted=self.error),
            levels_bound=levels_bound,
            records_bound=records_bound,
            by_levels=by_levels,
            by_records=by_records,
            scenario=self.scenario,
        )

    def _by_records(self, levels: int | None, steps: Steps) -> tuple[SizeRow, ...]:
        if levels is None:
            return ()
        return errors_by_records(
            self.scenario, self.strength, levels, wanted=self.error, steps=steps
        )

    def _bounded(self) -> tuple[int, int | None]:
        """Levels and records that are enough by bounds."""
        bounds = self.scenario.bounds()
        levels = self.fixed or bounds.levels_for(_SKETCH_PART * self.error)
        return levels, bounds.records_for(
            levels,
            error=self.error,
            disparity=self.disparity,
            confidence=self.scenario.confidence,
        )
