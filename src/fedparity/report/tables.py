"""The numbers of a result as rows of text, for formats that have tables but no figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fedparity.auditing.parts import SiloResult
from fedparity.auditing.result import AuditResult
from fedparity.diagnostics.intervals import Interval
from fedparity.report.numbers import amount, number, percent, span
from fedparity.report.sentences.accuracy import given_words
from fedparity.report.sentences.naming import group_words, symbol
from fedparity.report.verdicts import level_words

__all__ = [
    "ABSENT",
    "Measure",
    "group_rows",
    "influences",
    "measures",
    "most_influential",
    "optional",
    "records_of",
    "signed",
    "silo_rows",
]

ABSENT = "–"
"""What stands where there is no number."""


class Measure(NamedTuple):
    """One line of the table of measures."""

    name: str
    value: str
    range: str
    meaning: str


def measures(result: AuditResult) -> list[Measure]:
    """Return the measures of an audit, each with its range and what that is."""
    found, often = result.disparity, f"{percent(result.confidence)} interval"
    parts, mixing = result.attribution, result.heterogeneity
    rows = [
        Measure(
            f"Disparity {symbol('G', result)}", number(found.value), span(found.interval), often
        ),
        Measure("all errors counted", "", span(found.combined), "what the verdict compares"),
        Measure("certificate", "", span(found.certificate), given_words(result)),
    ]
    if found.outer != found.certificate:
        rows.append(Measure("outer bounds", "", span(found.outer), "and all that is missing"))
    if found.review_level is not None:
        rows.append(Measure("Review level", level_words(result), "", "of the plan"))
    rows += [
        Measure(
            f"Heterogeneity {symbol('H', result)}",
            number(mixing.value),
            span(mixing.interval),
            often,
        ),
        _part("Selection between silos", parts.selection, parts.intervals.selection, often),
        _part("Within silos", parts.within, parts.intervals.within, often),
    ]
    return rows


def _part(name: str, value: float | None, ends: Interval | None, often: str) -> Measure:
    if ends is None:  # a secure sum: the silos were not seen, so nothing could be redrawn
        return Measure(name, optional(value), ABSENT, "silos not seen")
    return Measure(name, optional(value), span(ends), often)


def group_rows(result: AuditResult) -> list[list[str]]:
    """Return each group's name, records, share and mean."""
    return [
        [group_words(each.group), amount(each.n), percent(each.share), number(each.mean)]
        for each in result.groups
    ]


def influences(result: AuditResult) -> Mapping[str, float | None]:
    """Return the influence of each silo by its name."""
    return {each.silo: each.influence for each in result.attribution.silos}


def most_influential(result: AuditResult, most: int) -> list[SiloResult]:
    """Return all silos in their order; of more than ``most``, those of largest influence first."""
    if len(result.silos) <= most:
        return list(result.silos)
    influence = influences(result)
    return sorted(result.silos, key=lambda silo: -abs(influence.get(silo.silo) or 0.0))[:most]


def silo_rows(result: AuditResult, most: int) -> list[list[str]]:
    """Return name, records, disparity alone, its interval, influence and note of silos."""
    influence = influences(result)
    return [
        [
            silo.silo,
            records_of(silo),
            optional(silo.disparity),
            ABSENT if silo.interval is None else span(silo.interval),
            signed(influence.get(silo.silo)),
            silo.note,
        ]
        for silo in most_influential(result, most)
    ]


def records_of(silo: SiloResult) -> str:
    """Return a silo's records, with a plus where a cell was withheld."""
    known = [count for count in silo.n.values() if count is not None]
    if not known:
        return ABSENT
    return f"{amount(sum(known))}{'+' if len(known) < len(silo.n) else ''}"


def optional(value: float | None) -> str:
    """Return a number, or what stands for none."""
    return ABSENT if value is None else number(value)


def signed(value: float | None) -> str:
    """Return a number with its sign, or what stands for none."""
    if value is None:
        return ABSENT
    return f"+{number(value)}" if value > 0 else number(value)
