"""The result of an audit in plain words, in 80 columns."""

from __future__ import annotations

from itertools import chain

from fedparity.auditing.parts import PairResult
from fedparity.auditing.result import AuditResult
from fedparity.cli.fitting import cut, left, right, wrapped
from fedparity.cli.silo_lines import silo_lines
from fedparity.diagnostics.intervals import Interval
from fedparity.report.numbers import amount, counted, number, percent, share_of, span, told_apart
from fedparity.report.sentences.accuracy import given_words
from fedparity.report.sentences.answers import chance, size
from fedparity.report.sentences.naming import group_words, symbol
from fedparity.report.sentences.sources import (
    SHARES,
    explain_decomposition,
    larger_part,
    stand_ins,
    what_dominates,
)
from fedparity.report.verdicts import mark_of, verdict_words

__all__ = ["audit_text"]

_SHOWN = 8
"""Groups and pairs; the JSON has them all."""
_LABEL = 15


def audit_text(result: AuditResult, width: int = 80) -> str:
    """Return the result as text of at most ``width`` columns (60 or more), without colour."""
    sections = (
        _headline(result, width),
        _measures(result, width),
        _groups(result, width),
        _sources(result, width),
        _terms(result, width),
        ["Silos", *silo_lines(result, width)],
        _withheld(result, width),
        _warnings(result, width),
    )
    lines = chain.from_iterable(["", *section] for section in sections if section)
    return "\n".join(lines).lstrip("\n")


def _headline(result: AuditResult, width: int) -> list[str]:
    return [
        *wrapped(_verdict(result), width, first=f"{mark_of(result).shape} "),
        *wrapped(f"{result.plan.title} ({size(result)})", width, first="  "),
    ]


def _verdict(result: AuditResult) -> str:
    found, measure, level = result.disparity, symbol("G", result), result.disparity.review_level
    if level is None:
        value = f"{measure} = {number(found.value)}"
        return f"{value}; the plan names no review level to compare it with."
    value = f"{measure} = {told_apart(found.value, level)}"
    low, high = (told_apart(end, level) for end in found.combined)
    errors = f"between {low} and {high} with all errors counted"
    return f"{verdict_words(result)}: {value}, {errors}."


def _measures(result: AuditResult, width: int) -> list[str]:
    found, often = result.disparity, f"{percent(result.confidence)} interval"
    rows = [
        (f"Disparity {symbol('G', result)}", found.value, found.interval, often),
        ("  certificate", None, found.certificate, given_words(result)),
    ]
    if found.outer != found.certificate:
        rows.append(("  outer bounds", None, found.outer, "and all that is missing"))
    rows.append(
        (
            f"Heterogeneity {symbol('H', result)}",
            result.heterogeneity.value,
            result.heterogeneity.interval,
            often,
        )
    )
    lines = [_measure(*row, width) for row in rows]
    zero = f"{symbol('G', result)} = 0 means that all groups have the same distribution of scores."
    return [*lines, *wrapped(f"{chance(result)} {zero}", width, first="  ")]


def _measure(name: str, value: float | None, ends: Interval, meaning: str, width: int) -> str:
    shown = "" if value is None else number(value)
    between = span(ends)
    return cut(f"{left(name, 18)}{right(shown, 10)}   {left(between, 22)} {meaning}", width)


def _groups(result: AuditResult, width: int) -> list[str]:
    lines = [
        f"{left('Group', _LABEL + 2)}{right('records', 12)}{right('share', 9)}{right('mean', 11)}"
    ]
    lines += [
        f"  {left(group_words(each.group), _LABEL)}{right(amount(each.n), 12)}"
        f"{right(percent(each.share), 9)}{right(number(each.mean), 11)}"
        for each in result.groups[:_SHOWN]
    ]
    lines += _more(len(result.groups), "groups")
    pairs = sorted(result.pairs, key=lambda pair: -pair.wasserstein)[:_SHOWN]
    lines += list(chain.from_iterable(_pair(pair, result, width) for pair in pairs))
    return lines + _more(len(result.pairs), "pairs")


def _pair(pair: PairResult, result: AuditResult, width: int) -> list[str]:
    first, second = (cut(group_words(group), _LABEL) for group in pair.groups)
    words = (
        f"{first} and {second}: {symbol('W', result)} = {number(pair.wasserstein)} score points, "
        f"means apart by {number(abs(pair.mean_gap))}"
    )
    return wrapped(words, width, first="  ", rest="    ")


def _more(total: int, things: str) -> list[str]:
    return [f"  and {total - _SHOWN:,} more {things} in the JSON"] if total > _SHOWN else []


def _sources(result: AuditResult, width: int) -> list[str]:
    parts, whole = result.attribution, result.disparity.value
    lines = ["Where it comes from"]
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


def _terms(result: AuditResult, width: int) -> list[str]:
    return ["Terms", *wrapped(explain_decomposition(result), width, first="  ")]


def _withheld(result: AuditResult, width: int) -> list[str]:
    silos = [silo for silo in result.silos if silo.withheld]
    if not silos:
        return []
    notes = "; ".join(f"{silo.silo}: {silo.note}" for silo in silos[:_SHOWN])
    more = len(silos) - _SHOWN
    rest = f"; and {counted(more, 'more silo')}" if more > 0 else ""
    return ["Withheld", *wrapped(f"{notes}{rest}.", width, first="  ")]


def _warnings(result: AuditResult, width: int) -> list[str]:
    if not result.warnings:
        return []
    return [
        "Warnings",
        *chain.from_iterable(wrapped(w, width, first="  ! ") for w in result.warnings),
    ]
