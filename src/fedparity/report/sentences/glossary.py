"""The words of a report, each in a sentence or two."""

from __future__ import annotations

from fedparity.documents.result import AuditResult
from fedparity.plots.headline import symbol
from fedparity.report.sentences.caveats import given_words
from fedparity.text import percent

__all__ = ["glossary"]


def glossary(result: AuditResult) -> tuple[tuple[str, str], ...]:
    """Return the terms that a report on this result uses, with their meanings, everyday words first."""
    distance, whole = symbol("W", result), symbol("G", result)
    often = percent(result.confidence)
    return (
        ("silo", "An institution that keeps its records, and sends only summary values of them."),
        ("group", "People with the same value of the attribute that is compared, such as sex."),
        (
            "points",
            (
                "Units of the score. The headline says how many of them lie between two groups at the "
                f"same rank ({distance}), which for groups of the same shape is the difference of means."
            ),
        ),
        ("scale", "The range of scores that the plan names, from the lowest to the highest."),
        (
            "review level",
            "The distance above which the authors of the plan want a review. It is their choice.",
        ),
        (
            f"{often} range",
            (
                "Where the true number lies, once chance (another sample of people would give another "
                f"number) and summarizing are allowed for; in {often} of audits it is right."
            ),
        ),
        (
            "rate, ratio, four fifths",
            (
                "The rate is the share of a group on the favorable side of a threshold; the ratio divides "
                "it by the highest rate of all groups. Four fifths is a rule of thumb for that ratio."
            ),
        ),
        (
            "spread over silos, inside silos",
            (
                "Two parts of the disparity: what goes away if all groups were spread alike, and "
                "what goes away if they scored alike inside each silo."
            ),
        ),
        ("influence", "Change in the overall disparity when this silo is included."),
        (
            f"disparity {whole}",
            (
                "How far all groups are from a common center, weighted by their sizes; zero means that "
                "all groups have the same distribution of scores."
            ),
        ),
        (
            "sketch, levels",
            "The summary values that a silo sends for each group, and how many there are at most.",
        ),
        (
            "certificate",
            (
                f"Guaranteed range for the silos' own records, {given_words(result)}; it does not allow "
                "for chance."
            ),
        ),
        ("outer bounds", "Guaranteed range if missing data could be anything."),
        (
            "V_mix, V_bar, R",
            (
                "Terms of the paper: how mixed each group's silos are, how far apart the centers of the "
                "groups are, and the interaction of both. They explain no causes."
            ),
        ),
    )
