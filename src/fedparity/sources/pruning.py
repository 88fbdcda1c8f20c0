"""Row groups of a Parquet file that a filter cannot keep, told from their smallest and largest."""

from __future__ import annotations

import re
from typing import Any

from fedparity.sources.where import Condition

__all__ = ["Pruning"]

_COMPARISON = (
    r"""\s*(?P<name>"[^"]+"|[a-z_]\w*)\s*(?P<sign><=|>=|=|<|>)\s*(?P<value>-?\d+|'[^']*')\s*"""
)
_ONE = re.compile(_COMPARISON, re.IGNORECASE | re.ASCII)
_AND = re.compile(r"AND\b", re.IGNORECASE)


class Pruning:
    """Tells which row groups may hold a row that a filter keeps.

    Only comparisons of a column with a whole number or a text, joined by AND, are understood, and
    only for columns of that type; in doubt a row group is read. Floats are left out on purpose: a
    NaN is larger than every number to the filter, and no statistics mention it.

    Parameters
    ----------
    where : Condition or None
        The filter.
    metadata
        What the footer of the file says.
    """

    def __init__(self, where: Condition | None, metadata: Any) -> None:  # noqa: ANN401 -- pyarrow's
        self._metadata = metadata
        tests = [] if where is None else _comparisons(where.sql)
        positions = _positions(metadata, {name for name, _, _ in tests})
        self._tests = [
            (positions[name], sign, value) for name, sign, value in tests if name in positions
        ]

    def may_hold(self, group: int) -> bool:
        """Return whether a row group may hold a row to keep."""
        if not self._tests:
            return True
        row_group = self._metadata.row_group(group)
        return all(
            _is_possible(row_group.column(position).statistics, sign, value)
            for position, sign, value in self._tests
        )


def _comparisons(sql: str) -> list[tuple[str, str, int | str]]:
    """The comparisons that must all hold, or none if the filter is anything else."""
    found = []
    position = 0
    while match := _ONE.match(sql, position):
        text = match["value"]
        value = text[1:-1] if text.startswith("'") else int(text)
        found.append((match["name"].strip('"'), match["sign"], value))
        if match.end() == len(sql):
            return found
        joined = _AND.match(sql, match.end())
        if joined is None:
            return []
        position = joined.end()
    return []


def _positions(metadata: Any, names: set[str]) -> dict[str, int]:  # noqa: ANN401 -- pyarrow's
    if not names:
        return {}
    paths = (metadata.schema.column(i).path for i in range(metadata.num_columns))
    return {path: position for position, path in enumerate(paths) if path in names}


def _is_possible(statistics: Any, sign: str, value: int | str) -> bool:  # noqa: ANN401 -- pyarrow's
    if statistics is None or not statistics.has_min_max:
        return True
    low: Any = statistics.min
    high: Any = statistics.max
    if {type(low), type(high)} != {type(value)}:
        return True
    below = low < value or ("=" in sign and low == value)
    above = high > value or ("=" in sign and high == value)
    return bool({"<": below, ">": above}.get(sign[0], below and above))
