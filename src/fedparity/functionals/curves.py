r"""Curves on common intervals, many sets of them at once: the one kernel behind every measure.

A table has one curve per row and one interval per column, with any leading axes in front: redraws,
allocations, silos. Rows are the quantile functions of the groups on intervals of levels, or their cdfs
on intervals of scores, and an integral is a sum over columns. Estimates, the bootstrap, redraws of noise
and planning all call the functions below, so that they agree to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from fedparity.errors import MagnitudeError, OptionError
from fedparity.laws.law import FloatArray, Law, QuantileTable

__all__ = [
    "CDFTable",
    "Counterfactuals",
    "Order",
    "Terms",
    "around_center",
    "around_mean",
    "cdf_table",
    "center",
    "check_order",
    "checked",
    "checked_power",
    "counterfactuals",
    "disparities",
    "distance_in_table",
    "from_center",
    "heterogeneities",
    "integral",
    "largest_disparity",
    "lower_weighted_median",
    "pair_powers",
    "power",
    "shapley",
    "spread",
    "terms",
]


Order: TypeAlias = Literal[1, 2]
"""The order p: 1 or 2."""

_SMALLEST = 1e-290
"""Powers below this have lost digits to gradual underflow, or soon will when averaged."""


def check_order(order: int) -> None:
    """Raise unless ``order`` is 1 or 2."""
    if isinstance(order, bool) or order not in (1, 2):
        raise OptionError(f"order must be 1 or 2, not {order!r}.", fix="pass order=1 or order=2.")


def power(differences: FloatArray, order: int, *, out: FloatArray | None = None) -> FloatArray:
    r"""Return :math:`|x|^p` elementwise, written into ``out`` if given."""
    return (np.abs if order == 1 else np.square)(differences, out=out)


def checked_power(value: float, rows: FloatArray, widths: FloatArray, what: str) -> float:
    """Return ``value``, a measure of how the ``rows`` differ, if a float could hold it.

    Zero must mean equality: a mean square that underflowed to zero is refused, not returned.

    Raises
    ------
    MagnitudeError
        If it underflowed although the rows differ on a width that is not zero.
    """
    if value < _SMALLEST and (rows[:, widths > 0] != rows[:1, widths > 0]).any():
        raise MagnitudeError(
            f"{what} is not zero but too small for a 64-bit float.",
            fix="rescale the scores (for example to [0, 1]) before measuring.",
        )
    return value


_ROUNDING = 1e-12
"""Shares within this tolerance of one half count as one half: five times 0.1 is one half."""
_TINY = 1e-300
_BLOCK = 1 << 13
"""Columns of one table whose dispersion is computed at once, at least."""


class CDFTable(NamedTuple):
    """Cdfs read on consecutive intervals of scores, on which they are constant."""

    widths: FloatArray
    """Length of each interval between two consecutive atoms of any of the laws."""
    values: FloatArray
    """One row per law, one column per interval, and any leading axes."""


CurveTable: TypeAlias = QuantileTable | CDFTable


def integral(values: FloatArray, widths: FloatArray) -> FloatArray:
    """Return the sum of ``values`` times ``widths`` over the last axis, in NumPy's own order.

    ``values`` are overwritten. A BLAS product would sum in an order that depends on the machine.
    """
    total: FloatArray = np.sum(np.multiply(values, widths, out=values), axis=-1)
    return total


def disparities(table: QuantileTable, shares: FloatArray, order: int) -> FloatArray:
    r"""Return :math:`\sum_s \alpha_s \int |q_s - q^*|^p` of each set of quantile functions.

    ``shares`` of the groups lie along the last axis.
    """
    widths, values = table
    if values.ndim > 2 or shares.ndim > 1 or widths.ndim > 1:
        return integral(around_center(values, shares[..., None], order), widths)
    dispersion = np.empty(widths.size)
    edges = np.linspace(0, widths.size, max(2, widths.size // _BLOCK + 1)).astype(np.int64)
    for start, stop in pairwise(edges.tolist()):  # fresh memory for all columns would cost more
        dispersion[start:stop] = around_center(values[:, start:stop], shares[:, None], order)
    return integral(dispersion, widths)


def largest_disparity(width: float, order: int) -> float:
    r"""Return the largest :math:`U_p` that scores in a range of this ``width`` allow.

    It is that of two groups of one half each, at both ends of the range.

    Examples
    --------
    >>> largest_disparity(2.0, 2)
    1.0
    """
    return width**order / (2 if order == 1 else 4)


def heterogeneities(table: CDFTable, shares: FloatArray, order: int) -> FloatArray:
    r"""Return :math:`\sum_s \alpha_s \int |F_s - F^\times|^p` of each set of cdfs."""
    return integral(around_mean(table.values, shares[..., None], order), table.widths)


def checked(
    measure: Callable[[Any, FloatArray, int], FloatArray],
    table: CurveTable,
    shares: FloatArray,
    order: int,
    what: str,
) -> float:
    """Return a measure of one table as a float.

    Raises
    ------
    MagnitudeError
        If it underflowed to zero although the curves differ.
    """
    if not shares.all():  # a group without share plays no part, not even in rounding
        table, shares = table._replace(values=table.values[shares > 0]), shares[shares > 0]
    value = float(measure(table, shares, order))
    return checked_power(value, table.values, table.widths, what)


def pair_powers(table: QuantileTable, order: int) -> FloatArray:
    """Return the p-th power of the distance between every two rows, along a new last axis."""
    values = table.values
    columns = [
        integral(power(values[..., s, :] - values[..., t, :], order), table.widths)
        for s, t in combinations(range(values.shape[-2]), 2)
    ]
    return np.stack(columns, axis=-1)


def from_center(table: QuantileTable, shares: FloatArray, order: int) -> FloatArray:
    r"""Return :math:`\int |q_s - q^*|^p` of every row: how far each group is from the center."""
    widths, values = table
    gaps = values - center(values, shares, order)[..., None, :]
    return integral(power(gaps, order, out=gaps), widths[..., None, :])


def center(values: FloatArray, shares: FloatArray, order: int) -> FloatArray:
    """Return the pointwise center of the rows of ``values``: mean (p = 2) or lower median (p = 1).

    The mean is summed in one order at every level, so that the mean of non-decreasing rows
    does not decrease in floating point.
    """
    weights = shares[..., None]
    if order == 1:
        return lower_weighted_median(values, weights)
    total = np.maximum(np.sum(weights, axis=-2), _TINY)
    mean: FloatArray = np.sum(values * weights, axis=-2) / total
    return mean


def around_center(values: FloatArray, shares: FloatArray, order: int) -> FloatArray:
    r"""Return :math:`\min_z \sum_s \alpha_s |q_s - z|^p` for each column of ``values``.

    The minimizer is the mean for p = 2 and a weighted median for p = 1 (paper,
    `eq:bar-quantile-pointwise`).
    """
    return _around_median(values, shares) if order == 1 else around_mean(values, shares, 2)


def around_mean(values: FloatArray, shares: FloatArray, order: int) -> FloatArray:
    r"""Return :math:`\sum_s \alpha_s |x_s - \bar x|^p` for each column of ``values``.

    ``shares`` add up to one over the rows and broadcast against ``values``: a column of them,
    or one per entry. Differences between rows come first: equal rows then have exactly zero
    dispersion, and no digit is lost when rows are close to each other and far from zero. Two
    rows need one difference only (`rem:two-groups`).
    """
    if values.shape[-2] == 2:
        factor = shares[..., 0, :] * shares[..., 1, :] * (2 if order == 1 else 1)
        gaps = values[..., 1, :] - values[..., 0, :]
        return np.multiply(factor, power(gaps, order, out=gaps), out=gaps)
    relative = values - _row_with_share(values, shares)
    relative -= np.sum(shares * relative, axis=-2, keepdims=True)
    total: FloatArray = np.sum(shares * power(relative, order), axis=-2)
    return total


def _row_with_share(values: FloatArray, shares: FloatArray) -> FloatArray:
    """The first row whose share is not zero, in each column: where differences start from.

    A row without share counts nothing, and differences to it must cost no digit.
    """
    if (shares[..., 0, :] > 0).all():
        return values[..., :1, :]
    first = np.argmax(np.broadcast_to(shares, values.shape) > 0, axis=-2)
    return np.take_along_axis(values, first[..., None, :], axis=-2)


def _around_median(values: FloatArray, shares: FloatArray) -> FloatArray:
    if values.shape[-2] == 2:
        smaller = np.minimum(shares[..., 0, :], shares[..., 1, :])
        return smaller * np.abs(values[..., 1, :] - values[..., 0, :])
    gaps = values - lower_weighted_median(values, shares)[..., None, :]
    total: FloatArray = np.sum(shares * np.abs(gaps), axis=-2)
    return total


def lower_weighted_median(values: FloatArray, shares: FloatArray) -> FloatArray:
    """Return, for each column, the smallest value at which half of the shares is reached.

    The weighted median is not unique when a share adds up to one half exactly; this is the
    lowest (paper, `rem:p1`, holds for any choice).
    """
    order = np.argsort(values, axis=-2, kind="stable")
    weights = np.broadcast_to(shares, values.shape)
    reached = np.cumsum(np.take_along_axis(weights, order, axis=-2), axis=-2)
    half = reached[..., -1:, :] * (0.5 - _ROUNDING)
    first = np.argmax(reached >= half, axis=-2)[..., None, :]
    median = np.take_along_axis(values, np.take_along_axis(order, first, axis=-2), axis=-2)
    return median[..., 0, :]


class Terms(NamedTuple):
    """The terms of the decomposition of each set of quantile functions."""

    v_mix: FloatArray
    v_bar: FloatArray
    remainder: FloatArray | None
    """None for order 1, for which no identity holds."""


def terms(mixtures: QuantileTable, centers: FloatArray, shares: FloatArray, order: int) -> Terms:
    r"""Return :math:`V_{mix}`, :math:`V_{bar}` and R (paper, `eq:anova-terms`).

    ``centers`` are the quantile functions of the groups' transport centers, on the intervals of
    their ``mixtures``.
    """
    widths, mixed = mixtures
    weights = shares[..., None] * widths[..., None, :]
    mixing = mixed - centers
    centering = centers - center(mixed, shares, order)[..., None, :]

    def total(summands: FloatArray) -> FloatArray:
        summed: FloatArray = np.sum(summands, axis=(-2, -1))
        return summed

    return Terms(
        v_mix=total(weights * power(mixing, order)),
        v_bar=total(weights * power(centering, order)),
        remainder=2 * total(weights * mixing * centering) if order == 2 else None,
    )


class Counterfactuals(NamedTuple):
    """What the two counterfactuals make of every cell: silos by groups, with any leading axes."""

    lacking: npt.NDArray[np.bool_]
    """Where a silo lacks a group: its pooled law stands in for it if there is no selection."""
    growth: FloatArray
    """No selection: by how much a cell must grow to count by all records of its silo; 0 if lacking."""
    share: FloatArray
    """Local parity: the share of its silo's pooled records that a cell becomes."""


