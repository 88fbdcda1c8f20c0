r"""Several tables of the same people: which of their cells may be sent together.

A plan with axes asks for tables by sex, by race, and by both. Sent side by side they could be
subtracted from each other: women minus the women of all races but one are the women of that race.
So no person is in two cells that overlap in more than the categories of one axis:

1. Who belongs to a category of fewer than m records, on any axis, is in no cell at all.
2. Of the others, a *complete* column of the table (all its cells have m records) sends its cells, and a
   margin is their sum: these people are in one cell each.
3. The people of all remaining columns are in one cell per axis, the *remainder* of their category.

**What is isolated.** A linear combination of what is sent is a weight for each person. Of people under 2 it is any
number, the same for the whole cell. Of people under 3 it is :math:`a_i + b_j + \dots`, one term for each axis. The people with weight
1 are *isolated* if all others have weight 0. That must hold for people who exist only: somebody who knows that
certain combinations are empty (no men of race X here) does not care about their weights, and isolates more. With two
axes, draw a graph of the categories, with an edge for each cell that is not empty: a cell whose edge is the only one between
two parts of the graph is the sum of the rows less that of the columns on one side. So :func:`isolates_few` looks for
sets of fewer than m people among all combinations over nonempty cells, and there are none in a remainder that is sent.
A weight of 2 or :math:`-1` on a set says no more: any multiple of a combination is one. Sums and mean squares are weighted
by the same numbers. Each outcome is a table of its own, and so are records without one; counts at
scores are in :mod:`fedparity.privacy.remainder_runs`.

**What the decision tells.** The columns of 3 are the smallest ones up to the largest incomplete one, then more of them in
this order until nothing is isolated: everybody can compute the order. If all columns will not do, no
remainder is sent: that of a single axis would be disjoint, but near the minimum it can be computed from the fact that the others are
missing. An enumeration of all small tables by two axes (``tests/properties/test_table_suppression.py``) finds none in
which somebody who knows the rule, what is sent and which cells are empty can compute a number below m, for
m of 3 and more; with an m of 2, a small cell that is not empty has one record anyway. With three axes there are such
tables: numbers are whole, some changes that margins do not show need two people at once, and where half of all
cells are known to be empty and the others hold about m together, one table may be left that the rule would have
sent. No combination isolates anybody there either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.laws.law import BoolArray, FloatArray, IntArray

__all__ = [
    "OutcomeSizes",
    "TableRelease",
    "column_axis",
    "isolates_few",
    "may_split",
    "release_tables",
    "splittable_size",
    "sums_isolate_few",
]


@dataclass(frozen=True, eq=False, kw_only=True)
class TableRelease:
    """Which cells of several tables are sent; arrays over the categories of the axes."""

    counted: tuple[BoolArray, ...]
    """For each axis, which of its categories have enough records to be in any table."""
    complete: BoolArray
    """Which intersections are sent, as cells of their own."""
    remainder: BoolArray
    """Which intersections are not sent, and counted in the remainders of their categories."""

    @property
    def is_whole(self) -> bool:
        """Whether everybody of the categories that are counted is in some cell."""
        return bool((self.complete | self.remainder)[_product(self.counted)].all())

    def remainders(self, axis: int) -> BoolArray:
        """Return the categories of an axis that have a remainder."""
        others = tuple(each for each in range(self.remainder.ndim) if each != axis)
        return np.asarray(self.remainder.any(axis=others))


def column_axis(shape: Sequence[int]) -> int:
    """Return the axis whose categories are called columns: the last of the longest ones."""
    return max(axis for axis, size in enumerate(shape) if size == max(shape))


def release_tables(
    sizes: npt.ArrayLike, minimum: int, *, by_outcome: bool = False
) -> TableRelease:
    """Return which cells may be sent of the tables by each axis and by all of them.

    Parameters
    ----------
    sizes : array with one dimension per axis
        The records of each intersection; by outcome the positive ones, the negative ones and those without
        an outcome, along a further dimension that comes first.
    minimum : int
        What every cell must hold; by outcome in both of them, see :func:`splittable_size`.
    by_outcome : bool, default False
        Whether the tables of each outcome are sent as well. None of them may isolate a few records.

    Examples
    --------
    >>> found = release_tables([[300, 90, 20], [500, 5, 30]], 11)
    >>> found.complete.tolist()
    [[True, False, False], [True, False, False]]
    >>> found.remainders(0).tolist(), found.remainders(1).tolist()
    ([True, True], [False, True, True])
    """
    amounts = np.asarray(sizes, dtype=np.float64)
    tables = amounts if by_outcome else amounts[np.newaxis]
    shape = tables.shape[1:]
    if minimum <= 1:
        kept = tuple(np.ones(size, dtype=bool) for size in shape)
        everything = np.ones(shape, dtype=bool)
        return TableRelease(counted=kept, complete=everything, remainder=~everything)
    counted = _large_categories(tables, minimum)
    inside = _product(counted)
    incomplete, remainder = _remainder(
        _Columns(np.where(inside, tables, 0.0), inside, column_axis(shape), minimum)
    )
    return TableRelease(counted=counted, complete=inside & ~incomplete, remainder=remainder)


def _held(tables: FloatArray, minimum: int) -> FloatArray:
    """What the rules count at each place, of the records alone or of those of each outcome."""
    return splittable_size(*tables, minimum=minimum) if len(tables) > 1 else tables[0]


def _large_categories(tables: FloatArray, minimum: int) -> tuple[BoolArray, ...]:
    """The categories that still have enough records once the people of all others are left out."""
    shape = tables.shape[1:]
    counted = tuple(np.ones(size, dtype=bool) for size in shape)
    while True:
        inside = np.where(_product(counted), tables, 0.0)
        found = tuple(
            kept & (_held_in(inside, axis, minimum) >= minimum)
            for axis, kept in enumerate(counted)
        )
        if not all(kept.any() for kept in found):
            return tuple(np.zeros(size, dtype=bool) for size in shape)
        if all(map(np.array_equal, found, counted)):
            return found
        counted = found


class _Columns(NamedTuple):
    """Tables of the same people, and the axis whose categories are their columns."""

    tables: FloatArray
    inside: BoolArray
    """The intersections of categories that are counted."""
    axis: int
    minimum: int

    def of(self, columns: Sequence[int]) -> BoolArray:
        """The intersections of these columns."""
        chosen = np.isin(np.arange(self.inside.shape[self.axis]), columns)
        shape = [1] * self.inside.ndim
        shape[self.axis] = -1
        return np.asarray(self.inside & chosen.reshape(shape))

    def is_complete(self, column: int) -> bool:
        held = _held(self.tables, self.minimum)
        return bool((held[self.of([column])] >= self.minimum).all())

    def fills_rows(self, people: BoolArray) -> bool:
        """Whether every category of the other axes has enough records among these people."""
        own = np.where(people, self.tables, 0.0)
        return all(
            (
                _held_in(own, axis, self.minimum)[_margin(self.inside, axis) > 0] >= self.minimum
            ).all()
            for axis in range(self.inside.ndim)
            if axis != self.axis
        )

    def isolates_few(self, people: BoolArray) -> bool:
        """Whether the margins of these people isolate a few of them, together or of one outcome."""
        everybody = self.tables.sum(axis=0)
        parts = [everybody, *self.tables[:_WITHOUT]] if len(self.tables) > 1 else [everybody]
        return any(isolates_few(np.where(people, part, 0.0), self.minimum) for part in parts)


def _remainder(table: _Columns) -> tuple[BoolArray, BoolArray]:
    """The people whose intersection is not sent, and those of them whose categories count them.

    They are those of the smallest columns up to the largest incomplete one: all records of a column are
    public where it is sent. More columns are added until every category of the other axes has enough records
    in them and no combination isolates a few people. If no number of columns will do, nobody is in a remainder.
    """
    order = _margin(table.tables.sum(axis=0), table.axis)
    present = np.flatnonzero(_margin(table.inside, table.axis))
    columns = sorted(present.tolist(), key=lambda each: (order[each], each))
    sizes = [place + 1 for place, each in enumerate(columns) if not table.is_complete(each)]
    nobody = np.zeros(table.inside.shape, dtype=bool)
    if not sizes:
        return nobody, nobody
    for size in range(sizes[-1], len(columns) + 1):
        people = table.of(columns[:size])
        if table.fills_rows(people) and not table.isolates_few(people):
            return people, people
    return table.of(columns[: sizes[-1]]), nobody


_WITHOUT = 2
"""The table of records without an outcome."""
_MOST_COMBINATIONS = 2**13
"""Where more than this many have to be compared, a table counts as one that isolates a few people."""
_MOST_STEPS = 4_000_000
"""And so does one that would take longer than this to examine."""
_FEW = 3
"""Where a cell needs two records, two are still few: otherwise the decision alone would tell of single ones."""


def isolates_few(sizes: npt.ArrayLike, minimum: int) -> bool:
    r"""Return whether the margins of a table isolate a set of fewer people than a cell needs.

    The attacker knows all margins and which cells are empty. A combination of margins gives the people of cell :math:`(i, j, \dots)` the weight :math:`a_i + b_j + \dots`; what
    it does to empty cells does not matter. A set is isolated if the weights are 1 inside and 0 outside it, or
    any multiple of this, which is a combination if and only if the set is isolated. If a large cell is in
    it, it is large. So the weights of interest are 0 on all large cells: Gaussian elimination with the
    large cells first leaves a basis of them, in rational numbers. Most often it is empty, since large cells hold
    all categories together; else its combinations of 0 and 1 are enumerated.

    Examples
    --------
    >>> isolates_few([[20, 3], [0, 20]], 11), isolates_few([[20, 3], [1, 20]], 11)
    (True, False)
    """
    amounts = np.asarray(sizes, dtype=np.float64)
    places = np.argwhere(amounts > 0)
    return sums_isolate_few(places, amounts[tuple(places.T)], minimum)


def sums_isolate_few(labels: IntArray, sizes: FloatArray, minimum: int) -> bool:
    """Return whether sums over people with the same label isolate a few of them.

    Parameters
    ----------
    labels : array of cells by ways to label them
        In a table one way is the category of one axis.
    sizes : array
        The people of each cell; nobody is in no cell.
    """
    least = max(minimum, _FEW)
    order = np.argsort(sizes < least, kind="stable")
    first = int((sizes >= least).sum())
    ordered = np.stack([np.unique(own, return_inverse=True)[1] for own in labels[order].T])
    small = sizes[order][first:]
    if len(ordered) == 2:
        rows, first = _between_parts(ordered, first), 0
    else:
        rows = np.concatenate(
            [np.arange(own.max(initial=0) + 1)[:, None] == own for own in ordered]
        )
    if rows.shape[0] ** 2 * rows.shape[1] > _MOST_STEPS:
        return True
    return _has_few(_vanishing(rows, first), small, least)


def _between_parts(ends: IntArray, first: int) -> IntArray:
    """With two labels for each cell, the combinations that are 0 on the first cells, on the others.

    They hold labels together in parts: all labels of a part have the same weight, those of the first kind
    added and those of the second subtracted.
    """
    ends = ends + np.array([[0], [ends[0].max(initial=0) + 1]])
    part = np.arange(ends.max(initial=0) + 1)
    while True:
        joined = part.copy()
        for own in ends[:, :first]:
            np.minimum.at(joined, own, part[ends[:, :first]].min(axis=0))
        if (joined == part).all():
            break
        part = joined
    rows, columns = part[ends[:, first:]]
    names = np.unique(part)[:, None]
    found: IntArray = (names == rows).astype(np.int64) - (names == columns)
    return found


def _vanishing(sums: npt.NDArray[Any], first: int) -> list[list[Fraction]]:
    """A basis of the combinations of rows that are 0 on the first cells; what they are on the others.

    Each has a cell on which it is 1 and all others are 0.
    """
    rows = [[Fraction(int(entry)) for entry in row] for row in sums]
    found: list[list[Fraction]] = []
    for cell in range(sums.shape[1]):
        chosen = next((row for row in rows if row[cell]), None)
        if chosen is None:
            continue
        rows.remove(chosen)
        pivot = [entry / chosen[cell] for entry in chosen]
        rows = [_without(row, pivot, cell) for row in rows]
        found = [_without(row, pivot, cell) for row in found]
        if cell >= first:
            found.append(pivot)
    return [row[first:] for row in found]


def _without(row: list[Fraction], pivot: list[Fraction], cell: int) -> list[Fraction]:
    """A row less the multiple of another that has the same entry at a cell."""
    factor = row[cell]
    return [a - factor * b for a, b in zip(row, pivot, strict=True)] if factor else row


def _has_few(basis: list[list[Fraction]], sizes: FloatArray, minimum: int) -> bool:
    """Whether a sum of rows of a basis is 1 on a few people and 0 on all others.

    Rows are added or not, one after the other; a sum is given up once an entry that no later row changes
    is neither 0 nor 1, or those that are 1 hold the minimum.
    """
    scale = math.lcm(*(entry.denominator for row in basis for entry in row))
    scaled = [[int(entry * scale) for entry in row] for row in basis]
    rows = np.array(sorted(scaled, key=lambda row: row.count(0)), dtype=np.int64)
    sums = np.zeros((1, sizes.size), dtype=np.int64)
    for place, row in enumerate(rows):
        sums = np.concatenate([sums, sums + row])
        final = ~rows[place + 1 :].any(axis=0)
        possible = ((sums == 0) | (sums == scale) | ~final).all(axis=1)
        few = ((sums == scale) & final) @ sizes < minimum
        sums = sums[possible & few]
        if len(sums) > _MOST_COMBINATIONS:
            return True
    return bool(sums.any())


def _product(kept: tuple[BoolArray, ...]) -> BoolArray:
    """Which intersections are of kept categories only."""
    product = np.ones(tuple(each.size for each in kept), dtype=bool)
    for axis, each in enumerate(kept):
        shape = [1] * product.ndim
        shape[axis] = -1
        product &= each.reshape(shape)
    return product


def _margin(amounts: FloatArray | BoolArray, axis: int) -> FloatArray:
    margin: FloatArray = amounts.sum(
        axis=tuple(each for each in range(amounts.ndim) if each != axis)
    )
    return margin


def _held_in(tables: FloatArray, axis: int, minimum: int) -> FloatArray:
    """What the rules count in each category of an axis."""
    return _held(np.stack([_margin(table, axis) for table in tables]), minimum)


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


def splittable_size(
    positive: FloatArray, negative: FloatArray, without: FloatArray, *, minimum: int
) -> FloatArray:
    r"""Return what the rules count of cells that are sent by outcome if they may be: the rarer outcome.

    A cell in which a few records lack an outcome is sent, but not split. That says that both outcomes have the
    minimum m, and that some few lack one: of :math:`2m + 1` records it would say how many. So such a cell is
    sent from :math:`3m - 1` records on, where every number of few records is possible.

    Examples
    --------
    >>> sizes = np.array([[11.0, 11.0], [11.0, 20.0], [1.0, 1.0]])
    >>> splittable_size(*sizes, minimum=11)
    array([ 6., 11.])
    """
    rarer = np.minimum(positive, negative)
    room = np.maximum(positive + negative + without - (minimum - 1), 0) // 2
    few = (without > 0) & (without < minimum)
    size: FloatArray = np.where(few, np.minimum(rarer, room), rarer)
    return size
