"""The result of an audit in plain words, in 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeVar

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult, headline_of, symbol
from fedparity.documents.result_parts import Bounded, InDeviations, SiloResult, ThresholdResult
from fedparity.documents.table_parts import TableResult
from fedparity.laws.bounds import Bounds
from fedparity.report.outcome_tables import gap_sentences, table_name
from fedparity.report.sentences.answers import (
    Rates,
    chance,
    in_points,
    method,
    points_range,
    rates_heading,
    reading_rates,
    reading_silos,
    size,
    summed_silos,
    verdict_for_all,
    worse_off,
)
from fedparity.report.sentences.caveats import left_out
from fedparity.report.sentences.naming import counted_in, given_words, mark_of
from fedparity.report.sentences.origins import (
    SHARES,
    explain_decomposition,
    in_percent,
    larger_part,
    next_steps,
    stand_ins,
    what_dominates,
)
from fedparity.report.tables import all_rates
from fedparity.text import (
    FOUR_FIFTHS,
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

_LINES = 23
"""Of a screen of 24 lines, one is for the prompt."""
_ALL, _SOME = 40, 15
"""With details, up to the first number of silos all are shown; of more, the second number."""
_SHOWN, _MOST_PAIRS = 8, 3
"""Groups and pairs; the JSON has them all."""
_BRIEF, _FEWEST_SILOS = 4, 4
"""Groups in the short answer, and the fewest lines for its table of silos."""
_COUNT, _VALUE, _INFLUENCE = 9, 9, 9
_LABEL, _LONGEST_GROUP, _LONGEST_NAME = 15, 28, 22
_BRIEF_LABEL = 14
_SAID_FIRST = frozenset(
    {
        "no_intersections",
        "silos_missing",
        "silos_dropped_out",
        "group_set_aside",
        "implausible_count",
    }
)
"""Codes of the warnings that are printed at the top, not among the others."""
_WRONG_GROUPS = "labels_alike"
"""The code of the warning that is always printed in full: with it, every number is of other groups than was meant."""


def audit_text(result: AuditResult, width: int = 80, *, details: bool = False) -> str:
    """Return the result as text of at most ``width`` columns (60 or more), without color.

    The short answer fits a screen of 24 lines at 80 columns, unless names are very long or the plan has
    axes or an outcome, whose tables are shown. ``details``
    adds every silo and warning, the rates with their intervals, the formulas, every kind of bound,
    and further measures.
    """
    return _joined(_detailed(result, width) if details else _brief(result, width))


def _joined(sections: Iterable[list[str]]) -> str:
    return "\n\n".join("\n".join(section) for section in sections if section)


def _brief(result: AuditResult, width: int) -> list[list[str]]:
    """The headline, the groups, the sources of the disparity, and as many silos as fit."""
    origin = wrapped(f"{result.plan.title}: {size(result)}.", width)
    first = [_headline(result, width), _brief_groups(result, width)]
    sources = wrapped(in_percent(result), width)
    fewest = 1 if summed_silos(result) else min(_FEWEST_SILOS, len(result.silos) + 1)
    # warnings in full give way to their codes, then the sources to what is missing
    for most, where in ((2, sources), (1, sources), (0, sources), (0, [])):
        last = origin + _warnings(result, width, most)
        room = _LINES - len(_joined([*first, where, last]).splitlines()) - 1
        if room >= fewest or (most == 0 and room >= -1):
            break
    tables = _tables(result, width)
    tables += [
        _outcomes(result, place, width, most=1)
        for place, each in enumerate(result.tables)
        if len(each.by) == 1 or len(result.tables) == 1
    ]
    return [*first, *tables, where, _silos(result, width, room), last]


def _detailed(result: AuditResult, width: int) -> list[list[str]]:
    terms = wrapped(explain_decomposition(result), width, first="  ")
    about = f"{result.plan.title}: {size(result)}; {method(result)}."
    sections = [
        _headline(result, width),
        wrapped(about, width, first="  "),
        _groups(result, width),
        *(_rates(each, result, width) for each in all_rates(result)),
        *_tables(result, width),
        *(_outcomes(result, place, width) for place in range(len(result.tables))),
        _pairs(result, width),
        _sources(result, width),
        ["Silos", *_silos(result, width, None)],
        _withheld(result, width),
        _measures(result, width),
        _magnitudes(result, width),
        ["Terms", *terms],
    ]
    sections += [_distances(result, width)] if result.federation is not None else []
    return [*sections, _warnings(result, width, None)]


def _each(sentences: Iterable[str], width: int, first: str = "  ") -> Iterator[str]:
    """The lines of several sentences, each of which begins on its own line."""
    return chain.from_iterable(wrapped(each, width, first=first) for each in sentences)


def _headline(result: AuditResult, width: int) -> list[str]:
    """How far apart, who is worse off, the one range, what casts doubt on it, and what to do next."""
    sentence = " ".join(filter(None, (in_points(result), worse_off(result))))
    lines = wrapped(sentence, width, first=f"{mark_of(result).shape} ")
    lines += wrapped(points_range(result), width, first="  ")
    if (for_all := verdict_for_all(result)) is not None:
        lines += wrapped(for_all[1], width, first=f"  {for_all[0]} ")
    lines += _each(left_out(result), width, "  ! ")
    return lines + wrapped(" ".join(next_steps(result)), width, first="  Next: ", rest="  ")


def _warnings(result: AuditResult, width: int, most: int | None) -> list[str]:
    """The warnings that the headline does not say, each with its code; of many the first."""
    others = [warning for warning in result.warnings if warning.code not in _SAID_FIRST]
    others.sort(key=lambda warning: warning.code != _WRONG_GROUPS)
    if most == 0 and others and others[0].code == _WRONG_GROUPS:
        most = 1
    shown = others[:most]
    lines = list(_each((f"{each.text} [{each.code}]" for each in shown), width, "! "))
    if left_over := others[len(shown) :]:
        codes = ", ".join(dict.fromkeys(warning.code for warning in left_over))
        words = f"{counted(len(left_over), 'more warning' if shown else 'warning')} with --details: {codes}."
        lines += wrapped(words, width, first="! ")
    return lines


def _brief_groups(result: AuditResult, width: int) -> list[str]:
    """Records, mean, and at the first threshold rate and ratio with interval and answer."""
    rates, worst = all_rates(result)[:1], result.magnitudes.worst_pair.groups
    # of many groups those of the headline, and others in their order
    chosen = sorted(result.groups, key=lambda each: each.group not in worst)[:_BRIEF]
    places = [place for place, each in enumerate(result.groups) if each in chosen]
    shown = [result.groups[place] for place in places]
    labels = [group_words(each.group) for each in shown]
    names = min(max(5, *map(width_of, labels)), _BRIEF_LABEL)
    counts = max(9, *(2 + width_of(amount(each.n)) for each in shown))
    heading = f"{left('Group', names)}{right(counted_in(result), counts)}{right('mean', 9)}"
    for found in rates:
        heading += (
            f"{right(_rate_column(found), 15)}{right('ratio', 8)}  95 % range      four fifths"
        )
        heading = heading.replace("95 %", percent(found.confidence))
    lines = [heading]
    for place, label, each in zip(places, labels, shown, strict=True):
        line = f"{left(label, names)}{right(amount(each.n), counts)}{right(number(each.mean), 9)}"
        for found in rates:
            rate = found.groups[place]
            line += (
                f"{right(_percent(rate.rate.value), 15)}{right(_ratio(rate.ratio.value), 8)}  "
                f"{left(_between(_ratio, rate.ratio.interval), 16)}{FOUR_FIFTHS[rate.answer]}"
            )
        lines.append(line)
    more = [
        *(
            [counted(len(result.groups) - _BRIEF, "more group")]
            if len(result.groups) > _BRIEF
            else []
        ),
        *(
            [counted(len(all_rates(result)) - 1, "more threshold")]
            if len(all_rates(result)) > 1
            else []
        ),
    ]
    lines = [cut(line, width) for line in lines]
    return [*lines, f"{' and '.join(more)} with --details"] if more else lines


def _rate_column(rates: Rates) -> str:
    """A short heading of the rates: ``below 5``, ``5 or above``, ``above median``."""
    if isinstance(rates, ThresholdResult):
        score = number(rates.score, 6)
        return f"{score} or above" if rates.favorable == "above" else f"below {score}"
    return "above median" if rates.level == 0.5 else f"above rank {number(rates.level, 4)}"


def _groups(result: AuditResult, width: int) -> list[str]:
    shown = [group_words(each.group) for each in result.groups[:_SHOWN]]
    names = min(max(_LABEL, *map(width_of, shown)), _LONGEST_GROUP)
    columns = f"{right(counted_in(result), 12)}{right('share', 9)}{right('mean', 11)}"
    lines = [f"{left('Group', names + 2)}{columns}"]
    lines += [
        f"  {left(group_words(each.group), names)}{right(amount(each.n), 12)}"
        f"{right(percent(each.share), 9)}{right(number(each.mean), 11)}"
        for each in result.groups[:_SHOWN]
    ]
    return [cut(line, width) for line in lines] + _more(len(result.groups), "group")


def _tables(result: AuditResult, width: int) -> list[list[str]]:
    """The tables by axis, and that of the groups of the plan where they cannot be compared."""
    return [_table(result, each, width) for each in result.tables if each.by or each.note]


def _table(result: AuditResult, table: TableResult, width: int) -> list[str]:
    """The rows of a table by axis, its rates at the first threshold, and how far apart they are."""
    labels = [group_words(each.group) for each in table.groups]
    names = min(max(_LABEL, *map(width_of, labels)), _BRIEF_LABEL)
    ratios = {}
    columns = f"{right('records', 10)}{right('share', 9)}{right('mean', 9)}"
    if table.thresholds:
        ratios = {each.group: each.ratio.value for each in table.thresholds[0].groups}
        columns += f"{right('rate', 9)}{right('ratio', 9)}"
    lines = [f"{left('By ' + table_name(result, table), names + 2)}{columns}"]
    for label, each in zip(labels, table.groups, strict=True):
        known = ("-", "-") if each.status == "withheld" else (amount(each.n), percent(each.share))
        numbers = f"{right(known[0], 10)}{right(known[1], 9)}"
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
            f"Furthest apart: {group_words(worst.groups[0])} and {group_words(worst.groups[1])}, "
            f"by {number(worst.corrected)} points ({_between(number, worst.interval)})"
        )
    return [*lines, *wrapped(f"{words[:1].upper()}{words[1:]}.", width, first="  ")]


def _outcomes(
    result: AuditResult, place: int, width: int, *, most: int | None = None
) -> list[str]:
    """How well scores separate the outcomes of each row, its errors at the first threshold, and gaps."""
    table = result.tables[place]
    found = table.outcome
    if found is None:
        return []
    labels = [group_words(each.group) for each in found.groups]
    by = f"Outcomes by {', '.join(table.by) or 'group'}"
    names = min(max(width_of(by) - 2, *map(width_of, labels)), _LONGEST_NAME)
    shown = {each.measure: each for each in found.thresholds[0].rates} if found.thresholds else {}
    kinds = [name for name in ("tpr", "fpr", "ppv") if name in shown]
    heads = "".join(right(name.upper(), 9) for name in kinds)
    often = f"{percent(found.confidence)} range"
    lines = [f"{left(by, names + 2)}{right('AUC', 8)}  {left(often, 16)}{heads}"]
    for row, (label, each) in enumerate(zip(labels, found.groups, strict=True)):
        numbers = f"{right(number(each.auc.value), 8)}  "
        numbers += left(_between(number, each.auc.sampling), 16)
        for name in kinds:
            rate = shown[name].groups[row].rate
            numbers += right("-" if rate is None else _percent(rate.value), 9)
        lines.append(cut(f"  {left(label, names)}{numbers}", width))
    gaps = gap_sentences(result, place)
    shown_gaps = gaps[:most]
    for sentence in shown_gaps:
        lines += wrapped(sentence, width, first="  ")
    if left_over := len(gaps) - len(shown_gaps):
        lines.append(f"  {counted(left_over, 'more gap')} with --details.")
    return lines


def _rates(report: Rates, result: AuditResult, width: int) -> list[str]:
    """The share of each group, its ratio to the highest, and four fifths."""
    labels = [group_words(each.group) for each in report.groups]
    names = min(max(5, *map(width_of, labels)), _BRIEF_LABEL)
    often = f"{percent(report.confidence)} range"
    columns = f"{right('rate', 8)}  {left(often, 17)}{right('ratio', 7)}  {left(often, 16)}"
    lines = [cut(rates_heading(report), width), f"  {left('group', names)}{columns}four fifths"]
    for label, each in zip(labels, report.groups, strict=True):
        rate, ratio = each.rate, each.ratio
        columns = (
            f"{right(_percent(rate.value), 8)}  {left(_between(_percent, rate.interval), 17)}"
            f"{right(_ratio(ratio.value), 7)}  {left(_between(_ratio, ratio.interval), 16)}"
            f"{FOUR_FIFTHS[each.answer]}"
        )
        lines.append(cut(f"  {left(label, names)}{columns}", width))
    words = f"Ratio: to the highest rate. {reading_rates(report, result)}"
    return [*lines, *wrapped(words, width, first="  ")]


def _distances(result: AuditResult, width: int) -> list[str]:
    """The KS distance of each pair of groups: the largest gap at any threshold."""
    lines = ["At any threshold"]
    for pair in result.pairs[:_MOST_PAIRS]:
        found = result.ks_distance(*pair.groups)
        names = " and ".join(group_words(group) for group in pair.groups)
        between = _between(_points, (found.lower, found.upper))
        words = f"{names}: largest gap at any threshold {_points(found.value)} percentage points ({between}; KS)."
        lines += wrapped(words, width, first="  ")
    return lines


_Number = TypeVar("_Number", bound=float | None)


def _between(words: Callable[[_Number], str], ends: Iterable[_Number]) -> str:
    return " to ".join(map(words, ends))


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


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
    return lines + _more(len(result.pairs), "pair")


def _more(total: int, thing: str) -> list[str]:
    more = total - _SHOWN
    return [f"  and {counted(more, f'more {thing}')} in the JSON"] if more > 0 else []


def _sources(result: AuditResult, width: int) -> list[str]:
    parts, whole = result.attribution, result.disparity.value
    lines = ["Where it comes from"]
    if parts.selection is None:
        return [*lines, *wrapped(what_dominates(result), width, first="  ")]
    for name, value, ends, meaning in (
        ("selection", parts.selection, parts.intervals.selection, "groups spread over silos"),
        ("within", parts.within, parts.intervals.within, "groups inside silos"),
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


def _silos(result: AuditResult, width: int, most: int | None) -> list[str]:
    """A table of the silos that fits ``width`` columns, and ``most`` lines if that is not None."""
    if summed := summed_silos(result):
        return wrapped(summed, width, first="" if most is not None else "  ")
    influence = {each.silo: each.influence for each in result.attribution.silos}
    shown, reading = list(result.silos), wrapped(reading_silos(result), width, first="  ")
    rows = _SOME if len(shown) > _ALL else len(shown)
    if most is not None:  # a heading, and a line that counts the rest
        rows = len(shown) if len(shown) <= most - 1 else most - 2
        reading = []
    if rows < 1:
        return []
    if rows < len(shown):
        shown = sorted(shown, key=lambda silo: -abs(influence[silo.silo] or 0.0))[:rows]
    names = max(min(max((width_of(silo.silo) for silo in shown), default=4), _LONGEST_NAME), 4)
    space = width - (2 + names + _COUNT + _VALUE + 2 + 1 + _INFLUENCE)
    scale, headline = _Scale(result, shown, space), headline_of(result)
    heading_alone = "alone" if most is not None else f"{headline.symbol} alone"
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
    if more := len(result.silos) - len(shown):
        where = (
            "with --details" if most is not None and len(result.silos) <= _ALL else "in the JSON"
        )
        lines.append(f"  and {more:,} of smaller influence, {where}")
    return lines + reading


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
        ("  certificate", None, found.certificate, "for the silos' own records"),
        ("  combined", None, found.combined, "interval and certificate"),
        ("  outer bounds", None, found.outer, "if missing is anything"),
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
    words = f"The ranges are what the silos' own records could give, {given_words(result)}."
    return [*lines, *wrapped(words, width, first="  ")]


def _measure(name: str, value: float | None, ends: Bounds | None, meaning: str, width: int) -> str:
    shown = "" if value is None else number(value)
    between = "" if ends is None else span(ends)
    return cut(f"{left(name, 17)}{right(shown, 9)}   {left(between, 20)} {meaning}", width)
