r"""How far noise may have moved the ranks of a cell, at a stated confidence.

**Proof.** Let T be a cell's true running sums over the bins, Y = T + E the noisy ones, and
:math:`e = \max_i |E_i|`, the total included. T does not decrease, so :math:`\max_{j \le i} Y_j` and
:math:`\min_{j \ge i} Y_j` both lie within e of :math:`T_i`; so does their mean, and cutting it to
[0, N + E_B] moves it no further away. So projected and true running sums differ by at most e at
every edge, and as shares of noisy and true totals by at most 2e over the noisy total. Between edges
nothing is known: a value may be off by the width of its bin.
"""

from __future__ import annotations

import numpy as np

from fedparity.diagnostics.noise.histograms import NoisyHistograms
from fedparity.laws.arrays import FloatArray

__all__ = ["noise_rank_errors"]

_NUMBERS = 20_000_000
_FEWEST, _MOST = 200, 4_000


def noise_rank_errors(
    histograms: NoisyHistograms, *, confidence: float, seed: int = 0
) -> FloatArray:
    """Return, by silo and group, a bound of the rank error that holds in all cells at once.

    The largest running sum of noise in any cell is simulated from its known law.
    """
    silos, groups, bins = histograms.counts.shape
    draws = int(np.clip(_NUMBERS // histograms.counts.size, _FEWEST, _MOST))
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
    largest = np.empty(draws)
    step = max(1, _NUMBERS // (20 * histograms.counts.size))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        noise = histograms.noise.draw(random, (size, silos * groups, bins))
        largest[start : start + size] = np.abs(np.cumsum(noise, axis=-1)).max(axis=(1, 2))
    bound = float(np.quantile(largest, confidence, method="higher"))
    totals = np.maximum(histograms.counts.sum(axis=-1), 1)
    errors: FloatArray = np.minimum(2 * bound / totals, 1.0)
    return errors
