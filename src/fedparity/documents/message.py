"""The message: all that leaves a silo, one file per silo and plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

from fedparity.documents.fields import (
    SIGNATURE_BYTES,
    FrozenMapping,
    as_number,
    as_whole,
    decode_base64,
    is_name,
    typed_label,
)
from fedparity.documents.files import Document, Path, read_bounded
from fedparity.documents.json_text import (
    LARGEST,
    canonical_bytes,
    decode_object,
    digest_of,
    is_digest,
)
from fedparity.documents.message_cells import (
    HistogramCell,
    SketchedCell,
    SketchedTable,
    whole_cell,
)
from fedparity.documents.plan import Plan
from fedparity.documents.tabular import Columns, Tabular, columns_of, html_table
from fedparity.errors import MessageError, SignatureError
from fedparity.errors.document_errors import RESEND, shown
from fedparity.laws.labels import Group
from fedparity.sketches.kinds import Kind
from fedparity.text import NOTHING, amount, number

if TYPE_CHECKING:
    from fedparity.sketches.cell import Cell

__all__ = [
    "SCHEMA",
    "MessageKind",
    "SiloSketch",
    "decode_message",
]

SCHEMA = "fedparity/sketch/1"
_FIELDS = frozenset(
    (
        *("schema", "plan", "silo", "kind", "cells", "rows_dropped", "rows_filtered"),
        *("guarantee", "software"),
    )
)
_OPTIONAL = frozenset(("replaces", "signature", "tables"))
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
            kind = "a list of tables" if name == "tables" else "a text"
            raise MessageError.field(name, f"{kind}, or left out", None)
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


MessageKind: TypeAlias = Kind | Literal["histogram"]
"""What the values of a message are; ``histogram``: noisy counts, where the plan asks for noise."""

_MOST_CELLS = 1000
_MOST_TABLES = 18
_MOST_TERMS = 32
_MOST_RECORDS = 10**12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SiloSketch(Document, Tabular):
    """All that one silo sends under one plan; valid once built.

    Valid on its own, that is: :func:`~fedparity.documents.message_checks.check_message` says
    whether it answers a plan.

    Parameters
    ----------
    plan : str
        The digest of the plan that it answers.
    silo : str
    kind : "mean", "quantile", "counts" or "histogram"
    cells : sequence of SketchedCell, or of HistogramCell
        One for each group of the plan, in the plan's order.
    rows_dropped : int, default 0
        Rows that were left out because their score is missing, where that was allowed.
    rows_filtered : int, default 0
        Rows of the silo's table that its own filter left out.
    guarantee : mapping
        The rules that were applied: ``mode`` and the parameters of each rule.
    software : str
        The name and version of what wrote it.
    tables : sequence of SketchedTable
        Of a plan with axes or an outcome: what it asks for beside the cells of its groups.
    replaces : str, optional
        The digest of an earlier message under the same plan that the silo has voided.
    signature : str, optional
        The silo's Ed25519 signature, in base64.

    Examples
    --------
    >>> sketch = SiloSketch(
    ...     plan="sha256:" + 64 * "0",
    ...     silo="aurora",
    ...     kind="quantile",
    ...     cells=[
    ...         SketchedCell(group="A", count=40, values=[0.1, 0.5]),
    ...         SketchedCell.kept_back("B", "small"),
    ...     ],
    ...     guarantee={"mode": "none", "minimum_cell": 11},
    ...     software="fedparity 0.1.0",
    ... )
    >>> SiloSketch.from_bytes(sketch.to_bytes()) == sketch
    True
    """

    schema: ClassVar[str] = SCHEMA

    plan: str
    silo: str
    kind: MessageKind
    cells: Sequence[SketchedCell | HistogramCell]
    rows_dropped: int = 0
    rows_filtered: int = 0
    guarantee: Mapping[str, Any] = field(default_factory=lambda: FrozenMapping({"mode": "none"}))
    software: str
    tables: Sequence[SketchedTable] = ()
    replaces: str | None = None
    signature: str | None = None

    def __post_init__(self) -> None:
        _check_texts(self)
        object.__setattr__(self, "cells", _checked_cells(self.cells, self.kind))
        object.__setattr__(self, "guarantee", _checked_guarantee(self.guarantee))
        object.__setattr__(self, "tables", _checked_tables(self.tables, self.kind))
        for name in ("rows_dropped", "rows_filtered"):
            rows = as_whole(getattr(self, name), 0, _MOST_RECORDS)
            if rows is None:
                expected = "a whole number from 0 to 10^12"
                raise MessageError.field(name, expected, getattr(self, name))
            object.__setattr__(self, name, rows)
        if self.signature is not None:
            _check_signature(self.signature)

    @classmethod
    def read(cls, path: Path) -> SiloSketch:
        """Return the message of a file.

        Raises
        ------
        MessageError
            If it cannot be read, or is not a valid message; the file is named.
        """
        data = read_bounded(path, limit=LARGEST, error=MessageError)
        try:
            return cls.from_bytes(data)
        except MessageError as error:
            raise error.within(str(path)) from None

    @classmethod
    def from_bytes(cls, data: bytes) -> SiloSketch:
        """Return the message that these bytes hold, canonical or not.

        Raises
        ------
        MessageError
            If they are not a valid message.
        """
        parts = decode_message(data)
        read = HistogramCell.read if parts["kind"] == "histogram" else SketchedCell.read
        cells = [read(cell) for cell in parts.pop("cells")]
        tables = parts.pop("tables", ())
        if not isinstance(tables, list | tuple) or len(tables) > _MOST_TABLES:
            raise MessageError.field("tables", f"a list of at most {_MOST_TABLES} tables", tables)
        fields = _HISTOGRAM_FIELDS if parts["kind"] == "histogram" else _CELL_FIELDS
        further = [SketchedTable.read(table, fields, read) for table in tables]
        return cls(cells=cells, tables=further, **parts)

    def to_bytes(self) -> bytes:
        """Return the canonical bytes of the message (RFC 8785).

        Raises
        ------
        MessageError
            If they are more than a reader accepts.
        """
        data = super().to_bytes()
        if len(data) > LARGEST:
            raise MessageError.too_large(LARGEST)
        return data

    def to_dict(self) -> dict[str, Any]:
        """Return the message as JSON holds it."""
        unsigned = {
            "schema": SCHEMA,
            "plan": self.plan,
            "silo": self.silo,
            "kind": self.kind,
            "cells": [cell.to_dict() for cell in self.cells],
            "rows_dropped": self.rows_dropped,
            "rows_filtered": self.rows_filtered,
            "guarantee": dict(self.guarantee),
            "software": self.software,
        }
        if self.tables:
            unsigned["tables"] = [table.to_dict() for table in self.tables]
        if self.replaces is not None:
            unsigned["replaces"] = self.replaces
        return unsigned if self.signature is None else {**unsigned, "signature": self.signature}

    @property
    def content_digest(self) -> str:
        """The same without the signature and the version of the software."""
        document = self.to_dict()
        for name in ("software", "signature"):
            document.pop(name, None)
        return digest_of(canonical_bytes(document))

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, in the order of their cells."""
        return tuple(cell.group for cell in self.cells)

    def released(self, plan: Plan) -> dict[tuple[str, Group], Cell]:
        """Return the cells that have values, by silo and group, as a federation takes them.

        The plan says how far its rules may have moved a number. None of a noisy histogram:
        :func:`fedparity.audit` makes laws of those.
        """
        if self.kind == "histogram":
            return {}
        outcomes = [table.cells for table in self.tables if not table.by and table.outcome]
        has_outcome = plan.outcome is not None
        by_outcome = plan.table_plan(plan.tables[0], by_outcome=True) if has_outcome else plan
        released: dict[tuple[str, Group], Cell] = {}
        for place, cell in enumerate(self.cells):
            if isinstance(cell, SketchedCell):
                parts = [
                    part for cells in outcomes if isinstance(part := cells[place], SketchedCell)
                ]
                found = whole_cell(plan, cell, parts, parts_plan=by_outcome)
                released |= {} if found is None else {(self.silo, cell.group): found}
        return released

    def table_columns(self) -> Columns:
        """Return a table of all that it says of records: a row for each value, in :meth:`to_frame`.

        ``value`` is a score, or the noisy count of a bin; ``records`` is how many have it, where they
        were counted. A cell that was withheld has one row without a value.
        """
        return columns_of(row for cell in self.cells for row in _value_rows(cell))

    def _repr_html_(self) -> str:
        heads = ("group", "records", "values sent", "lowest", "highest", "withheld")
        size = f"{len(self.to_bytes()):,} bytes, {self.kind}, for plan {self.plan[:15]}…"
        return (
            f"<p><b>What leaves {escape(self.silo)}</b> ({escape(size)})</p>"
            f"{html_table(heads, map(_summary, self.cells))}"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SiloSketch):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash((self.digest, self.signature))

    def __repr__(self) -> str:
        withheld = sum(cell.withheld is not None for cell in self.cells)
        signed = "unsigned" if self.signature is None else "signed"
        return f"SiloSketch({self.silo!r}, {len(self.cells)} cells, {withheld} withheld, {signed})"


