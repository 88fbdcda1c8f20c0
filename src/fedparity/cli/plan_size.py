"""``fedparity plan size``: how large an audit must be, or what it can detect."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, get_args

import click

from fedparity.cli.plan_size_text import power_text, size_text
from fedparity.cli.progress import progress_bar
from fedparity.diagnostics.planning.detection import DetectableDisparity, detectable_disparity
from fedparity.diagnostics.planning.progress import Progress
from fedparity.diagnostics.planning.shapes import SHAPES
from fedparity.diagnostics.planning.size import SizePlan, plan_size
from fedparity.federated.method import Estimator
from fedparity.sketches.defaults import DEFAULT_ESTIMATOR, DEFAULT_SKETCH

__all__ = ["size"]

_PROBABILITY = click.FloatRange(0, 1, min_open=True, max_open=True)
_POSITIVE = click.FloatRange(min=0, min_open=True)


def _choice(
    name: str, choices: Iterable[str], *, default: str, meaning: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        name,
        type=click.Choice(list(choices)),
        default=default,
        show_default=True,
        help=meaning,
    )


@click.command(short_help="Say how large an audit must be, or what one detects.")
@click.option("--error", type=_POSITIVE, help="Wanted error, as a share of the disparity.")
@click.option("--absolute", is_flag=True, help="The error is in the units of the disparity.")
@click.option("--disparity", type=_POSITIVE, help="Disparity expected.  [default: the shape's]")
@click.option("--records", type=click.IntRange(min=2), help="Records per cell that there will be.")
@click.option("--power", type=_PROBABILITY, help="Probability to detect.  [default: 0.8]")
@click.option("--levels", type=click.IntRange(min=1), help="Levels k, if they are fixed already.")
@click.option(
    "--silos", type=click.IntRange(min=1), default=5, show_default=True, help="Number of silos."
)
@click.option("--groups", type=click.IntRange(min=2), help="Number of groups.  [default: 2]")
@click.option(
    "--share",
    "shares",
    type=_POSITIVE,
    multiple=True,
    help="Size of a group, once per group; records are then those of the smallest.",
)
@_choice("--shape", SHAPES, default="beta", meaning="Score laws that are simulated.")
@click.option("--range", "score_range", type=float, nargs=2, help="Lowest and highest score.")
@_choice("--kind", ("mean", "quantile"), default=DEFAULT_SKETCH, meaning="What the silos send.")
@_choice("--estimator", get_args(Estimator), default=DEFAULT_ESTIMATOR, meaning="How it is read.")
@click.option(
    "--confidence",
    type=_PROBABILITY,
    default=0.95,
    show_default=True,
    help="Share of audits in which it holds.",
)
@click.option(
    "--replicates",
    type=click.IntRange(min=1),
    default=400,
    show_default=True,
    help="Simulated audits of each size.",
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
def size(context: click.Context, /, **_: object) -> None:
    """Say how large an audit must be, or what an audit of some size can detect.

    With --error: the levels and the records per cell for an error of G₂. With --records: the
    smallest G₂ that is detected. Each by simulation from a shape of the scores, and by bounds
    that hold for any scores on the range. A cell is one group in one silo.

    \b
    Examples:
      fedparity plan size --error 0.1 --silos 5
      fedparity plan size --error 0.05 --kind quantile --estimator grid
      fedparity plan size --error 0.1 --shape deciles --share 0.8 --share 0.2
      fedparity plan size --records 500 --silos 5
      fedparity plan size --records 500 --levels 20 --power 0.9 --json
    """
    options = dict(context.params)
    as_json = options.pop("as_json")
    _check_together(options)
    options["groups"] = options["groups"] or len(options["shares"]) or 2
    options["shares"] = options["shares"] or None
    answer = _detectable(options) if options["error"] is None else _planned(options)
    if as_json:
        click.echo(json.dumps(answer.to_dict(), indent=2, ensure_ascii=False))
    else:
        click.echo(size_text(answer) if isinstance(answer, SizePlan) else power_text(answer))


def _check_together(options: dict[str, Any]) -> None:
    """Refuse options that answer no question together."""
    if (options["error"] is None) == (options["records"] is None):
        raise click.UsageError(
            "give either --error, to plan a size, or --records, to see what it detects."
        )
    if options["error"] is not None and options["power"] is not None:
        raise click.UsageError("--power goes with --records: an error is not detected.")
    if options["records"] is not None and (options["absolute"] or options["disparity"]):
        raise click.UsageError("--absolute and --disparity go with --error.")


def _planned(options: dict[str, Any]) -> SizePlan:
    given = _without(options, "records", "power", "absolute")
    with _progress() as progress:
        return plan_size(**given, relative=not options["absolute"], progress=progress)


def _detectable(options: dict[str, Any]) -> DetectableDisparity:
    given = _without(options, "error", "absolute", "disparity")
    stated = {name: given.pop(name) for name in ("levels", "power")}
    given |= {name: value for name, value in stated.items() if value is not None}
    with _progress() as progress:
        return detectable_disparity(**given, progress=progress)


def _without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A bar, if somebody is looking."""
    with progress_bar("audits") as bar:
        yield None if bar is None else lambda done, total: bar(done, total, "simulating")
