"""Rates at a threshold and above a quantile, in 80 columns."""

from __future__ import annotations

from typing import TypeAlias

from fedparity.auditing.parts import TailResult, ThresholdResult
from fedparity.auditing.result import AuditResult
from fedparity.cli.fitting import cut, left, number, right, width_of, wrapped
from fedparity.cli.plan_words import group_words
from fedparity.diagnostics.rates import GroupRate
from fedparity.report.numbers import percent
from fedparity.report.verdicts import ALL

__all__ = ["distances_text", "tail_text", "threshold_text"]

_LONGEST_LABEL = 20
_MOST_PAIRS = 3

_Rates: TypeAlias = ThresholdResult | TailResult


def threshold_text(report: ThresholdResult, result: AuditResult, width: int = 80) -> str:
    """Return the selection rates at a threshold, their ratios, and four fifths."""
    side = "of at least" if report.favorable == "above" else "below"
    heading = f"Share with a score {side} {number(report.threshold, 6)}"
    return "\n".join(_lines(heading, report, result, width))


def tail_text(report: TailResult, result: AuditResult, width: int = 80) -> str:
    """Return the shares above a quantile of all records together."""
    name = "the median" if report.level == 0.5 else f"the quantile {number(report.level, 6)}"
    cutoff = report.cutoff
    low, high = number(cutoff.lower, 4), number(cutoff.upper, 4)
    heading = f"Share above {name} of all records ({low if low == high else _between(low, high)})"
    return "\n".join(_lines(heading, report, result, width))


def _lines(heading: str, report: _Rates, result: AuditResult, width: int) -> list[str]:
    labels = [group_words(each.group) for each in report.groups]
    names = min(max(5, *map(width_of, labels)), _LONGEST_LABEL)
    lines = [
        cut(heading, width),
        (
            f"  {left('group', names)}{right('rate', 8)}  {left('between', 17)}"
            f"{right('to best', 8)}  between"
        ),
    ]
    for label, each in zip(labels, report.groups, strict=True):
        numbers = f"{_rate(each)}{_ratio(each)}"
        lines.append(cut(f"  {left(label, names)}{numbers}", width).rstrip())
        lines.append(f"  {'':{names}}  {each.four_fifths}")
    return [*lines, *wrapped(_meaning(report, result), width, first="  ")]


def _meaning(report: _Rates, result: AuditResult) -> str:
    """The widest gap, what the intervals count, what is known of the records, and for whom."""
    gap = report.widest_gap
    open_points = max(100 * (each.rate.upper - each.rate.lower) for each in report.groups)
    known = f"to {number(open_points, 2)} points" if open_points > 1e-9 else "exactly"
    missing = result.silos_missing or any(silo.withheld for silo in result.silos)
    beyond = f" {ALL}: {report.all}." if missing else ""
    return (
        f"Widest gap {_percent(gap.value)} ({_between(*map(_percent, gap.interval))}). "
        f"These are {percent(report.confidence)} intervals: they count sampling and what the "
        f"sketches leave open. The rates of the records themselves are known {known}.{beyond}"
    )


def distances_text(result: AuditResult, width: int = 80) -> str:
    """Return the KS distance of each pair of groups: what no threshold can exceed."""
    lines = ["At any threshold"]
    for pair in result.pairs[:_MOST_PAIRS]:
        found = result.ks_distance(*pair.groups)
        names = " and ".join(group_words(group) for group in pair.groups)
        between = _between(_percent(found.lower), _percent(found.upper))
        words = f"{names}: no threshold shows a gap above {_percent(found.value)} ({between}; KS)."
        lines += wrapped(words, width, first="  ")
    return "\n".join(lines)


def _rate(each: GroupRate) -> str:
    between = _between(*map(_percent, each.rate.interval))
    return f"{right(_percent(each.rate.value), 8)}  {left(between, 17)}"


def _ratio(each: GroupRate) -> str:
    between = _between(*map(_optional, each.ratio_to_best.interval))
    return f"{right(_optional(each.ratio_to_best.value), 8)}  {left(between, 15)}"


def _between(low: str, high: str) -> str:
    return f"{low} to {high}"


def _optional(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
