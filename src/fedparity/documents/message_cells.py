"""A cell as it travels: what a silo says of one group, or that it says nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fedparity.documents.fields import as_group, as_number, as_whole, is_name, json_label
from fedparity.documents.json_text import canonical_bytes
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import MOST_THRESHOLDS, OUTCOMES, OutcomeName, PlanTable
from fedparity.errors import MessageError
from fedparity.errors.document_errors import RESEND, shown
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray
from fedparity.privacy.count_merging import read_counts, run_minimum
from fedparity.privacy.disclosure import mean_square_error, rounding_error

if TYPE_CHECKING:
    from fedparity.sketches.cell import Cell

__all__ = [
    "HistogramCell",
    "SketchedCell",
    "SketchedTable",
    "TableKey",
    "Withheld",
    "table_keys",
    "whole_cell",
]

Withheld: TypeAlias = Literal["small", "complementary"]
"""Why a cell is withheld: ``small``, it has too few records; ``complementary``, it would reveal
another that has."""

_MOST_RECORDS = 10**12
_NUMBERS = {int, float}
_SUMMED = 1e-9
"""How far sums of weights in floats may be apart, as a share."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SketchedCell:
    r"""What a message says of one group; valid once built.

    One of three things: a count with its values; a count of 0 and no values, where the silo has
    no record of the group; or no count and no values, and why they are withheld.

    Parameters
    ----------
    group : label
    count : int or float or None
        Number of records, or their total weight.
    values : array or None
        The quantiles or bin means, in increasing order; or, where records are counted, the highest
        score of each run of scores.
    effective : int or None
        How many equally weighted records the weights amount to, :math:`\lfloor W^2 / \sum_i w_i^2
        \rfloor`; None without weights.
    counts : sequence of numbers or None
        Records of each run of scores, or their weight: a run is what lies above the value before it
        up to its own. None where they are counted with the run before.
    mean_square : float or None
        The mean squared distance of the records from the values of their bins, rounded.
    above : sequence of numbers or None
        For each threshold of the plan the records at or above it, or their weight; None where
        that is not sent.
    levels : int, optional
        How many values there are; counted if absent.
    rank_error : float, default 0
        How far, as a share of the records, a value's rank may be from the one asked for.
    withheld : "small", "complementary" or None

    Examples
    --------
    >>> SketchedCell(group="A", count=40, values=[0.1, 0.5], mean_square=0.02, above=[17])
    SketchedCell('A', count=40, levels=2)
    >>> SketchedCell(group="A", count=40, values=[4.0, 10.0], counts=[18, 22])
    SketchedCell('A', count=40, levels=2)
    >>> SketchedCell.kept_back("B", "small")
    SketchedCell('B', withheld='small')
    """

    group: Group
    count: int | float | None
    values: FloatArray | None
    effective: int | None = None
    counts: Sequence[int | float | None] | None = None
    mean_square: float | None = None
    above: Sequence[int | float | None] = ()
    levels: int = None  # type: ignore[assignment]  # always a number once built
    rank_error: float = 0.0
    withheld: Withheld | None = None

    def __post_init__(self) -> None:
        group = _checked_group(self.group)
        values = None if self.values is None else _checked_values(self.values, group)
        size = 0 if values is None else values.size
        stated: object = self.levels
        settled = {
            "group": group,
            "count": _checked_count(self.count),
            "values": values,
            "effective": _checked_effective(self.effective),
            "counts": None if self.counts is None else _checked_counts(self.counts, group),
            "mean_square": _checked_mean_square(self.mean_square),
            "above": _checked_above(self.above, group),
            "levels": size if stated is None else _checked_levels(stated, size, group),
            "rank_error": _checked_rank_error(self.rank_error),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        self._check_together()

    def _check_together(self) -> None:
        """Raise unless the fields say one of the three things."""
        if self.withheld is not None:
            if self.withheld not in get_args(Withheld):
                raise MessageError.field(
                    "withheld", '"small", "complementary" or null', self.withheld
                )
            if self.count is not None or self.values is not None or self._details:
                raise self._contradiction("is withheld, but states numbers")
        elif self.count is None:
            raise self._contradiction("has no count, and does not say why")
        elif (self.count == 0) != (self.values is None):
            raise self._contradiction("has a count without values, or values without a count")
        elif self.values is None and self._details:
            raise self._contradiction("has no values, but numbers that go with them")
        elif self.counts is not None:
            self._check_counts(self.counts, self.count)
        self._check_above()

    @property
    def amount(self) -> float:
        """The number of records, or what their weights amount to; 0 where there is none."""
        return (self.count or 0.0) if self.effective is None else float(self.effective)

    @property
    def _details(self) -> bool:
        """Whether there is a number beyond the count and the values."""
        others = (self.effective, self.counts, self.mean_square)
        return bool(self.rank_error or self.above) or any(each is not None for each in others)

    def _check_counts(self, counts: Sequence[int | float | None], count: float) -> None:
        """Raise unless there is one count for each value, and they sum to that of the cell."""
        if len(counts) != self.levels:
            raise MessageError.wrong_length(self.group, len(counts), self.levels)
        if self.mean_square is not None or self.rank_error:
            raise self._contradiction("has counts, but a mean square or an error of ranks too")
        if any(before is None is now for before, now in pairwise([None, *counts])):
            raise self._contradiction("has a run without a count that follows none with one")
        if not _same(sum(number or 0 for number in counts), count):
            raise self._contradiction("has counts that do not sum to its count")
        if self.values is not None and (np.diff(self.values) <= 0).any():
            raise self._contradiction("has counts at values that do not increase")

    def _check_above(self) -> None:
        """Raise unless the counts at thresholds are part of the count, and do not increase."""
        stated = [number for number in self.above if number is not None]
        falling = [self.count or 0, *stated]
        if any(low > high and not _same(low, high) for high, low in pairwise(falling)):
            raise self._contradiction("has more records above a threshold than above a lower one")

    def _contradiction(self, what: str) -> MessageError:
        return MessageError.contradiction(self.group, what)

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> SketchedCell:
        """Return the cell of what JSON holds."""
        return cls(**fields)

    @classmethod
    def empty(cls, group: Group) -> SketchedCell:
        """Return the cell of a group that the silo has no record of, and may say so."""
        return cls(group=group, count=0, values=None)

    @classmethod
    def kept_back(cls, group: Group, reason: Withheld) -> SketchedCell:
        """Return a withheld cell: nothing but the reason."""
        return cls(group=group, count=None, values=None, withheld=reason)

    def to_cell(self, plan: Plan, *, joint_runs: bool = False) -> Cell | None:
        """Return the cell that estimates read under the plan, or None if there are no values.

        ``joint_runs`` says that runs of counts were merged together with those of other cells, so
        that they tell nothing of where inside a run its records are. The cell says how far rounding may
        have moved a number, and how far from where they are put the records of merged counts may be, see :func:`~fedparity.privacy.count_merging.read_counts`.
        """
        from fedparity.sketches.cell import Cell  # noqa: PLC0415 -- auditors only: a silo makes none

        if self.values is None or self.count is None:
            return None
        above = {
            threshold: number
            for threshold, number in zip(plan.thresholds, self.above, strict=True)
            if number is not None
        }
        if self.counts is not None:
            read = read_counts(
                self.values,
                self.counts,
                plan.score_points,
                minimum=run_minimum(plan.disclosure),
                thresholds=plan.thresholds,
                weighted=joint_runs or self.effective is not None,
            )
            return Cell(
                count=self.count,
                values=read.values,
                kind="counts",
                masses=read.masses,
                value_error=read.errors,
                effective=self.effective,  # type: ignore[arg-type]
                above=above,
            )
        error = 0.0
        if self.mean_square is not None:
            error = float(
                mean_square_error(
                    values=self.values,
                    count=self.amount,
                    score_range=plan.score_range,
                    rounding=plan.rounding,
                )
            )
        return Cell(
            count=self.count,
            values=self.values,
            kind=plan.sketch,
            rank_error=self.rank_error,
            value_error=rounding_error(plan.score_range, plan.rounding),
            mean_square=self.mean_square,
            mean_square_error=error,
            effective=self.effective,  # type: ignore[arg-type]
            above=above,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as JSON holds it."""
        return {
            "group": json_label(self.group),
            "count": self.count,
            "effective": self.effective,
            "values": None if self.values is None else self.values.tolist(),
            "counts": None if self.counts is None else list(self.counts),
            "mean_square": self.mean_square,
            "above": list(self.above),
            "levels": self.levels,
            "rank_error": self.rank_error,
            "withheld": self.withheld,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SketchedCell):
            return NotImplemented
        return canonical_bytes(self.to_dict()) == canonical_bytes(other.to_dict())

    def __hash__(self) -> int:
        return hash((self.group, self.count, self.levels, self.withheld))

    def __repr__(self) -> str:
        if self.withheld is not None:
            return f"SketchedCell({self.group!r}, withheld={self.withheld!r})"
        return f"SketchedCell({self.group!r}, count={self.count}, levels={self.levels})"


def _checked_group(label: object) -> Group:
    group = as_group(label)
    if group is None:
        raise MessageError.field("group", "a label as a plan can hold it", label)
    return group


def _checked_count(count: object, *, name: str = "count") -> int | float | None:
    """A number of records; a total weight that is whole is an int, as JSON cannot tell."""
    if count is None:
        return None
    number = as_number(count)
    if number is None or not 0 <= number <= _MOST_RECORDS:
        raise MessageError.field(name, "a number from 0 to 10^12, or null", count)
    return int(number) if number.is_integer() else number


def _checked_effective(effective: object) -> int | None:
    if effective is None:
        return None
    number = as_whole(effective, 1, _MOST_RECORDS)
    if number is None:
        raise MessageError.field("effective", "a whole number of at least 1, or null", effective)
    return number


def _checked_mean_square(mean_square: object) -> float | None:
    if mean_square is None:
        return None
    number = as_number(mean_square)
    if number is None or number < 0:
        raise MessageError.field("mean_square", "a number of at least 0, or null", mean_square)
    return number


def _checked_counts(counts: object, group: Group) -> tuple[int | float | None, ...]:
    """Counts of runs; whole numbers where they are whole, as JSON cannot tell."""
    items = counts.tolist() if isinstance(counts, np.ndarray) else counts
    if not isinstance(items, list | tuple) or not items:
        expected = f"a list of at least one number or null (group {group!r})"
        raise MessageError.field("counts", expected, counts)
    return tuple(_checked_count(number, name="counts") for number in items)


def _checked_above(above: object, group: Group) -> tuple[int | float | None, ...]:
    if not isinstance(above, list | tuple) or len(above) > MOST_THRESHOLDS:
        expected = f"a list of at most {MOST_THRESHOLDS} numbers or nulls (group {group!r})"
        raise MessageError.field("above", expected, above)
    return tuple(_checked_count(number, name="above") for number in above)


def _same(first: float, second: float) -> bool:
    """Whether two numbers of records are one, or two weights up to the rounding of their sums."""
    if isinstance(first, int) and isinstance(second, int):
        return first == second
    return abs(first - second) <= _SUMMED * max(abs(first), abs(second))


def _checked_levels(levels: object, size: int, group: Group) -> int:
    number = as_whole(levels, 0, _MOST_RECORDS)
    if number is None:
        raise MessageError.field("levels", "a whole number of at least 0", levels)
    if number != size:
        raise MessageError.wrong_length(group, size, number)
    return number


def _checked_rank_error(rank_error: object) -> float:
    number = as_number(rank_error)
    if number is None or not 0 <= number < 1:
        raise MessageError.field("rank_error", "a number from 0 to below 1", rank_error)
    return number


def _checked_values(values: object, group: Group) -> FloatArray:
    array = _as_floats(values, group) + 0.0  # a copy without negative zeros
    if not np.isfinite(array).all():
        raise MessageError.not_finite(group)
    drops = array[1:] < array[:-1]
    if drops.any():
        raise MessageError(
            f"the values of group {shown(group)} decrease after level {int(drops.argmax()) + 1}.",
            fix=RESEND,
        )
    array.flags.writeable = False
    return array


def _as_floats(values: object, group: Group) -> FloatArray:
    expected = f"a list of at least one number (group {group!r})"
    if isinstance(values, list | tuple):
        if not values or not _all_numbers(set(map(type, values))):
            raise MessageError.field("values", expected, values)
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:  # an integer beyond the floats, built in Python
            raise MessageError.not_finite(group) from None
    array: npt.NDArray[Any] = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "uif":
        raise MessageError.field("values", expected, values)
    return array.astype(np.float64, copy=False)


def _all_numbers(types: set[type]) -> bool:
    """Whether these are types of real numbers; Python's booleans are integers, but not here."""
    return types <= _NUMBERS or all(
        issubclass(kind, int | float | np.integer | np.floating) and kind is not bool
        for kind in types
    )


_LARGEST = 10**13
"""More than any count with its noise; sums over all bins and silos fit 64 bits."""


@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramCell:
    """The noisy counts of one group, or that they are withheld; valid once built.

    Numbers may be negative: noise is. The count is their sum, or 0 where that is negative, so it
    says nothing that the values do not. Whether a cell is withheld depends on the noisy count alone.

    Parameters
    ----------
    group : label
    values : array of whole numbers or None
        One for each bin of the plan's grid.
    count : int or None
        Computed from the values if absent; if present it must be that.
    levels : int, optional
        How many values there are; counted if absent.
    rank_error : 0
    withheld : "small" or None

    Examples
    --------
    >>> HistogramCell(group="A", values=[12, -1, 30])
    HistogramCell('A', count=41, bins=3)
    >>> HistogramCell.kept_back("B")
    HistogramCell('B', withheld='small')
    """

    group: Group
    values: npt.NDArray[np.int64] | None
    count: int | None = None
    levels: int = None  # type: ignore[assignment]  # always a number once built
    rank_error: float = 0.0
    withheld: Literal["small"] | None = None

    def __post_init__(self) -> None:
        group = as_group(self.group)
        if group is None:
            raise MessageError.field("group", "the label of a group", self.group)
        values = None if self.values is None else _checked_histogram(self.values, group)
        size = 0 if values is None else values.size
        if self.rank_error != 0 or isinstance(self.rank_error, bool):
            raise MessageError.field("rank_error", "0", self.rank_error)
        stated: object = self.levels
        if stated is not None and as_whole(stated, 0, _LARGEST) != size:
            raise MessageError.field("levels", f"the number of its values, {size}", stated)
        _check_withheld(self, group, values)
        count = None if values is None else max(int(values.sum()), 0)
        if self.count is not None and (as_whole(self.count, 0, 10**18) != count):
            raise MessageError.contradiction(
                group, "has a count that is not the sum of its values"
            )
        settled = {"group": group, "values": values, "count": count, "levels": size}
        for name, value in {**settled, "rank_error": 0.0}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> HistogramCell:
        """Return the cell of what JSON holds: nothing is computed that should have been said.

        Raises
        ------
        MessageError
            If it is not a valid cell, or has values and no count.
        """
        cell = cls(**fields)
        if cell.values is not None and fields["count"] is None:
            raise MessageError.contradiction(cell.group, "has values without a count")
        return cell

    @classmethod
    def kept_back(cls, group: Group) -> HistogramCell:
        """Return a withheld cell: its noisy count is below the smallest one that is sent."""
        return cls(group=group, values=None, withheld="small")

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as JSON holds it."""
        return {
            "group": json_label(self.group),
            "count": self.count,
            "values": None if self.values is None else self.values.tolist(),
            "levels": self.levels,
            "rank_error": 0,
            "withheld": self.withheld,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HistogramCell):
            return NotImplemented
        return canonical_bytes(self.to_dict()) == canonical_bytes(other.to_dict())

    def __hash__(self) -> int:
        return hash((self.group, self.count, self.levels, self.withheld))

    def __repr__(self) -> str:
        if self.withheld is not None:
            return f"HistogramCell({self.group!r}, withheld={self.withheld!r})"
        return f"HistogramCell({self.group!r}, count={self.count}, bins={self.levels})"


def _check_withheld(cell: HistogramCell, group: Group, values: object) -> None:
    """Raise unless the cell has values, or says that they are withheld and no more."""
    if cell.withheld not in (None, "small"):
        raise MessageError.field("withheld", '"small" or null', cell.withheld)
    if cell.withheld is not None and (values is not None or cell.count is not None):
        raise MessageError.contradiction(group, "is withheld, but states numbers")
    if cell.withheld is None and values is None:
        raise MessageError.contradiction(group, "has no values, and does not say why")


def _checked_histogram(values: object, group: Group) -> npt.NDArray[np.int64]:
    expected = f"a list of at least two whole numbers (group {group!r})"
    if isinstance(values, np.ndarray):
        values = values.tolist() if values.dtype.kind in "iu" and values.ndim == 1 else None
    items: Sequence[object] = values if isinstance(values, list | tuple) else ()
    numbers = [as_whole(item, -_LARGEST, _LARGEST) for item in items]
    if len(numbers) < 2 or None in numbers:
        raise MessageError.field("values", expected, values)
    array = np.array(numbers, dtype=np.int64)
    array.flags.writeable = False
    return array


TableKey = tuple[PlanTable, OutcomeName | None]
"""A table of the plan, and the outcome whose records it counts; None for all records."""
_TABLE_FIELDS = frozenset(("by", "outcome", "cells"))


def table_keys(plan: Plan) -> Iterator[TableKey]:
    """Yield the tables that a message has beside its cells, in their order.

    Of an axis a message holds the *remainders*: what the cells of the intersections do not count, see
    :mod:`fedparity.privacy.table_suppression`. With noise there are none: a table by axis is a sum.
    """
    if not plan.releases_tables:
        return
    outcomes: tuple[OutcomeName | None, ...] = (
        (None,) if plan.outcome is None else (None, *OUTCOMES)
    )
    for place, table in enumerate(plan.tables if plan.privacy is None else plan.tables[:1]):
        for outcome in outcomes:
            if place or outcome is not None:  # the first is the list of cells itself
                yield table, outcome


def whole_cell(
    plan: Plan,
    cell: SketchedCell,
    parts: Sequence[SketchedCell],
    *,
    parts_plan: Plan,
    is_remainder: bool = False,
) -> Cell | None:
    """Return the cell that estimates read, from what was sent of it and of its outcomes.

    Where records are counted at points, the whole cell of a plan with an outcome is cut only where both
    outcomes are, so that it tells no more than they do. Then they say more, unless some records have
    no outcome. ``parts_plan`` has the thresholds of the outcomes. All remainders are cut together.
    """
    if is_remainder:
        return cell.to_cell(plan, joint_runs=True)
    if cell.counts is None or not parts or any(part.withheld is not None for part in parts):
        return cell.to_cell(plan)
    if sum(part.count or 0 for part in parts) < (cell.count or 0):
        return cell.to_cell(plan, joint_runs=True)
    found = [part.to_cell(parts_plan) for part in parts]
    from fedparity.sketches.cell import Cell  # noqa: PLC0415 -- see SketchedCell.to_cell

    return Cell.joined([each for each in found if each is not None])


@dataclass(frozen=True, eq=False, kw_only=True)
class SketchedTable:
    """The cells of one further table; valid once built.

    Examples
    --------
    >>> SketchedTable(by=("sex",), outcome=None, cells=[SketchedCell.empty("F")]).to_dict()["by"]
    ['sex']
    """

    by: Sequence[str]
    """The axis; none for the groups of the plan."""
    outcome: OutcomeName | None
    cells: Sequence[SketchedCell | HistogramCell]

    def __post_init__(self) -> None:
        if not isinstance(self.by, list | tuple) or not all(map(is_name, self.by)):
            raise MessageError.field("by", "a list of names of axes", self.by)
        if self.outcome not in (None, *OUTCOMES):
            raise MessageError.field("outcome", '"positive", "negative" or null', self.outcome)
        object.__setattr__(self, "by", tuple(self.by))
        object.__setattr__(self, "cells", tuple(self.cells))

    @classmethod
    def read(
        cls,
        fields: Any,  # noqa: ANN401
        cell_fields: frozenset[str],
        read_cell: Callable[[Mapping[str, Any]], SketchedCell | HistogramCell],
    ) -> SketchedTable:
        """Return the table of what JSON holds.

        Raises
        ------
        MessageError
            If it is not a valid table.
        """
        if not isinstance(fields, Mapping) or fields.keys() != _TABLE_FIELDS:
            raise MessageError.field("tables", "objects with by, outcome and cells", fields)
        cells = fields["cells"]
        if not isinstance(cells, list) or not all(
            isinstance(cell, dict) and cell.keys() == cell_fields and cell["levels"] is not None
            for cell in cells
        ):
            raise MessageError.field("cells of a table", "a list of cells", cells)
        read = [read_cell(cell) for cell in cells]
        return cls(by=fields["by"], outcome=fields["outcome"], cells=read)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON holds it."""
        return {
            "by": list(self.by),
            "outcome": self.outcome,
            "cells": [cell.to_dict() for cell in self.cells],
        }
