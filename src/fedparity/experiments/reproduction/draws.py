"""Monte Carlo of the tables: many allocations, each measured as the paper measures one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fedparity.experiments.allocations import Regime
from fedparity.experiments.reproduction.measures import measures_of_silos
from fedparity.experiments.reproduction.populations import Population
from fedparity.experiments.reproduction.threads import in_threads
from fedparity.laws.arrays import FloatArray

__all__ = ["SILOS", "Drawing", "draw_measures"]

SILOS = 5
"""Silos in every table of the paper."""


@dataclass(frozen=True)
class Drawing:
    """How allocations are drawn."""

    replicates: int
    seed: int
    rho: float = 0.8
    workers: int = 1


def draw_measures(
    population: Population,
    regime: Regime,
    drawing: Drawing,
    *,
    told: Callable[[], None] = lambda: None,
) -> FloatArray:
    """Return the measures of every draw: draws by measures by columns (the whole, then silos).

    Draw number r is the allocation with ``seed=(seed, r)``; the regimes of one draw share their
    baseline and noise. Scores that were jittered are jittered afresh in each draw, so that the
    spread of the draws is that of both. The number of workers changes nothing but the time.

    Parameters
    ----------
    population : Population
    regime : "random", "positive" or "negative"
    drawing : Drawing
    told : callable, optional
        Called after each draw.

    Examples
    --------
    >>> from fedparity.experiments.datasets import load_dataset
    >>> people = Population(load_dataset("synthetic"))
    >>> draw_measures(people, "random", Drawing(replicates=3, seed=0)).shape
    (3, 7, 6)
    """

    def one(replicate: int) -> FloatArray:
        seed = (drawing.seed, replicate)
        drawn = population.drawn(seed)
        silos = drawn.silos(number=SILOS, regime=regime, rho=drawing.rho, seed=seed)
        table = measures_of_silos(drawn.scores, drawn.second, silos, SILOS)
        told()
        return table

    return np.stack(in_threads(one, drawing.replicates, workers=drawing.workers))
