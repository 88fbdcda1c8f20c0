"""A cell as it travels: what a silo says of one group, or that it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fedparity.errors import MessageError
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group
from fedparity.protocol.canonical import canonical_bytes
from fedparity.protocol.labels import as_group, json_label
from fedparity.protocol.plan_fields import as_number, as_whole
from fedparity.sketches.cell import Cell
from fedparity.sketches.kinds import Kind

__all__ = ["SketchedCell", "Withheld"]

Withheld: TypeAlias = Literal["small", "complementary"]
"""Why a cell is withheld: ``small``, it has too few records; ``complementary``, it would reveal
another that has."""

_MOST_RECORDS = 10**12
_NUMBERS = {int, float}


@dataclass(frozen=True, eq=False, kw_only=True)
class SketchedCell:
    """What a message says of one group; valid once built.

    One of three things: a count with its values; a count of 0 and no values, where the silo has
    no record of the group; or no count and no values, and why they are withheld.

    Parameters
    ----------
    group : label
    count : int or float or None
        Number of records, or their total weight.
    values : array or None
        The quantiles or bin means, in increasing order.
    levels : int, optional
        How many values there are; counted if absent.
    rank_error : float, default 0
        How far, as a share of the records, a value's rank may be from the one asked for.
    withheld : "small", "complementary" or None

    Examples
    --------
    >>> SketchedCell(group="A", count=40, values=[0.1, 0.5])
    SketchedCell('A', count=40, levels=2)
    >>> SketchedCell.kept_back("B", "small")
    SketchedCell('B', withheld='small')
    """

    group: Group
    count: int | float | None
    values: FloatArray | None
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
            if self.count is not None or self.values is not None or self.rank_error:
                raise self._contradiction("is withheld, but states numbers")
        elif self.count is None:
            raise self._contradiction("has no count, and does not say why")
        elif (self.count == 0) != (self.values is None):
            raise self._contradiction("has a count without values, or values without a count")
        elif self.values is None and self.rank_error:
            raise self._contradiction("has no values, but an error of their rank")

    def _contradiction(self, what: str) -> MessageError:
        return MessageError.contradiction(self.group, what)

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> SketchedCell:
        """Return the cell of what JSON holds."""
        return cls(**fields)

    @classmethod
    def of(cls, group: Group, cell: Cell) -> SketchedCell:
        """Return a cell as it is released."""
        return cls(group=group, count=cell.count, values=cell.values, rank_error=cell.rank_error)

    @classmethod
    def empty(cls, group: Group) -> SketchedCell:
        """Return the cell of a group that the silo has no record of, and may say so."""
        return cls(group=group, count=0, values=None)

    @classmethod
    def kept_back(cls, group: Group, reason: Withheld) -> SketchedCell:
        """Return a withheld cell: nothing but the reason."""
        return cls(group=group, count=None, values=None, withheld=reason)

    def to_cell(self, kind: Kind, *, value_error: float = 0.0) -> Cell | None:
        """Return the cell that estimates read, or None if there are no values."""
        if self.values is None or self.count is None:
            return None
        return Cell(
            count=self.count,
            values=self.values,
            kind=kind,
            rank_error=self.rank_error,
            value_error=value_error,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as JSON holds it."""
        return {
            "group": json_label(self.group),
            "count": self.count,
            "values": None if self.values is None else self.values.tolist(),
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


def _checked_count(count: object) -> int | float | None:
    """A number of records; a total weight that is whole is an int, as JSON cannot tell."""
    if count is None:
        return None
    number = as_number(count)
    if number is None or not 0 <= number <= _MOST_RECORDS:
        raise MessageError.field("count", "a number from 0 to 10^12, or null", count)
    return int(number) if number.is_integer() else number


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
        raise MessageError.decreasing(group, int(drops.argmax()) + 1)
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
