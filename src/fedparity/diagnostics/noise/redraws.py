r"""What other noise, and other records, would have shown: parametric redraws of histograms.

The law of the noise is known exactly, so it is drawn again around the projected histograms. With
``sampled`` the records are drawn again first, from the same laws: the scatter is then that of an
estimate of the population. A redraw is projected like the histograms were, and measured like them.

The null is drawn the same way: what a redraw adds to its histograms is added to histograms of the same
sizes that all have one law, and the sums are projected and measured. So a redraw and its null share
all that is random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fedparity.diagnostics.bootstrap import Draws, Progress
from fedparity.diagnostics.noise.directions import allow_for_direction
from fedparity.diagnostics.noise.histograms import NoisyHistograms
from fedparity.diagnostics.noise.reading import HistogramReader
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

    Equal seeds give equal numbers. ``local`` has one column for each silo, ``pairs`` one for every
    two groups. Redraws of the noise alone have the terms of the decomposition too.
    """
    own = reader.read(histograms.masses[None])
    alike = _Alike(histograms, reader)
    rows, nulls = [], []
    done = 0
    for added in _additions(histograms, reader, sampled=sampled, redraws=redraws, seed=seed):
        found = reader.read(alike.projected(histograms.masses, added))
        terms = {} if sampled else reader.terms(found)
        rows.append({**reader.measures(found), **terms})
        nulls.append(alike.nulls(added))
        done += len(added)
        if progress is not None:
            progress(done, redraws)
    base = {**reader.measures(own), **({} if sampled else reader.terms(own))}
    redrawn, null = _joined(rows), _joined(nulls)
    quiet = np.zeros(redraws)
    named = {
        name: Draws(base[name][0], redrawn[name], null.get(name, quiet), null.get(name, quiet))
        for name in base
    }
    return named if reader.order == 1 else named | _allowing(named, null)


def _allowing(named: dict[str, Draws], lengths: Iterable[str]) -> dict[str, Draws]:
    return {name: allow_for_direction(named[name]) for name in lengths}


def _joined(parts: list[dict[str, FloatArray]]) -> dict[str, FloatArray]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


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
        """Return what is measured of each set where there is nothing to measure, by name."""
        mixed = self.projected(self.everywhere, added).sum(axis=1)
        local = self.reader.local(self.projected(self.in_silos, added))
        return {**self.reader.lengths(mixed), "local": local}
