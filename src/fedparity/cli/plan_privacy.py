"""``fedparity plan privacy``: what noise costs in accuracy, before anyone spends a budget."""

from __future__ import annotations

import json

import click

from fedparity.cli.plan_privacy_text import privacy_text
from fedparity.cli.progress import progress_bar
from fedparity.diagnostics.planning.privacy import plan_privacy
from fedparity.diagnostics.planning.shapes import SHAPES

__all__ = ["privacy"]

_POSITIVE = click.FloatRange(min=0, min_open=True)


@click.command(short_help="Say what noise costs in accuracy, before it is drawn.")
@click.option("--epsilon", type=_POSITIVE, required=True, help="Privacy loss of one release.")
@click.option(
    "--records",
    type=click.IntRange(min=1),
    required=True,
    help="Records of the smallest group in all silos.",
)
@click.option(
    "--silos", type=click.IntRange(min=1), default=5, show_default=True, help="Number of silos."
)
@click.option(
    "--groups", type=click.IntRange(min=2), default=2, show_default=True, help="Number of groups."
)
@click.option("--bins", type=click.IntRange(2, 4096), help="Bins.  [default: by the rule]")
@click.option(
    "--mode",
    type=click.Choice(["dp", "secure+dp"]),
    default="dp",
    show_default=True,
    help="Noise in each silo, or inside a secure sum.",
)
@click.option(
    "--honest",
    type=click.IntRange(min=1),
    help="Silos whose split noise makes one dose.  [default: full doses]",
)
@click.option("--disparity", type=_POSITIVE, help="Disparity expected.  [default: the shape's]")
@click.option(
    "--shape",
    type=click.Choice(list(SHAPES)),
    default="beta",
    show_default=True,
    help="Score laws that are simulated.",
)
@click.option("--range", "score_range", type=float, nargs=2, help="Lowest and highest score.")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the intervals.",
)
@click.option(
    "--replicates",
    type=click.IntRange(min=10),
    default=400,
    show_default=True,
    help="Simulated audits of each epsilon.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the simulation.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.pass_context
def privacy(context: click.Context, /, **_: object) -> None:
    """Say how far noise will move the disparity G₂, at some epsilon and around it.

    By simulation from a shape of the scores: nothing is read, and no budget is spent. Errors
    are given as shares of the disparity that is simulated.

    \b
    Examples:
      fedparity plan privacy --epsilon 1 --records 5000 --silos 5
      fedparity plan privacy --epsilon 1 --records 5000 --disparity 0.001
      fedparity plan privacy --epsilon 0.5 --records 20000 --mode secure+dp \\
        --honest 4 --json
    """
    options = dict(context.params)
    as_json = options.pop("as_json")
    with progress_bar("epsilons") as bar:
        told = None if bar is None else lambda done, total: bar(done, total, "simulating")
        answer = plan_privacy(**options, progress=told)
    if as_json:
        click.echo(json.dumps(answer.to_dict(), indent=2, ensure_ascii=False))
    else:
        click.echo(privacy_text(answer))
