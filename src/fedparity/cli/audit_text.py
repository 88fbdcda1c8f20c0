"""The result of an audit in plain words, in 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeAlias, TypeVar

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import (
    Bounded,
    InDeviations,
    SiloResult,
    TailResult,
    ThresholdResult,
)
from fedparity.documents.table_parts import TableResult
from fedparity.laws.bounds import Bounds
from fedparity.plots.headline import headline_of, symbol
from fedparity.report.sentences.answers import (
    chance,
    in_points,
    points_range,
    reading_silos,
    size,
    summed_silos,
    two_verdicts,
)
from fedparity.report.sentences.caveats import given_words, set_aside_words
from fedparity.report.sentences.origins import (
    SHARES,
    explain_decomposition,
    larger_part,
    stand_ins,
    what_dominates,
)
from fedparity.report.verdicts import ALL, mark_of
from fedparity.text import (
    amount,
    counted,
    cut,
    left,
    number,
    percent,
    right,
    share_of,
    span,
    width_of,
    wrapped,
)

__all__ = ["audit_text"]

_ALL, _SOME = 40, 15
"""Up to the first number of silos, all are shown; of more, the second number of largest influence."""
_SHOWN, _MOST_PAIRS = 8, 3
"""Groups and pairs; the JSON has them all."""
_COUNT, _VALUE, _INFLUENCE = 9, 9, 9
_LABEL, _LONGEST_GROUP, _LONGEST_LABEL, _LONGEST_NAME = 15, 28, 20, 22
_MISSING = frozenset({"silos_missing", "silos_dropped_out"})
_SAID_FIRST = _MISSING | {"group_set_aside", "implausible_count"}
"""Codes of the warnings that stand at the top, not among the others."""

_Rates: TypeAlias = ThresholdResult | TailResult


def audit_text(result: AuditResult, width: int = 80, *, details: bool = False) -> str:
    """Return the result as text of at most ``width`` columns (60 or more), without color.

    ``details`` adds the formulas, every kind of bound, and further measures.
    """
    sections = [
        _headline(result, width),
        _missing(result, width),
        _groups(result, width),
        *(_rates(_threshold_words(each), each, result, width) for each in result.thresholds),
        *(_rates(_tail_words(each), each, result, width) for each in result.tails),
        *(_table(each, width) for each in result.tables if each.by),
        _pairs(result, width),
        _sources(result, width),
        ["Silos", *_silos(result, width)],
        _withheld(result, width),
    ]
    if details:
        terms = wrapped(explain_decomposition(result), width, first="  ")
        sections += [_measures(result, width), _magnitudes(result, width), ["Terms", *terms]]
        sections += [_distances(result, width)] if result.federation is not None else []
    others = [warning for warning in result.warnings if warning.code not in _SAID_FIRST]
    if others:
        sections.append(["Warnings", *_each((warning.text for warning in others), width, "  ! ")])
    return "\n\n".join("\n".join(section) for section in sections if section)


def _each(sentences: Iterable[str], width: int, first: str = "  ") -> Iterator[str]:
    """The lines of several sentences, each of which begins on its own line."""
    return chain.from_iterable(wrapped(each, width, first=first) for each in sentences)


def _headline(result: AuditResult, width: int) -> list[str]:
    """How far apart in points, the range, both verdicts by name, and what casts doubt on them."""
    implausible = (each.text for each in result.warnings if each.code == "implausible_count")
    lines = wrapped(in_points(result), width, first=f"{mark_of(result).shape} ")
    lines += wrapped(points_range(result), width, first="  ")
    for shape, words in two_verdicts(result):
        lines += wrapped(words, width, first=f"  {shape} ")
    lines += _each(implausible, width, "  ! ")
    return lines + wrapped(f"{result.plan.title} ({size(result)})", width, first="  ")


def _missing(result: AuditResult, width: int) -> list[str]:
    """Groups that were set aside, and silos that sent nothing."""
    silos = [warning.text for warning in result.warnings if warning.code in _MISSING]
    sentences = [*set_aside_words(result), *(f"{text[0].upper()}{text[1:]}" for text in silos)]
    if not sentences:
        return []
    heading = "Set aside, and missing" if result.set_aside and silos else "Missing"
    if result.set_aside and not silos:
        heading = "Set aside"
    return [heading, *_each(sentences, width)]


def _groups(result: AuditResult, width: int) -> list[str]:
    shown = [group_words(each.group) for each in result.groups[:_SHOWN]]
    names = min(max(_LABEL, *map(width_of, shown)), _LONGEST_GROUP)
    columns = f"{right('records', 12)}{right('share', 9)}{right('mean', 11)}"
    lines = [f"{left('Group', names + 2)}{columns}"]
    lines += [
        f"  {left(group_words(each.group), names)}{right(amount(each.n), 12)}"
        f"{right(percent(each.share), 9)}{right(number(each.mean), 11)}"
        for each in result.groups[:_SHOWN]
    ]
    return [cut(line, width) for line in lines] + _more(len(result.groups), "groups")


def _table(table: TableResult, width: int) -> list[str]:
    """The rows of a table by axis, its rates at the first threshold, and how far apart they are."""
    labels = [group_words(each.group) for each in table.groups]
    names = min(max(_LABEL, *map(width_of, labels)), _LONGEST_LABEL)
    ratios = {}
    columns = f"{right('records', 10)}{right('share', 9)}{right('mean', 9)}"
    if table.thresholds:
        ratios = {each.group: each.ratio.value for each in table.thresholds[0].groups}
        columns += f"{right('rate', 9)}{right('to best', 9)}"
    lines = [f"{left('By ' + ', '.join(table.by), names + 2)}{columns}"]
    for label, each in zip(labels, table.groups, strict=True):
        numbers = f"{right(amount(each.n), 10)}{right(percent(each.share), 9)}"
        numbers += right("-" if each.mean is None else number(each.mean), 9)
        if table.thresholds:
            rate = each.rates[0] if each.rates else None
            numbers += right("-" if rate is None else _percent(rate.value), 9)
            numbers += right(_ratio(ratios.get(each.group)), 9)
        lines.append(cut(f"  {left(label, names)}{numbers}", width))
        if each.known:
            lines += wrapped(f"{each.status}: {each.known}", width, first="    ")
    words = table.note
    if table.magnitudes is not None:
        worst = table.magnitudes.worst_pair
        words = (
            f"{group_words(worst.groups[0])} and {group_words(worst.groups[1])} are furthest apart, "
            f"by {number(worst.corrected)} points ({_between(number, worst.interval)})"
        )
    return [*lines, *wrapped(f"{words[:1].upper()}{words[1:]}.", width, first="  ")]


def _threshold_words(report: ThresholdResult) -> str:
    side = "of at least" if report.favorable == "above" else "below"
    return f"Share with a score {side} {number(report.score, 6)}"


def _tail_words(report: TailResult) -> str:
    name = "the median" if report.level == 0.5 else f"the quantile {number(report.level, 6)}"
    low, high = number(report.cutoff.lower, 4), number(report.cutoff.upper, 4)
    return f"Share above {name} of all records ({low if low == high else f'{low} to {high}'})"


def _rates(heading: str, report: _Rates, result: AuditResult, width: int) -> list[str]:
    """The share of each group, its ratio to that of the best, and four fifths."""
    labels = [group_words(each.group) for each in report.groups]
    names = min(max(5, *map(width_of, labels)), _LONGEST_LABEL)
    columns = f"{right('rate', 8)}  {left('between', 17)}{right('to best', 8)}  between"
    lines = [cut(heading, width), f"  {left('group', names)}{columns}"]
    for label, each in zip(labels, report.groups, strict=True):
        rate, ratio = each.rate, each.ratio
        columns = (
            f"{right(_percent(rate.value), 8)}  {left(_between(_percent, rate.interval), 17)}"
            f"{right(_ratio(ratio.value), 8)}  {left(_between(_ratio, ratio.interval), 15)}"
        )
        lines.append(cut(f"  {left(label, names)}{columns}", width).rstrip())
        lines.append(f"  {'':{names}}  {each.answer}")
    gap = report.widest_gap
    open_points = max(100 * (each.rate.upper - each.rate.lower) for each in report.groups)
    known = f"to {number(open_points, 2)} points" if open_points > 1e-9 else "exactly"
    missing = result.silos_missing or any(silo.withheld for silo in result.silos)
    words = (
        f"Widest gap {_percent(gap.value)} ({_between(_percent, gap.interval)}). "
        f"These are {percent(report.confidence)} intervals: they count sampling and what the "
        f"sketches leave open. The rates of the records themselves are known {known}."
        f"{f' {ALL}: {report.all}.' if missing else ''}"
    )
    return [*lines, *wrapped(words, width, first="  ")]


def _distances(result: AuditResult, width: int) -> list[str]:
    """The KS distance of each pair of groups: what no threshold can exceed."""
    lines = ["At any threshold"]
    for pair in result.pairs[:_MOST_PAIRS]:
        found = result.ks_distance(*pair.groups)
        names = " and ".join(group_words(group) for group in pair.groups)
        between = _between(_percent, (found.lower, found.upper))
        words = f"{names}: no threshold shows a gap above {_percent(found.value)} ({between}; KS)."
        lines += wrapped(words, width, first="  ")
    return lines


_Number = TypeVar("_Number", bound=float | None)


def _between(words: Callable[[_Number], str], ends: Iterable[_Number]) -> str:
    return " to ".join(map(words, ends))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _pairs(result: AuditResult, width: int) -> list[str]:
    """The distance of every two groups; of two groups alone the headline says it."""
    if len(result.pairs) == 1:
        return []
    lines = ["Pairs"]
    for pair in sorted(result.pairs, key=lambda pair: -pair.corrected)[:_SHOWN]:
        first, second = (cut(group_words(group), _LONGEST_GROUP) for group in pair.groups)
        words = (
            f"{first} and {second}: {number(pair.corrected)} points apart "
            f"({span(pair.interval)}, {percent(result.confidence)} interval), means by "
            f"{number(abs(pair.mean_gap))}"
        )
        lines += wrapped(words, width, first="  ", rest="    ")
    return lines + _more(len(result.pairs), "pairs")


def _more(total: int, things: str) -> list[str]:
    return [f"  and {total - _SHOWN:,} more {things} in the JSON"] if total > _SHOWN else []


def _sources(result: AuditResult, width: int) -> list[str]:
    parts, whole = result.attribution, result.disparity.value
    lines = ["Where it comes from"]
    if parts.selection is None:
        return [*lines, *wrapped(what_dominates(result), width, first="  ")]
    for name, value, ends, meaning in (
        ("selection", parts.selection, parts.intervals.selection, "groups in different silos"),
        ("within", parts.within, parts.intervals.within, "scores differ in silos"),
    ):
        share = share_of(value, whole) if whole > 0 and value is not None else "-"
        between = "-" if ends is None else span(ends)
        lines.append(
            cut(
                f"  {left(name, 10)}{right('-' if value is None else number(value), 10)}{right(share, 8)}   "
                f"{left(between, 21)} {meaning}",
                width,
            )
        )
    limits = SHARES if larger_part(result) is not None else ""
    words = " ".join(filter(None, (what_dominates(result), limits, stand_ins(result))))
    return [*lines, *wrapped(words, width, first="  ")]


def _silos(result: AuditResult, width: int) -> list[str]:
    """A table of the silos that fits ``width`` columns."""
    if summed := summed_silos(result):
        return wrapped(summed, width, first="  ")
    influence = {each.silo: each.influence for each in result.attribution.silos}
    shown = list(result.silos)
    if len(shown) > _ALL:
        shown = sorted(shown, key=lambda silo: -abs(influence[silo.silo] or 0.0))[:_SOME]
    names = max(min(max((width_of(silo.silo) for silo in shown), default=4), _LONGEST_NAME), 4)
    space = width - (2 + names + _COUNT + _VALUE + 2 + 1 + _INFLUENCE)
    scale, headline = _Scale(result, shown, space), headline_of(result)
    heading_alone = f"{headline.symbol} alone"
    heading = (
        f"  {left('silo', names)}{right('records', _COUNT)}{right(heading_alone, _VALUE)}  "
        f"{left(scale.legend, space)} {right('influence', _INFLUENCE)}"
    )
    lines = [heading.rstrip()]
    for silo in shown:
        own = headline.of_silo(silo)
        alone = "-" if own is None else number(own)
        drawn = scale.drawn(silo) if silo.disparity is not None else cut(silo.note, space)
        lines.append(
            f"  {left(silo.silo, names)}{right(_records(silo), _COUNT)}{right(alone, _VALUE)}  "
            f"{left(drawn, space)} {right(_signed(influence[silo.silo]), _INFLUENCE)}".rstrip()
        )
    words, more = reading_silos(result), len(result.silos) - len(shown)
    if more:
        words = f"The {len(shown)} of largest influence; {more:,} more are in the JSON. {words}"
    return lines + wrapped(words, width, first="  ")


def _records(silo: SiloResult) -> str:
    known = [count for count in silo.n.values() if count is not None]
    if not known:
        return "-"
    more = "+" if len(known) < len(silo.n) else ""
    return f"{sum(known):,.12g}{more}"


def _signed(value: float | None) -> str:
    if value is None:
        return "-"
    text = number(value, 2)
    return f"+{text}" if value > 0 else text


class _Scale:
    """Positions of what silos show alone, in the headline's unit, from 0 to the largest one."""

    def __init__(self, result: AuditResult, shown: list[SiloResult], width: int) -> None:
        self.width, self.headline = width, headline_of(result)
        self.whole = self.headline.whole
        ends = [ends.upper for silo in shown if (ends := self._interval(silo)) is not None]
        alone = [self.headline.of_silo(silo) or 0.0 for silo in shown]
        self.largest = max((self.whole, *ends, *alone)) or 1.0

    def _interval(self, silo: SiloResult) -> Bounds | None:
        return silo.interval if self.headline.has_intervals else None

    @property
    def legend(self) -> str:
        """The scale in words."""
        return f"0 to {number(self.largest, 2)}{self.headline.in_points}, ┊ all silos"

    def drawn(self, silo: SiloResult) -> str:
        """What the silo shows alone, its interval if it has one, and all silos together."""
        marks = [" "] * self.width
        marks[self._at(self.whole)] = "┊"
        if (ends := self._interval(silo)) is not None:
            start, end = map(self._at, ends)
            marks[start : end + 1] = "─" * (end + 1 - start)
        marks[self._at(self.headline.of_silo(silo) or 0.0)] = "●"
        return "".join(marks).rstrip()

    def _at(self, value: float) -> int:
        return min(round(value / self.largest * (self.width - 1)), self.width - 1)


