"""Parts of documents, found by position or label, which are tables too."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property
from html import escape
from importlib.util import find_spec
from typing import Any, SupportsIndex, TypeAlias, TypeVar, overload

from fedparity.errors import OptionError, PartError, ResultError
from fedparity.errors.base import listed
from fedparity.text import NOTHING, OneLine, number

__all__ = ["Columns", "Part", "Parts", "Tabular", "columns_of", "html_table"]


Columns: TypeAlias = dict[str, list[Any]]
"""A table: the entries of each column, by its name."""
Item = TypeVar("Item")

_BACKENDS = ("pandas", "polars", "pyarrow")
_MOST_ROWS = 60
"""Rows that a notebook shows; a frame has all."""


class Tabular:
    """Something that is a table as well: a subclass says what its columns are."""

    def table_columns(self) -> Columns:
        """Return the entries of each column, by its name."""
        raise NotImplementedError  # pragma: no cover

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401 -- of any library
        """Return it as a pandas, polars or pyarrow table.

        Parameters
        ----------
        backend : "pandas", "polars" or "pyarrow", optional
            If absent, the first of them that is loaded; if none is, the first that is installed.

        Raises
        ------
        ResultError
            If none of them is installed.
        """
        import narwhals as nw  # noqa: PLC0415 -- 40 ms, and only here

        columns = self.table_columns()
        schema = {name: _dtype(values) for name, values in columns.items()}
        texts = (name for name, dtype in schema.items() if dtype == nw.String)
        columns |= {name: list(map(_text_or_none, columns[name])) for name in texts}
        frame = nw.from_dict(columns, schema, backend=_chosen(backend))  # type: ignore[arg-type]
        return frame.to_native()

    def _repr_html_(self) -> str:
        columns = self.table_columns()
        rows = list(zip(*columns.values(), strict=True))
        shown = html_table(list(columns), [list(map(_text, row)) for row in rows[:_MOST_ROWS]])
        if len(rows) <= _MOST_ROWS:
            return shown
        return f"{shown}<p>… and {len(rows) - _MOST_ROWS:,} more rows; to_frame() has all.</p>"


class Part(OneLine):
    """A part of a document; ``found_by`` is its label in a sequence of parts."""

    def table_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows that stand for it in a table: one, of the numbers and texts it holds."""
        yield dict(_entries(self))


