r"""What other noise, and other records, would have shown: parametric redraws of histograms.

The law of the noise is known exactly, so it is drawn again around the projected histograms. With
``sampled`` the records are drawn again first, from the same laws: the scatter is then that of an
estimate of the population. A redraw is projected like the histograms were.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedparity.diagnostics.bootstrap import Draws, Progress
from fedparity.diagnostics.noise.histograms import NoisyHistograms
from fedparity.diagnostics.noise.reading import HistogramReader, Reading, cdfs_of
from fedparity.laws.arrays import FloatArray
from fedparity.privacy.projection import monotone_masses

__all__ = ["redrawn_measures"]

_VALUES_AT_ONCE = 2_000_000


def redrawn_measures(
    histograms: NoisyHistograms,
    reader: HistogramReader,
    *,
    sampled: bool,
    redraws: int,
    seed: int,
    progress: Progress | None = None,
) -> dict[str, Draws]:
    """Return every measure in every redraw, by name, as :func:`~fedparity.diagnostics.bootstrap` does.

    Equal seeds give equal numbers. ``local`` has one column for each silo.
    """
    own = reader.read(histograms.masses[None])
    comparison = _Comparison(reader, own, histograms.masses)
    rows = []
    done = 0
    for masses in _redrawn(histograms, reader, sampled=sampled, redraws=redraws, seed=seed):
        rows.append(comparison.measures(reader.read(masses)))
        done += len(masses)
        if progress is not None:
            progress(done, redraws)
    redrawn = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
    base = comparison.measures(own)
    named = {
        name: Draws(base[name][0], redrawn[name], noise, noise)
        for name in ("selection", "within", "v_mix", "v_bar", "remainder")
        for noise in (np.zeros(redraws),)
    }
    named["disparity"] = Draws(
        base["disparity"][0],
        redrawn["disparity"],
        redrawn["disparity_noise"],
        redrawn["disparity_null"],
    )
    for name in ("heterogeneity", "local"):
        noise = redrawn[f"{name}_noise"]
        named[name] = Draws(base[name][0], redrawn[name], noise, noise)
    if reader.order == 1:
        del named["remainder"]
    return named


def _redrawn(
    histograms: NoisyHistograms,
    reader: HistogramReader,
    *,
    sampled: bool,
    redraws: int,
    seed: int,
) -> Iterator[FloatArray]:
    """Yield redrawn masses, sets by silos by groups by bins, a chunk of sets at a time."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(sampled),)))
    truth, there = histograms.masses, histograms.released[..., None]
    probabilities = (truth / truth.sum()).ravel()
    per_set = truth.shape[0] * truth.shape[1] * max(reader.levels.size, truth.shape[2])
    chunk = max(1, _VALUES_AT_ONCE // per_set)
    for start in range(0, redraws, chunk):
        shape = (min(chunk, redraws - start), *truth.shape)
        counts: FloatArray = np.broadcast_to(truth, shape)
        if sampled:
            drawn = random.multinomial(round(float(truth.sum())), probabilities, shape[0])
            counts = drawn.reshape(shape).astype(np.float64)
        yield monotone_masses((counts + histograms.noise.draw(random, shape)) * there)


class _Comparison:
    """Measures of redraws, next to the histograms that they were drawn from."""

    def __init__(self, reader: HistogramReader, own: Reading, masses: FloatArray) -> None:
        self.reader, self.own = reader, own
        self.pooled = cdfs_of(masses.sum(axis=(0, 1)))
        self.center = reader.quantiles(np.diff(self.pooled))

    def measures(self, found: Reading) -> dict[str, FloatArray]:
        reader, own, shares = self.reader, self.own, found.shares
        return {
            "disparity": reader.disparity(found.mixed, shares),
            "disparity_noise": reader.disparity(found.mixed - own.mixed, shares),
            "disparity_null": self._null(found.cdfs, shares),
            "heterogeneity": reader.heterogeneity(found.cdfs, shares),
            "heterogeneity_noise": reader.heterogeneity(found.cdfs - own.cdfs, shares),
            "local": reader.local(found.cells, found.counts),
            "local_noise": reader.local(found.cells - own.cells, found.counts),
            **reader.parts(found),
        }

    def _null(self, cdfs: FloatArray, shares: FloatArray) -> FloatArray:
        """The disparity of the same noise around one common law: the pooled one."""
        moved = np.maximum.accumulate(self.pooled + (cdfs - self.own.cdfs), axis=-1)
        masses = np.diff(np.clip(moved, 0.0, 1.0), axis=-1)
        return self.reader.disparity(self.reader.quantiles(masses) - self.center, shares)
