"""A table of a database, before it is opened, and its address, which is never shown.

An address may hold a password. Nothing here imports a driver, nor the modules that talk to one.
"""

from __future__ import annotations

import os
import sys
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from fedparity.documents.files import is_address, refuse_open_to_others
from fedparity.errors import DatabaseError, OptionError
from fedparity.tables.table import UnopenedTable

if TYPE_CHECKING:
    from sqlalchemy import Engine, Select
    from sqlalchemy import Table as AlchemyTable

    from fedparity.tables.table import Table

__all__ = [
    "Address",
    "DatabaseTable",
    "read_address",
]

_SECRETS = "pass", "pwd", "secret", "token", "credential"
_LOCAL = "sqlite", "duckdb"
_SPARK = "spark", "sc"


@dataclass(frozen=True)
class Address:
    """The URL of a database, as SQLAlchemy writes it.

    Raises
    ------
    DatabaseError
        If it is invalid; the message shows nothing of it.

    Examples
    --------
    >>> Address("postgresql+psycopg://ann:secret@db.example/test")
    Address(kind='postgresql', driver='psycopg')
    """

    url: str = field(repr=False)
    kind: str = field(init=False)
    """The part before the ``+`` or the ``://``: ``postgresql``, ``mysql``, ``sqlite``, …"""
    driver: str | None = field(init=False)
    """The part after the ``+``, or None."""

    def __post_init__(self) -> None:
        if not is_address(self.url) or any(character.isspace() for character in self.url):
            raise DatabaseError.bad_address()
        scheme = self.url.partition("://")[0].lower()
        kind, _, driver = scheme.partition("+")
        object.__setattr__(self, "kind", "postgresql" if kind == "postgres" else kind)
        object.__setattr__(self, "driver", driver or None)
        self._parts()

    @property
    def has_secret(self) -> bool:
        """Whether it holds a password, among its parameters too."""
        parts = self._parts()
        # A password with a slash or a hash that is not encoded ends the host too early.
        strayed = "@" not in parts.netloc and "@" in self.url and self.kind not in _LOCAL
        if self.kind == "sc":  # sc://host:15002/;token=…
            return bool(parts.password or any(word in self.url.lower() for word in _SECRETS))
        named = (name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True))
        return bool(
            parts.password or strayed or any(word in name for name in named for word in _SECRETS)
        )

    @property
    def without_secret(self) -> str:
        """The place alone: no driver, user, password or parameter; of a file, its absolute path.

        Examples
        --------
        >>> Address("postgresql+psycopg://ann:secret@db.example:5433/test?sslmode=off").without_secret
        'postgresql://db.example:5433/test'
        """
        if self.file is not None:
            return f"{self.kind}:///{os.path.realpath(self.file)}"
        parts = self._parts()
        host = parts.netloc.rpartition("@")[2]
        path = "" if "@" in parts.path else parts.path.partition(";")[0]  # a password that strayed
        return f"{self.kind}://{host}{path}"

    @property
    def is_spark(self) -> bool:
        """Whether it is that of Spark, as a master or a server of Spark Connect."""
        return self.kind in _SPARK

    @property
    def file(self) -> str | None:
        """The path of a database in a single file, or None if it has parameters or no path."""
        rest = self.url.partition("://")[2]
        if self.kind not in _LOCAL or "?" in rest or not rest.startswith("/") or len(rest) < 2:
            return None
        return rest[1:]

    def with_driver(self, driver: str | None) -> str:
        """Return the URL with another driver, or with none."""
        scheme = self.kind if driver is None else f"{self.kind}+{driver}"
        return f"{scheme}://{self.url.partition('://')[2]}"

    def _parts(self) -> SplitResult:
        try:
            return urlsplit(self.url)
        except ValueError:
            raise DatabaseError.bad_address() from None


_LONGEST = 10_000


def read_address(file: str) -> str:
    """Return the address that a file holds, or the standard input for ``-``.

    Raises
    ------
    OptionError
        If others than its owner may read the file, or it does not hold one address.
    """
    if file == "-":
        text = sys.stdin.read(_LONGEST)
    else:
        with Path(file).open(encoding="utf-8", errors="replace") as lines:
            refuse_open_to_others(
                lines.fileno(), file, what="the address of a database", error=OptionError
            )
            text = lines.read(_LONGEST)
    address = text.strip()
    if not is_address(address) or len(address.split()) != 1:
        place = "the standard input" if file == "-" else repr(file)
        raise OptionError(
            f"{place} does not hold the address of a database on one line.",
            fix="write one line such as postgresql://user:password@host/name, and nothing else.",
        )
    return address


@dataclass(frozen=True)
class DatabaseTable(UnopenedTable):
    """A table, or the rows of a query, of a database: what :func:`fedparity.sketch` can read.

    It is read in one read-only transaction, in which every scan sees the same rows. Nothing is
    opened before it is read. Spark has no transactions, so it is sent as few queries as possible.

    Parameters
    ----------
    address : str or sqlalchemy.Engine
        An address as SQLAlchemy writes it, such as ``postgresql://ann@db.example/clinic``,
        ``mysql+pymysql://…``, ``sqlite:///file.db`` or ``duckdb:///file.duckdb``; one of Spark, such as
        ``spark://host:7077``, ``spark:///local[2]`` or ``sc://host:15002``; or an engine.
    table : str or sqlalchemy.Table, optional
        Its name, with its schema if need be: ``clinic.visits``.
    query : str or sqlalchemy.Select, optional
        One statement that reads, instead of ``table``.

    Raises
    ------
    DatabaseError
        If neither or both of ``table`` and ``query`` are given, if the query is not a single
        statement that reads, or, once it is read, if the database refuses it.

    Examples
    --------
    >>> import sqlite3, tempfile
    >>> file = f"{tempfile.mkdtemp()}/clinic.db"
    >>> with sqlite3.connect(file) as clinic:
    ...     _ = clinic.execute("CREATE TABLE visits (risk REAL, sex TEXT)")
    ...     _ = clinic.execute("INSERT INTO visits VALUES (0.2, 'f'), (0.7, 'm')")
    >>> clinic.close()
    >>> visits = DatabaseTable(f"sqlite:///{file}", table="visits")
    >>> visits
    DatabaseTable(table='visits')
    >>> visits.open().columns
    ('risk', 'sex')
    """

    address: str | Engine = field(repr=False)
    _: KW_ONLY
    table: str | AlchemyTable | None = None
    query: str | Select[Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if (self.table is None) == (self.query is None):
            raise DatabaseError.table_or_query()
        if isinstance(self.address, str):
            Address(self.address)  # which raises if it is invalid
        elif not hasattr(self.address, "dialect"):
            raise DatabaseError.bad_address()

    @property
    def names(self) -> tuple[str, ...]:
        """Its address without the password, and its table."""
        if isinstance(self.address, str):
            address = Address(self.address).without_secret
        else:  # an engine: it knows its own address
            url: Any = getattr(self.address, "url", None)
            address = "engine://" if url is None else url.render_as_string(hide_password=True)
        return (f"{address}#{'query' if self.table is None else self.table}",)

    def open(self) -> Table:
        """Open the database, and return the table that is read."""
        from fedparity.tables.sql.sql_table import open_database  # noqa: PLC0415 -- where it is used

        return open_database(self)
