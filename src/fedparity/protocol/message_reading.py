"""Messages read from bytes that anyone may have sent: the fields, before what they hold."""

from __future__ import annotations

from typing import Any

from fedparity.errors import MessageError
from fedparity.protocol.strict_json import decode_object

__all__ = ["SCHEMA", "decode_message"]

SCHEMA = "fedparity/sketch/1"
_FIELDS = frozenset(
    ("schema", "plan", "silo", "kind", "cells", "rows_dropped", "guarantee", "software")
)
_OPTIONAL = frozenset(("replaces", "signature"))
_HISTOGRAM_FIELDS = frozenset(("group", "count", "values", "levels", "rank_error", "withheld"))
_CELL_FIELDS = _HISTOGRAM_FIELDS | {"effective", "counts", "mean_square", "above"}


def decode_message(data: bytes) -> dict[str, Any]:
    """Return the fields of a message but its schema: each there, none unknown, cells as objects.

    What the fields hold is checked where a message is built.

    Raises
    ------
    MessageError
        If the bytes are not such an object.
    """
    message = decode_object(data, error=MessageError)
    if message.get("schema") != SCHEMA:
        raise MessageError.schema(SCHEMA, message.get("schema"))
    _check_fields("the message", message.keys() - _OPTIONAL, _FIELDS)
    for name in _OPTIONAL:
        if message.get(name, "") is None:
            raise MessageError.field(name, "a text, or left out", None)
    cells = message["cells"]
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise MessageError.field("cells", "a list of objects", cells)
    expected = _HISTOGRAM_FIELDS if message["kind"] == "histogram" else _CELL_FIELDS
    for cell in cells:
        _check_fields("a cell", cell.keys(), expected)
        if cell["levels"] is None:
            raise MessageError.field("levels", "a whole number of at least 0", None)
    del message["schema"]
    return message


def _check_fields(where: str, found: Any, expected: frozenset[str]) -> None:  # noqa: ANN401
    if found == expected:
        return
    if unknown := sorted(found - expected):
        raise MessageError.unknown_fields(where, unknown)
    raise MessageError.missing_fields(where, sorted(expected - found))
