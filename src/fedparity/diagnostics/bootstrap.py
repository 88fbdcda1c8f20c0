"""Seeded bootstrap of every measure of an audit, from the sketches alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from fedparity.diagnostics.attribution import local_parity_weights, no_selection_weights
from fedparity.diagnostics.freed_memory import keep_freed_memory
from fedparity.diagnostics.resampling import NullReader, Redraw, Resampler, cdfs_of
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.federated.mixtures import grid_levels
from fedparity.functionals.barycenter import center
from fedparity.functionals.dispersion import around_center, around_mean
from fedparity.functionals.order import power
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.selection.dealing import available_threads

__all__ = ["Draws", "Progress", "Reader", "bootstrap", "default_redraws", "named_draws", "shapley"]

_VALUES_REDRAWN = 30_000_000
_FEWEST, _MOST = 100, 1_000
_WORTH_THREADS = 1 << 14
"""Values of a federation from which NumPy's loops are long enough for several threads."""
_GLOBAL = 5
"""Numbers measured globally in each redraw: disparity, its two noises, heterogeneity, its noise."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the redraws done and their total."""


@dataclass(frozen=True)
class Draws:
    r"""A measure in every redraw, and how much of it is noise.

    ``values`` holds the measure :math:`\theta^*` of each redraw, ``noise`` the same measure of the
    difference between redrawn and original curves. ``null`` is what it would be if there were
    nothing to measure: noise around one common law. ``base`` is the measure of the original
    curves, read like the redraws.
    """

    base: FloatArray
    values: FloatArray
    noise: FloatArray
    null: FloatArray


