"""What an estimator reads of many audits at once: sketches of cells, mixtures, disparities.

The same arithmetic as that of a federation, for arrays with one row per audit and for silos of
equal counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedparity.federated.method import Estimator
from fedparity.functionals.dispersion import around_mean
from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law
from fedparity.laws.refinement import common_refinement
from fedparity.sketches.kinds import Kind
from fedparity.sketches.levels import ranks

__all__ = ["bin_means_of", "read_mixture", "sketch_of", "spread_of"]


def sketch_of(records: FloatArray, levels: int, kind: Kind) -> FloatArray:
    """Return the k values of cells whose sorted records lie along the last axis."""
    if kind == "mean":
        return bin_means_of(records, levels)
    return records[..., ranks(records.shape[-1], levels) - 1]


def bin_means_of(records: FloatArray, levels: int) -> FloatArray:
    """Return the bin means of cells: differences of the integrated quantile function at l/k.

    Examples
    --------
    >>> bin_means_of(np.array([1.0, 2.0, 6.0]), 2)
    array([1.33333333, 4.66666667])
    """
    count = records.shape[-1]
    sums = np.zeros((*records.shape[:-1], count + 1))
    np.cumsum(records, axis=-1, out=sums[..., 1:])
    whole, part = np.divmod(np.arange(levels + 1) * count, levels)
    areas = sums[..., whole]
    areas[..., :-1] += part[:-1] / levels * records[..., whole[:-1]]
    means: FloatArray = np.diff(areas, axis=-1) * (levels / count)
    return means


def read_mixture(values: FloatArray, estimator: Estimator) -> FloatArray:
    """Return what the estimator reads of a group, from the k values of each of its silos.

    Silos have equal counts, so the mixture gives equal masses to all d·k values: ``exact``
    reads them all, ``grid`` those at the k midpoints.

    Examples
    --------
    >>> read_mixture(np.array([[[1.0, 4.0], [2.0, 3.0]]]), "grid")
    array([[1., 3.]])
    """
    audits, silos, levels = values.shape
    mixture = np.sort(values.reshape(audits, silos * levels), axis=1)
    return mixture if estimator == "exact" else mixture[:, ranks(silos * levels, levels) - 1]


def spread_of(groups: Sequence[FloatArray], shares: Sequence[float]) -> FloatArray:
    """Return the disparity of each audit (row), given sorted values of each group.

    The values of a group have equal masses; groups may have different numbers of them.
    """
    places = [Law.from_sorted(np.arange(float(rows.shape[1]))) for rows in groups]
    widths, positions = common_refinement(places)
    values = np.stack(
        [rows[:, at] for rows, at in zip(groups, positions.astype(np.int64), strict=True)], axis=1
    )
    spread = around_mean(values, np.asarray(shares)[:, None], 2)
    total: FloatArray = np.sum(spread * widths, axis=-1)
    return total
