"""What a reproduction consists of: for each data set its tables, terms, studies and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedparity.experiments.datasets import Dataset
from fedparity.experiments.montecarlo import StudyResult
from fedparity.experiments.reproduction.tables import Table
from fedparity.experiments.reproduction.terms import TermsTable
from fedparity.experiments.reproduction.text_numbers import TextNumber

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENTS", "Part", "Plot"]

EXPERIMENTS = ("synthetic", "compas", "adult", "law")
"""In the paper's order."""


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure to be drawn, perhaps in another process."""

    name: str
    """Of its files, without ending."""
    title: str
    caption: str
    label: str
    """The figure's label in the paper's source, or the empty string."""
    draw: Callable[[], Figure]


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """One of the experiments, carried out."""

    name: str
    title: str
    datasets: tuple[Dataset, ...]
    """The main one first."""
    tables: tuple[Table, ...] = ()
    terms: TermsTable | None = None
    numbers: tuple[TextNumber, ...] = ()
    study: StudyResult | None = None
    plots: tuple[Plot, ...] = ()

    @property
    def verdicts(self) -> Counter[str]:
        """How many of the paper's rows and numbers match, and how many differ."""
        rows = [row.verdict for t in self.tables if t.as_printed for row in t.printed_rows]
        return Counter(each.word for each in (*rows, *(n.verdict for n in self.numbers)))