def _value_rows(cell: SketchedCell | HistogramCell) -> Iterator[dict[str, Any]]:
    base = {"group": cell.group, "count": cell.count, "withheld": cell.withheld}
    if cell.values is None:
        yield base | {"position": None, "value": None, "records": None}
        return
    records: Sequence[int | float | None] = getattr(cell, "counts", None) or [None] * cell.levels
    for place, (value, here) in enumerate(zip(cell.values.tolist(), records, strict=True)):
        yield base | {"position": place + 1, "value": value, "records": here}


def _summary(cell: SketchedCell | HistogramCell) -> list[str]:
    name = " & ".join(map(str, cell.group)) if isinstance(cell.group, tuple) else str(cell.group)
    if cell.values is None:
        return [name, NOTHING, "0", NOTHING, NOTHING, str(cell.withheld)]
    records = NOTHING if cell.count is None else amount(cell.count)
    ends = (number(float(end)) for end in (cell.values.min(), cell.values.max()))
    return [name, records, f"{cell.levels:,}", *ends, NOTHING]


def _check_texts(sketch: SiloSketch) -> None:
    if not is_digest(sketch.plan):
        raise MessageError.field("plan", "the digest of a plan", sketch.plan)
    if not is_name(sketch.silo):
        raise MessageError.field("silo", "a name on one line", sketch.silo)
    if sketch.kind not in (*get_args(Kind), "histogram"):
        raise MessageError.field(
            "kind", '"mean", "quantile", "counts" or "histogram"', sketch.kind
        )
    if not is_name(sketch.software):
        raise MessageError.field("software", "a text on one line", sketch.software)
    if sketch.replaces is not None and not is_digest(sketch.replaces):
        raise MessageError.field("replaces", "the digest of a message", sketch.replaces)


