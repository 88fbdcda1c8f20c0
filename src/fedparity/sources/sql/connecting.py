"""Open a session on a database by the fastest driver that is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fedparity.errors import DatabaseError, MissingExtraError
from fedparity.sources.extras import extra
from fedparity.sources.sql.addresses import Address
from fedparity.sources.sql.dialects import dialect_of
from fedparity.sources.sql.failures import telling
from fedparity.sources.sql.sessions import Session

if TYPE_CHECKING:
    from sqlalchemy import Engine

__all__ = ["connect"]

_DEFAULT_DRIVERS = {"postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}


def connect(address: Address | Engine) -> Session:
    """Return an open session: native for files and, with ADBC, PostgreSQL; else by SQLAlchemy.

    An address that names a driver, such as ``postgresql+psycopg://``, is read by that driver.

    Raises
    ------
    DatabaseError
        If the database cannot be opened; DatabaseUnreachableError if it does not answer.
    MissingExtraError
        If no driver for it is installed.
    """
    if not isinstance(address, Address):
        return _by_alchemy(address, owned=False)
    if address.file is not None and address.driver is None:
        return _file_session(address.kind, address.file)
    if _has_adbc(address):
        from fedparity.sources.sql.adbc_session import AdbcSession  # noqa: PLC0415

        return AdbcSession(address)
    return _by_alchemy(_engine(address), owned=True)


def _file_session(kind: str, file: str) -> Session:
    if kind == "sqlite":
        from fedparity.sources.sql.sqlite_session import SqliteSession  # noqa: PLC0415

        return SqliteSession(file)
    from fedparity.sources.sql.duckdb_session import DuckdbSession  # noqa: PLC0415

    return DuckdbSession(file)


def _has_adbc(address: Address) -> bool:
    if address.kind != "postgresql" or address.driver not in (None, "adbc"):
        return False
    return address.driver == "adbc" or find_spec("adbc_driver_postgresql") is not None


def _by_alchemy(engine: Engine, *, owned: bool) -> Session:
    from fedparity.sources.sql.alchemy_session import AlchemySession  # noqa: PLC0415

    return AlchemySession(engine, owned=owned)


def _engine(address: Address) -> Engine:
    """An engine that keeps no connection when it is done."""
    alchemy: Any = extra("sqlalchemy", f"a database of the kind {address.kind}", "sql")
    driver = address.driver or _DEFAULT_DRIVERS.get(address.kind)
    try:
        with telling(dialect_of(address.kind)):
            return _made(alchemy, address.with_driver(driver))  # type: ignore[no-any-return]
    except ImportError as error:
        raise MissingExtraError.for_use(
            error.name or str(driver), f"a database of the kind {address.kind}", "sql"
        ) from None


def _made(alchemy: Any, url: str) -> Any:  # noqa: ANN401 -- SQLAlchemy is optional
    try:
        return alchemy.create_engine(url, poolclass=alchemy.pool.NullPool)
    except alchemy.exc.NoSuchModuleError:
        raise DatabaseError.unknown_kind(url.partition("://")[0]) from None
    except alchemy.exc.ArgumentError:
        raise DatabaseError.bad_address() from None
