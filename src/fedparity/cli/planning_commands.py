"""The answers of ``fedparity plan size`` in plain words, in 80 columns."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

import click
import numpy as np

from fedparity.cli.output import progress_bar
from fedparity.federated.mixtures import Estimator
from fedparity.laws.progress import Progress
from fedparity.planning.audit_size import SizePlan, plan_size
from fedparity.planning.detection import DetectableDisparity, detectable_disparity
from fedparity.planning.noise_cost import PrivacyPlan, PrivacyRow, plan_privacy
from fedparity.planning.scenario import SHAPES, Scenario
from fedparity.planning.simulation import SizeRow
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_SKETCH
from fedparity.text import counted, wrapped

__all__ = [
    "plain",
    "power_text",
    "privacy",
    "privacy_text",
    "size",
    "size_text",
]


def size_text(answer: SizePlan) -> str:
    """Return the two curves of errors, and the size to ask for."""
    records = answer.by_levels[0].records
    lines = [
        _wanted_words(answer),
        *_assumptions(answer.scenario),
        "",
        f"Error of the sketch, compared with its own {records:,} records per cell",
        *_error_lines("levels", answer.by_levels, answer, answer.sketch_error),
        *_records_section(answer),
        "",
        _simulated_words(answer),
        _bound_words(answer),
    ]
    return "\n".join(lines)


def _wanted_words(answer: SizePlan) -> str:
    share = f"{_percent(answer.error / answer.disparity)} of {plain(answer.disparity)}"
    often = f"in {_percent(answer.scenario.confidence)} of audits"
    return f"Wanted: G₂ within {plain(answer.error)} ({share}) {often}."


def _records_section(answer: SizePlan) -> list[str]:
    if not answer.by_records:
        return []
    return [
        "",
        f"Error of the audit at {answer.by_records[0].levels:,} levels, compared with the laws",
        *_error_lines("records", answer.by_records, answer, answer.error),
    ]


def _error_lines(name: str, rows: Sequence[SizeRow], answer: SizePlan, limit: float) -> list[str]:
    """A table of errors as shares of the disparity, with their curve beside it."""
    whole = answer.disparity
    curve = _curve([row.error for row in rows], limit, 42)
    return [
        f"{name:>11}{'error':>11}{'bound':>12}   curve on a log scale, | = {_percent(limit / whole)}",
        *(
            f"{getattr(row, name):>11,}{_percent(row.error / whole):>11}"
            f"{_percent(row.bound / whole):>12}   {line}".rstrip()
            for row, line in zip(rows, curve, strict=True)
        ),
    ]


def _simulated_words(answer: SizePlan) -> str:
    if answer.levels is None:
        return "By simulation: no number of levels that was tried is enough."
    if answer.records is None:
        return (
            f"By simulation: {answer.levels:,} levels, and more records per cell than were tried;"
            "\nif the error no longer falls, ask for more levels."
        )
    return (
        f"By simulation: ask for {_counted(answer.levels, 'levels')} from "
        f"{_counted(answer.records, 'records')} per cell."
    )


def _bound_words(answer: SizePlan) -> str:
    levels = _counted(answer.levels_bound, "levels")
    size = (
        f"{levels}, and no number of records is enough."
        if answer.records_bound is None
        else f"{levels} from {_counted(answer.records_bound, 'records')} per cell."
    )
    return f"By bounds, for {_bounded(answer.scenario)}:\n{size}"


def power_text(answer: DetectableDisparity) -> str:
    """Return the curve of detectable disparities, and the one asked about."""
    size = f"{_counted(answer.records, 'records')} per cell"
    lines = [
        f"An audit of {size} and {_counted(answer.answer.levels, 'levels')}.",
        *_assumptions(answer.scenario),
        "",
        *_power_lines(answer),
        "",
        *_power_words(answer),
    ]
    return "\n".join(lines)


def _power_lines(answer: DetectableDisparity) -> list[str]:
    rows = answer.by_records
    found = [math.nan if row.disparity is None else row.disparity for row in rows]
    curve = _curve(found, answer.disparity, 36)
    return [
        f"{'records':>11}{'G₂':>12}{'W₂':>9}{'bound':>9}   detected G₂ on a log scale",
        *(
            f"{row.records:>11,}{plain(row.disparity):>12}{plain(row.wasserstein, 2):>9}"
            f"{plain(row.bound, 2):>9}   {line}".rstrip()
            for row, line in zip(rows, curve, strict=True)
        ),
    ]


def _power_words(answer: DetectableDisparity) -> list[str]:
    rate = _percent(1 - answer.scenario.confidence)
    if answer.disparity is None:
        found = "no disparity of this shape"
    else:
        distance = f"W₂ = {plain(answer.wasserstein)} score points"
        found = f"G₂ = {plain(answer.disparity)} ({distance})"
    promised = "none" if answer.bound is None else f"G₂ = {plain(answer.bound)}"
    return [
        f"A test that raises {rate} false alarms finds, in {_percent(answer.power)} of audits,",
        f"by simulation: {found};",
        f"by bounds, for {_bounded(answer.scenario)}: {promised}.",
    ]


def _assumptions(scenario: Scenario) -> list[str]:
    shape = scenario.shape
    shares = " : ".join(f"{share:.2g}" for share in scenario.shares)
    cells = f"{_counted(scenario.silos, 'silos')}, {len(scenario.shares)} groups ({shares})"
    lines = [
        f"{cells}, {scenario.kind} sketches, {scenario.estimator} estimator.",
        f"Scores from {shape.low:g} to {shape.high:g}, shape {shape.name}: {shape.meaning}.",
    ]
    if len(set(scenario.shares)) > 1:
        lines.append("Records per cell are those of the smallest group.")
    return [click.wrap_text(line, width=80) for line in lines]


def _bounded(scenario: Scenario) -> str:
    """The laws that the bounds speak of."""
    least = scenario.shape.least_density
    return f"any scores of density at least {least:g}" if least else "any scores on the range"


def _curve(values: Sequence[float], limit: float | None, width: int) -> list[str]:
    """One line per value, with a star at its logarithm and a bar at that of the limit."""
    bar = limit or math.nan
    marks = [value for value in (*values, bar) if value > 0]
    if not marks:
        return [""] * len(values)
    lowest, octaves = min(marks), math.log2(max(marks) / min(marks)) or 1.0

    def line(value: float) -> str:
        characters = [" "] * width
        for mark, sign in ((bar, "|"), (value, "*")):
            if mark > 0:
                characters[round((width - 1) * math.log2(mark / lowest) / octaves)] = sign
        return "".join(characters).rstrip()

    return [line(value) for value in values]


def _counted(number: int, things: str) -> str:
    return f"{number:,} {things.removesuffix('s') if number == 1 else things}"


def _percent(share: float) -> str:
    return f"{plain(100 * share)} %"


def plain(value: float | None, digits: int = 3) -> str:
    """Return a number with a few digits and no exponent; a dash for none."""
    if value is None:
        return "-"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return np.format_float_positional(value, precision=digits, fractional=False, trim="-")


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


_WEAK = 2.0
_COLUMNS = "{:>9}{:>6}{:>13}{:>14}{:>13}{:>18}"
_ENDS = ("interval ±", "with sampling ±")


def privacy_text(answer: PrivacyPlan, width: int = 80) -> str:
    """Return the table of errors, and what the one asked about means."""
    often = f"{plain(100 * answer.confidence)} %"
    lines = [
        *wrapped(_settings(answer), width),
        *wrapped(
            f"Scores from {answer.score_range[0]:g} to {answer.score_range[1]:g}, shape "
            f"{answer.shape}: {answer.meaning}; G₂ = {plain(answer.disparity)}.",
            width,
        ),
        "",
        _COLUMNS.format("epsilon", "bins", "mean error", f"{often} within", *_ENDS),
        *(_line(row, answer) for row in answer.by_epsilon),
        _COLUMNS.format("no noise", "", "-", "-", "-", _share(answer.sampling, answer)),
        "",
        *wrapped(_verdict(answer), width),
    ]
    return "\n".join(lines)


def _settings(answer: PrivacyPlan) -> str:
    where = "in each silo" if answer.mode == "dp" else "inside a secure sum"
    doses = f"{plain(answer.doses)} {'dose' if answer.doses == 1 else 'doses'} in the sum"
    return (
        f"Noise {where}, {doses}: {counted(answer.silos, 'silo')}, {answer.groups} groups of "
        f"{counted(answer.records, 'record')} each. Errors are shares of G₂."
    )


def _line(row: PrivacyRow, answer: PrivacyPlan) -> str:
    epsilon = f"{'*' if row.epsilon == answer.epsilon else ' '}{plain(row.epsilon):>8}"
    errors = (row.error, row.large_error, row.interval, row.population)
    return _COLUMNS.format(epsilon, row.bins, *(_share(error, answer) for error in errors))


def _verdict(answer: PrivacyPlan) -> str:
    row = answer.answer
    words = (
        f"At epsilon = {plain(answer.epsilon)} expect G₂ within {plain(row.error)} of that of the "
        f"raw data on average, and an interval of ±{plain(row.interval)} for it."
    )
    if row.interval > answer.disparity:
        words += " That is more than the disparity itself: ask for a larger epsilon, or for more records."
    elif row.interval < answer.sampling:
        words += " Sampling leaves more open than the noise does."
    if answer.epsilon > _WEAK:
        words += f" An epsilon above {plain(_WEAK)} protects single records weakly."
    return words


def _share(error: float, answer: PrivacyPlan) -> str:
    return f"{plain(100 * error / answer.disparity)} %"


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
