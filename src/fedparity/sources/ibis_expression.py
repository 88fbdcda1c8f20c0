"""Ibis tables, read as Arrow batches: the query runs where its backend is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fedparity.errors import TableError
from fedparity.sources.batches import arrow_blocks
from fedparity.sources.columns import BLOCK_ROWS
from fedparity.sources.table import BlockTask, Selection, require_columns

__all__ = ["IbisTable", "is_ibis_table"]


def is_ibis_table(data: object) -> bool:
    """Return whether this is a table of Ibis, without importing Ibis."""
    return type(data).__module__.startswith("ibis.") and hasattr(data, "to_pyarrow_batches")


class IbisTable:
    """The rows of an Ibis expression.

    It can be scanned once: Ibis promises no snapshot, so a second query might see other rows.
    """

    rows = None
    rescannable = False

    def __init__(self, expression: Any) -> None:  # noqa: ANN401 -- Ibis is optional
        self._expression: Any = expression
        self.columns: Sequence[str] = tuple(expression.columns)

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there."""
        require_columns(names, self.columns, what="the Ibis table")

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        expression, self._expression = self._expression, None
        if expression is None:
            raise TableError.read_once()
        names = selection.columns
        yield from arrow_blocks(_batches(expression.select(*names)), names)


def _batches(expression: Any) -> Iterator[Any]:  # noqa: ANN401 -- Ibis is optional
    reader = _run(lambda: expression.to_pyarrow_batches(chunk_size=BLOCK_ROWS))
    while True:
        batch = _run(lambda: next(reader, None))
        if batch is None:
            return
        yield batch


def _run(call: Any) -> Any:  # noqa: ANN401
    try:
        return call()
    except Exception:  # noqa: BLE001 -- the words of a backend may quote a value
        raise TableError.failed("the Ibis table") from None
