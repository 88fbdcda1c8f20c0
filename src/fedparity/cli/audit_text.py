"""The result of an audit in plain words, in 80 columns."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain

from fedparity.auditing.parts import Bounded, InDeviations, PairResult, SiloResult
from fedparity.auditing.result import AuditResult
from fedparity.cli.fitting import cut, left, right, width_of, wrapped
from fedparity.cli.silo_lines import silo_lines
from fedparity.cli.threshold_text import distances_text, tail_text, threshold_text
from fedparity.diagnostics.intervals import Interval
from fedparity.laws.labels import Group
from fedparity.report.numbers import amount, counted, number, percent, share_of, span
from fedparity.report.sentences.accuracy import given_words
from fedparity.report.sentences.alone import summed_silos
from fedparity.report.sentences.answers import chance, size
from fedparity.report.sentences.naming import group_words, symbol
from fedparity.report.sentences.sizes import (
    in_points,
    points_range,
    set_aside_words,
    two_verdicts,
)
from fedparity.report.sentences.sources import (
    SHARES,
    explain_decomposition,
    larger_part,
    stand_ins,
    what_dominates,
)
from fedparity.report.verdicts import mark_of

__all__ = ["audit_text"]

_SHOWN = 8
"""Groups and pairs; the JSON has them all."""
_LABEL, _LONGEST_LABEL = 15, 28
_MISSING = frozenset({"silos_missing", "silos_dropped_out"})
_SAID_FIRST = _MISSING | {"group_set_aside", "implausible_count"}
"""Codes of the warnings that stand at the top, not among the others."""


def audit_text(result: AuditResult, width: int = 80, *, details: bool = False) -> str:
    """Return the result as text of at most ``width`` columns (60 or more), without color.

    ``details`` adds the formulas, every kind of bound, and further measures.
    """
    sections = (
        _headline(result, width),
        _missing(result, width),
        _groups(result, width),
        *_rates(result, width),
        _pairs(result, width),
        _sources(result, width),
        ["Silos", *_silos(result, width)],
        _withheld(result, width),
        *(_details(result, width) if details else ()),
        _warnings(result, width),
    )
    lines = chain.from_iterable(["", *section] for section in sections if section)
    return "\n".join(lines).lstrip("\n")


def _headline(result: AuditResult, width: int) -> list[str]:
    """How far apart in points, the range, both verdicts by name, and what casts doubt on them."""
    verdicts = (
        wrapped(words, width, first=f"  {shape} ") for shape, words in two_verdicts(result)
    )
    implausible = (each.text for each in result.warnings if each.code == "implausible_count")
    return [
        *wrapped(in_points(result), width, first=f"{mark_of(result).shape} "),
        *wrapped(points_range(result), width, first="  "),
        *chain.from_iterable(verdicts),
        *chain.from_iterable(wrapped(text, width, first="  ! ") for text in implausible),
        *wrapped(f"{result.plan.title} ({size(result)})", width, first="  "),
    ]


def _missing(result: AuditResult, width: int) -> list[str]:
    """Groups that were set aside, and silos that sent nothing."""
    silos = [warning.text for warning in result.warnings if warning.code in _MISSING]
    sentences = (*set_aside_words(result), *(f"{text[0].upper()}{text[1:]}" for text in silos))
    if not sentences:
        return []
    heading = "Set aside, and missing" if result.set_aside and silos else "Missing"
    if result.set_aside and not silos:
        heading = "Set aside"
    return [heading, *chain.from_iterable(wrapped(each, width, first="  ") for each in sentences)]


def _groups(result: AuditResult, width: int) -> list[str]:
    shown = [group_words(each.group) for each in result.groups[:_SHOWN]]
    names = min(max(_LABEL, *map(width_of, shown)), _LONGEST_LABEL)
    columns = f"{right('records', 12)}{right('share', 9)}{right('mean', 11)}"
    lines = [f"{left('Group', names + 2)}{columns}"]
    lines += [
        f"  {left(group_words(each.group), names)}{right(amount(each.n), 12)}"
        f"{right(percent(each.share), 9)}{right(number(each.mean), 11)}"
        for each in result.groups[:_SHOWN]
    ]
    return [cut(line, width) for line in lines] + _more(len(result.groups), "groups")


def _rates(result: AuditResult, width: int) -> list[list[str]]:
    """A table for each threshold and tail."""
    return [
        *(threshold_text(each, result, width).split("\n") for each in result.thresholds),
        *(tail_text(each, result, width).split("\n") for each in result.tails),
    ]


def _pairs(result: AuditResult, width: int) -> list[str]:
    """The distance of every two groups; of two groups alone the headline says it."""
    if len(result.pairs) == 1:
        return []
    pairs = sorted(result.pairs, key=lambda pair: -pair.corrected)[:_SHOWN]
    lines = chain.from_iterable(_pair(pair, result, width) for pair in pairs)
    return ["Pairs", *lines, *_more(len(result.pairs), "pairs")]


def _pair(pair: PairResult, result: AuditResult, width: int) -> list[str]:
    first, second = (cut(group_words(group), _LONGEST_LABEL) for group in pair.groups)
    words = (
        f"{first} and {second}: {number(pair.corrected)} points apart "
        f"({span(pair.interval)}, {percent(result.confidence)} interval), means by "
        f"{number(abs(pair.mean_gap))}"
    )
    return wrapped(words, width, first="  ", rest="    ")


def _more(total: int, things: str) -> list[str]:
    return [f"  and {total - _SHOWN:,} more {things} in the JSON"] if total > _SHOWN else []


def _silos(result: AuditResult, width: int) -> list[str]:
    summed = summed_silos(result)
    return wrapped(summed, width, first="  ") if summed else silo_lines(result, width)


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


def _withheld(result: AuditResult, width: int) -> list[str]:
    aside = {each.group for each in result.set_aside}
    silos = [silo for silo in result.silos if silo.withheld.keys() - aside]
    if not silos:
        return []
    notes = "; ".join(f"{silo.silo}: {_reasons(silo, aside)}" for silo in silos[:_SHOWN])
    more = len(silos) - _SHOWN
    rest = f"; and {counted(more, 'more silo')}" if more > 0 else ""
    return ["Withheld", *wrapped(f"{notes}{rest}.", width, first="  ")]


def _reasons(silo: SiloResult, aside: Collection[Group]) -> str:
    """Why cells were withheld, but for those of groups that were set aside altogether."""
    return ", ".join(
        f"{group_words(group)} ({reason})"
        for group, reason in silo.withheld.items()
        if group not in aside
    )


def _warnings(result: AuditResult, width: int) -> list[str]:
    others = [warning for warning in result.warnings if warning.code not in _SAID_FIRST]
    if not others:
        return []
    return [
        "Warnings",
        *chain.from_iterable(wrapped(each.text, width, first="  ! ") for each in others),
    ]


def _details(result: AuditResult, width: int) -> tuple[list[str], ...]:
    return (
        _measures(result, width),
        _magnitudes(result, width),
        ["Terms", *wrapped(explain_decomposition(result), width, first="  ")],
        distances_text(result, width).split("\n") if result.federation is not None else [],
    )


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


def _measure(
    name: str, value: float | None, ends: Interval | None, meaning: str, width: int
) -> str:
    shown = "" if value is None else number(value)
    between = "" if ends is None else span(ends)
    return cut(f"{left(name, 17)}{right(shown, 9)}   {left(between, 20)} {meaning}", width)
