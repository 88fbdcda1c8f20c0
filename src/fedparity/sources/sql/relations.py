"""What is read of a database: a table, or the rows of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fedparity.sources.sql.dialects import Dialect
from fedparity.sources.sql.names import name_parts
from fedparity.sources.sql.statements import gives_the_same_rows_again, single_query

__all__ = ["Relation"]

_ALIAS = "fedparity_rows"


@dataclass(frozen=True)
class Relation:
    """A table or a query, and how it is asked for."""

    dialect: Dialect
    source: str
    """What stands after FROM."""
    table: tuple[str, ...] | None
    """The parts of the table's name; None for a query."""
    steady: bool = True
    """Whether it gives the same rows when it is asked again in the same snapshot."""

    @classmethod
    def of_table(cls, name: str, dialect: Dialect) -> Relation:
        """Return the table of this name; every part of it is quoted."""
        return cls.of_parts(name_parts(name), dialect)

    @classmethod
    def of_parts(cls, parts: Sequence[str], dialect: Dialect) -> Relation:
        """Return the table whose name has these parts."""
        return cls(dialect, ".".join(map(dialect.quote, parts)), tuple(parts))

    @classmethod
    def of_query(cls, sql: str, dialect: Dialect) -> Relation:
        """Return the rows of a query, which becomes a subquery.

        The line end after it closes a comment that it may end with.
        """
        query = single_query(sql)
        steady = gives_the_same_rows_again(query)
        return cls(dialect, f"({query}\n) AS {dialect.quote(_ALIAS)}", None, steady)

    def described(self) -> str:
        """Return the statement whose answer has all columns and no row."""
        return f"SELECT * FROM {self.source} WHERE 1 = 0"  # noqa: S608 -- quoted, or checked

    def counted(self) -> str:
        """Return the statement that counts the rows."""
        return f"SELECT COUNT(*) FROM {self.source}"  # noqa: S608

    def selected(self, names: Sequence[str], types: Mapping[str, str]) -> str:
        """Return the statement that reads these columns of all rows."""
        return f"SELECT {self.expressions(names, types)} FROM {self.source}"  # noqa: S608

    def expressions(self, names: Sequence[str], types: Mapping[str, str]) -> str:
        """Return these columns, each under its own name."""
        dialect = self.dialect
        return ", ".join(
            f"{dialect.read(name, types[name])} AS {dialect.quote(name)}" for name in names
        )