def _cell_type(kind: object) -> type[SketchedCell | HistogramCell]:
    return HistogramCell if kind == "histogram" else SketchedCell


def _checked_cells(cells: object, kind: str) -> tuple[SketchedCell | HistogramCell, ...]:
    kept = tuple(cells) if isinstance(cells, Sequence) else ()
    if not 2 <= len(kept) <= _MOST_CELLS or {type(cell) for cell in kept} != {_cell_type(kind)}:
        raise MessageError.field("cells", f"a list of 2 to {_MOST_CELLS:,} cells", cells)
    seen = set()
    for cell in kept:
        label = typed_label(cell.group)
        if label in seen:
            raise MessageError(f"group {shown(cell.group)} has two cells.", fix=RESEND)
        seen.add(label)
        if isinstance(cell, SketchedCell) and cell.values is not None:
            _check_fields_of(cell, kind)
    return kept


def _checked_tables(tables: object, kind: str) -> tuple[SketchedTable, ...]:
    kept = tuple(tables) if isinstance(tables, Sequence) else (None,)
    if len(kept) > _MOST_TABLES or not all(isinstance(table, SketchedTable) for table in kept):
        raise MessageError.field("tables", f"a list of at most {_MOST_TABLES} tables", tables)
    for table in kept:
        if {type(cell) for cell in table.cells} != {_cell_type(kind)}:
            raise MessageError.field("cells of a table", "cells of the message's kind", table)
        for cell in table.cells:
            if isinstance(cell, SketchedCell) and cell.values is not None:
                _check_fields_of(cell, kind)
    return kept


def _check_fields_of(cell: SketchedCell, kind: str) -> None:
    """Raise unless a released cell has the fields of its kind."""
    if (cell.counts is not None) != (kind == "counts"):
        raise MessageError.contradiction(
            cell.group, "has counts in another kind, or none in its own"
        )
    needed = kind == "mean" and not cell.rank_error
    if (needed and cell.mean_square is None) or (kind != "mean" and cell.mean_square is not None):
        raise MessageError.contradiction(
            cell.group, "has a mean square without bin means, or bin means without it"
        )


def _checked_guarantee(guarantee: object) -> FrozenMapping[Any]:
    if not isinstance(guarantee, Mapping) or len(guarantee) > _MOST_TERMS:
        expected = f"an object of at most {_MOST_TERMS} fields"
        raise MessageError.field("guarantee", expected, guarantee)
    if not is_name(guarantee.get("mode")):
        raise MessageError.field("mode in guarantee", "a text", guarantee.get("mode"))
    terms = {}
    for name, value in guarantee.items():
        plain = value is None or isinstance(value, bool) or is_name(value)
        term = value if plain else as_number(value)
        if not is_name(name) or (term is None and not plain):
            raise MessageError.field("guarantee", "texts, numbers, booleans and nulls", value)
        terms[name] = term
    return FrozenMapping(terms)


def _check_signature(signature: object) -> None:
    if not isinstance(signature, str) or decode_base64(signature, SIGNATURE_BYTES) is None:
        raise SignatureError.malformed()
