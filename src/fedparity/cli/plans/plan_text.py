"""A plan in plain words, in 80 columns, and its review level as a drawing."""

from __future__ import annotations

import math
import sys
from itertools import chain

from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import ReviewUnit
from fedparity.modes.mode import plan_sections
from fedparity.text import number, percent, wrapped

__all__ = ["on_the_scale", "plan_text", "review_picture"]


def plan_text(plan: Plan, width: int = 80) -> str:
    """Return what the plan requests of each silo and of the auditor, as text."""
    lines = wrapped(plan.title, width)
    for heading, sentences in plan_sections(plan).items():
        lines += ["", heading]
        lines += chain.from_iterable(wrapped(each, width, first="  - ") for each in sentences)
    return "\n".join([*lines, "", "Digest, which every message carries", f"  {plan.digest}"])


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
