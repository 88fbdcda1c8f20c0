r"""What a reconstruction between the numbers of a sketch leaves open, as far as it can be estimated.

Redraws repeat the sketch of a law that was itself reconstructed, so they do not see what no sketch
of so few numbers can show. Other reconstructions of the same numbers do: bin means without their mean
squares, and the staircase of the values. The staircase is far too rough; on laws that are known, a
twentieth of its distance was seen to hold the error (:doc:`/decisions/0009-intervals`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fedparity.diagnostics.bootstrap import Draws
from fedparity.federated.estimate import global_heterogeneity
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.federated.mixtures import mixture_table, mixtures, observed_weights
from fedparity.functionals.disparity import spread
from fedparity.laws.arrays import FloatArray

__all__ = ["LeftOpen", "group_reaches", "left_open"]

_OF_STAIRCASE = 0.05
_OF_RUN = 0.8
"""How far the records of merged counts are taken to be off together, as a share of half their run."""
_TINY = 1e-300


class LeftOpen(NamedTuple):
    """How far reconstructions of the same sketches are from each other."""

    disparity: float
    heterogeneity: float


def left_open(federation: Federation, method: Method, draws: Mapping[str, Draws]) -> LeftOpen:
    """Return how far measures of other reconstructions are from those of the one that is used.

    Counts leave nothing open but for those that were merged, which may lie on both sides of where they
    are put. The laws through quantiles are those of the redraws; their estimates read the staircase.
    """
    if federation.kind == "counts":
        return _of_merged_counts(federation, method)
    staircase = _measures(federation, method, reconstruct=False)
    if federation.kind == "quantile":
        base = [float(draws[name].base) for name in LeftOpen._fields]
        return LeftOpen(*(abs(a - b) for a, b in zip(staircase, base, strict=True)))
    used = _measures(federation, method, reconstruct=True)
    plain = replace(federation, mean_squares=np.full(federation.levels.size, np.nan))
    other = _measures(plain, method, reconstruct=True)
    return LeftOpen(
        *(
            max(abs(here - there), _OF_STAIRCASE * abs(here - rough))
            for here, there, rough in zip(used, other, staircase, strict=True)
        )
    )


def group_reaches(federation: Federation) -> FloatArray:
    """Return how far, in score points, the law of each group may have been moved by merging counts.

    Where the records of a group lie in their runs is not known, and is alike in all its cells: its law may be
    moved as a whole, which no redraw shows. 0 for all other sketches.
    """
    reaches = np.zeros(len(federation.groups))
    if federation.kind == "counts":
        groups = np.repeat(federation.group_of, federation.levels)
        moved, records = (
            np.bincount(groups, weights, reaches.size)
            for weights in (federation.parts * federation.value_errors, federation.parts)
        )
        reaches = _OF_RUN * moved / records
    return reaches


def _of_merged_counts(federation: Federation, method: Method) -> LeftOpen:
    """How far the measures are from those of records in the middles of their runs, at both ends, or moved."""
    if not federation.value_errors.any():
        return LeftOpen(0.0, 0.0)
    used = _measures(federation, method, reconstruct=True)
    middle = _measures(federation, method, reconstruct=False)
    ends = _measures(_on_both_sides(federation), method, reconstruct=False)
    return LeftOpen(
        max(
            abs(used.disparity - middle.disparity),
            abs(used.disparity - ends.disparity),
            _of_moved_groups(federation, method),
        ),
        max(
            abs(used.heterogeneity - middle.heterogeneity),
            abs(used.heterogeneity - ends.heterogeneity),
        ),
    )


def _of_moved_groups(federation: Federation, method: Method) -> float:
    """What the disparity changes by if each group moves by its reach, one way or the other."""
    shares, reaches = federation.shares, group_reaches(federation)
    if method.order == 1:
        return float(np.linalg.norm(shares * reaches))
    means = np.array([law.mean for law in mixtures(federation).values()])
    slopes = 2 * shares * (means - shares @ means)
    return float(shares @ reaches**2 + np.linalg.norm(slopes * reaches))


def _on_both_sides(federation: Federation) -> Federation:
    """Half of the records of every merged count as low as they may be, half of them as high."""
    cells = {}
    for label, cell in federation.cells.items():
        reach = np.broadcast_to(cell.value_error, cell.levels)
        masses = np.ones(cell.levels) if cell.masses is None else cell.masses
        values = np.concatenate((cell.values - reach, cell.values + reach))
        order = np.argsort(values, kind="stable")
        cells[label] = replace(
            cell, values=values[order], masses=np.tile(masses, 2)[order], value_error=0.0
        )
    return Federation.from_cells(cells, groups=federation.groups)


def _measures(federation: Federation, method: Method, *, reconstruct: bool) -> LeftOpen:
    exact = replace(method, estimator="exact")
    cells = federation.reconstructed if reconstruct else federation
    table = mixture_table(cells, observed_weights(cells), exact, reconstruct=False)
    return LeftOpen(
        spread(table, cells.shares, method.order), global_heterogeneity(cells, method.order)
    )