def _withheld(result: AuditResult, width: int) -> list[str]:
    aside = {each.group for each in result.set_aside}
    silos = [silo for silo in result.silos if silo.withheld.keys() - aside]
    if not silos:
        return []

    def reasons(silo: SiloResult) -> str:
        words = silo.withheld.items()
        return ", ".join(f"{group_words(g)} ({why})" for g, why in words if g not in aside)

    notes = "; ".join(f"{silo.silo}: {reasons(silo)}" for silo in silos[:_SHOWN])
    more = len(silos) - _SHOWN
    rest = f"; and {counted(more, 'more silo')}" if more > 0 else ""
    return ["Withheld", *wrapped(f"{notes}{rest}.", width, first="  ")]


def _measures(result: AuditResult, width: int) -> list[str]:
    """The disparity as the paper defines it, with every kind of bound."""
    found, often = result.disparity, f"{percent(result.confidence)} interval"
    rows = [
        (f"Disparity {symbol('G', result)}", found.value, found.interval, often),
        ("  corrected", found.corrected, None, "noise on average taken off"),
        ("  certificate", None, found.certificate, given_words(result)),
        ("  combined", None, found.combined, "interval and certificate"),
        ("  outer bounds", None, found.outer, "and all that is missing"),
        (
            f"Heterogeneity {symbol('H', result)}",
            result.heterogeneity.value,
            result.heterogeneity.interval,
            often,
        ),
    ]
    zero = f"{symbol('G', result)} = 0 means that all groups have the same distribution of scores."
    return [
        *(_measure(*row, width) for row in rows),
        *wrapped(f"{chance(result)} {zero}", width, first="  "),
    ]


