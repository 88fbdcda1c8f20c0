"""A cell: what one silo releases for one group; and what k numbers per group determine of the disparity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import CellError, GroupError, ScoreError
from fedparity.functionals.curves import check_order, spread
from fedparity.laws.labels import Group
from fedparity.laws.law import (
    FloatArray,
    Law,
    QuantileTable,
    as_masses,
    as_scores,
    check_magnitude,
)
from fedparity.laws.weights import Weights
from fedparity.sketches.kinds import Kind, MassTargets, RankTargets, check_kind, check_levels
from fedparity.sketches.records import ArrayRecords
from fedparity.sketches.resolve import (
    CountedRuns,
    WeightedRuns,
    counted_values,
    sorted_values,
    weighted_values,
)
from fedparity.sketches.select import select

__all__ = [
    "Cell",
    "bin_averaged_disparity",
    "bin_means",
    "linear_disparity",
    "quantile_values",
    "riemann_disparity",
    "step_law",
]


def quantile_values(law: Law, levels: int) -> FloatArray:
    r"""Return :math:`q_\ell = Q(u_\ell)` on the midpoint grid (paper, `sec:quantile:sketch`).

    For a law of n equally weighted scores it is the order statistic of rank
    :math:`\lceil n u_\ell \rceil`. Masses are compared in whole numbers, without rounding.

    Examples
    --------
    >>> quantile_values(Law.from_scores([1.0, 2.0, 3.0, 4.0]), 2)
    array([1., 3.])
    """
    return _values(law, check_levels(levels), "quantile")


def bin_means(law: Law, levels: int) -> FloatArray:
    r"""Return the mean of :math:`Q` over each bin :math:`[(\ell-1)/k, \ell/k)`.

    .. math:: \bar q_\ell = k \int_{(\ell-1)/k}^{\ell/k} Q(u) \, du

    (paper, `prop:barUk2_short`). Bins cut through an atom take their part of its mass. Their
    mean is the law's mean, and no value need be the score of a person. Each is the float nearest
    to the exact mean: they never decrease, and equal scores have exactly their own mean.

    Examples
    --------
    >>> bin_means(Law.from_scores([1.0, 2.0, 6.0]), 2)
    array([1.33333333, 4.66666667])
    """
    return _values(law, check_levels(levels), "mean")


def _values(law: Law, levels: int, kind: Kind) -> FloatArray:
    if law.weights.dtype.kind == "i":
        count = int(law.weights.sum())
        return counted_values(
            CountedRuns(law.atoms, law.weights),
            RankTargets.from_count(count, levels, kind),
            count=count,
            levels=levels,
            kind=kind,
        )
    total, size = float(law.weights.sum()), law.atoms.size
    runs = WeightedRuns(law.atoms, law.weights, np.ones(size, dtype=np.int64), {})
    targets = MassTargets.from_mass(size, total, levels, kind)
    return weighted_values(runs, targets, levels=levels, kind=kind)[1]


_FEW = 1 << 16
_MOST = 10**12
"""More records than any silo holds; sums of such counts over a million silos fit 64 bits."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Cell:
    r"""The count and the k values that one silo releases for one group.

    Valid once built: the count is positive, the values are finite and do not decrease.

    Parameters
    ----------
    count : int or float
        Number of records :math:`n_{j,s}`, or their total weight.
    values : array of k numbers
        The quantiles :math:`\widehat Q_{j,s}(u_\ell)`, the bin means, or the scores at which
        records were counted, in increasing order.
    kind : "quantile", "mean" or "counts"
    rank_error : float, default 0
        How far, as a share of the records, a value's rank may be from the requested one;
        0 when the values are exact.
    masses : array of k numbers, optional
        The records, or their weight, at each value; equal parts of the count if absent.
    value_error : float or array of k numbers, default 0
        How far a value may be from the one computed: half a step if the silo rounds.
    mean_square : float, optional
        The mean squared distance of the records from the values of their bins, of a cell of kind
        ``mean``: what the bin means leave out of the variance.
    mean_square_error : float, default 0
        How far it may be from the true one: half a step if the silo rounds.
    effective : float, optional
        How many equally weighted records the weights amount to, :math:`W^2 / \sum_i w_i^2`; the
        count if absent.
    above : mapping of threshold to number
        Records, or their weight, with a score at or above each threshold, as the silo counted them.

    Examples
    --------
    >>> Cell.from_scores([0.2, 0.4, 0.9], levels=1)
    Cell(count=3, levels=1, kind='quantile')
    """

    count: int | float
    values: FloatArray
    kind: Kind = "quantile"
    rank_error: float = 0.0
    masses: npt.NDArray[Any] | None = None
    value_error: float | FloatArray = 0.0
    mean_square: float | None = None
    mean_square_error: float = 0.0
    effective: float = None  # type: ignore[assignment]  # always a number once built
    above: Mapping[float, int | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_kind(self.kind)
        if not _is_positive(self.count):
            raise CellError(
                f"a cell's count must be a positive number of at most 10^12, not {self.count!r}.",
                fix="leave the cell out when the silo has no record of the group.",
            )
        stated: object = self.effective
        object.__setattr__(
            self, "effective", float(self.count if stated is None else self.effective)
        )
        if not (_is_number(self.rank_error) and 0 <= self.rank_error < 1):
            raise CellError(
                f"a cell's rank error must lie in [0, 1), not {self.rank_error!r}.",
                fix="pass 0 when the values are exact.",
            )
        error = np.asarray(self.value_error)
        if not (error.min() >= 0 and error.max() < math.inf):
            raise CellError(
                "how far a cell's values may be off must be finite numbers of at least 0.",
                fix="pass half of the step to which the silo rounds, or 0 if it does not.",
            )
        values = as_scores(self.values, "a cell's values") + 0.0  # a copy without negative zeros
        drops = np.flatnonzero(values[1:] < values[:-1])
        if drops.size:
            raise CellError(
                f"a cell's values must not decrease, but they do after level {int(drops[0]) + 1}.",
                fix="send the values in the order of their levels, from the lowest to the highest.",
            )
        values.flags.writeable = False
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "count", _plain(self.count))

    @classmethod
    def from_scores(
        cls, scores: object, *, levels: int, kind: Kind = "quantile", weights: object = None
    ) -> Cell:
        """Return the cell of these scores; no record is kept."""
        array, masses = as_scores(scores), None if weights is None else as_masses(weights)
        if masses is not None and masses.size != array.size:
            raise ScoreError.lengths_differ("weights", masses.size, "scores", array.size)
        effective = None if masses is None else _effective(masses)
        if kind == "counts":
            return cls(kind=kind, effective=effective, **_counted(array, masses))  # type: ignore[arg-type]
        total, values = _sketch(array, masses, check_levels(levels), kind)
        if masses is not None and masses.dtype.kind == "i":
            total = int(masses.sum())
        return cls(
            count=total,
            values=values,
            kind=kind,
            mean_square=_mean_square(array, masses, values) if kind == "mean" else None,
            effective=effective,  # type: ignore[arg-type]
        )

    @classmethod
    def joined(cls, cells: Sequence[Cell]) -> Cell:
        """Return one cell of counts with the records of several, each where its own cell has them.

        Thresholds that all of them counted at are counted in it, too.

        Examples
        --------
        >>> first, second = (Cell.from_scores(own, levels=1, kind="counts") for own in ([1.0, 2.0], [2.0]))
        >>> Cell.joined([first, second]).masses
        array([1, 1, 1])
        """
        masses = np.concatenate([_masses(cell) for cell in cells])
        values = np.concatenate([cell.values for cell in cells])
        errors = [np.broadcast_to(cell.value_error, cell.levels) for cell in cells]
        order = np.argsort(values, kind="stable")
        shared = set.intersection(*(set(cell.above) for cell in cells))
        return cls(
            count=sum(cell.count for cell in cells),
            values=values[order],
            masses=masses[order],
            value_error=np.concatenate(errors)[order],
            kind="counts",
            above={each: sum(cell.above[each] for cell in cells) for each in sorted(shared)},
        )

    @property
    def levels(self) -> int:
        """The number k of values."""
        return self.values.size

    def __repr__(self) -> str:
        return f"Cell(count={self.count}, levels={self.levels}, kind={self.kind!r})"


