"""Numbers of the paper's running text beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fedparity.experiments.reproduction.printed import PrintedNumber, printed_numbers
from fedparity.experiments.reproduction.verdicts import Alternative, Verdict, judge
from fedparity.laws.arrays import FloatArray

__all__ = ["TextNumber", "compare_numbers"]

_SYMBOLS = {
    "U2": "U₂",
    "H2": "H₂",
    "W2": "W₂",
    "C2": "C₂",
    "mean_first": "mean score, first group",
    "mean_second": "mean score, second group",
}
_DIVIDED = {
    "H2": "the paper divides H₂ by the range of the scores",
    "C2": "the paper divides C₂² by the range of the scores",
}


@dataclass(frozen=True, eq=False)
class TextNumber:
    """A number of the text, and what our draws make of it."""

    printed: PrintedNumber
    draws: FloatArray
    verdict: Verdict

    @property
    def symbol(self) -> str:
        """The measure, as readers know it."""
        return _SYMBOLS[self.printed.measure]

    @property
    def mean(self) -> float:
        """The mean of the draws."""
        return float(self.draws.mean())

    @property
    def sd(self) -> float:
        """Their standard deviation."""
        return float(self.draws.std(ddof=1)) if np.ptp(self.draws) > 0 else 0.0


def compare_numbers(dataset: str, draws: Mapping[str, FloatArray]) -> tuple[TextNumber, ...]:
    """Return every number that the text gives of a data set, with a verdict.

    ``draws`` holds ours by measure; ``H2_range`` and ``C2_range`` are the alternatives of ``H2``
    and ``C2``.
    """
    found = []
    for number in printed_numbers():
        if number.dataset != dataset:
            continue
        own = draws[number.measure][:, None]
        others = []
        if number.measure in _DIVIDED:
            divided = draws[f"{number.measure}_range"][:, None]
            others.append(Alternative((_DIVIDED[number.measure],), divided))
        verdict = judge((number.value,), own, ("it",), others)
        found.append(TextNumber(number, own[:, 0], verdict))
    return tuple(found)
