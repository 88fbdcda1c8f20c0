"""``fedparity simulate``: the whole audit from one table that has, or is given, silos."""

from __future__ import annotations

from typing import Any, get_args

import click
import numpy as np

from fedparity.cli.audit_commands import AnswerCommand, answer, answer_options, check_answer, end
from fedparity.cli.options import data_of, reading_of, table_options
from fedparity.cli.output import progress_bar
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import Favorable, ReviewUnit
from fedparity.documents.result import AuditResult
from fedparity.engines.allocations import Regime, allocate
from fedparity.engines.in_process import Settings, audit_pooled
from fedparity.engines.in_process import simulate as measure
from fedparity.engines.pooled_table import PooledTable, read_pooled
from fedparity.federated.mixtures import Estimator
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_LEVELS, DEFAULT_SKETCH, Kind
from fedparity.text import counted

__all__ = [
    "deal_rows",
    "simulate",
]


def deal_rows(
    data: object,
    reading: dict[str, Any],
    plan: Plan | None,
    *,
    silos: int,
    regime: Regime,
    rho: float,
    seed: int,
) -> PooledTable:
    """Return the records of a table with the silos that they were dealt to.

    The correlation of score and silo that came about is told on the standard error stream.
    """
    groups = None if plan is None else plan.groups
    pooled = read_pooled(data, silo=None, groups=groups, **reading)
    dealt = allocate(
        pooled.scores, silos=silos, regime=regime, rho=rho, groups=pooled.codes, seed=seed
    )
    _tell(dealt.number, dealt.pearson, dealt.spearman, int(pooled.dropped.sum()))
    names, codes = np.unique(dealt.names, return_inverse=True)
    return PooledTable.from_records(
        groups=pooled.groups,
        codes=pooled.codes,
        silos=names.tolist(),
        silo_codes=codes,
        scores=pooled.scores,
        weights=pooled.weights,
    )


def _tell(silos: int, pearson: float | None, spearman: float | None, dropped: int) -> None:
    words = f"dealt to {counted(silos, 'silo')}"
    if pearson is not None and spearman is not None:
        words += f"; score and silo: Pearson {pearson:.3f}, Spearman {spearman:.3f}"
    if dropped:
        words += f"; {counted(dropped, 'row')} without a score left out"
    click.echo(words, err=True)


_PLANNED = (
    "levels",
    "sketch",
    "estimator",
    "order",
    "favorable",
    "review_level",
    "review_unit",
    "score_range",
    "score_step",
)
"""What a plan says, and options say without one."""


@click.command(cls=AnswerCommand, short_help="Audit one table that has a column of silos.")
@click.argument("data", required=False)
@click.option("--silo", metavar="COL", help="Column of the silos.")
@table_options
@click.option("--plan", type=click.Path(), help="Apply a plan, its disclosure rules included.")
@click.option(
    "--levels",
    type=click.IntRange(min=1),
    help=f"Numbers per cell.  [default: {DEFAULT_LEVELS}]",
)
@click.option(
    "--sketch",
    type=click.Choice(get_args(Kind)),
    help=f"What they are.  [default: {DEFAULT_SKETCH}, or counts of few scores]",
)
@click.option(
    "--estimator",
    type=click.Choice(get_args(Estimator)),
    help=f"How they are read.  [default: {DEFAULT_ESTIMATOR}]",
)
@click.option("--order", type=click.IntRange(1, 2), help="The p of W_p.  [default: 2]")
@click.option(
    "--review-level",
    type=click.FloatRange(min=0, min_open=True),
    help="What the verdict compares with.",
)
@click.option(
    "--review-unit",
    type=click.Choice(get_args(ReviewUnit)),
    help="What it speaks of.  [default: points]",
)
@click.option("--range", "score_range", type=float, nargs=2, help="Lowest and highest score.")
@click.option(
    "--step", "score_step", type=click.FloatRange(min=0, min_open=True), help="Scores lie on it."
)
@click.option(
    "--favorable",
    type=click.Choice(get_args(Favorable)),
    help="Good side of a threshold.  [default: above]",
)
@click.option(
    "--regime",
    type=click.Choice(["random", "positive", "negative"]),
    help="Deal the rows to silos, for a table that has none.",
)
@click.option(
    "--rho",
    type=click.FloatRange(0, 1, max_open=True),
    help="How far scores decide.  [default: 0.8]",
)
@click.option("--silos", type=click.IntRange(min=1), help="Silos to deal to.  [default: 5]")
@answer_options
@click.pass_context
def simulate(context: click.Context, /, **_: object) -> None:
    """Audit the table DATA as if each silo had sent its message.

    Nothing leaves, so no disclosure rule applies unless --plan asks for it; then the result is,
    bit for bit, that of real silos. --regime deals the rows to silos instead of --silo: at
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
    options = dict(context.params)
    options["data"] = data_of(options)
    check_answer(options)
    _check_together(options)
    plan = None if options["plan"] is None else Plan.read(options["plan"])
    result = _measured(plan, reading_of(options), options)
    answer(result, options)
    end(context, result, options)


def _measured(plan: Plan | None, reading: dict[str, Any], options: dict[str, Any]) -> AuditResult:
    settings = {name: options[name] for name in _PLANNED if options[name] is not None}
    if plan is None:  # the silos count there, so that rates are exact
        settings["thresholds"] = tuple(sorted(set(options["thresholds"])))
    chosen = {name: options[name] for name in ("confidence", "seed", "redraws")}
    with progress_bar("steps") as progress:
        if options["regime"] is None:
            return measure(
                options["data"],
                silo=options["silo"],
                plan=plan,
                **reading,
                **settings,
                **chosen,
                progress=progress,
            )
        table = _dealt(plan, reading, options)
        return audit_pooled(table, plan or Settings(**settings), **chosen, progress=progress)


def _dealt(plan: Plan | None, reading: dict[str, Any], options: dict[str, Any]) -> PooledTable:
    return deal_rows(
        options["data"],
        reading,
        plan,
        silos=options["silos"] or 5,
        regime=options["regime"],
        rho=0.8 if options["rho"] is None else options["rho"],
        seed=options["seed"],
    )


def _check_together(options: dict[str, Any]) -> None:
    """Refuse options that say two things at once."""
    if (options["silo"] is None) == (options["regime"] is None):
        raise click.UsageError("give either --silo, a column, or --regime, to deal rows to silos.")
    if options["regime"] is None and not options["rho"] is options["silos"] is None:
        raise click.UsageError("--rho and --silos go with --regime.")
    said = [name for name in _PLANNED if options[name] is not None]
    if options["plan"] is not None and said:
        name = said[0].removeprefix("score_").replace("_", "-")
        raise click.UsageError(f"--{name} is for the plan to say; leave it out, or --plan.")