def _magnitudes(result: AuditResult, width: int) -> list[str]:
    """Other sizes of the disparity, with what the raw data could be."""
    found = result.magnitudes
    rows: list[tuple[str, Bounded | InDeviations, str]] = [
        ("Least change", found.points, "points to be alike"),
        ("Equal weights", found.equal_weights, "points, groups as large"),
        ("Variance share", found.variance_share, "of the score's variance"),
        ("Location share", found.location_share, "of it by means"),
        ("Distance in sd", found.standardized.distance, "standard deviations"),
        ("Mean gap in sd", found.standardized.mean_gap, "standard deviations"),
    ]
    rows += [
        (f"  {cut(group_words(each.group), 14)}", each, "points from the center")
        for each in found.burden[:_SHOWN]
    ]
    lines = [
        _measure(name, each.value, each.certificate, unit, width) for name, each, unit in rows
    ]
    words = f"The ranges are what the raw data could be, {given_words(result)}."
    return [*lines, *wrapped(words, width, first="  ")]


def _measure(name: str, value: float | None, ends: Bounds | None, meaning: str, width: int) -> str:
    shown = "" if value is None else number(value)
    between = "" if ends is None else span(ends)
    return cut(f"{left(name, 17)}{right(shown, 9)}   {left(between, 20)} {meaning}", width)