def _sketch(
    scores: FloatArray, masses: npt.NDArray[Any] | None, levels: int, kind: Kind
) -> tuple[int | float, FloatArray]:
    """The total and the numbers of one cell, by sorting where records are few."""
    check_kind(kind)
    weights = None if masses is None else masses.astype(np.float64, copy=False)
    if weights is not None:
        scores, weights = scores[weights > 0], weights[weights > 0]
    if scores.size <= _FEW:
        return sorted_values(scores, weights, levels=levels, kind=kind)
    codes = np.zeros(scores.size, dtype=np.uint8)
    records = ArrayRecords(("all",), scores, codes, weights)
    found = select(records, lambda _: [levels], kind=kind, levels_hint=levels)
    values = found.values[0]
    return found.totals[0], np.zeros(0) if values is None else values


def _counted(scores: FloatArray, masses: npt.NDArray[Any] | None) -> dict[str, Any]:
    """The distinct scores and the records, or the weight, at each."""
    values, places = np.unique(scores, return_inverse=True)
    at = np.bincount(places, masses, values.size)
    if masses is None or masses.dtype.kind == "i":
        at = np.rint(at).astype(np.int64)
    occupied = at > 0
    return {"count": at.sum().item(), "values": values[occupied], "masses": at[occupied]}


