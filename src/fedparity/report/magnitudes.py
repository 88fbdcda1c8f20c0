"""The disparity in units that people can read: which numbers a table shows, and where they stand."""

from __future__ import annotations

from dataclasses import dataclass

from fedparity.auditing.result import AuditResult
from fedparity.report.numbers import percent
from fedparity.report.sentences.accuracy import given_words
from fedparity.report.sentences.naming import group_words

__all__ = ["READING_MAGNITUDES", "Magnitude", "magnitude_columns", "magnitudes"]

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
    """How a number is written; see :mod:`fedparity.report.written`."""
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
