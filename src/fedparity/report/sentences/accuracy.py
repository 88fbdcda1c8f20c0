"""How the numbers were read, and how far each may be from the truth."""

from __future__ import annotations

from fedparity.auditing.result import AuditResult
from fedparity.report.numbers import counted, number, percent, span
from fedparity.report.sentences.naming import (
    counted_in,
    group_words,
    has_noise,
    records_words,
    short,
    symbol,
)

__all__ = ["explain_accuracy", "explain_laws", "given_words", "levels_words"]


def explain_laws(result: AuditResult) -> str:
    """Return what the curves of the groups and their center are."""
    held = {
        "quantile": "quantiles",
        "mean": "means between quantiles",
        "counts": "counts at every score",
        "histogram": "a histogram, as if scores were uniform inside a bin,",
    }[result.plan.sketch]
    middle, distance = {
        1: ("the weighted median, the lower where there are two,", "mean distance"),
        2: ("the weighted mean", "mean squared distance"),
    }[result.plan.order]
    return (
        f"A group's distribution in the whole is the mixture of its distributions in the silos, each rebuilt from "
        f"{held} and counted by the {counted_in(result)} it has there. The center is, at each rank, {middle} of "
        f"the groups' scores; {symbol('G', result)} is the {distance} of the groups to it. "
        f"{_means(result)}"
    )


def _means(result: AuditResult) -> str:
    lowest = min(result.groups, key=lambda each: each.mean)
    highest = max(result.groups, key=lambda each: each.mean)
    if lowest.mean == highest.mean:
        return f"All groups have the mean {number(lowest.mean)}."
    return (
        f"Means run from {number(lowest.mean)} ({short(group_words(lowest.group))}) to "
        f"{number(highest.mean)} ({short(group_words(highest.group))})."
    )


def levels_words(result: AuditResult) -> str:
    """Return how many numbers describe a cell, and where the rules cut them."""
    plan = result.plan
    cells = [k for silo in result.silos for k in silo.levels.values() if k]
    fewer = [k for k in cells if k < plan.levels]
    if plan.sketch == "histogram":
        return f"Histograms have {counted(plan.levels, 'bin')} of public edges."
    if plan.sketch == "counts":
        return "Records are counted at every score of a public grid; small counts are joined."
    values = {"quantile": "quantile", "mean": "bin mean"}[plan.sketch]
    words = f"k = {plan.levels}: up to {counted(plan.levels, values)} per cell"
    if not fewer:
        return f"{words}."
    have = "has" if len(fewer) == 1 else "have"
    return (
        f"{words}; {len(fewer):,} of {counted(len(cells), 'cell')} {have} fewer, the smallest "
        f"{min(fewer):,}."
    )


def explain_accuracy(result: AuditResult) -> str:
    """Return what each of the four ranges means, and what k is."""
    found, often = result.disparity, percent(result.confidence)
    reading = {
        "grid": "Algorithm 1, which reads the mixtures at k midpoints",
        "exact": "exact integration between the mixtures",
    }[result.plan.estimator]
    sentences = (
        (
            f"Interval, {span(found.interval)}: what the population could be, with sampling and the "
            f"estimated error of the sketches counted ({often}, "
            f"{counted(result.redraws, 'redraw')} of the whole from the sketches)."
        ),
        (
            f"Combined, {span(found.combined)}: the interval, moved outwards by as far as the raw "
            "data could lie from the estimate; verdicts compare such a range."
        ),
        _certificate(result),
        _outer(result),
        f"{levels_words(result)} Estimator: {reading}.",
        f"Measured: {records_words(result)}.",
    )
    return " ".join(filter(None, sentences))


def given_words(result: AuditResult) -> str:
    """Return what the certificate takes as given, for a table."""
    return "given noise and bins" if has_noise(result) else "given the sketches"


def _certificate(result: AuditResult) -> str:
    ends = f"Certificate, {span(result.disparity.certificate)}: what the raw data"
    if has_noise(result):
        return (
            f"{ends} could be, {given_words(result)}; at {percent(result.confidence)}, as noise can "
            "be anything."
        )
    return f"{ends} of the released cells could be, {given_words(result)}; a proof, not a probability."


def _outer(result: AuditResult) -> str:
    found = result.disparity
    if found.outer == found.certificate:
        return "Outer bounds are the same, as nothing that is missing could widen them."
    return (
        f"Outer bounds, {span(found.outer)}: what all raw data could be, with withheld cells and "
        "missing silos counted, and groups that were set aside."
    )
