"""What releases cost: the privacy budget of a data set, as the ledger adds it up.

Losses of releases from the same records add up, whatever was released (sequential composition). A
data set is known by a name: the title of the plan, unless the silo names another. So the plans of one
audit share a budget; the silo decides which audits use the same records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Spending", "Spent", "total_spent"]

_ROUNDING = 1e-9
"""Ten releases at 0.1 are within a budget of 1."""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What one release costs, of which data set, and what all of them may cost together."""

    dataset: str
    epsilon: float
    budget: float

    def fits(self, spent: float) -> bool:
        """Whether the release is within the budget if so much is spent already."""
        return spent + self.epsilon <= self.budget * (1 + _ROUNDING)


class Spent(Protocol):
    """An entry on record, as far as the budget reads it."""

    @property
    def silo(self) -> str:
        """The silo."""
        ...  # pragma: no cover

    @property
    def dataset(self) -> str | None:
        """The data set; None for a release without noise."""
        ...  # pragma: no cover

    @property
    def epsilon(self) -> float | None:
        """What the release cost."""
        ...  # pragma: no cover


def total_spent(entries: Iterable[Spent], silo: str, dataset: str | None = None) -> float:
    """Return what a silo has spent on a data set, or on all of them together.

    Examples
    --------
    >>> total_spent([], "north")
    0.0
    """
    return math.fsum(
        entry.epsilon
        for entry in entries
        if entry.epsilon is not None
        and entry.silo == silo
        and (dataset is None or entry.dataset == dataset)
    )
