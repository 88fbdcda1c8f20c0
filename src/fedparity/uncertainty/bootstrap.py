"""Seeded bootstrap of the measures of an audit, from the sketches alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from fedparity.federated.estimate import Method, grid_levels, mixtures
from fedparity.federated.federation import Federation
from fedparity.functionals.curves import (
    CDFTable,
    disparities,
    heterogeneities,
    pair_powers,
    shapley,
)
from fedparity.laws.labels import Group, Silo
from fedparity.laws.law import FloatArray, QuantileTable
from fedparity.laws.progress import Progress
from fedparity.sketches.cell import Cell, bin_means
from fedparity.text import OneLine
from fedparity.uncertainty.moved_laws import Curves, Ends, MovedLaws
from fedparity.uncertainty.resampling import (
    Mixtures,
    Resampler,
    Resolution,
    keep_freed_memory,
    resampler,
)
from fedparity.uncertainty.score_nodes import ReadCurves, ScoreNodes

__all__ = [
    "MANY_VALUES",
    "Draws",
    "bootstrap",
    "default_redraws",
    "joined",
    "pooled_bootstrap",
]

_VALUES_REDRAWN = 40_000_000
_FEWEST, _MOST = 100, 500

_FINER = 5
"""The population is read at more levels than redraws, once."""


@dataclass(frozen=True)
class Draws(OneLine):
    r"""A measure in every redraw, and how much of it is noise.

    ``values`` holds the measure :math:`\theta^*` of each redraw, ``noise`` the same measure of the
    difference between redrawn and original curves, or None where no formula tells from it how the measure
    scatters around another truth. ``laws`` show that instead, or as well: one entry for each measure, none where the
    formula is enough. ``null`` is what it would be if there were nothing to measure: redraws of groups with one
    common law. ``base`` is the measure of the laws that redraws are drawn from.
    """

    base: FloatArray
    values: FloatArray
    noise: FloatArray | None
    null: FloatArray
    laws: tuple[MovedLaws, ...] = ()

    @property
    def ends(self) -> Ends:
        """What redraws show if there is nothing to measure, and more than the estimate itself."""
        return Ends(self.null, float(np.quantile(self.values, 0.9)))

    def column(self, place: int) -> Draws:
        """Return the draws of one of several measures."""
        noise = None if self.noise is None else self.noise[..., place]
        return Draws(
            self.base[..., place],
            self.values[..., place],
            noise,
            self.null[..., place],
            self.laws[place : place + 1],
        )


def default_redraws(federation: Federation) -> int:
    """Return 500 redraws, or fewer (at least 100) for federations of very many values."""
    return int(np.clip(_VALUES_REDRAWN // federation.values.size, _FEWEST, _MOST))


def bootstrap(
    federation: Federation,
    method: Method | None = None,
    *,
    redraws: int,
    seed: int,
    details: bool = True,
    resolution: Resolution | None = None,
    progress: Progress | None = None,
) -> dict[str, Draws]:
    """Return the redrawn measures by name.

    The names are ``disparity``, ``heterogeneity``, ``pairs`` (one column for every two groups, the
    p-th power of their distance) and, with ``details``, ``selection`` and ``within``. Equal seeds
    give equal numbers.
    """
    keep_freed_memory()
    method = method or Method()
    source = resampler(
        federation,
        exact=method.estimator == "exact",
        details=details,
        resolution=resolution or Resolution(),
    )
    reader = _Reader(source, method, grid_levels(federation, method))
    random, other = (
        np.random.Generator(np.random.SFC64(child))
        for child in np.random.SeedSequence(seed).spawn(2)
    )
    done = 0
    found: list[dict[str, FloatArray]] = []
    for drawn in source.redraws(redraws, random, details=details):
        found.append(reader.measures(drawn))
        done += len(drawn.shares)
        if progress is not None:
            progress(done // 2, redraws)
    null: list[dict[str, FloatArray]] = []
    for drawn in source.null_redraws(redraws, other):
        null.append(reader.null_measures(drawn))
        done += len(drawn.shares)
        if progress is not None:
            progress(done // 2, redraws)
    redrawn, of_noise = joined(found), joined(null)
    named = _named(reader.base(), redrawn, of_noise)
    for name, laws in reader.moved(redrawn, named).items():
        named[name] = replace(named[name], laws=laws)
    if method.order == 2:
        named |= {name: _with_roughness(named[name]) for name in ("disparity", "pairs")}
    return named


def joined(found: list[dict[str, FloatArray]]) -> dict[str, FloatArray]:
    """Return the measures of all batches of redraws, one after the other, by name."""
    return {name: np.concatenate([each[name] for each in found]) for name in found[0]}


def _named(
    base: dict[str, FloatArray], found: dict[str, FloatArray], null: dict[str, FloatArray]
) -> dict[str, Draws]:
    quiet = np.zeros(len(found["disparity"]))
    return {
        name: Draws(
            base[name][0],
            found[name],
            found.get(f"{name} noise"),
            null.get(name, quiet),
        )
        for name in base
    }


def _with_roughness(draws: Draws) -> Draws:
    r"""The draws without what they lose because redrawn curves are smoother than the estimated ones.

    With e the noise of a redraw and d the difference of the curves that it was drawn from, a squared
    length grows by :math:`\lVert e \rVert^2 + 2 \langle d, e \rangle`. The mean of e is not zero: ordered
    records, averaged over samples, give a smoother curve than those of one sample. So the mean product with
    the roughness of d is negative; but this roughness is the noise of the sample itself, and no property of
    the population. Bin means of lognormal scores lose two fifths of the noise in this way, of Beta scores a
    tenth. A loss up to the noise is therefore made good; what goes beyond it is an error of the
    sketch, which every sample has.
    """
    if draws.noise is None:
        return draws
    noise = draws.noise.mean(axis=0)
    product = draws.values.mean(axis=0) - draws.base - noise
    return replace(draws, values=draws.values - np.clip(product, -noise, 0.0))


class _Reader:
    """Reads the measures off redraws, next to the laws that they were drawn from."""

    def __init__(self, source: Resampler, method: Method, levels: int) -> None:
        self.nodes: ScoreNodes = source.nodes
        self.order, self.trim = method.order, method.trim
        self.levels = levels if method.estimator == "grid" else None
        self.population = source.population
        self.own_cdfs = self.nodes.cdfs(self.population.own)
        self.widths = self.nodes.spread_widths()

    def base(self) -> dict[str, FloatArray]:
        """Return the measures of the population, read finer than redraws whatever the estimator."""
        finer = partial(self.nodes.read, finer=_FINER, trim=self.trim)
        return self._measures(self.population, finer(self.population.own), finer)

    def measures(self, found: Mixtures) -> dict[str, FloatArray]:
        """Return the measures of redraws, and of their noise."""
        curves = self._read(found.own)
        measured = self._measures(found, curves, self._read)
        measured["heterogeneity noise"] = self._cdf_spread(
            curves.cdfs - self.own_cdfs, found.shares
        )
        if self.nodes.steps or self.order == 1:
            measured["shares"] = found.shares
            measured["cdf noise"] = curves.cdfs - self.own_cdfs
        if not self.nodes.steps:
            own = self.nodes.quantiles(self.own_cdfs, curves.levels)
            noise = curves.table._replace(values=curves.table.values - own)
            measured["disparity noise"] = disparities(noise, found.shares, self.order)
            measured["pairs noise"] = pair_powers(noise, self.order)
            if self.order == 1:
                measured["quantile noise"] = noise.values
        return measured

    def moved(
        self, redrawn: dict[str, FloatArray], draws: dict[str, Draws]
    ) -> dict[str, tuple[MovedLaws, ...]]:
        """Return what shows how measures scatter around other truths, by name, where no formula does."""
        if not (self.nodes.steps or self.order == 1):
            return {}
        shares, cdfs = self.population.shares[0], self.own_cdfs[0]
        pooled = np.sum(shares[:, None] * cdfs, axis=0)
        of_cdfs = Curves(
            own=cdfs,
            noise=redrawn["cdf noise"],
            shift=pooled * (1 - pooled),
            widths=self.widths,
            shares=shares,
            redrawn_shares=redrawn["shares"],
        )
        if self.nodes.steps:
            curves, table = of_cdfs, partial(self.nodes.table, trim=self.trim)
        else:
            own = self._read(self.population.own).table
            widths = own.widths[0]
            curves = of_cdfs._replace(
                own=own.values[0],
                noise=redrawn["quantile noise"],
                shift=np.ones(widths.size),
                widths=widths,
            )
            table = partial(QuantileTable, widths)

        def disparity(values: FloatArray, shares: FloatArray) -> FloatArray:
            return disparities(table(values), shares, self.order)

        def distance(values: FloatArray, _: FloatArray) -> FloatArray:
            return pair_powers(table(values), self.order)[..., 0]

        everyone = tuple(range(shares.size))
        pairs = draws["pairs"]
        return {
            "disparity": (MovedLaws(curves, everyone, disparity, draws["disparity"].ends),),
            "pairs": tuple(
                MovedLaws(curves, pair, distance, pairs.column(place).ends)
                for place, pair in enumerate(combinations(everyone, 2))
            ),
            "heterogeneity": (
                MovedLaws(of_cdfs, everyone, self._cdf_spread, draws["heterogeneity"].ends),
            ),
        }

    def null_measures(self, found: Mixtures) -> dict[str, FloatArray]:
        """Return the measures of redraws of one common law."""
        return self._measures(found, self._read(found.own), self._read)

    def _read(self, masses: FloatArray) -> ReadCurves:
        return self.nodes.read(masses, levels=self.levels, trim=self.trim)

    def _measures(
        self, found: Mixtures, curves: ReadCurves, read: Callable[[FloatArray], ReadCurves]
    ) -> dict[str, FloatArray]:
        shares = found.shares
        disparity = disparities(curves.table, shares, self.order)
        measured = {
            "disparity": disparity,
            "pairs": pair_powers(curves.table, self.order),
            "heterogeneity": self._cdf_spread(curves.cdfs, shares),
        }
        if found.no_selection is None or found.local_parity is None:
            return measured
        without, parity = (
            disparities(read(masses).table, shares, self.order)
            for masses in (found.no_selection, found.local_parity)
        )
        measured["selection"], measured["within"] = shapley(disparity, without, parity)
        return measured

    def _cdf_spread(self, cdfs: FloatArray, shares: FloatArray) -> FloatArray:
        return heterogeneities(CDFTable(self.widths, cdfs), shares, self.order)


# The bootstrap of federations with very many values: groups are redrawn as wholes.
#
# Records are drawn independently, so those of a group are a sample of its mixture, whatever silo they
# are in: the sampling noise of a mixture does not depend on its cells. It is redrawn as that of one
# cell with very many bins. What sketching cell by cell adds is the same in every redraw up to its
# own small noise; a few redraws of all cells tell how much, and all redraws are moved by it.

MANY_VALUES = 300_000
"""From here on, hundreds of redraws of all cells take more than a few seconds."""
_WHOLE = 12
"""Redraws of all cells."""
_BINS = 1_000


def pooled_bootstrap(
    federation: Federation,
    method: Method,
    *,
    redraws: int,
    seed: int,
    progress: Progress | None = None,
) -> dict[str, Draws]:
    """Return the redrawn measures by name, as :func:`~fedparity.uncertainty.bootstrap.bootstrap` does.

    ``selection`` and ``within`` have as few redraws as all cells.
    """
    few = bootstrap(federation, method, redraws=_WHOLE, seed=seed, progress=progress)
    exact = Method(order=method.order, estimator="exact", trim=method.trim)
    many = bootstrap(
        _pooled(federation), exact, redraws=redraws, seed=seed, details=False, progress=progress
    )
    moved = {name: _moved_draws(draws, few[name]) for name, draws in many.items()}
    return {**few, **moved}


def _moved_draws(wide: Draws, narrow: Draws) -> Draws:
    """The draws of the pool, moved by what redraws of all cells show more."""
    noise = None
    if wide.noise is not None and narrow.noise is not None:
        noise = _moved(wide.noise, narrow.noise)
    values, null = _moved(wide.values, narrow.values), _moved(wide.null, narrow.null)
    moved = Draws(narrow.base, values, noise, null)
    if not wide.laws:
        return moved
    columns = [moved] if values.ndim == 1 else map(moved.column, range(values.shape[1]))
    offsets = np.atleast_1d(narrow.values.mean(axis=0) - wide.values.mean(axis=0)).tolist()
    laws = zip(wide.laws, columns, offsets, strict=True)
    return replace(
        moved,
        laws=tuple(replace(each, ends=own.ends, offset=offset) for each, own, offset in laws),
    )


def _moved(wide: FloatArray, narrow: FloatArray) -> FloatArray:
    """Redraws of the pool with the mean of those of all cells."""
    moved: FloatArray = np.maximum(wide - wide.mean(axis=0) + narrow.mean(axis=0), 0.0)
    return moved


def _pooled(federation: Federation) -> Federation:
    """The mixture of each group as one cell: of very many bins, or of counts."""
    laws = mixtures(federation)
    cells: dict[tuple[Silo, Group], Cell] = {}
    for position, group in enumerate(federation.groups):
        own = federation.group_of == position
        counts, effective = federation.counts[own], federation.effective[own]
        law = laws[group]
        size = float(counts.sum() ** 2 / np.sum(counts**2 / effective))
        if federation.kind == "counts":
            cells[0, group] = Cell(
                count=counts.sum().item(),
                values=law.atoms,
                masses=law.weights * counts.sum(),
                kind="counts",
                effective=size,
            )
            continue
        values = bin_means(law, _BINS)
        square = float(np.average(law.atoms**2, weights=law.weights) - np.mean(values**2))
        cells[0, group] = Cell(
            count=counts.sum().item(),
            values=values,
            kind="mean",
            mean_square=max(0.0, square),
            effective=size,
        )
    return Federation.from_cells(
        cells, groups=federation.groups, score_range=federation.score_range
    )
