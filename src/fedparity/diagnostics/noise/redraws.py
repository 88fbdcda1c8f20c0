r"""What other noise, and other records, would have shown: parametric redraws of histograms.

The law of the noise is known exactly, so it is drawn again around the projected histograms. With
``sampled`` the records are drawn again first, from the same laws: the scatter is then that of an
estimate of the population. A redraw is projected like the histograms were, and measured like them.

The null is drawn the same way: what a redraw adds to its histograms is added to histograms of the same
sizes that all have one law, and the sums are projected and measured. So a redraw and its null share
all that is random.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedparity.diagnostics.bootstrap import Draws, Progress
from fedparity.diagnostics.noise.histograms import NoisyHistograms
from fedparity.diagnostics.noise.reading import HistogramReader, Reading
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
    alike = _Alike(histograms, reader)
    rows = []
    done = 0
    for added in _additions(histograms, reader, sampled=sampled, redraws=redraws, seed=seed):
        found = reader.read(alike.projected(histograms.masses, added))
        rows.append({**_measures(reader, found, own), **alike.nulls(added)})
        done += len(added)
        if progress is not None:
            progress(done, redraws)
    redrawn = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
    quiet = np.zeros(redraws)
    named = {}
    for name, base in _measures(reader, own, own).items():
        null = redrawn.get(f"{name}_null", quiet)
        named[name] = Draws(base[0], redrawn[name], null, null)
    del named["heterogeneity_null"]
    if reader.order == 1:
        del named["remainder"]
    return named


def _additions(
    histograms: NoisyHistograms,
    reader: HistogramReader,
    *,
    sampled: bool,
    redraws: int,
    seed: int,
) -> Iterator[FloatArray]:
    """Yield what redraws add to the masses, sets by silos by groups by bins, some at a time."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(sampled),)))
    truth = histograms.masses
    silos, groups, bins = truth.shape
    probabilities = (truth / truth.sum()).ravel()
    levels = groups * bins if reader.grid.pointwise else reader.levels.size
    chunk = max(1, _VALUES_AT_ONCE // (silos * groups * max(levels, reader.levels.size, bins)))
    for start in range(0, redraws, chunk):
        shape = (min(chunk, redraws - start), *truth.shape)
        sampling = np.zeros(1)
        if sampled:
            drawn = random.multinomial(round(float(truth.sum())), probabilities, shape[0])
            sampling = drawn.reshape(shape) - truth
        yield sampling + histograms.noise.draw(random, shape)


class _Alike:
    """Histograms of the same sizes without disparity: all of one law, or all of a silo."""

    def __init__(self, histograms: NoisyHistograms, reader: HistogramReader) -> None:
        self.reader, self.there = reader, histograms.released[..., None]
        masses = histograms.masses
        sizes = masses.sum(axis=-1, keepdims=True)
        self.everywhere = sizes * masses.sum(axis=(0, 1)) / max(float(masses.sum()), 1e-300)
        of_silo = masses.sum(axis=1, keepdims=True)
        in_silo = np.maximum(of_silo.sum(axis=-1, keepdims=True), 1e-300)
        self.in_silos = sizes * of_silo / in_silo

    def projected(self, masses: FloatArray, added: FloatArray) -> FloatArray:
        """Return the masses that a silo's noisy counts would be made, were these the true ones."""
        return monotone_masses((masses + added) * self.there)

    def nulls(self, added: FloatArray) -> dict[str, FloatArray]:
        """Return the disparity that is measured of each set, in all and inside silos."""
        everywhere = self.projected(self.everywhere, added).sum(axis=1)
        return {
            "disparity_null": self.reader.disparity(everywhere),
            "local_null": self.reader.local(self.projected(self.in_silos, added)),
        }


def _measures(reader: HistogramReader, found: Reading, own: Reading) -> dict[str, FloatArray]:
    """Every measure of sets of histograms, next to those that they were drawn from."""
    return {
        "disparity": reader.disparity(found.mixed, found.shares),
        "heterogeneity": reader.heterogeneity(found.mixed, found.shares),
        "heterogeneity_null": reader.heterogeneity(found.mixed, found.shares, around=own.mixed),
        "local": reader.local(found.cells),
        **reader.parts(found),
    }