class Parts(tuple[Item, ...], Tabular):  # noqa: SLOT001 -- it caches where its labels are
    """Parts in their order, found by position or by label.

    Whole numbers and slices are positions, everything else is a label: the name of a silo, a group,
    the tuple of two groups, a threshold. Where labels are whole numbers themselves, :meth:`labeled`
    finds them.

    Examples
    --------
    >>> from fedparity.documents.result_parts import GroupResult
    >>> groups = Parts(GroupResult(group=g, n=10, share=0.5, mean=0.25) for g in "AB")
    >>> groups["B"] is groups[1], groups.labels
    (True, ('A', 'B'))
    """

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels, in the order of the parts."""
        return tuple(_label(part) for part in self)

    @cached_property
    def _by_label(self) -> dict[tuple[bool, Any], Item]:
        # True == 1 in Python, and both may be labels
        return {(isinstance(_label(part), bool), _label(part)): part for part in self}

    def labeled(self, label: object) -> Item:
        """Return the part with this label.

        Raises
        ------
        PartError
            If there is none.
        """
        try:
            return self._by_label[isinstance(label, bool), label]
        except (KeyError, TypeError):  # a list cannot be a label
            raise PartError(
                f"there is no {label!r} among {listed(self.labels)}.",
                fix="use one of these labels, or a position from 0.",
            ) from None

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> Item: ...
    @overload
    def __getitem__(self, key: slice, /) -> Parts[Item]: ...
    @overload
    def __getitem__(self, key: object, /) -> Item: ...

    def __getitem__(self, key: Any, /) -> Any:
        """Return the part at a position or with a label, or those of a slice."""
        if isinstance(key, slice):
            return Parts(super().__getitem__(key))
        if isinstance(key, bool) or not hasattr(key, "__index__"):
            return self.labeled(key)
        return super().__getitem__(key)

    def table_columns(self) -> Columns:
        """Return the entries of each column; parts hold what a table shows of them."""
        return columns_of(row for part in self for row in part.table_rows())  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        kind = type(self[0]).__name__ if self else "part"
        return f"Parts({len(self)} × {kind}: {listed(self.labels)})" if self else "Parts(none)"


def _label(part: Any) -> Any:  # noqa: ANN401 -- parts say it
    return part.found_by


def columns_of(rows: Iterable[Mapping[str, Any]]) -> Columns:
    """Return the columns of rows; None where a row lacks an entry that another one has.

    Examples
    --------
    >>> columns_of([{"a": 1}, {"a": 2, "b": "x"}])
    {'a': [1, 2], 'b': [None, 'x']}
    """
    every = list(rows)
    names = dict.fromkeys(name for row in every for name in row)
    return {name: [row.get(name) for row in every] for name in names}


def _entries(part: Any, before: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """The numbers and texts of a part by name; what is inside another part has both names."""
    from fedparity.laws.bounds import Bounds  # noqa: PLC0415 -- results have bounds, plans do not

    for each in fields(part):
        value, name = getattr(part, each.name), f"{before}{each.name}"
        if before and each.name == "value":
            name = before.removesuffix("_")
        if type(value) is Bounds or (value is None and "Bounds" in str(each.type)):
            yield f"{name}_lower", getattr(value, "lower", None)
            yield f"{name}_upper", getattr(value, "upper", None)
        elif is_dataclass(value):
            yield from _entries(value, f"{name}_")
        elif isinstance(value, Mapping):
            entries = ((f"{name} {_text_or_none(key)}", entry) for key, entry in value.items())
            yield from ((key, entry) for key, entry in entries if not isinstance(entry, tuple))
        elif each.name == "groups" and len(value) == 2:
            yield from zip(("first", "second"), value, strict=True)
        elif not isinstance(value, Parts):
            yield name, value


def _dtype(values: Sequence[Any]) -> Any:  # noqa: ANN401 -- of narwhals
    """Text, whole numbers where all are known, floats where some are missing."""
    import narwhals as nw  # noqa: PLC0415

    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return nw.Boolean
    if kinds == {int}:
        return nw.Int64
    return nw.Float64 if kinds <= {int, float, type(None)} else nw.String


def _chosen(backend: str | None) -> str:
    if backend is not None:
        if backend not in _BACKENDS:
            raise OptionError.unknown("backend", backend, _BACKENDS)
        if find_spec(backend) is None:
            raise ResultError.no_frames()
        return backend
    for name in _BACKENDS:
        if name in sys.modules:
            return name
    for name in _BACKENDS:
        if find_spec(name) is not None:
            return name
    raise ResultError.no_frames()


_CELL = "text-align:left;padding:.15em .8em .15em 0"
_NUMBER = f"{_CELL};font-variant-numeric:tabular-nums"


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for a notebook; the first entry of a row is its heading.

    Styles stand on the elements, so nothing else on the page changes; colors are the page's own.
    """
    titles = (f'<th scope="col" style="{_CELL}">{escape(each)}</th>' for each in heads)
    return (
        '<table style="border-collapse:collapse;margin:.4em 0">'
        f"<thead><tr>{''.join(titles)}</tr></thead><tbody>{''.join(map(_row, rows))}</tbody></table>"
    )


def _row(cells: Sequence[str]) -> str:
    name, *others = cells
    shown = "".join(f'<td style="{_NUMBER}">{escape(each)}</td>' for each in others)
    return (
        f'<tr><th scope="row" style="{_CELL};font-weight:normal">{escape(name)}</th>{shown}</tr>'
    )


def _text_or_none(value: object) -> str | None:
    return (
        None
        if value is None
        else " & ".join(map(str, value))
        if isinstance(value, tuple)
        else str(value)
    )


def _text(value: object) -> str:
    """What a cell of a notebook's table shows."""
    if value is None:
        return NOTHING
    if isinstance(value, tuple):
        return " & ".join(map(_text, value))
    if isinstance(value, float) and not math.isnan(value):
        return number(value)
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_count else str(value)
