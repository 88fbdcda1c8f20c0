"""Rates at a threshold and above a quantile, in 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from fedparity.auditing.result import AuditResult
from fedparity.cli.fitting import cut, left, number, right, width_of, wrapped
from fedparity.cli.plan_words import group_words
from fedparity.diagnostics.brackets import Bracket
from fedparity.diagnostics.pooled_rates import TailReport
from fedparity.diagnostics.rates import GroupRate, Ratio
from fedparity.diagnostics.thresholds import ThresholdReport

__all__ = ["tail_text", "threshold_text"]

_LONGEST_LABEL = 20
_MOST_PAIRS = 3


def threshold_text(report: ThresholdReport, result: AuditResult, width: int = 80) -> str:
    """Return the selection rates at a threshold, their ratios, and four fifths."""
    heading = f"Share with a score of at least {number(report.threshold, 6)}"
    text = _text(heading, report.groups, report.widest_gap, result, width)
    return "\n".join([text, *_distances(result, width)])


def _distances(result: AuditResult, width: int) -> list[str]:
    """The KS distance of each pair of groups: what no threshold can exceed."""
    lines = []
    for pair in result.pairs[:_MOST_PAIRS]:
        found = result.ks_distance(*pair.groups)
        names = " and ".join(group_words(group) for group in pair.groups)
        between = f"{_percent(found.lower)} to {_percent(found.upper)}"
        words = f"{names}: no threshold shows a gap above {_percent(found.value)} ({between}; KS)."
        lines += wrapped(words, width, first="  ")
    return lines


def tail_text(report: TailReport, result: AuditResult, width: int = 80) -> str:
    """Return the shares above a quantile of all records together."""
    name = "the median" if report.level == 0.5 else f"the quantile {number(report.level, 6)}"
    cutoff = report.cutoff
    between = f"{number(cutoff.lower, 4)} to {number(cutoff.upper, 4)}"
    heading = f"Share above {name} of all records ({between})"
    return _text(heading, report.groups, report.widest_gap, result, width)


def _text(
    heading: str, groups: Sequence[GroupRate], gap: Bracket, result: AuditResult, width: int
) -> str:
    labels = [group_words(each.group) for each in groups]
    names = min(max(5, *map(width_of, labels)), _LONGEST_LABEL)
    lines = [
        cut(heading, width),
        (
            f"  {left('group', names)}{right('rate', 8)}  {left('between', 17)}"
            f"{right('to best', 8)}  between"
        ),
    ]
    for label, each in zip(labels, groups, strict=True):
        lines.append(
            cut(f"  {left(label, names)}{_rate(each.rate)}{_ratio(each)}", width).rstrip()
        )
        lines.append(f"  {'':{names}}  {each.four_fifths}")
    missing = result.silos_missing or any(silo.withheld for silo in result.silos)
    words = f"Widest gap {_percent(gap.value)} ({_percent(gap.lower)} to {_percent(gap.upper)})."
    words += " The bounds are what the sketches leave open"
    words += ", missing and withheld records included" if missing else ""
    words += "; sampling error is not in them."
    return "\n".join([*lines, *wrapped(words, width, first="  ")])


def _rate(rate: Bracket) -> str:
    between = f"{_percent(rate.lower)} to {_percent(rate.upper)}"
    return f"{right(_percent(rate.value), 8)}  {left(between, 17)}"


def _ratio(each: GroupRate) -> str:
    ratio = each.ratio_to_best
    return f"{right(_optional(ratio.value), 8)}  {left(_between(ratio), 15)}"


def _between(ratio: Ratio) -> str:
    return f"{_optional(ratio.lower)} to {_optional(ratio.upper)}"


def _optional(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
