"""A table or query of a database, before it is opened."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from fedparity.errors import DatabaseError
from fedparity.sources.sql.addresses import Address
from fedparity.sources.sql.connecting import connect
from fedparity.sources.sql.dialects import SPARK, Dialect
from fedparity.sources.sql.relations import Relation
from fedparity.sources.sql.tables import SqlTable
from fedparity.sources.table import Table

if TYPE_CHECKING:
    from sqlalchemy import Engine, Select
    from sqlalchemy import Table as AlchemyTable

__all__ = ["DatabaseTable"]


@dataclass(frozen=True)
class DatabaseTable:
    """A table, or the rows of a query, of a database: what :func:`fedparity.sketch` can read.

    It is read in one read-only transaction, in which every scan sees the same rows. Nothing is
    opened before it is read. Spark, which knows no transactions, is asked as few times as possible.

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
            Address(self.address)  # which raises if it is none
        elif not hasattr(self.address, "dialect"):
            raise DatabaseError.bad_address()

    def open(self) -> Table:
        """Open the database, and return the table that is read."""
        place = Address(self.address) if isinstance(self.address, str) else self.address
        if isinstance(place, Address) and place.is_spark:
            from fedparity.sources.spark.sessions import open_spark  # noqa: PLC0415 -- where it is used

            return open_spark(place, self._relation(SPARK))
        session = connect(place)
        try:
            relation = self._relation(session.dialect)
        except BaseException:
            session.close()
            raise
        return SqlTable(session, relation)

    def _relation(self, dialect: Dialect) -> Relation:
        if self.query is not None:
            query = self.query if isinstance(self.query, str) else self._compiled(self.query)
            return Relation.of_query(query, dialect)
        if isinstance(self.table, str):
            return Relation.of_table(self.table, dialect)
        parts = (getattr(self.table, "schema", None), getattr(self.table, "name", ""))
        return Relation.of_parts([part for part in parts if part], dialect)

    def _compiled(self, query: Select[Any]) -> str:
        """The text of a statement of SQLAlchemy, its parameters written out."""
        dialect = type(self._engine_dialect())(paramstyle="named")  # percent signs stay single
        return str(query.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))

    def _engine_dialect(self) -> Any:  # noqa: ANN401 -- SQLAlchemy is optional
        if isinstance(self.address, str):
            from sqlalchemy import make_url  # noqa: PLC0415 -- the query is of SQLAlchemy

            return make_url(self.address).get_dialect()()
        return self.address.dialect
