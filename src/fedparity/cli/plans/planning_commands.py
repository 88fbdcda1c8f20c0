"""``fedparity plan size`` and ``plan privacy``: what an audit can find, before any silo sends numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import click
import numpy as np

from fedparity.cli.options import POSITIVE, PROBABILITY, json_option, nested, option, with_options
from fedparity.cli.output import print_json, progress_bar
from fedparity.federated.estimate import Estimator
from fedparity.laws.progress import Progress
from fedparity.planning.audit_size import SizePlan, plan_size
from fedparity.planning.detection import DetectableDisparity, detectable_disparity
from fedparity.planning.noise_cost import PrivacyPlan, plan_privacy
from fedparity.planning.scenario import SHAPES, Scenario
from fedparity.planning.simulation import SizeRow
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_SKETCH
from fedparity.text import counted, wrapped

__all__ = ["PrivacyOptions", "SizeOptions", "plain", "privacy", "size"]


_SHAPE = click.Choice(list(SHAPES))


@dataclass(frozen=True)
class ScenarioOptions:
    """The audits that are simulated, as functions of the library take them."""

    silos: int = option("--silos", "Number of silos.", min=1, default=5)
    groups: int | None = option("--groups", "Number of groups.  [default: 2]", min=2)
    shares: tuple[float, ...] | None = option(
        "--share",
        "Size of a group, once per group; records are then those of the smallest.",
        type=POSITIVE,
    )
    shape: str = option("--shape", "Shape of the simulated scores.", type=_SHAPE, default="beta")
    score_range: tuple[float, float] | None = option("--range", "Lowest and highest score.")
    kind: Literal["mean", "quantile"] = option(
        "--kind", "Values sent: bin means or quantiles.", default=DEFAULT_SKETCH
    )
    estimator: Estimator = option(
        "--estimator", "How the auditor combines them.", default=DEFAULT_ESTIMATOR
    )
    confidence: float = option(
        "--confidence", "Share of audits in which it holds.", type=PROBABILITY, default=0.95
    )
    replicates: int = option("--replicates", "Simulated audits of each size.", min=1, default=400)
    seed: int = option("--seed", "Seed of the simulation.", min=0, default=0)

    def arguments(self) -> dict[str, Any]:
        """Return the options with the number of groups, which may follow from the shares."""
        shares = self.shares or None
        return vars(replace(self, groups=self.groups or len(shares or ()) or 2, shares=shares))


@dataclass(frozen=True)
class SizeOptions:
    """The options of a size: the target error or the given sizes, and the scenario."""

    error: float | None = option(
        "--error", "Target error, as a share of the disparity.", type=POSITIVE
    )
    absolute: bool = option("--absolute", "The error is in the units of the disparity.")
    disparity: float | None = option(
        "--disparity", "Disparity expected.  [default: the shape's]", type=POSITIVE
    )
    records: int | None = option("--records", "Records per cell that there will be.", min=2)
    power: float | None = option(
        "--power", "Probability to detect.  [default: 0.8]", type=PROBABILITY
    )
    levels: int | None = option("--levels", "Values per group and silo, if fixed already.", min=1)
    scenario: ScenarioOptions = nested(ScenarioOptions)

    def planned(self) -> SizePlan:
        """Return the size for the target error."""
        if self.records is not None or self.error is None:
            raise click.UsageError(
                "give either --error, to plan a size, or --records, to see what it detects."
            )
        if self.power is not None:
            raise click.UsageError("--power goes with --records: an error is not detected.")
        with _simulation_bar("audits") as progress:
            return plan_size(
                error=self.error,
                relative=not self.absolute,
                disparity=self.disparity,
                levels=self.levels,
                **self.scenario.arguments(),
                progress=progress,
            )

    def detectable(self, records: int) -> DetectableDisparity:
        """Return the smallest disparity that this number of records detects."""
        if self.absolute or self.disparity:
            raise click.UsageError("--absolute and --disparity go with --error.")
        stated = {"levels": self.levels, "power": self.power}
        given: dict[str, Any] = {name: each for name, each in stated.items() if each is not None}
        with _simulation_bar("audits") as progress:
            return detectable_disparity(
                records=records, **given, **self.scenario.arguments(), progress=progress
            )


@click.command
@with_options(SizeOptions)
@json_option("Print the answer as JSON.")
def size(options: SizeOptions, *, as_json: bool) -> None:
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
    answer: SizePlan | DetectableDisparity
    if options.error is None and options.records is not None:
        answer = options.detectable(options.records)
    else:
        answer = options.planned()
    if as_json:
        print_json(answer.to_dict())
    else:
        click.echo(_size_text(answer) if isinstance(answer, SizePlan) else _power_text(answer))


@dataclass(frozen=True)
class PrivacyOptions:
    """What :func:`fedparity.planning.plan_privacy` takes."""

    epsilon: float = option(
        "--epsilon", "Privacy loss of one release.", type=POSITIVE, required=True
    )
    records: int = option(
        "--records",
        "Records of the smallest group in all silos.",
        min=1,
        required=True,
    )
    silos: int = option("--silos", "Number of silos.", min=1, default=5)
    groups: int = option("--groups", "Number of groups.", min=2, default=2)
    bins: int | None = option(
        "--bins", "Number of bins.  [default: chosen by a rule]", type=click.IntRange(2, 4096)
    )
    mode: Literal["dp", "secure+dp"] = option(
        "--mode", "Noise in each silo, or inside a secure sum.", default="dp"
    )
    honest: int | None = option(
        "--honest",
        "Silos whose split noise makes one dose.  [default: full doses]",
        min=1,
    )
    disparity: float | None = option(
        "--disparity", "Disparity expected.  [default: the shape's]", type=POSITIVE
    )
    shape: str = option("--shape", "Shape of the simulated scores.", type=_SHAPE, default="beta")
    score_range: tuple[float, float] | None = option("--range", "Lowest and highest score.")
    confidence: float = option(
        "--confidence", "Confidence level of the intervals.", type=PROBABILITY, default=0.95
    )
    replicates: int = option(
        "--replicates",
        "Simulated audits of each epsilon.",
        min=10,
        default=400,
    )
    seed: int = option("--seed", "Seed of the simulation.", min=0, default=0)


@click.command
@with_options(PrivacyOptions)
@json_option("Print the answer as JSON.")
def privacy(options: PrivacyOptions, *, as_json: bool) -> None:
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
    with _simulation_bar("epsilons") as progress:
        answer = plan_privacy(**vars(options), progress=progress)
    if as_json:
        print_json(answer.to_dict())
    else:
        click.echo(_privacy_text(answer))


@contextmanager
def _simulation_bar(unit: str) -> Iterator[Progress | None]:
    with progress_bar(unit) as bar:
        yield None if bar is None else lambda done, total: bar(done, total, "simulating")


def _size_text(answer: SizePlan) -> str:
    """The two curves of errors, and the recommended size."""
    share = f"{_percent(answer.error / answer.disparity)} of {plain(answer.disparity)}"
    often = f"in {_percent(answer.scenario.confidence)} of audits"
    lines = [
        f"Wanted: G₂ within {plain(answer.error)} ({share}) {often}.",
        *_assumptions(answer.scenario),
        "",
        f"Error of the sketch, compared with its own {answer.by_levels[0].records:,} records per cell",
        *_error_lines("levels", answer.by_levels, answer, answer.sketch_error),
    ]
    if answer.by_records:
        levels = f"{answer.by_records[0].levels:,} levels"
        lines += ["", f"Error of the audit at {levels}, compared with the laws"]
        lines += _error_lines("records", answer.by_records, answer, answer.error)
    return "\n".join([*lines, "", _simulated_words(answer), _bound_words(answer)])


def _error_lines(name: str, rows: Sequence[SizeRow], answer: SizePlan, limit: float) -> list[str]:
    """A table of errors as shares of the disparity, with their curve next to it."""
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
        f"By simulation: ask for {counted(answer.levels, 'level')} from "
        f"{counted(answer.records, 'record')} per cell."
    )


def _bound_words(answer: SizePlan) -> str:
    levels = counted(answer.levels_bound, "level")
    size = (
        f"{levels}, and no number of records is enough."
        if answer.records_bound is None
        else f"{levels} from {counted(answer.records_bound, 'record')} per cell."
    )
    return f"By bounds, for {_bounded(answer.scenario)}:\n{size}"


def _power_text(answer: DetectableDisparity) -> str:
    """The curve of detectable disparities, and the one for this size."""
    size = f"{counted(answer.records, 'record')} per cell"
    rows = answer.by_records
    found = [math.nan if row.disparity is None else row.disparity for row in rows]
    lines = [
        f"An audit of {size} and {counted(answer.answer.levels, 'level')}.",
        *_assumptions(answer.scenario),
        "",
        f"{'records':>11}{'G₂':>12}{'W₂':>9}{'bound':>9}   detected G₂ on a log scale",
    ]
    for row, line in zip(rows, _curve(found, answer.disparity, 36), strict=True):
        numbers = f"{row.records:>11,}{plain(row.disparity):>12}{plain(row.wasserstein, 2):>9}"
        lines.append(f"{numbers}{plain(row.bound, 2):>9}   {line}".rstrip())
    return "\n".join([*lines, "", *_power_words(answer)])


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
    cells = f"{counted(scenario.silos, 'silo')}, {len(scenario.shares)} groups ({shares})"
    lines = [
        f"{cells}, {scenario.kind} sketches, {scenario.estimator} estimator.",
        f"Scores from {shape.low:g} to {shape.high:g}, shape {shape.name}: {shape.meaning}.",
    ]
    if len(set(scenario.shares)) > 1:
        lines.append("Records per cell are those of the smallest group.")
    return [click.wrap_text(line, width=80) for line in lines]


def _bounded(scenario: Scenario) -> str:
    """The laws to which the bounds apply."""
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


def _percent(share: float) -> str:
    return f"{plain(100 * share)} %"


def plain(value: float | None, digits: int = 3) -> str:
    """Return a number with a few digits and no exponent; a dash for none."""
    if value is None:
        return "-"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return np.format_float_positional(value, precision=digits, fractional=False, trim="-")


_WEAK = 2.0
"""An epsilon above which single records are protected weakly."""
_COLUMNS = "{:>9}{:>6}{:>13}{:>14}{:>13}{:>18}"
_ENDS = ("interval ±", "with sampling ±")


def _privacy_text(answer: PrivacyPlan, width: int = 80) -> str:
    """The table of errors, and what they mean at this epsilon."""
    where = "in each silo" if answer.mode == "dp" else "inside a secure sum"
    doses = f"{plain(answer.doses)} dose{'' if answer.doses == 1 else 's'} in the sum"
    lines = [
        *wrapped(
            f"Noise {where}, {doses}: {counted(answer.silos, 'silo')}, {answer.groups} groups of "
            f"{counted(answer.records, 'record')} each. Errors are shares of G₂.",
            width,
        ),
        *wrapped(
            f"Scores from {answer.score_range[0]:g} to {answer.score_range[1]:g}, shape "
            f"{answer.shape}: {answer.meaning}; G₂ = {plain(answer.disparity)}.",
            width,
        ),
        "",
        _COLUMNS.format(
            "epsilon", "bins", "mean error", f"{_percent(answer.confidence)} within", *_ENDS
        ),
    ]
    for row in answer.by_epsilon:
        epsilon = f"{'*' if row.epsilon == answer.epsilon else ' '}{plain(row.epsilon):>8}"
        errors = (row.error, row.large_error, row.interval, row.population)
        shares = (_percent(error / answer.disparity) for error in errors)
        lines.append(_COLUMNS.format(epsilon, row.bins, *shares))
    sampling = _percent(answer.sampling / answer.disparity)
    lines.append(_COLUMNS.format("no noise", "", "-", "-", "-", sampling))
    return "\n".join([*lines, "", *wrapped(_verdict(answer), width)])


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
