"""The numbers of a result as rows of text, for formats that have tables but no figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import SiloResult, as_json
from fedparity.report.html.markup import looked_up
from fedparity.report.sentences.answers import Rates
from fedparity.report.sentences.caveats import given_words
from fedparity.report.sentences.naming import symbol
from fedparity.report.verdicts import NOTHING, written
from fedparity.text import amount, number, percent, percents, span

__all__ = [
    "READING_MAGNITUDES",
    "Magnitude",
    "Measure",
    "all_rates",
    "group_rows",
    "influences",
    "magnitude_columns",
    "magnitude_rows",
    "magnitudes",
    "measures",
    "most_influential",
    "optional",
    "rate_heads",
    "rate_rows",
    "records_of",
    "signed",
    "silo_rows",
]

READING_MAGNITUDES = (
    "An interval is of the population; the other ranges are of the raw data, whatever they are, "
    "noise included. The first two values are without what noise adds on average."
)


@dataclass(frozen=True, kw_only=True)
class Magnitude:
    """One line of the table: a number of the result, and the ranges around it."""

    name: str
    value: str
    """Where in the JSON the number stands."""
    form: str
    """How a number is written; see :mod:`fedparity.report.verdicts`."""
    ranges: tuple[str, str, str]
    """Where interval, certificate and outer bounds stand; empty for none."""

    @property
    def range_form(self) -> str:
        """How its ranges are written."""
        return "percents" if self.form == "percent" else "span"


def magnitude_columns(result: AuditResult) -> tuple[str, str, str, str]:
    """Return the headings of the columns: the value, and its three ranges."""
    return (
        "value",
        f"{percent(result.confidence)} interval",
        given_words(result),
        "and all that is missing",
    )


def magnitudes(result: AuditResult) -> list[Magnitude]:
    """Return the lines of the table, those of the headline first."""
    first, second = map(group_words, result.magnitudes.worst_pair.groups)
    return [
        _estimate(f"{first} and {second}, furthest apart, in points", "worst_pair"),
        _estimate("scores must move to be alike, in points", "points"),
        Magnitude(
            name="furthest apart, as a share of the scale",
            value="/magnitudes/worst_pair/share_of_range",
            form="percent",
            ranges=("", "", ""),
        ),
        _bounded("furthest apart, in standard deviations", "standardized/distance"),
        _bounded("difference of their means, in standard deviations", "standardized/mean_gap"),
        _bounded("one standard deviation in a group, in points", "standardized/deviation"),
        _bounded("share of the variance of all scores", "variance_share", "percent"),
        _bounded("of it by means; the rest by spread and shape", "location_share", "percent"),
        _bounded("to be alike if groups were equally large, in points", "equal_weights"),
        *(
            _bounded(
                f"{group_words(each.group)}: from the center of all, in points", f"burden/{i}"
            )
            for i, each in enumerate(result.magnitudes.burden)
        ),
    ]


def _estimate(name: str, field: str) -> Magnitude:
    base = f"/magnitudes/{field}"
    return Magnitude(
        name=name,
        value=f"{base}/corrected",
        form="number",
        ranges=(f"{base}/interval", f"{base}/certificate", f"{base}/outer"),
    )


def _bounded(name: str, field: str, form: str = "number") -> Magnitude:
    base = f"/magnitudes/{field}"
    return Magnitude(
        name=name,
        value=f"{base}/value",
        form=form,
        ranges=("", f"{base}/certificate", f"{base}/outer"),
    )


class Measure(NamedTuple):
    """One line of the table of measures."""

    name: str
    value: str
    range: str
    meaning: str


def measures(result: AuditResult) -> list[Measure]:
    """Return the disparity as the paper defines it, with every kind of range and its parts."""
    found, often = result.disparity, f"{percent(result.confidence)} interval"
    parts, mixing, terms = result.attribution, result.heterogeneity, result.decomposition
    rows = [
        Measure(
            f"Disparity {symbol('G', result)}", number(found.value), span(found.interval), often
        ),
        Measure("corrected", number(found.corrected), "", "without what noise adds on average"),
        Measure("combined", "", span(found.combined), "with the guaranteed error of the sketches"),
        Measure(
            "certificate", "", span(found.certificate), f"the raw data, {given_words(result)}"
        ),
    ]
    if found.outer != found.certificate:
        rows.append(Measure("outer bounds", "", span(found.outer), "and all that is missing"))
    rows += [
        Measure("p-value", number(found.p_value), "", "how often noise alone shows as much"),
        Measure(
            f"Heterogeneity {symbol('H', result)}",
            number(mixing.value),
            span(mixing.interval),
            often,
        ),
    ]
    for name, part, ends in (
        ("Selection between silos", parts.selection, parts.intervals.selection),
        ("Within silos", parts.within, parts.intervals.within),
    ):
        if part is not None and ends is not None:
            rows.append(Measure(name, number(part), span(ends), often))
    if terms.v_mix is not None and terms.v_bar is not None:
        rows += [
            Measure("V_mix", number(terms.v_mix), "", "mixture discrepancy"),
            Measure("V_bar", number(terms.v_bar), "", "disparity of the centers"),
        ]
    if terms.remainder is not None:
        rows.append(Measure("R", number(terms.remainder), "", "interaction of the two"))
    return rows


def group_rows(result: AuditResult) -> list[list[str]]:
    """Return each group's name, records, share and mean."""
    return [
        [group_words(each.group), amount(each.n), percent(each.share), number(each.mean)]
        for each in result.groups
    ]


def rate_heads(result: AuditResult) -> list[str]:
    """Return the headings of a table of rates."""
    often = f"{percent(result.confidence)} interval"
    return ["group", "rate", often, "to the highest", often, "four fifths"]


def rate_rows(rates: Rates) -> list[list[str]]:
    """Return each group's rate and its ratio to the highest, with intervals and the answer."""
    return [
        [
            group_words(each.group),
            percent(each.rate.value),
            percents(each.rate.interval),
            optional(each.ratio.value),
            written(as_json(each.ratio.interval), "span"),
            each.answer,
        ]
        for each in rates.groups
    ]


def all_rates(result: AuditResult) -> tuple[Rates, ...]:
    """Return the rates at thresholds, then those above quantiles."""
    return (*result.thresholds, *result.tails)


def magnitude_rows(result: AuditResult) -> list[list[str]]:
    """Return each magnitude with its value and its ranges, as text."""
    document = result.to_dict()
    return [
        [
            each.name,
            written(looked_up(document, each.value), each.form),
            *(
                written(looked_up(document, path), each.range_form) if path else NOTHING
                for path in each.ranges
            ),
        ]
        for each in magnitudes(result)
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
            NOTHING if silo.interval is None else span(silo.interval),
            signed(influence.get(silo.silo)),
            silo.note,
        ]
        for silo in most_influential(result, most)
    ]


def records_of(silo: SiloResult) -> str:
    """Return a silo's records, with a plus where a cell was withheld."""
    known = [count for count in silo.n.values() if count is not None]
    if not known:
        return NOTHING
    return f"{amount(sum(known))}{'+' if len(known) < len(silo.n) else ''}"


def optional(value: float | None) -> str:
    """Return a number, or what stands for none."""
    return NOTHING if value is None else number(value)


def signed(value: float | None) -> str:
    """Return a number with its sign, or what stands for none."""
    if value is None:
        return NOTHING
    return f"+{number(value)}" if value > 0 else number(value)
