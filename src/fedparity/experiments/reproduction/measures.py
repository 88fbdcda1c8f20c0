"""The measures of the paper's tables: of the whole and of every silo, from all records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.functionals.cramer import cramer_power
from fedparity.functionals.wasserstein import wasserstein_power
from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law

__all__ = ["MEASURES", "Measure", "measure_of", "measures_of_silos"]


@dataclass(frozen=True)
class Measure:
    """A row of a table: how it is called, and how it is written."""

    name: str
    symbol: str
    """In plain text."""
    latex: str
    decimals: int
    printed_as: str
    """The row of the paper that it stands beside."""


MEASURES = (
    Measure("n_first", "n (first group)", r"$n_{\mathrm{first}}$", 0, "n_first"),
    Measure("n_second", "n (second group)", r"$n_{\mathrm{second}}$", 0, "n_second"),
    Measure("gap", "|Δz̄|", r"$|\Delta\bar{z}|$", 4, "gap"),
    Measure("U2", "U₂", "$U_2$", 4, "U2"),
    Measure("H2", "H₂", "$H_2$", 4, "H2"),
    Measure("H2_range", "H₂ / range", r"$H_2/\mathrm{range}$", 4, "H2"),
    Measure("W2", "W₂", "$W_2$", 4, "W2"),
)
"""In the paper's order; ``H2_range`` stands below ``H2``, for reasons that the verdicts give."""

_MEASURE = {measure.name: measure for measure in MEASURES}


def measure_of(name: str) -> Measure:
    """Return the measure of a name.

    Examples
    --------
    >>> measure_of("U2").symbol
    'U₂'
    """
    return _MEASURE[name]


def measures_of_silos(
    scores: FloatArray, second: npt.NDArray[np.bool_], silos: npt.NDArray[Any], number: int
) -> FloatArray:
    """Return each measure (rows) of the whole and of each silo (columns).

    Everything is exact: no sketch, no grid. A silo without one of the groups has counts only;
    its other measures are NaN.

    Parameters
    ----------
    scores : array
        In non-decreasing order, so that no silo has to be sorted again.
    second : array of bool
        Whether a record is of the second group.
    silos : array of int
        The silo of each record, from 0.
    number : int
        Silos there are.

    Examples
    --------
    >>> table = measures_of_silos(
    ...     np.array([0.0, 1.0, 2.0, 5.0]),
    ...     np.array([False, False, True, True]),
    ...     np.array([0, 1, 0, 1]),
    ...     2,
    ... )
    >>> table[[0, 1, 2, 3, 6]].tolist()[3]
    [2.5, 1.0, 4.0]
    """
    columns = [_measures(scores[~second], scores[second])]
    for silo in range(number):
        own = silos == silo
        columns.append(_measures(scores[own & ~second], scores[own & second]))
    return np.array(columns).T


def _measures(first: FloatArray, second: FloatArray) -> tuple[float, ...]:
    if not (first.size and second.size):
        return (first.size, second.size, *(np.nan,) * 5)
    laws = Law.from_sorted(first), Law.from_sorted(second)
    share = first.size / (first.size + second.size)
    squared = wasserstein_power(*laws)
    heterogeneity = share * (1 - share) * cramer_power(*laws)
    length = max(first[-1], second[-1]) - min(first[0], second[0])
    return (
        first.size,
        second.size,
        abs(float(first.mean() - second.mean())),
        share * (1 - share) * squared,
        heterogeneity,
        heterogeneity / length if length else 0.0,
        float(np.sqrt(squared)),
    )
