r"""Several tables of the same people: which of their cells may be sent together.

A plan with axes asks for tables by sex, by race, and by both. Sent side by side they could be
subtracted from each other: women minus the women of all races but one are the women of that race.
So no person is in two cells that overlap in more than the categories of one axis:

1. Who belongs to a category of fewer than m records, on any axis, is in no cell at all.
2. Of the others, a *complete* column of the table (all its cells have m records) sends its cells, and a
   margin is their sum: these people are in one cell each.
3. The people of all remaining columns are in one cell per axis, the *remainder* of their category.

A linear combination of what is sent is a weight for each person. Of people under 2 it is any
number, the same for the whole cell. Of people under 3 it is :math:`a_i + b_j + \dots`, one term for each
axis; where all of these are 0 or 1, at most one of the terms can vary, so that the people with weight 1
are categories of a single axis. Each such cell has at least m records, and so has every set that any
combination isolates. Sums and mean squares are weighted by the same numbers; counts at thresholds
are counts of parts of cells, each of which has m records on its own.

Which columns are complete is seen too. They are the largest ones: the others are a prefix
of the columns in the order of their size, which everybody can compute. An enumeration of all small tables
(``tests/properties/test_table_suppression.py``) finds none in which somebody who knows the rule
can compute a number below m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import BoolArray, FloatArray

__all__ = ["OutcomeSizes", "TableRelease", "may_split", "release_tables"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TableRelease:
    """Which cells of several tables are sent; arrays over the categories of the axes."""

    counted: tuple[BoolArray, ...]
    """For each axis, which of its categories have enough records to be in any table."""
    complete: BoolArray
    """Which intersections are sent, as cells of their own."""
    remainder: BoolArray
    """Which intersections are not sent, and counted in the remainders of their categories."""

    def remainders(self, axis: int) -> BoolArray:
        """Return the categories of an axis that have a remainder."""
        others = tuple(each for each in range(self.remainder.ndim) if each != axis)
        return np.asarray(self.remainder.any(axis=others))


def release_tables(
    sizes: npt.ArrayLike, minimum: int, *, records: npt.ArrayLike | None = None
) -> TableRelease:
    """Return which cells may be sent of the tables by each axis and by all of them.

    Parameters
    ----------
    sizes : array with one dimension per axis
        What the rules count in each intersection.
    minimum : int
        What every cell must hold.
    records : array of the same shape, optional
        All records of each intersection, which are public where it is sent: columns are ordered by
        them. The sizes if absent.

    Examples
    --------
    >>> found = release_tables([[300, 90, 20], [500, 5, 30]], 11)
    >>> found.complete.tolist()
    [[True, False, False], [True, False, False]]
    >>> found.remainders(0).tolist(), found.remainders(1).tolist()
    ([True, True], [False, True, True])
    """
    amounts = np.asarray(sizes, dtype=np.float64)
    if minimum <= 1:
        kept = tuple(np.ones(size, dtype=bool) for size in amounts.shape)
        everything = np.ones(amounts.shape, dtype=bool)
        return TableRelease(counted=kept, complete=everything, remainder=~everything)
    counted = _large_categories(amounts, minimum)
    inside = _product(counted)
    longest = max(amounts.shape)
    column_axis = max(axis for axis, size in enumerate(amounts.shape) if size == longest)
    public = amounts if records is None else np.asarray(records, dtype=np.float64)
    order = _margin(np.where(inside, public, 0.0), column_axis)
    left = _remaining_columns(
        np.where(inside, amounts, 0.0), counted, column_axis, minimum, order=order
    )
    shape = [1] * amounts.ndim
    shape[column_axis] = -1
    remainder = inside & left.reshape(shape)
    return TableRelease(counted=counted, complete=inside & ~remainder, remainder=remainder)


def _large_categories(amounts: FloatArray, minimum: int) -> tuple[BoolArray, ...]:
    """The categories that still have enough records once the people of all others are left out."""
    counted = tuple(np.ones(size, dtype=bool) for size in amounts.shape)
    while True:
        inside = np.where(_product(counted), amounts, 0.0)
        found = tuple(
            kept & (_margin(inside, axis) >= minimum) for axis, kept in enumerate(counted)
        )
        if not all(kept.any() for kept in found):
            return tuple(np.zeros(size, dtype=bool) for size in amounts.shape)
        if all(map(np.array_equal, found, counted)):
            return found
        counted = found


def _remaining_columns(
    amounts: FloatArray,
    counted: tuple[BoolArray, ...],
    axis: int,
    minimum: int,
    *,
    order: FloatArray,
) -> BoolArray:
    """The columns whose cells are not sent: the smallest ones, up to the largest incomplete one.

    More are added until every category of the other axes has enough records in them.
    """
    others = [each for each in range(amounts.ndim) if each != axis]
    rows = np.moveaxis(amounts, axis, 0)
    needed = _product(tuple(counted[each] for each in others))
    small = [bool(((row < minimum) & needed).any()) for row in rows]
    columns = sorted(np.flatnonzero(counted[axis]).tolist(), key=lambda each: (order[each], each))
    left = np.zeros(rows.shape[0], dtype=bool)
    incomplete = [place for place, column in enumerate(columns) if small[column]]
    if not incomplete:
        return left
    size = incomplete[-1] + 1
    while size < len(columns):
        held = rows[columns[:size]].sum(axis=0)
        margins = [_margin(held, place)[counted[each]] for place, each in enumerate(others)]
        if min(margin.min() for margin in margins) >= minimum:
            break
        size += 1
    left[columns[:size]] = True
    return left


def _product(kept: tuple[BoolArray, ...]) -> BoolArray:
    """Which intersections are of kept categories only."""
    product = np.ones(tuple(each.size for each in kept), dtype=bool)
    for axis, each in enumerate(kept):
        shape = [1] * product.ndim
        shape[axis] = -1
        product &= each.reshape(shape)
    return product


def _margin(amounts: FloatArray, axis: int) -> FloatArray:
    margin: FloatArray = amounts.sum(
        axis=tuple(each for each in range(amounts.ndim) if each != axis)
    )
    return margin


@dataclass(frozen=True, kw_only=True)
class OutcomeSizes:
    """What the rules count of one cell by outcome."""

    positive: float
    negative: float
    unknown: float
    """Records without an outcome."""


def may_split(sizes: OutcomeSizes, minimum: int) -> bool:
    """Return whether a cell may be sent by outcome as well.

    Both outcomes need enough records: if one is nearly empty, the outcome of everybody in the cell
    is nearly known. The records without one follow by subtraction, so they are none, or enough.

    Examples
    --------
    >>> may_split(OutcomeSizes(positive=40, negative=30, unknown=0), 11)
    True
    >>> may_split(OutcomeSizes(positive=40, negative=30, unknown=2), 11)
    False
    """
    if minimum <= 1:
        return True
    few = 0 < sizes.unknown < minimum
    return min(sizes.positive, sizes.negative) >= minimum and not few
