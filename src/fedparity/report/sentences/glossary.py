"""The words of reports and of the manual, explained once: a page shows those that it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fedparity.documents.result import AuditResult, symbol
from fedparity.report.sentences.naming import given_words
from fedparity.text import percent

__all__ = ["TERMS", "Term", "glossary", "manual_glossary"]


@dataclass(frozen=True)
class Term:
    """A word and what it means; ``{…}`` are places for what depends on the audit."""

    name: str
    meaning: str
    on_page: str = ""
    """Its heading on the page of a report, which the others are not part of."""


TERMS: Final = (  # a page has them in this order: everyday words first
    Term(
        "Silo",
        "An institution that keeps its records, such as a hospital, and sends only summary values of them.",
        "silo",
    ),
    Term(
        "Group",
        "People with the same value of the attribute that is compared, such as sex, or of several.",
        "group",
    ),
    Term(
        "Points",
        "Units of the score. The headline says how many of them lie between two groups at the same rank "
        "({distance}), which for groups of the same shape is the difference of means.",
        "points",
    ),
    Term(
        "Scale",
        "The range of scores that the plan names, from the lowest to the highest.",
        "scale",
    ),
    Term(
        "Review level",
        "The distance above which the authors of the plan want a review. It is their choice, made before data are seen.",
        "review level",
    ),
    Term(
        "Interval",
        "Where the true number lies, once chance (another sample of people would give another number) and "
        "summarizing are allowed for; in {often} of audits it is right.",
        "{often} range",
    ),
    Term(
        "Threshold",
        "A score at which decisions are taken. Where the plan names it, its rates are counted exactly.",
        "threshold",
    ),
    Term(
        "Rate",
        "The share of a group on the favorable side of a threshold; a ratio divides it by the highest rate of all groups.",
        "rate, ratio",
    ),
    Term(
        "Four fifths",
        "The rule of thumb that the rate of every group be at least four fifths of the highest rate.",
        "four fifths",
    ),
    Term(
        "Attribution",
        "The split of the disparity into *selection* and *within*. It splits the number; it does not explain causes.",
    ),
    Term(
        "Selection",
        "The part of the disparity that goes away if all groups were spread over the silos alike.",
        "spread over silos (selection)",
    ),
    Term(
        "Within",
        "The part of the disparity that goes away if all groups scored alike inside each silo.",
        "inside silos (within)",
    ),
    Term("Influence", "Change in the overall disparity when this silo is included.", "influence"),
    Term(
        "Disparity",
        "How far all groups are from a common center ({whole}), weighted by their sizes, over all ranks at once; "
        "zero means that all groups have the same distribution of scores.",
        "disparity {whole}",
    ),
    Term(
        "Sketch",
        "A count and the summary values of the scores of one group that a silo sends.",
        "sketch",
    ),
    Term(
        "Level",
        "One of the ranks at which a sketch says something of the scores; the plan says how many there are at most.",
        "levels",
    ),
    Term(
        "Certificate",
        "Guaranteed range for the silos' own records, {given}; it does not allow for chance. It is proved, not estimated.",
        "certificate",
    ),
    Term("Outer bounds", "Guaranteed range if missing data could be anything.", "outer bounds"),
    Term(
        "V_mix, V_bar, R",
        "Terms of the paper: how mixed each group's silos are, how far apart the centers of the groups are, "
        "and the interaction of both. They explain no causes.",
        "V_mix, V_bar, R",
    ),
    Term("Auditor", "Who writes the plan, collects the messages and reads the report."),
    Term(
        "Barycenter",
        "The distribution nearest to all groups on average: its score at each rank is the mean of the groups' "
        "scores at that rank. The groups are compared with it.",
    ),
    Term(
        "Bin mean",
        "The average score of the people between two quantiles, for example of the lowest hundredth of a group.",
    ),
    Term("Cell", "The records of one group in one silo, and what was released of them."),
    Term(
        "Differential privacy",
        "Noise added at the silo so that no message changes much with any one record. Its strength is epsilon; smaller is stronger.",
    ),
    Term(
        "Digest",
        "A fingerprint (SHA-256) of a plan or message. A message holds the digest of the plan that it answers.",
    ),
    Term(
        "Disclosure rules",
        "What is withheld, merged or rounded before anything leaves: small groups, too many values, tails, digits.",
    ),
    Term(
        "Inconclusive",
        "The range of the estimate holds the review level: the data do not settle on which side it is.",
    ),
    Term(
        "Ledger",
        "A file at the silo that records every release, and stops one from which somebody could subtract.",
    ),
    Term("Message", "The file that a silo sends: its sketch, with the digest of the plan."),
    Term(
        "Plan",
        "The question of an audit: groups, score range, thresholds, review level, rules. The same file goes to every silo.",
    ),
    Term("Policy", "The silo's own law: what any plan may ask of it."),
    Term(
        "Secure sum", "A way to add up the silos' numbers so that the auditor sees the sum only."
    ),
    Term(
        "Verdict",
        "*Above*, *below* or *inconclusive* with respect to the review level: once among the silos that answered, once for all.",
    ),
    Term(
        "Worst pair",
        "The two groups that are furthest apart, in score points ({distance}); the headline speaks of it.",
    ),
)


def glossary(result: AuditResult) -> tuple[tuple[str, str], ...]:
    """Return the terms that a report on this result uses, with their meanings, everyday words first."""
    known = {
        "distance": symbol("W", result),
        "whole": symbol("G", result),
        "often": percent(result.confidence),
        "given": given_words(result),
    }
    return tuple(
        (term.on_page.format(**known), term.meaning.format(**known))
        for term in TERMS
        if term.on_page
    )


def manual_glossary() -> str:
    """Return all terms as the manual lists them, in the order of the alphabet.

    Examples
    --------
    >>> print(manual_glossary()[:57])
    Attribution
      The split of the disparity into *selection*
    """
    known = {
        "distance": "$W_2$",
        "whole": "$G_2$",
        "often": "95 %",
        "given": "given what was sent",
    }
    return "\n\n".join(
        f"{term.name}\n  {term.meaning.format(**known)}"
        for term in sorted(TERMS, key=lambda term: term.name.casefold())
    )
