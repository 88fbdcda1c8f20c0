"""A plan in plain words, in 80 columns, and its review level as a drawing."""

from __future__ import annotations

import math
import sys
from itertools import chain

from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import ReviewUnit
from fedparity.modes.mode import Description, mode_of
from fedparity.text import counted, named, number, percent, wrapped

__all__ = ["ended", "on_the_scale", "plan_text", "review_picture", "review_words"]


def plan_text(plan: Plan, width: int = 80) -> str:
    """Return what the plan asks of each silo and of the auditor, as text."""
    described = mode_of(plan).describe()
    sent = described.sent
    if plan.keys:
        sent = [*sent, f"signed: {counted(len(plan.keys), 'silo')} with a public key."]
    sections = {
        "Each silo will send": sent,
        "It will hold back": ended(described.held_back),
        "The auditor will compute": _computed(plan, described),
    }
    lines = wrapped(plan.title, width)
    for heading, sentences in sections.items():
        lines += ["", heading]
        lines += chain.from_iterable(wrapped(each, width, first="  - ") for each in sentences)
    return "\n".join([*lines, "", "Digest, which every message carries", f"  {plan.digest}"])


def ended(sentences: list[str]) -> list[str]:
    """Return the parts of a list with a full stop after the last."""
    return [*sentences[:-1], sentences[-1][:-1] + "."]


def review_words(plan: Plan) -> str:
    """Return the review level with its unit."""
    level = number(plan.review_level or 0.0)
    if plan.review_unit == "squared":
        return f"a disparity G of {level}"
    unit = {
        "points": "score points",
        "share": "of the score range",
        "sd": "standard deviations of the score",
    }[plan.review_unit]
    return f"{level} {unit} between the two groups farthest apart"


def _computed(plan: Plan, described: Description) -> list[str]:
    order = "₁₂"[plan.order - 1]
    sentences = [
        (
            f"the disparity G{order} of all silos together ({described.estimator}), its interval, "
            f"{described.sources};"
        )
    ]
    if plan.trim:
        sentences.append(f"without a share of {number(plan.trim)} of the levels at each end;")
    if plan.review_level is None:
        sentences.append("no verdict: the plan names no review level;")
    else:
        sentences.append(
            f"a verdict: below or above the review level, {review_words(plan)}, or inconclusive;"
        )
    if plan.silos is None:
        sentences.append("from whichever silos answer: the plan has no roster.")
    else:
        count = counted(len(plan.silos), "silo")
        sentences.append(f"from {count} ({named(list(plan.silos))}); missing ones are reported.")
    return sentences


_COLUMNS = 60
_SPREAD = 0.12
"""Standard deviation of the groups that are drawn, as a share of the range."""
_BLOCKS, _PLAIN_BLOCKS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"


def on_the_scale(
    level: float, unit: ReviewUnit, score_range: tuple[float, float]
) -> tuple[float, str]:
    """Return a review level as a share of the score range, for a drawing, and in words.

    Standard deviations are those of the groups that are drawn; a squared one is of two groups of the same
    size, for which G = (W / 2)².

    Examples
    --------
    >>> on_the_scale(0.5, "points", (0.0, 10.0))
    (0.05, '0.5 points on your 0–10 scale (5 % of it)')
    >>> on_the_scale(0.1, "share", (0.0, 1.0))
    (0.1, '0.1 points on your 0–1 scale (10 % of it)')
    """
    low, high = score_range
    scale = f"your {number(low)}–{number(high)} scale"
    if unit == "sd":
        return level * _SPREAD, f"{number(level)} standard deviations"
    points = {
        "points": level,
        "share": level * (high - low),
        "squared": 2 * math.sqrt(level),
    }[unit]
    share = points / (high - low)
    return share, f"{number(points)} points on {scale} ({percent(share)} of it)"


def review_picture(
    score_range: tuple[float, float], points: float, words: str | None = None
) -> list[str]:
    """Return a drawing of two groups of the same shape, one of them some ``points`` above the other."""
    low, high = score_range
    share = points / (high - low)
    words = words or on_the_scale(points, "points", score_range)[1]
    places = [0.5 - share / 2, 0.5 + share / 2]
    heights = _BLOCKS if _prints(_BLOCKS) else _PLAIN_BLOCKS
    lines = [
        f"  {name:<12}{_bell(place, heights)}".rstrip()
        for name, place in zip(("one group", "the other"), places, strict=True)
    ]
    first, last = (min(max(round(_COLUMNS * place), 0), _COLUMNS) for place in places)
    mark = f"|{'-' * (last - first - 1)}|" if last > first else "|"
    ends = number(low), number(high)
    ruler = f"{ends[0]}{ends[1]:>{_COLUMNS - len(ends[0])}}"
    below = max(2, min(14 + first, 79 - len(words)))
    return [*lines, f"{'':14}{ruler}", f"{'':{14 + first}}{mark}", f"{'':{below}}{words}"]


def _prints(text: str) -> bool:
    """Whether the terminal has these characters."""
    try:
        text.encode(getattr(sys.stderr, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _bell(place: float, heights: str) -> str:
    """A bell-shaped group around a place from 0 to 1."""
    drawn = ""
    for column in range(_COLUMNS):
        distance = ((column + 0.5) / _COLUMNS - place) / _SPREAD
        drawn += heights[round((len(heights) - 1) * math.exp(-(distance**2) / 2))]
    return drawn