def counterfactuals(counts: npt.NDArray[Any]) -> Counterfactuals:
    r"""Return the changes that replace :math:`\pi_{j|s}` by :math:`\beta_j`, and :math:`\nu_{j,s}` by :math:`\nu_j`.

    Examples
    --------
    >>> lacking, growth, share = counterfactuals(np.array([[30, 10], [5, 0]]))
    >>> lacking[1], growth[0], share[0]
    (array([False,  True]), array([1.33333333, 4.        ]), array([0.75, 0.25]))
    """
    in_silo, lacking = counts.sum(axis=-1, keepdims=True), counts == 0
    return Counterfactuals(
        lacking=lacking,
        growth=np.divide(in_silo, counts, out=np.zeros(counts.shape), where=~lacking),
        share=counts / np.maximum(in_silo, _TINY),
    )


Number = TypeVar("Number", float, FloatArray)


def shapley(
    observed: Number, without_selection: Number, local_parity: Number
) -> tuple[Number, Number]:
    r"""Return the selection and the within-silo part of a disparity.

    They are the Shapley values of the two counterfactual changes, and add up to ``observed``:
    with both changes nothing is left, :math:`G(\beta, \nu_j) = 0`.
    """
    return (
        (observed - without_selection + local_parity) / 2,
        (observed - local_parity + without_selection) / 2,
    )


