"""One statement that reads, and nothing else: what a query may be.

Three locks hold a query, and this is the first. The second is the transaction, which is read-only;
the third is the driver, which prepares one statement, or takes no second one. A query also
becomes a subquery of ours, where a statement that writes is an error of syntax.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fedparity.errors import DatabaseError
from fedparity.errors.inputs import shortened

__all__ = [
    "DUCKDB",
    "MARIADB",
    "POSTGRESQL",
    "SPARK",
    "SQLITE",
    "Dialect",
    "Relation",
    "dialect_of",
    "gives_the_same_rows_again",
    "name_parts",
    "quoted",
    "single_query",
]

_PART = re.compile(r'"(?:[^"]|"")+"|[^".]+')
_MOST_PARTS = 3


def name_parts(name: str) -> tuple[str, ...]:
    """Return the parts of a table's name: itself, before it its schema, before that its catalog.

    Raises
    ------
    DatabaseError
        If it is not a valid name.

    Examples
    --------
    >>> name_parts("clinic.visits"), name_parts('clinic."visits.2026"')
    (('clinic', 'visits'), ('clinic', 'visits.2026'))
    """
    parts = _PART.findall(name)
    if not parts or len(parts) > _MOST_PARTS or ".".join(parts) != name or "\x00" in name:
        raise DatabaseError(
            f"{shortened(name)!r} is not the name of a table.",
            fix="write NAME or SCHEMA.NAME; write a part that contains a dot in double quotes, such "
            'as "2026.visits".',
        )
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts)


def quoted(name: str, mark: str = '"') -> str:
    """Return a name between quotes, so that whatever is in it stays a name.

    Examples
    --------
    >>> quoted('risk" FROM visits; --')
    '"risk"" FROM visits; --"'
    """
    return f"{mark}{name.replace(mark, 2 * mark)}{mark}"


_QUOTED = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*.*?\*/ )
  | (?P<dollar>  \$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?\$(?P=tag)\$ )
  | (?P<string>  '(?:[^']|'')*' )
  | (?P<name>    "(?:[^"]|"")*" | `(?:[^`]|``)*` )
    """,
    re.VERBOSE | re.DOTALL,
)
_OPEN = re.compile(r"['\"`]|/\*|\*/|\$[A-Za-z_]*\$")
"""What is left of a quote or comment that is not closed."""
_DISPUTED = "\\", "--", "/*", "#", "$", "`"
"""Characters whose meaning depends on the database; together with a semicolon they are not accepted."""
_WORD = re.compile(r"(?<![\w.$])[A-Za-z_]+")
_READING = "select", "with", "values", "table"
_WRITING = frozenset(
    [
        "alter",
        "create",
        "delete",
        "drop",
        "exec",
        "execute",
        "grant",
        "insert",
        "into",
        "merge",
        "revoke",
        "truncate",
        "update",
    ]
)
_UNSTEADY = frozenset(
    [
        "limit",
        "offset",
        "fetch",
        "top",
        "sample",
        "tablesample",
        "rownum",
        "random",
        "rand",
        "newid",
        "uuid",
        "gen_random_uuid",
        "nextval",
        "clock_timestamp",
        "sysdate",
    ]
)


def single_query(sql: str) -> str:
    """Return a query without the semicolon at its end.

    A semicolon is accepted at the end, and inside a string, provided that the query holds no sign
    by which databases might differ about where that string ends.

    Raises
    ------
    DatabaseError
        If it is more than one statement, or one that does not read; the message shows nothing of it.

    Examples
    --------
    >>> single_query("SELECT risk, sex FROM visits WHERE note <> 'a;b';")
    "SELECT risk, sex FROM visits WHERE note <> 'a;b'"
    """
    query = sql.strip().removesuffix(";").strip()
    if "\x00" in query:
        raise DatabaseError.bad_query("it holds a character that no statement may hold")
    if re.search(r"/\*M?!", query):
        raise DatabaseError.bad_query("it holds a comment that a server would carry out")
    if re.search(r"\\['\"`]", query):
        raise DatabaseError.bad_query("a quote in it follows a backslash; write the quote twice")
    bare = _bare(query)
    if ";" in bare or (";" in query and any(sign in query for sign in _DISPUTED)):
        raise DatabaseError.bad_query("it holds more than one statement, or seems to")
    _refuse_open_parentheses(bare)
    words = [word.lower() for word in _WORD.findall(bare)]
    if not words or words[0] not in _READING:
        raise DatabaseError.bad_query("it does not start with SELECT, WITH, VALUES or TABLE")
    if writing := sorted(_WRITING.intersection(words)):
        raise DatabaseError.bad_query(
            f"it holds the word {writing[0].upper()}; write a column of that name in quotes"
        )
    return query


def gives_the_same_rows_again(query: str) -> bool:
    """Return False if a query that runs twice on the same tables may give other rows.

    ``LIMIT`` without an order, samples and random numbers do. It is a guess from words; that two
    scans agree is checked again when they are counted.

    Examples
    --------
    >>> gives_the_same_rows_again("SELECT risk, sex FROM visits")
    True
    >>> gives_the_same_rows_again("SELECT risk, sex FROM visits LIMIT 1000")
    False
    """
    return not _UNSTEADY.intersection(word.lower() for word in _WORD.findall(_bare(query)))


def _bare(query: str) -> str:
    """The query without its strings, quoted names and comments."""
    bare = _QUOTED.sub(lambda found: " x " if found["name"] else " ", query)
    if _OPEN.search(bare):
        raise DatabaseError.bad_query("a quote or a comment in it is not closed")
    return bare


def _refuse_open_parentheses(bare: str) -> None:
    depth = 0
    for sign in re.findall(r"[()]", bare):
        depth += 1 if sign == "(" else -1
        if depth < 0:
            break
    if depth:
        raise DatabaseError.bad_query("its parentheses do not match")


_ALIAS = "fedparity_rows"


@dataclass(frozen=True)
class Relation:
    """A table or a query, and the statements that read it."""

    dialect: Dialect
    source: str
    """The part after FROM."""
    table: tuple[str, ...] | None
    """The parts of the table's name; None for a query."""
    steady: bool = True
    """Whether it gives the same rows when it runs again in the same snapshot."""

    @classmethod
    def from_table(cls, name: str, dialect: Dialect) -> Relation:
        """Return the table of this name; every part of it is quoted."""
        return cls.from_parts(name_parts(name), dialect)

    @classmethod
    def from_parts(cls, parts: Sequence[str], dialect: Dialect) -> Relation:
        """Return the table whose name has these parts."""
        return cls(dialect, ".".join(map(dialect.quote, parts)), tuple(parts))

    @classmethod
    def from_query(cls, sql: str, dialect: Dialect) -> Relation:
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


_TABLES = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN "
    "('information_schema', 'pg_catalog', 'mysql', 'performance_schema', 'sys')"
)


@dataclass(frozen=True)
class Dialect:
    """How a kind of database is spoken to."""

    name: str
    mark: str = '"'
    """The quotation marks around names."""
    tables: str | None = _TABLES
    """Lists the tables, for a hint when one is not found."""
    readings: Mapping[str, str] = field(default_factory=dict)
    """Expressions that select columns of certain types, where the plain name would lose something."""
    other_types: str = "{}"
    """The expression that selects columns of the types that are not in ``readings``."""

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
