"""The ANOVA terms and the attribution under the three regimes: what each can distinguish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import fedparity as fp
from fedparity_reproduction.estimators import FloatArray
from fedparity_reproduction.runner import Runner
from fedparity_reproduction.studies import REGIMES
from fedparity_reproduction.tables import SILOS, Population

__all__ = ["LEVELS", "TERMS", "TermsTable", "draw_terms", "percent"]

LEVELS = 100
"""Numbers per cell: the paper's largest recommendation."""
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
        return float(self.draws[scenario][:, TERMS.index(term)].std(ddof=1))

    @property
    def sentence(self) -> str:
        """What the numbers say: whether the terms, and the attribution, can tell regimes apart."""
        terms = TERMS[:3]
        means = {r: [self.mean(r, term) for term in terms] for r in ("positive", "negative")}
        apart = max(
            abs(one - other) / max(abs(one), abs(other))
            for one, other in zip(means["positive"], means["negative"], strict=True)
        )
        words = "alike" if apart < 0.1 else f"up to {percent(apart)} apart"
        shown = " and ".join(
            f"({', '.join(f'{value:.3g}'.replace('-', '−') for value in values)})"
            for values in means.values()
        )
        renamed = np.allclose(
            self.draws["positive"][:, :3], self.draws["positive, renamed"][:, :3], rtol=1e-9
        )
        blind = (
            "renaming the silos of one group changes none of them, so they cannot tell who is where"
            if renamed
            else "renaming the silos of one group changes them"
        )
        random, positive, negative = (
            percent(self.mean(regime, "selection") / self.mean(regime, "G₂")) for regime in REGIMES
        )
        return (
            f"V_mix, V_bar and R are {words} under positive and negative selection: {shown}; "
            f"{blind}. Of the same disparity, the attribution gives to selection {random} under "
            f"random allocation, {positive} under positive and {negative} under negative selection."
        )


def percent(share: float) -> str:
    """Return a share in whole percent.

    Examples
    --------
    >>> percent(0.573), percent(-0.0001)
    ('57 %', '0 %')
    """
    return f"{round(100 * share)} %".replace("-", "−")


def draw_terms(population: Population, runner: Runner, title: str) -> TermsTable:
    """Return the terms of the three regimes, and of the positive one with silos renamed.

    The renaming gives silo j of the second group the name of silo d + 1 - j: the cells are as
    before, but other groups share a silo.
    """
    settings = runner.settings

    def one(replicate: int) -> dict[str, FloatArray]:
        seed = (settings.seed, replicate)
        drawn = population.drawn(seed)
        found: dict[str, FloatArray] = {}
        for regime in REGIMES:
            silos = drawn.silos(regime, settings.rho, seed)
            cells = {}
            for silo in range(SILOS):
                for group in (False, True):
                    own = drawn.scores[(silos == silo) & (drawn.second == group)]
                    if own.size:
                        cells[silo, group] = fp.Cell.from_scores(own, levels=LEVELS)
            found[regime] = _terms(cells)
            if regime == "positive":
                renamed = {(SILOS - 1 - j if g else j, g): cell for (j, g), cell in cells.items()}
                found["positive, renamed"] = _terms(renamed)
        return found

    def compute() -> dict[str, FloatArray]:
        draws = runner.map(one, settings.draws, f"{title}: ANOVA terms")
        return {name: np.stack([draw[name] for draw in draws]) for name in draws[0]}

    decides = {
        "data": population.dataset.digest,
        "jittered": population.jittered,
        "rho": settings.rho,
        "draws": settings.draws,
        "seed": settings.seed,
    }
    name = f"terms-{population.dataset.name}"
    return TermsTable(title, runner.cached(name, decides, compute))


def _terms(cells: Mapping[tuple[int, bool], fp.Cell]) -> FloatArray:
    """Return V_mix, V_bar, R, G₂, selection and within of cells, by the paper's estimator."""
    federation = fp.Federation.from_cells(cells)
    method = fp.Method(estimator="grid")
    terms, parts = fp.theory.decompose(federation, method), fp.theory.attribute(federation, method)
    if not isinstance(terms, fp.theory.Decomposition):
        raise TypeError  # order 2 has no other terms
    return np.array(
        [
            *(terms.v_mix, terms.v_bar, terms.remainder),
            *(parts.disparity, parts.selection, parts.within),
        ]
    )
