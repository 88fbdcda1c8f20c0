"""The ANOVA terms and the attribution under the three regimes: what each can tell apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from fedparity.diagnostics.attribution import attribute
from fedparity.diagnostics.decomposition import Decomposition, decompose
from fedparity.experiments.allocations import Regime
from fedparity.experiments.reproduction.draws import SILOS, Drawing
from fedparity.experiments.reproduction.number_texts import percent, significant
from fedparity.experiments.reproduction.populations import Drawn, IntArray, Population
from fedparity.experiments.reproduction.threads import in_threads
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.cell import Cell

__all__ = ["LEVELS", "TERMS", "TermsTable", "draw_terms", "terms_of"]

LEVELS = 100
"""Numbers per cell: the paper's largest recommendation."""
_REGIMES: tuple[Regime, ...] = ("random", "positive", "negative")
TERMS = ("V_mix", "V_bar", "R", "G₂", "selection", "within")


@dataclass(frozen=True, eq=False)
class TermsTable:
    """The terms of each regime over many draws."""

    title: str
    draws: Mapping[str, FloatArray]
    """By scenario: draws by terms. A scenario is a regime, or a regime with silos renamed."""

    def mean(self, scenario: str, term: str) -> float:
        """Return the mean of a term over the draws."""
        return float(self.draws[scenario][:, TERMS.index(term)].mean())

    def sd(self, scenario: str, term: str) -> float:
        """Return its standard deviation."""
        values = self.draws[scenario][:, TERMS.index(term)]
        return float(values.std(ddof=1)) if values.size > 1 else 0.0

    @property
    def sentence(self) -> str:
        """What the numbers say, in words that depend on them."""
        return f"{self._blind()} {self._telling()}"

    def _blind(self) -> str:
        """Whether V_mix, V_bar and R can tell positive from negative selection."""
        terms = ("V_mix", "V_bar", "R")
        apart = max(
            abs(self.mean("positive", term) - self.mean("negative", term))
            / max(abs(self.mean("positive", term)), abs(self.mean("negative", term)))
            for term in terms
        )
        shown = " and ".join(
            f"({', '.join(significant(self.mean(regime, term)) for term in terms)})"
            for regime in ("positive", "negative")
        )
        renamed = np.allclose(
            self.draws["positive"][:, :3], self.draws["positive, renamed"][:, :3], rtol=1e-9
        )
        words = "alike" if apart < 0.1 else f"up to {percent(apart)} apart"
        blind = (
            "renaming the silos of one group changes none of them, so they cannot tell who is where"
            if renamed
            else "renaming the silos of one group changes them"
        )
        return (
            f"V_mix, V_bar and R are {words} under positive and negative selection: {shown}; "
            f"{blind}."
        )

    def _telling(self) -> str:
        """What the attribution says of each regime."""
        shares = {
            regime: self.mean(regime, "selection") / self.mean(regime, "G₂")
            for regime in ("random", "positive", "negative")
        }
        random, positive, negative = map(percent, shares.values())
        return (
            f"Of the same disparity, the attribution gives to selection {random} under random "
            f"allocation, {positive} under positive and {negative} under negative selection."
        )


def draw_terms(
    population: Population,
    drawing: Drawing,
    *,
    title: str,
    told: Callable[[], None] = lambda: None,
) -> TermsTable:
    """Return the terms of the three regimes, and of the positive one with silos renamed.

    The renaming gives silo j of the second group the name of silo d + 1 - j: the silos are as
    before, but other groups share them.
    """

    def one(replicate: int) -> dict[str, FloatArray]:
        seed = (drawing.seed, replicate)
        drawn = population.drawn(seed)
        found: dict[str, FloatArray] = {}
        for regime in _REGIMES:
            silos = drawn.silos(number=SILOS, regime=regime, rho=drawing.rho, seed=seed)
            cells = _cells(drawn, silos)
            found[regime] = terms_of(cells)
            if regime == "positive":
                found["positive, renamed"] = terms_of(_renamed(cells))
        told()
        return found

    draws = in_threads(one, drawing.replicates, workers=drawing.workers)
    return TermsTable(title, {name: np.stack([d[name] for d in draws]) for name in draws[0]})


def terms_of(cells: Mapping[tuple[int, bool], Cell]) -> FloatArray:
    """Return V_mix, V_bar, R, G₂, selection and within of cells, by the paper's estimator."""
    federation = Federation.from_cells(cells)
    method = Method(estimator="grid")
    terms, parts = decompose(federation, method), attribute(federation, method)
    if not isinstance(terms, Decomposition):  # pragma: no cover -- order 2 has no other
        raise TypeError
    return np.array(
        [
            terms.v_mix,
            terms.v_bar,
            terms.remainder,
            parts.disparity,
            parts.selection,
            parts.within,
        ]
    )


def _cells(drawn: Drawn, silos: IntArray) -> dict[tuple[int, bool], Cell]:
    cells = {}
    for silo in range(SILOS):
        for group in (False, True):
            own = drawn.scores[(silos == silo) & (drawn.second == group)]
            if own.size:
                cells[silo, group] = Cell.from_scores(own, levels=LEVELS)
    return cells


def _renamed(cells: Mapping[tuple[int, bool], Cell]) -> dict[tuple[int, bool], Cell]:
    return {
        (SILOS - 1 - silo if group else silo, group): cell for (silo, group), cell in cells.items()
    }