def default_redraws(federation: Federation) -> int:
    """Return 1,000 redraws, or fewer (at least 100) for federations of very many values."""
    return int(np.clip(_VALUES_REDRAWN // federation.values.size, _FEWEST, _MOST))


def bootstrap(
    federation: Federation,
    method: Method | None = None,
    *,
    redraws: int,
    seed: int,
    threads: int | None = None,
    details: bool = True,
    progress: Progress | None = None,
) -> dict[str, Draws]:
    """Return the redrawn measures by name.

    The names are ``disparity``, ``heterogeneity``, ``v_mix``, ``v_bar``, ``remainder`` (order 2),
    ``selection``, ``within`` and ``local`` (one column per silo); the first two alone without
    ``details``. Each redraw has its own seed, so the result does not depend on the number of
    ``threads``: one per core if absent, and one alone where there is little to redraw.
    """
    method = method or Method()
    keep_freed_memory()
    resampler = Resampler(federation, grid_levels(federation, method), method.trim)
    reader = Reader(resampler, method)
    measure = reader.measures if details else reader.global_measures
    seeds = np.random.SeedSequence(seed).spawn(redraws)

    def measured(child: np.random.SeedSequence) -> FloatArray:
        return measure(resampler.draw(child))

    if threads is None:
        threads = available_threads() if federation.values.size > _WORTH_THREADS else 1
    if threads == 1:
        rows = np.stack(list(_told(map(measured, seeds), redraws, progress)))
    else:
        with ThreadPoolExecutor(max_workers=threads) as pool:
            try:
                rows = np.stack(list(_told(pool.map(measured, seeds), redraws, progress)))
            except BaseException:  # Ctrl-C: no further redraw is begun
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    base = measure(resampler.undisturbed())
    base[:_GLOBAL] = reader.population_measures()
    return named_draws(base, rows, method.order, len(federation.silos) if details else 0)


def _told(
    rows: Iterable[FloatArray], total: int, progress: Progress | None
) -> Iterator[FloatArray]:
    """The same rows, telling whoever waits how many have come."""
    for done, row in enumerate(rows, start=1):
        yield row
        if progress is not None:
            progress(done, total)


class Reader:
    """Reads all measures off a redraw, next to the original it is compared with."""

    def __init__(self, resampler: Resampler, method: Method) -> None:
        self.resampler, self.order = resampler, method.order
        self.federation = resampler.federation
        self.width = (1 - 2 * method.trim) / resampler.grid.size
        starts = np.searchsorted(self.federation.group_of, np.arange(len(self.federation.groups)))
        self.group_slices = [slice(a, b) for a, b in pairwise([*starts, None])]
        population = resampler.population_masses()
        self.null = NullReader(resampler, population)
        self.mixed, self.cdfs = resampler.quantiles(population), cdfs_of(population)
        self.cells = resampler.cell_quantiles(resampler.undisturbed())

    def population_measures(self) -> FloatArray:
        """Disparity and heterogeneity of what redraws are drawn from, without noise."""
        shares = self.federation.shares
        disparity = self.spread(self.mixed, shares)
        return np.array([disparity, 0.0, 0.0, self._cdf_spread(self.cdfs, shares), 0.0])

    def global_measures(self, redraw: Redraw) -> FloatArray:
        """Disparity and heterogeneity, each with its noise."""
        masses = self.resampler.own_masses(redraw, redraw.counts)
        return self.row(masses, self.resampler.quantiles(masses), self._shares(redraw))

    def measures(self, redraw: Redraw) -> FloatArray:
        """All measures in a row: globals, their noise, parts, then silos and their noise."""
        table, shares = self.federation.tabulate(redraw.counts), self._shares(redraw)
        masses = self.resampler.own_masses(redraw, redraw.counts)
        mixed = self.resampler.quantiles(masses)
        measured = self.row(masses, mixed, shares)
        cells = self.resampler.cell_quantiles(redraw)
        no_selection = self.spread(self._without_selection(redraw, table), shares)
        local_parity = self.spread(self._with_local_parity(redraw), shares)
        return np.concatenate(
            (
                measured,
                shapley(measured[0], no_selection, local_parity),
                self.terms(self._central(cells, redraw.counts), mixed, shares),
                self._local(cells, table),
                self._local(cells - self.cells, table),
            )
        )

    def _shares(self, redraw: Redraw) -> FloatArray:
        totals = np.bincount(self.federation.group_of, redraw.counts, len(self.federation.groups))
        shares: FloatArray = totals / totals.sum()
        return shares

    def row(self, masses: FloatArray, mixed: FloatArray, shares: FloatArray) -> FloatArray:
        """The global measures of laws given by their mass in each bin, and their quantiles."""
        cdfs = cdfs_of(masses)
        return np.array(
            [
                self.spread(mixed, shares),
                self.spread(mixed - self.mixed, shares),
                self.spread(self.null.noise(cdfs), shares),
                self._cdf_spread(cdfs, shares),
                self._cdf_spread(cdfs - self.cdfs, shares),
            ]
        )

    def _without_selection(self, redraw: Redraw, table: FloatArray) -> FloatArray:
        if table.all():  # every cell counts by its silo, in its own group only
            of_silo = table.sum(axis=1)[self.federation.silo_of]
            return self.resampler.quantiles(self.resampler.own_masses(redraw, of_silo))
        weights = no_selection_weights(self.federation, redraw.counts)
        return self.resampler.quantiles(self.resampler.masses(redraw, weights))

    def _with_local_parity(self, redraw: Redraw) -> FloatArray:
        weights = local_parity_weights(self.federation, redraw.counts)
        return self.resampler.quantiles(self.resampler.masses(redraw, weights))

    def spread(self, values: FloatArray, shares: FloatArray) -> float:
        """The disparity of laws given by their quantiles on the grid (rows)."""
        return float(around_center(values, shares[:, None], self.order).sum()) * self.width

    def _cdf_spread(self, cdfs: FloatArray, shares: FloatArray) -> float:
        spread = around_mean(cdfs, shares[:, None], self.order)
        return float(np.sum(spread[:-1] * self.resampler.score_widths[1:]))

    def _central(self, cells: FloatArray, counts: FloatArray) -> FloatArray:
        """The transport centre of each group (rows) on the grid."""
        return np.stack(
            [
                center(cells[own], np.maximum(counts[own], 1e-300), self.order)
                for own in self.group_slices
            ]
        )

    def terms(self, central: FloatArray, mixed: FloatArray, shares: FloatArray) -> FloatArray:
        """V_mix, V_bar and the remainder (which has no meaning for order 1)."""
        whole = center(mixed, shares, self.order)
        mixing, centering = mixed - central, central - whole
        weights = shares[:, None] * self.width
        return np.array(
            [
                np.sum(weights * power(mixing, self.order)),
                np.sum(weights * power(centering, self.order)),
                2 * np.sum(weights * mixing * centering),
            ]
        )

    def _local(self, cells: FloatArray, table: FloatArray) -> FloatArray:
        values = np.zeros((*table.shape, cells.shape[1]))
        values[self.federation.silo_of, self.federation.group_of] = cells
        shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
        spread = around_center(values, shares[:, :, None], self.order)
        total: FloatArray = spread.sum(axis=1) * self.width
        return total


def shapley(observed: float, no_selection: float, local_parity: float) -> tuple[float, float]:
    """The selection and within parts, from the disparity and its two counterfactuals."""
    return (
        (observed - no_selection + local_parity) / 2,
        (observed - local_parity + no_selection) / 2,
    )


def named_draws(base: FloatArray, rows: FloatArray, order: int, silos: int) -> dict[str, Draws]:
    """The columns of ``rows`` by name; those of the whole alone if ``silos`` is zero."""

    def draws(column: int, noise: int | None = None, null: int | None = None) -> Draws:
        quiet = np.zeros(len(rows)) if noise is None else rows[:, noise]
        return Draws(
            base[column], rows[:, column], quiet, quiet if null is None else rows[:, null]
        )

    named = {"disparity": draws(0, 1, 2), "heterogeneity": draws(3, 4)}
    if not silos:
        return named
    parts = ("selection", "within", "v_mix", "v_bar", "remainder")
    named |= {name: draws(_GLOBAL + i) for i, name in enumerate(parts)}
    if order == 1:
        del named["remainder"]
    first = _GLOBAL + len(parts)
    local, noise = slice(first, first + silos), slice(first + silos, None)
    named["local"] = Draws(base[local], rows[:, local], rows[:, noise], rows[:, noise])
    return named
