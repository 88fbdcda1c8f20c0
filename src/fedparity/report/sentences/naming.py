"""Names of groups, silos and symbols as sentences use them, and what the words of a report mean."""

from __future__ import annotations

from collections.abc import Sequence

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult
from fedparity.plots.headline import has_noise, symbol
from fedparity.text import amount, percent

__all__ = [
    "counted_in",
    "given_words",
    "glossary",
    "groups_words",
    "is_summed",
    "is_weighted",
    "joined",
    "records_words",
    "short",
    "silos_words",
]

_LONGEST = 60
"""Characters of a name inside a sentence; tables show it in full."""
_NAMED = 5
_GROUPS_NAMED = 3


def short(name: str) -> str:
    r"""Return a name on one line, cut if a sentence would drown in it.

    Examples
    --------
    >>> short("Saint\nMary"), len(short("x" * 200))
    ('Saint Mary', 60)
    """
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def joined(names: Sequence[str], most: int = _NAMED) -> str:
    """Return names as a sentence lists them, cut after ``most``.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"]), joined(list("abcdefg"), most=2)
    ('a', 'a, b and c', 'a, b and 5 more')
    """
    shown = [short(name) for name in names]
    if len(shown) > most:
        return f"{', '.join(shown[:most])} and {len(shown) - most:,} more"
    *first, last = shown
    return f"{', '.join(first)} and {last}" if first else last


def groups_words(result: AuditResult) -> str:
    """Return ``groups A and B``; of many, the first two and how many more."""
    names = [group_words(each.group) for each in result.groups]
    most = _GROUPS_NAMED if len(names) <= _GROUPS_NAMED else 2
    return f"groups {joined(names, most)}"


def is_summed(result: AuditResult) -> bool:
    """Return whether only sums over silos were seen, and so nothing of a single silo."""
    return "secure" in str(result.guarantee.get("mode"))


def silos_words(result: AuditResult) -> str:
    """Return how many silos were measured, of how many: ``4 of 5 silos``, ``1 silo``."""
    received, missing = len(result.silos_received), len(result.silos_missing)
    count = f"{received:,} of {received + missing:,}" if missing else f"{received:,}"
    return f"{count} silo{'' if received + missing == 1 else 's'}"


def is_weighted(result: AuditResult) -> bool:
    """Return whether counts are weights; JSON writes a weight of 100.0 like a count of 100."""
    return isinstance(result.n, float) or any(
        warning.code == "weights" for warning in result.warnings
    )


def counted_in(result: AuditResult) -> str:
    """Return what counts are: ``records``, or ``weight``."""
    return "weight" if is_weighted(result) else "records"


def records_words(result: AuditResult) -> str:
    """Return how much was measured: ``17,390 records``, or ``a weight of 1,234.5``."""
    if is_weighted(result):
        return f"a weight of {amount(result.n)}"
    return f"{amount(result.n)} record{'' if result.n == 1 else 's'}"


def given_words(result: AuditResult) -> str:
    """Return what the certificate takes as given, for a table."""
    return "given noise and bins" if has_noise(result) else "given the sketches"


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
