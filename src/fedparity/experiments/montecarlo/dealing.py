"""Many allocations of one data set: what depends on the scores alone is computed once.

Every allocation is, bit for bit, that of :func:`fedparity.allocate` for the same seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedparity.experiments.allocations import Cut, Regime
from fedparity.experiments.copula import cut_ranks, cut_values, normal_quantiles
from fedparity.experiments.correlations import centred, mean_ranks
from fedparity.experiments.datasets.dataset import Dataset
from fedparity.laws.arrays import FloatArray

__all__ = ["Dealer", "Dealt"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Dealt:
    """The silo of each record of the table, and how strongly it goes with the score."""

    silos: IntArray
    pearson: float
    """NaN where all scores, or all silos, are one."""
    spearman: float


class Dealer:
    """Deals the records of a data set to silos, again and again."""

    def __init__(self, dataset: Dataset) -> None:
        scores = dataset.scores
        size = scores.size
        self._size, self._codes = size, dataset.codes
        self._groups = [np.flatnonzero(dataset.codes == g) for g in range(len(dataset.counts))]
        self._order = np.argsort(scores, kind="stable")
        self._quantiles = normal_quantiles(np.arange(1, size + 1) / (size + 1))
        self._ties = _Ties.of(scores[self._order])
        self._score = _Side.of(scores)
        self._rank = _Side.of(mean_ranks(scores))

    def deal(
        self, *, silos: int, regime: Regime, rho: float, cut: Cut, seed: tuple[int, ...]
    ) -> Dealt:
        """Return one allocation; ``negative`` flips the last group."""
        random = np.random.default_rng(seed)
        dealt = random.integers(0, silos, self._size)
        if regime != "random":
            latent = self._latent(rho, random)
            if regime == "negative":
                latent[self._groups[-1]] *= -1.0
            cut_group = cut_values if cut == "paper" else cut_ranks
            for own in self._groups:
                counts = np.bincount(dealt[own], minlength=silos)
                dealt[own] = cut_group(latent[own], counts)
        counts = np.bincount(dealt, minlength=silos)
        middle = np.cumsum(counts) - (counts - 1) / 2
        return Dealt(
            dealt,
            self._score.correlation(np.arange(silos), counts, dealt),
            self._rank.correlation(middle, counts, dealt),
        )

    def _latent(self, rho: float, random: np.random.Generator) -> FloatArray:
        order = self._ties.shuffled(self._order, random.random(self._size))
        noise = random.normal(size=self._size)
        latent = np.empty(self._size)
        latent[order] = rho * self._quantiles
        noise *= np.sqrt(1 - rho**2)
        latent += noise
        return latent


@dataclass(frozen=True, eq=False)
class _Ties:
    """Where equal scores lie in the order of scores."""

    places: IntArray
    runs: IntArray
    """Which run of equal scores each place belongs to."""

    @classmethod
    def of(cls, scores: FloatArray) -> _Ties:
        same = scores[1:] == scores[:-1]
        tied = np.concatenate((same, [False])) | np.concatenate(([False], same))
        starts = np.concatenate(([True], ~same))
        places = np.flatnonzero(tied)
        return cls(places, np.cumsum(starts)[places])

    def shuffled(self, order: IntArray, keys: FloatArray) -> IntArray:
        """The order with equal scores in the order of their keys."""
        if not self.places.size:
            return order
        records = order[self.places]
        shuffled = order.copy()
        shuffled[self.places] = records[np.lexsort((keys[records], self.runs))]
        return shuffled


@dataclass(frozen=True, eq=False)
class _Side:
    """One side of a correlation, centred once."""

    centred: FloatArray | None
    squares: float

    @classmethod
    def of(cls, values: FloatArray) -> _Side:
        spread = centred(values)
        return cls(spread, 0.0 if spread is None else float(np.sum(spread * spread)))

    def correlation(self, labels: npt.ArrayLike, counts: IntArray, codes: IntArray) -> float:
        """Pearson's with the number that each code stands for; ``counts`` are those of the codes."""
        numbers = np.asarray(labels, dtype=np.float64)
        used = counts > 0
        if self.centred is None or np.count_nonzero(used) < 2:
            return float("nan")
        numbers = numbers - np.sum(numbers * counts) / codes.size  # sums of halves: exact
        numbers /= np.abs(numbers[used]).max()
        other = numbers[codes]
        both = np.sum(self.centred * other) / np.sqrt(self.squares * np.sum(other * other))
        return float(np.clip(both, -1.0, 1.0))
