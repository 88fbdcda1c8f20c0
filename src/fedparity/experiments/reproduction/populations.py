"""The records that allocations are drawn from: two groups and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fedparity.experiments.allocations import Regime
from fedparity.experiments.datasets import Dataset
from fedparity.experiments.montecarlo.dealing import Dealer
from fedparity.laws.arrays import FloatArray

__all__ = ["Drawn", "Population"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class Drawn:
    """The records of one draw in order of score, and silos for them."""

    def __init__(self, dataset: Dataset) -> None:
        self._order = np.argsort(dataset.scores, kind="stable")
        self._dealer = Dealer(dataset)
        self.scores: FloatArray = dataset.scores[self._order]
        self.second: BoolArray = dataset.codes[self._order] == 1
        """Whether a record is of the second group."""

    def silos(self, *, number: int, regime: Regime, rho: float, seed: tuple[int, ...]) -> IntArray:
        """Return the silo of each record, in order of score, as :func:`fedparity.allocate` does."""
        dealt = self._dealer.deal(silos=number, regime=regime, rho=rho, cut="paper", seed=seed)
        silos: IntArray = dealt.silos[self._order]
        return silos


@dataclass(frozen=True, eq=False)
class Population:
    """A data set of two groups; whole scores that were jittered are so anew in each draw."""

    dataset: Dataset
    jittered: bool = False
    """Whether each score is a whole number minus a uniform variable below 1."""

    @property
    def groups(self) -> tuple[str, str]:
        """The names of the groups, in the paper's order."""
        first, second = map(str, self.dataset.group_names)
        return first, second

    def drawn(self, seed: Sequence[int]) -> Drawn:
        """Return the records of one draw.

        The first draw, number 0, has the scores as they are; others have their own jitter.
        """
        if not (self.jittered and seed[-1]):
            return self._as_it_is
        random = np.random.default_rng((*seed, 1))  # the allocation has the shorter seed
        scores = np.ceil(self.dataset.scores) - random.random(len(self.dataset))
        return Drawn(replace(self.dataset, scores=scores))

    @cached_property
    def _as_it_is(self) -> Drawn:
        return Drawn(self.dataset)
