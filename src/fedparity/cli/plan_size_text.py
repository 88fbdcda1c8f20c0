"""The answers of ``fedparity plan size`` in plain words, in 80 columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import click
import numpy as np

from fedparity.diagnostics.planning.detection import DetectableDisparity
from fedparity.diagnostics.planning.ladders import SizeRow
from fedparity.diagnostics.planning.scenario import Scenario
from fedparity.diagnostics.planning.size import SizePlan

__all__ = ["plain", "power_text", "size_text"]


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
