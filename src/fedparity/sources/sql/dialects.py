"""What differs between databases, as far as reading a table goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fedparity.sources.sql.names import quoted

__all__ = ["DUCKDB", "MARIADB", "POSTGRESQL", "SPARK", "SQLITE", "Dialect", "dialect_of"]

_TABLES = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN "
    "('information_schema', 'pg_catalog', 'mysql', 'performance_schema', 'sys')"
)


@dataclass(frozen=True)
class Dialect:
    """How a kind of database is spoken to."""

    name: str
    mark: str = '"'
    """What stands around names."""
    tables: str | None = _TABLES
    """Lists the tables, for a hint when one is not found."""
    readings: Mapping[str, str] = field(default_factory=dict)
    """How columns of certain types are asked for, where the plain name would lose something."""
    other_types: str = "{}"
    """How columns of the types that are not in ``readings`` are asked for."""

    def quote(self, name: str) -> str:
        """Return a name between the quotes of this dialect."""
        return quoted(name, self.mark)

    def read(self, name: str, type_name: str) -> str:
        """Return the expression that gives a column without loss."""
        return self.readings.get(type_name, self.other_types).format(self.quote(name))

    def __str__(self) -> str:
        return self.name


_POSTGRESQL_PLAIN = [
    "bool",
    "int2",
    "int4",
    "int8",
    "float8",
    "text",
    "varchar",
    "bytea",
    "date",
    "timestamp",
    "timestamptz",
]

POSTGRESQL = Dialect(
    "PostgreSQL",
    # float4 as the double it is, not as its shortest decimal; numeric as the nearest double;
    # char(n) without the blanks that fill it; names of an enumeration, and the rest, as text.
    readings=dict.fromkeys(_POSTGRESQL_PLAIN, "{}")
    | {"float4": "{}::float8", "numeric": "{}::float8"},
    other_types="{}::text",
)
MARIADB = Dialect(
    "MariaDB",
    mark="`",
    tables=f"{_TABLES} AND table_schema = DATABASE()",
    readings={"4": "CAST({} AS DOUBLE)"},  # FLOAT, of which the server would print six digits
)
SQLITE = Dialect("SQLite", tables="SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
DUCKDB = Dialect("DuckDB")
SPARK = Dialect("Spark", mark="`", tables=None)

_BY_KIND = {
    "postgresql": POSTGRESQL,
    "mysql": MARIADB,
    "mariadb": MARIADB,
    "sqlite": SQLITE,
    "duckdb": DUCKDB,
}


def dialect_of(kind: str, mark: str = '"') -> Dialect:
    """Return the dialect of a kind of database; of an unknown one little is assumed."""
    return _BY_KIND.get(kind) or Dialect(kind, mark=mark, tables=None)
