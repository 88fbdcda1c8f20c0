"""Words that users stumbled over, and what replaced them: none may come back."""

from __future__ import annotations

import re

__all__ = ["found_in"]

_AWKWARD = (
    r"numbers of its score law",  # summary values of its scores
    r"have a disparity of [\d.]+: above",  # B scores 1.3 points higher than A
    r"all errors counted",  # once sampling and summarizing are allowed for
    r"given the sketches",  # given what was sent
    r"all that is missing",  # if missing data could be anything
    r"[Ss]ampling noise alone",  # chance
    r"groups (are )?in different silos",  # groups are spread differently over silos
    r"scores differ in silos",  # groups score differently inside silos
    r"shares of a measure",  # this splits the number
    r"larger the disparity of all is",  # change in the overall disparity
    r"the rules cut them",  # samples were small, so they sent fewer values
    r"no bound counts",  # the ranges above do not allow for
    r"may cover less often",  # the ranges may be too narrow
    r"[Ww]idest gap:? [\d.]+ %",  # percentage points
    r"\bto best\b",  # ratio to the highest rate
    r"undetermined by",  # cannot be told from this summary
    r"no threshold shows a gap",  # largest gap at any threshold
    r"[Ss]how shares above",  # share of each group above a quantile of everyone
    r"(^|  )Of (the bootstrap|intervals|redraws)\.",  # number of bootstrap samples
    r"[Ww]hat the verdict compares (with|the disparity)",  # disparity above which you want a review
    r"What they are\.|How (they are|it is) read",  # values sent; how the auditor combines them
    r"(^|  )The p of|p of W_p:",  # 2: squared differences, 1: absolute ones
    r"[Oo]f no effect on the result\.",  # the result is the same
    r"Neither ask nor write",  # do not check or write the ledger
    r"where an unexpected error comes from",  # a full traceback
    r"Levels k\b(?! =)",  # values per group and silo
    r"(,|several) with commas",  # separated by commas
    r"k cut from",  # 30 values instead of 100
    r"the reasons above",  # and this explanation
    r"the very bytes",  # the exact file
    r"rounded to steps of",  # rounded to
    r"values beyond one per",  # more than one value per
    r"labels that no group",  # labels that are not groups of the plan
    r"and where it starts",  # it is relative to the current folder
    r"unmask come after the consent",  # 'unmask' comes after 'consent'
    r"signed: wrongly",  # invalid
    r"silo of the roster is missing",  # all silos in the plan have answered
    r"by more than a factor e\^",  # by more than 2.7 times
    r"for want of",  # because it was missing
    r"with the whole interval",  # whole 95 % range above
)
_ANY = re.compile("|".join(_AWKWARD), re.MULTILINE)


def found_in(text: str) -> list[str]:
    """Return the awkward words in a text, whatever its lines are."""
    flat = re.sub(r"(?<=\S)\s*\n\s*(?=\S)", " ", text)
    return [found.group() for found in _ANY.finditer(flat)]