def _mean_square(scores: FloatArray, masses: npt.NDArray[Any] | None, means: FloatArray) -> float:
    """The variance of the scores less that of the bin means: what lies inside the bins."""
    center = np.average(scores, weights=masses)
    whole = np.average((scores - center) ** 2, weights=masses)
    return max(0.0, float(whole - np.mean((means - center) ** 2)))


def _effective(masses: npt.NDArray[Any]) -> float:
    weights = masses / masses.max()
    return float(weights.sum() ** 2 / (weights**2).sum())


def _masses(cell: Cell) -> npt.NDArray[Any]:
    return np.full(cell.levels, cell.count / cell.levels) if cell.masses is None else cell.masses


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool
    )


def _is_positive(count: object) -> bool:
    return _is_number(count) and 0 < count <= _MOST  # type: ignore[operator]


def _plain(count: float) -> int | float:
    """A Python number: an int where it is whole by type, else a float."""
    return int(count) if isinstance(count, int | np.integer) else float(count)


def step_law(values: npt.ArrayLike) -> Law:
    r"""Return the law with mass 1/k at each of the k values of a sketch (`eq:nu-bar-k`).

    Examples
    --------
    >>> step_law([1.0, 1.0, 4.0]).masses
    array([0.66666667, 0.33333333])
    """
    return Law.from_scores(values)


def riemann_disparity(
    values: Mapping[Group, npt.ArrayLike], weights: Weights, *, order: int = 2
) -> float:
    r"""Return :math:`\overline U_{k,p}` from k values per group (`eq:U-bar-kp-riemann`).

    .. math:: \overline U_{k,p} = \sum_s \alpha_s \frac{1}{k} \sum_{\ell=1}^k |q_{s,\ell} - q^*_\ell|^p

    With midpoint quantiles it may lie on either side of :math:`U_p`; with bin means it never
    exceeds :math:`U_2` (see :func:`bin_averaged_disparity`).

    Examples
    --------
    >>> riemann_disparity({"a": [0.0, 1.0], "b": [2.0, 5.0]}, Weights({"a": 1, "b": 1}))
    2.5
    """
    check_order(order)
    table = _table(values)
    widths = np.full(table.shape[1], 1 / table.shape[1])
    return spread(QuantileTable(widths, table), weights.aligned(values), order)


def linear_disparity(values: Mapping[Group, npt.ArrayLike], weights: Weights) -> float:
    r"""Return :math:`U_{2,k}^{\mathrm{lin}}`, the exact integral of linear interpolations.

    The quantile functions are linear between midpoints and constant on the outer
    half bins; the squared differences are then quadratic and integrate exactly
    (`eq:U2-lin-exact`). For one law per group its error is :math:`O(k^{-2})`. Applied to
    mixtures that were inverted stepwise it gains nothing: their error dominates.

    Examples
    --------
    >>> values = {"a": [0.0, 1.0], "b": [2.0, 5.0]}
    >>> round(linear_disparity(values, Weights({"a": 1, "b": 1})), 6)
    2.416667
    """
    shares = weights.aligned(values)
    table = _table(values)
    gaps = table - np.average(table, axis=0, weights=shares)
    left, right = gaps[:, :-1], gaps[:, 1:]
    ends = (gaps[:, 0] ** 2 + gaps[:, -1] ** 2) / 2
    inside = (left**2 + left * right + right**2).sum(axis=1) / 3
    return float(np.sum(shares * (ends + inside)) / gaps.shape[1])


def bin_averaged_disparity(laws: Mapping[Group, Law], weights: Weights, levels: int) -> float:
    r"""Return :math:`\bar U_{k,2}`, a lower bound of :math:`U_2` (`prop:barUk2_short`).

    The quantile functions are replaced by their means over k bins. The bound holds for any
    number of groups, and grows when bins are cut into smaller ones.

    Examples
    --------
    >>> laws = {"a": Law.from_scores([0.0, 1.0]), "b": Law.from_scores([2.0, 5.0])}
    >>> bin_averaged_disparity(laws, Weights({"a": 1, "b": 1}), 1)
    2.25
    """
    return riemann_disparity({g: bin_means(law, levels) for g, law in laws.items()}, weights)


def _table(values: Mapping[Group, npt.ArrayLike]) -> FloatArray:
    """One row of checked values per group, all of the same length."""
    if not values:
        raise GroupError.too_few([])
    rows = [as_scores(row, f"values of group {group!r}") for group, row in values.items()]
    for group, row in zip(values, rows, strict=True):
        if row.size != rows[0].size:
            raise ScoreError.lengths_differ(
                f"values of group {group!r}", row.size, "those of the first group", rows[0].size
            )
    table = np.stack(rows)
    check_magnitude(table, "values")
    return table
