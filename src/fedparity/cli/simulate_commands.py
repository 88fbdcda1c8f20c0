"""``fedparity simulate``: the whole audit from one table that has, or is given, silos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import click
import numpy as np

from fedparity.cli.audit_commands import ResultCommand, ResultOptions
from fedparity.cli.options import POSITIVE, TableOptions, nested, option, with_options
from fedparity.cli.output import note, progress_bar
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import Favorable, ReviewUnit
from fedparity.documents.result import AuditResult
from fedparity.engines.allocations import Regime, allocate
from fedparity.engines.in_process import LabelColumns, Settings, audit_pooled
from fedparity.engines.in_process import audit as measure
from fedparity.engines.pooled_table import PooledTable, read_pooled
from fedparity.federated.estimate import Estimator
from fedparity.modes.mode import AuditOptions
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_LEVELS, DEFAULT_SKETCH, Kind
from fedparity.text import counted

__all__ = ["MeasurementOptions", "SimulationOptions", "simulate"]


@dataclass(frozen=True)
class MeasurementOptions:
    """What a plan would say of the measurement; None where its default applies."""

    levels: int | None = option(
        "--levels", f"Values per group and silo, at most.  [default: {DEFAULT_LEVELS}]", min=1
    )
    sketch: Kind | None = option(
        "--sketch",
        f"Values sent: bin means, quantiles or counts.  [default: {DEFAULT_SKETCH}, or counts of few scores]",
        type=click.Choice(get_args(Kind)),
    )
    estimator: Estimator | None = option(
        "--estimator",
        f"How the auditor combines them.  [default: {DEFAULT_ESTIMATOR}]",
        type=click.Choice(get_args(Estimator)),
    )
    order: Literal[1, 2] | None = option(
        "--order",
        "Order of the distances; 2: squared differences, 1: absolute ones.  [default: 2]",
        type=click.IntRange(1, 2),
    )
    review_level: float | None = option(
        "--review-level", "Disparity above which you want a review.", type=POSITIVE
    )
    review_unit: ReviewUnit | None = option(
        "--review-unit",
        "Unit of the review level.  [default: points]",
        type=click.Choice(get_args(ReviewUnit)),
    )
    score_range: tuple[float, float] | None = option("--range", "Lowest and highest score.")
    score_step: float | None = option(
        "--step", "Step of the public grid of scores.", type=POSITIVE
    )
    favorable: Favorable | None = option(
        "--favorable",
        "Good side of a threshold.  [default: above]",
        type=click.Choice(get_args(Favorable)),
    )

    def stated(self) -> dict[str, Any]:
        """Return those that were given."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class SimulationOptions:
    """The options of a simulation."""

    silo: str | None = option("--silo COL", "Column of the silos.")
    table: TableOptions = nested(TableOptions)
    plan: str | None = option(
        "--plan", "Apply a plan, its disclosure rules included.", type=click.Path()
    )
    measurement: MeasurementOptions = nested(MeasurementOptions)
    regime: Regime | None = option(
        "--regime",
        "Assign the rows to silos, for a table that has none.",
        type=click.Choice(["random", "positive", "negative"]),
    )
    rho: float | None = option(
        "--rho",
        "How far scores decide.  [default: 0.8]",
        type=click.FloatRange(0, 1, max_open=True),
    )
    silos: int | None = option(
        "--silos", "Number of silos to assign rows to.  [default: 5]", min=1
    )
    result: ResultOptions = nested(ResultOptions)

    def check(self) -> None:
        """Refuse options that contradict each other."""
        if (self.silo is None) == (self.regime is None):
            raise click.UsageError(
                "name the column of the silos with --silo, or let --regime assign the rows to silos; "
                "one of the two."
            )
        if self.regime is None and not self.rho is self.silos is None:
            raise click.UsageError("--rho and --silos go with --regime.")
        stated = self.measurement.stated()
        if self.plan is not None and stated:
            name = next(iter(stated)).removeprefix("score_").replace("_", "-")
            raise click.UsageError(f"--{name} is for the plan to say; leave it out, or --plan.")


@click.command(cls=ResultCommand)
@click.argument("data", type=click.Path(), required=False)
@with_options(SimulationOptions)
@click.pass_context
def simulate(context: click.Context, data: str | None, options: SimulationOptions) -> None:
    """Audit the table DATA as if each silo had sent its message.

    Nothing leaves, so no disclosure rule applies unless --plan requires it; then the result is,
    bit for bit, that of real silos. --regime assigns the rows to silos instead of --silo: at
    random, or by their scores (positive: every group the same way; negative: one group the
    other way round).

    \b
    Examples:
      fedparity simulate patients.csv --silo hospital --score risk --group sex
      fedparity simulate patients.csv --silo hospital --plan plan.toml --json
      fedparity simulate patients.csv --silo hospital --score risk --group sex \\
        --html audit.html
      fedparity simulate patients.csv --score risk --group sex --regime positive \\
        --rho 0.8 --silos 5
    """
    source = options.table.source(data)
    options.result.check()
    options.check()
    plan = None if options.plan is None else Plan.read(options.plan)
    options.result.finish(context, _measured(source, plan, options))


def _measured(source: object, plan: Plan | None, options: SimulationOptions) -> AuditResult:
    reading: dict[str, Any] = {**options.table.reading()}
    settings, result = options.measurement.stated(), options.result
    if plan is None:  # the silos count at these scores, so that rates are exact
        settings["thresholds"] = tuple(sorted(set(result.thresholds)))
    chosen: dict[str, Any] = {
        "confidence": result.confidence,
        "seed": result.seed,
        "redraws": result.redraws,
    }
    with progress_bar("steps") as progress:
        chosen["progress"] = progress
        if options.silo is not None:
            return measure(source, silo=options.silo, plan=plan, **reading, **settings, **chosen)
        named = {"axes": reading.pop("axes", None), "outcome": reading.pop("outcome", None)}
        columns = LabelColumns.from_plan(plan, group=reading.pop("group"), **named)
        groups = None if plan is None else plan.record_labels
        pooled = read_pooled(source, silo=None, group=columns.columns, groups=groups, **reading)
        return audit_pooled(
            _dealt(pooled, options),
            plan or Settings(**settings),
            AuditOptions(**chosen),
            columns=columns,
        )


def _dealt(pooled: PooledTable, options: SimulationOptions) -> PooledTable:
    """The records with their assigned silos; prints the correlation of score and silo."""
    dealt = allocate(
        pooled.scores,
        silos=options.silos or 5,
        regime=options.regime or "random",
        rho=0.8 if options.rho is None else options.rho,
        groups=pooled.codes,
        seed=options.result.seed,
    )
    words = f"assigned to {counted(dealt.number, 'silo')}"
    if dealt.pearson is not None and dealt.spearman is not None:
        words += f"; score and silo: Pearson {dealt.pearson:.3f}, Spearman {dealt.spearman:.3f}"
    if dropped := int(pooled.dropped.sum()):
        words += f"; {counted(dropped, 'row')} without a score left out"
    note(words)
    names, codes = np.unique(dealt.names, return_inverse=True)
    return PooledTable.from_records(
        groups=pooled.groups,
        codes=pooled.codes,
        silos=names.tolist(),
        silo_codes=codes,
        scores=pooled.scores,
        weights=pooled.weights,
    )
