"""Whether a printed row is reproduced, decided by rules, with the reason if it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fedparity_reproduction.estimators import FloatArray
from fedparity_reproduction.printed import unit_of

__all__ = ["Agreement", "Alternative", "Verdict", "agreements", "judge", "sigmas"]

Agreement: TypeAlias = Literal["digits", "unit", "spread", "apart"]
"""``digits``: rounds to what is printed; ``unit``: one unit of the last digit away at most;
``spread``: at most three standard deviations from the mean of the draws; ``apart``: further."""

MOST_SIGMAS = 3.0
_ROUNDING = 1e-9
"""Of a unit: 0.00765 may be printed as 0.0076 or 0.0077."""


@dataclass(frozen=True)
class Alternative:
    """The same row under another assumption."""

    reasons: tuple[str, ...]
    """What would have to hold, each as a clause that can follow "because"."""
    draws: FloatArray
    """Draws (rows) of each column."""


@dataclass(frozen=True)
class Verdict:
    """A word and the reason for it."""

    word: Literal["matches", "differs", "not printed"]
    reason: str

    @property
    def shape(self) -> str:
        """A shape that distinguishes the words without color."""
        return {"matches": "●", "differs": "▲", "not printed": "–"}[self.word]


def agreements(printed: Sequence[str], draws: FloatArray) -> tuple[Agreement, ...]:
    """Return how each printed value agrees with the draws of its column.

    Where all draws are equal, chance plays no part and the digits decide.

    Examples
    --------
    >>> agreements(("0.0036", "0.2453"), np.array([[0.00362, 0.24536], [0.00362, 0.24536]]))
    ('digits', 'unit')
    >>> agreements(("1.0", "3.0"), np.array([[1.1, 1.1], [0.8, 0.8]]))
    ('spread', 'apart')
    """
    return tuple(_agreement(text, column) for text, column in zip(printed, draws.T, strict=True))


def _agreement(printed: str, draws: FloatArray) -> Agreement:
    known = draws[np.isfinite(draws)]
    if known.size == 0:
        return "apart"
    unit = unit_of(printed)
    away = abs(float(printed) - float(known.mean())) / unit
    spread = _spread(known) / unit
    if spread > 0:
        return "spread" if away <= MOST_SIGMAS * spread + 0.5 + _ROUNDING else "apart"
    if away <= 0.5 + _ROUNDING:
        return "digits"
    return "unit" if away <= 1 + _ROUNDING else "apart"


def sigmas(printed: str, draws: FloatArray) -> float:
    """Return how many standard deviations above the mean of the draws a printed value lies."""
    known = draws[np.isfinite(draws)]
    away, spread = float(printed) - float(known.mean()), _spread(known)
    return away / spread if spread else float(np.copysign(np.inf, away))


def _spread(draws: FloatArray) -> float:
    """The standard deviation; zero where all draws are equal, whatever the mean rounds to."""
    if draws.size < 2 or np.ptp(draws) == 0:
        return 0.0
    return float(draws.std(ddof=1))


def judge(
    printed: Sequence[str] | None,
    draws: FloatArray,
    columns: Sequence[str],
    alternatives: Sequence[Alternative] = (),
) -> Verdict:
    """Return the verdict of a row.

    Alternatives are tried in their order. One that agrees in every column is the reason; else
    the first that agrees in most columns, if in more than the row itself, is given as part of
    it, and the columns that stay apart are named.

    Examples
    --------
    >>> halves = Alternative(("the paper halves it",), np.array([[1.0], [1.0]]))
    >>> judge(("1.0",), np.array([[2.0], [2.0]]), ("Global",), [halves]).reason
    'because the paper halves it'
    """
    if printed is None:
        return Verdict("not printed", "the paper does not print it")
    found = agreements(printed, draws)
    if "apart" not in found:
        return Verdict("matches", _how(found))
    best, left = None, found
    for alternative in alternatives:
        other = agreements(printed, alternative.draws)
        if other.count("apart") < left.count("apart"):
            best, left = alternative, other
    reason = "" if best is None else f"because {' and '.join(best.reasons)}"
    if "apart" in left:
        apart = _apart(printed, draws if best is None else best.draws, columns, left)
        reason = f"{reason}, but {apart}" if reason else apart
    return Verdict("differs", reason)


def _how(found: Sequence[Agreement]) -> str:
    """How a row matches, in words."""
    words = {
        "digits": "to the printed digits",
        "unit": "within one unit of the last digit",
        "spread": "within 3 sd of the draws",
    }
    whole, silos = found[0], set(found[1:])
    if not silos or silos == {whole}:
        return words[whole]
    worst = next(kind for kind in ("spread", "unit", "digits") if kind in silos)
    return f"whole {words[whole]}, silos {words[worst]}"


def _apart(
    printed: Sequence[str], draws: FloatArray, columns: Sequence[str], found: Sequence[Agreement]
) -> str:
    """Which columns stay apart, how far, and how many draws are as far."""
    parts = []
    for text, column, name, agreement in zip(printed, draws.T, columns, found, strict=True):
        if agreement != "apart":
            continue
        known = column[np.isfinite(column)]
        away = sigmas(text, column) if known.size else np.inf
        if not np.isfinite(away):
            parts.append(f"{name} is not what these data give")
            continue
        side = "above" if away > 0 else "below"
        mean = known.mean()
        as_far = int(np.count_nonzero(np.abs(known - mean) >= abs(float(text) - mean)))
        parts.append(
            f"{name} is printed {abs(away):.1f} sd {side} the mean "
            f"({as_far or 'none'} of {known.size} draws as far)"
        )
    return "; ".join(parts)
