"""Where the remainders of several tables may be cut: at points of the score, or at thresholds.

The remainders of all axes count the same people, see :mod:`fedparity.privacy.table_suppression`. If all but one of
them were cut at a score, the last would follow by subtraction, however few of its records are beyond. Ends of
runs are therefore chosen for all of them together:

1. Every run of every category, of each part such as an outcome, has m records. The categories of all axes but
   that of the columns have the same runs.
2. Between the ends of any runs, the cells are those of a table in which every run of a category is a category. No
   combination of these isolates fewer than m people, if it is known which cells are empty.

If the second does not hold, the columns are left uncut one after the other, the smallest first: what follows of two of them
together is more than what follows of one. Then the columns alone are cut, and then nothing: for whole remainders
it is known to hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fedparity.laws.law import FloatArray, IntArray
from fedparity.privacy.count_merging import joint_ends
from fedparity.privacy.table_suppression import column_axis, sums_isolate_few

__all__ = ["RemainderRuns", "remainder_runs"]


@dataclass(frozen=True, eq=False)
class RemainderRuns:
    """The last place of each run, for the remainders of every axis."""

    rows: IntArray
    column_axis: int
    columns: tuple[IntArray, ...]

    def ends(self, axis: int, category: int) -> IntArray:
        """Return the last place of each run of a category."""
        return self.columns[category] if axis == self.column_axis else self.rows

    def isolate_few(self, parts: FloatArray, minimum: int) -> bool:
        """Return whether the numbers of all runs isolate fewer people than the minimum."""
        edges = np.unique(np.concatenate([self.rows, *self.columns]))
        cells = np.add.reduceat(parts, np.append(0, edges[:-1] + 1), axis=-1)
        return any(self._isolates(cell, edges, minimum) for cell in cells)

    def _isolates(self, cells: FloatArray, edges: IntArray, minimum: int) -> bool:
        *categories, place = np.nonzero(cells)
        labels = [
            [
                category * edges.size + int(np.searchsorted(self.ends(axis, category), edges[at]))
                for category, at in zip(own.tolist(), place.tolist(), strict=True)
            ]
            for axis, own in enumerate(categories)
        ]
        return sums_isolate_few(np.array(labels).T, cells[cells > 0], minimum)


def remainder_runs(parts: FloatArray, minimum: int, *, cuts: Sequence[int] = ()) -> RemainderRuns:
    """Return where the remainders may be cut.

    Parameters
    ----------
    parts : array of parts, categories of each axis, and places
        How many people of each part, such as an outcome, are in each intersection at each place.
    minimum : int
        What every number that is sent must hold.
    cuts : sequence of int
        Places before which runs should end if possible.

    Examples
    --------
    >>> table = np.array([[[[20, 20], [30, 3]], [[20, 20], [10, 20]]]])
    >>> found = remainder_runs(table, 11)
    >>> found.ends(0, 0), found.ends(1, 0), found.ends(1, 1)
    (array([0, 1]), array([0, 1]), array([0, 1]))
    >>> found = remainder_runs(table - [[[[0, 0], [0, 0]], [[0, 0], [0, 20]]]], 11)
    >>> found.ends(0, 0), found.ends(1, 0), found.ends(1, 1)
    (array([0, 1]), array([1]), array([1]))
    """
    table = np.asarray(parts, dtype=np.float64)
    found = list(_candidates(table, minimum, cuts))
    if minimum <= 1:
        return found[0]
    safe = (each for each in found[:-1] if not each.isolate_few(table, minimum))
    return next(safe, found[-1])


def _candidates(table: FloatArray, minimum: int, cuts: Sequence[int]) -> Iterator[RemainderRuns]:
    """Yield runs in which every number is large enough, ever fewer; at last a single one for all."""
    margins = [
        np.moveaxis(table.sum(axis=_all_but(axis, table.ndim)), 1, 0)
        for axis in range(1, table.ndim - 1)
    ]
    axis = column_axis(table.shape[1:-1])
    columns = [_own_ends(column, minimum, cuts) for column in margins.pop(axis)]
    rows = _own_ends(np.concatenate([*np.concatenate(margins)]), minimum, cuts)
    whole = np.array([table.shape[-1] - 1])
    sizes = table.sum(axis=(0, *_all_but(axis + 1, table.ndim), table.ndim - 1))
    order = [int(column) for column in np.argsort(sizes, kind="stable") if sizes[column]]
    for uncut in range(len(order) + 1):
        own = [whole if column in order[:uncut] else ends for column, ends in enumerate(columns)]
        yield RemainderRuns(rows, axis, tuple(own))
    yield RemainderRuns(whole, axis, tuple(columns))
    yield RemainderRuns(whole, axis, tuple(whole for _ in columns))


def _all_but(axis: int, dimensions: int) -> tuple[int, ...]:
    """The axes of categories other than one of them; the first axis is that of parts, the last of places."""
    return tuple(each for each in range(1, dimensions - 1) if each != axis)


def _own_ends(parts: FloatArray, minimum: int, cuts: Sequence[int]) -> IntArray:
    """The last place of each run that holds the minimum in every part that has anybody."""
    present = parts[parts.any(axis=1)]
    return joint_ends(present if present.size else parts.sum(axis=0), minimum, cuts=cuts)
