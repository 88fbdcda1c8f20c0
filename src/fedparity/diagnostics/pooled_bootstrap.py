r"""The bootstrap of federations with very many values: groups are redrawn as wholes.

Records are drawn independently, so those of a group are a sample of its mixture, whatever silo they
are in: the sampling noise of a mixture does not depend on its cells. It is redrawn as that of one
cell with very many bins. What sketching cell by cell adds is the same in every redraw up to its
own small noise; a few redraws of all cells tell how much, and all redraws are moved by it.
"""

from __future__ import annotations

import numpy as np

from fedparity.diagnostics.bootstrap import Draws, Progress, bootstrap
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.federated.mixtures import mixtures
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group, Silo
from fedparity.sketches.cell import Cell
from fedparity.sketches.reduce import bin_means

__all__ = ["MANY_VALUES", "pooled_bootstrap"]

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
    """Return the redrawn measures by name, as :func:`~fedparity.diagnostics.bootstrap.bootstrap` does.

    ``selection`` and ``within`` have as few redraws as all cells.
    """
    few = bootstrap(federation, method, redraws=_WHOLE, seed=seed, progress=progress)
    exact = Method(order=method.order, estimator="exact", trim=method.trim)
    many = bootstrap(
        _pooled(federation), exact, redraws=redraws, seed=seed, details=False, progress=progress
    )
    for name, draws in many.items():
        own = few[name]
        many[name] = Draws(
            own.base,
            _moved(draws.values, own.values),
            None if draws.noise is None or own.noise is None else _moved(draws.noise, own.noise),
            _moved(draws.null, own.null),
        )
    return {**few, **many}


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
