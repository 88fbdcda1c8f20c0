"""Tables: columns by name that are scanned block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from fedparity.errors import TableError
from fedparity.sources.columns import Block
from fedparity.sources.where import Condition

__all__ = ["BlockTask", "Selection", "Table", "require_columns"]

BlockTask: TypeAlias = Callable[[], Block]
"""Reads one block; different tasks may run in different threads, in any order."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a scan has to read: columns by the role they play, so that a file can be parsed so."""

    numbers: tuple[str, ...]
    labels: tuple[str, ...]
    where: Condition | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is needed, once."""
        tested = self.where.columns if self.where else ()
        return tuple(dict.fromkeys((*self.numbers, *self.labels, *tested)))

    @property
    def only_tested(self) -> tuple[str, ...]:
        """Columns that only the filter needs."""
        tested = self.where.columns if self.where else ()
        return tuple(name for name in tested if name not in {*self.numbers, *self.labels})


class Table(Protocol):
    """Something with columns, in memory or in files."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns, in their order."""
        ...  # pragma: no cover

    @property
    def rows(self) -> int | None:
        """Its number of rows, where it is known before they are read."""
        ...  # pragma: no cover

    @property
    def rescannable(self) -> bool:
        """Whether it can be scanned again, with the same outcome."""
        ...  # pragma: no cover

    def require(self, names: Iterable[str]) -> None:
        """Raise a TableError if one of the columns is not there, or there twice."""
        ...  # pragma: no cover

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once; their blocks hold the selected columns.

        The iterator is advanced by one thread at a time. The filter is not applied, but rows of
        which it is known, without reading them, that it drops them may be left out.
        """
        ...  # pragma: no cover


def require_columns(
    names: Iterable[str], columns: Sequence[str], *, what: str, hint: str = ""
) -> None:
    """Raise if a name is not among the columns, or more than once.

    Raises
    ------
    TableError
        With the nearest names, and not more than a few of the columns there are.
    """
    counts = Counter(columns)
    for name in names:
        if counts[name] == 0:
            raise TableError.missing_column(name, columns, what=what, hint=hint)
        if counts[name] > 1:
            raise TableError.duplicate_column(name, what)
