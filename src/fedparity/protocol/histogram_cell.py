"""A noisy histogram as it travels: what a silo says of one group in a mode that adds noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fedparity.errors import MessageError
from fedparity.laws.labels import Group
from fedparity.protocol.canonical import canonical_bytes
from fedparity.protocol.labels import as_group, json_label
from fedparity.protocol.plan_fields import as_whole

__all__ = ["HistogramCell"]

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
        values = None if self.values is None else _checked_values(self.values, group)
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


def _checked_values(values: object, group: Group) -> npt.NDArray[np.int64]:
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