def cdf_table(laws: Sequence[Law]) -> CDFTable:
    """Return the cdfs of ``laws`` between all their atoms (paper, `eq:Cp-step-computation`)."""
    atoms = np.concatenate([law.atoms for law in laws])
    order = np.argsort(atoms, kind="stable")  # a merge of sorted runs: linear
    values = np.empty((len(laws), atoms.size))
    end = 0
    for row, law in enumerate(laws):
        start, end = end, end + len(law)
        passed = np.cumsum((order >= start) & (order < end), dtype=np.int64)
        np.take(np.concatenate(([0.0], law.cumulative)), passed, out=values[row])
    return CDFTable(np.diff(atoms[order]), values[:, :-1])


def spread(table: QuantileTable, shares: FloatArray, order: int) -> float:
    r"""Return :math:`\sum_s \alpha_s \int |q_s - q^*|^p` for quantile functions in a table."""
    return checked(disparities, table, shares, order, "the disparity")


def distance_in_table(table: QuantileTable, order: int, rows: tuple[int, int] = (0, 1)) -> float:
    """Return the distance between two rows of ``table``, scaled so as not to underflow."""
    widths, values = table
    gaps = np.where(widths > 0, values[rows[0]] - values[rows[1]], 0.0)
    largest = max(float(gaps.max()), -float(gaps.min()))
    if largest == 0.0:
        return 0.0
    total = float(integral(power(gaps / largest, order), widths))
    return largest * (total if order == 1 else math.sqrt(total))
