"""Real databases for tests: servers where they are reachable, files anywhere."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import sqlite3

import duckdb
import pytest
import sqlalchemy

import fedparity as fp

POSTGRES = os.environ.get("FEDPARITY_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
MARIADB = os.environ.get("FEDPARITY_MARIADB", "mysql+pymysql://root@127.0.0.1:3306/test")
SCHEMA = f"fedparity_test_{os.getpid()}"

_TYPES = {"id": "BIGINT", "band": "BIGINT", "age": "BIGINT"} | dict.fromkeys(
    ("race", "sex", "note"), "VARCHAR(40)"
)
_SERVERS = {
    "postgresql": ("PostgreSQL", "FEDPARITY_POSTGRES"),
    "mysql": ("MariaDB", "FEDPARITY_MARIADB"),
}
_NO_BOOLEANS = "sqlite", "mysql"


def driver(url, name):
    """The same address with a driver of our choice."""
    scheme, _, rest = url.partition("://")
    return f"{scheme.partition('+')[0]}+{name}://{rest}"


@functools.cache
def engine(url):
    """An engine for the test's own writing, or a skip with its reason."""
    made = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool)
    try:
        with made.begin() as connection:
            connection.execute(sqlalchemy.schema.CreateSchema(SCHEMA, if_not_exists=True))
    except sqlalchemy.exc.OperationalError as error:
        kind, variable = _SERVERS[made.dialect.name]
        return (
            f"{kind} cannot be reached ({type(error.orig).__name__}): set {variable} to a server"
        )
    atexit.register(_drop, made)
    return made


def _drop(made):
    with made.begin() as connection:
        connection.execute(
            sqlalchemy.schema.DropSchema(
                SCHEMA, cascade=made.dialect.name == "postgresql", if_exists=True
            )
        )


@contextlib.contextmanager
def empty_schema(name):
    """Give the address of an empty schema of the PostgreSQL server, with the driver psycopg."""
    made = postgres()
    with made.begin() as connection:
        connection.execute(sqlalchemy.text(f"CREATE SCHEMA {name}"))
    try:
        yield f"{driver(POSTGRES, 'psycopg')}?options=-csearch_path%3D{name}"
    finally:
        with made.begin() as connection:
            connection.execute(sqlalchemy.text(f"DROP SCHEMA {name} CASCADE"))


def server(url):
    """The engine of a server; the test is skipped where there is none."""
    made = engine(url)
    if isinstance(made, str):
        pytest.skip(made)
    return made


def postgres():
    return server(driver(POSTGRES, "psycopg"))


def mariadb():
    return server(MARIADB)


def created(made, rows, types=None, suffix=""):
    """The name of a table with these rows, written once per process."""
    name = "t" + hashlib.sha256(repr((rows, types)).encode()).hexdigest()[:16]
    full = f"{SCHEMA}.{name}"
    if name not in _written(made):
        with made.begin() as connection:
            _write(connection, full, rows, types=types or {}, suffix=suffix)
        _written(made).add(name)
    return full


@functools.cache
def _written(_):
    return set()


def _write(connection, name, rows, *, types=(), suffix=""):
    kind = connection.dialect.name
    kinds = {**_TYPES, "z": _DOUBLE[kind], "w": _DOUBLE[kind], "smoker": _BOOLEAN[kind]}
    kinds |= dict(types)
    columns = list(rows[0])
    listed = ", ".join(f"{column} {kinds[column]}" for column in columns)
    connection.exec_driver_sql(f"CREATE TABLE {name} ({listed}) {suffix}")
    marks = ", ".join(f":{column}" for column in columns)
    connection.execute(
        sqlalchemy.text(f"INSERT INTO {name} VALUES ({marks})"),
        [_values(row, kind) for row in rows],
    )


_DOUBLE = {"postgresql": "FLOAT8", "mysql": "DOUBLE", "sqlite": "REAL"}
_BOOLEAN = {"postgresql": "BOOLEAN", "mysql": "VARCHAR(5)", "sqlite": "TEXT"}


def _values(row, kind):
    """A database without booleans keeps their words."""
    if kind in _NO_BOOLEANS and "smoker" in row:
        return {**row, "smoker": str(row["smoker"]).lower()}
    return row


def sqlite_file(rows, folder):
    """A SQLite file with the table ``visits``."""
    file = folder / "visits.db"
    made = sqlalchemy.create_engine(f"sqlite:///{file}", poolclass=sqlalchemy.pool.NullPool)
    with made.begin() as connection:
        _write(connection, "visits", rows)
    return file


def duckdb_file(table, folder):
    """A DuckDB file with the table ``visits``, of an Arrow table."""
    file = folder / "visits.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE visits AS SELECT * FROM given")
    return file


def sqlite_table(folder, statements):
    """The address of a SQLite file on which these statements were run."""
    file = folder / "made.db"
    connection = sqlite3.connect(file)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return f"sqlite:///{file}"


def by_adbc(rows, _=None):
    return fp.DatabaseTable(driver(POSTGRES, "adbc"), table=created(postgres(), rows))


def by_psycopg(rows, _=None):
    return fp.DatabaseTable(driver(POSTGRES, "psycopg"), table=created(postgres(), rows))


def by_query(rows, _=None):
    query = f"SELECT * FROM {created(postgres(), rows)} -- everything"
    return fp.DatabaseTable(POSTGRES, query=query)


def by_engine(rows, _=None):
    name = created(postgres(), rows).partition(".")[2]
    table = sqlalchemy.Table(name, sqlalchemy.MetaData(), schema=SCHEMA, autoload_with=postgres())
    return fp.DatabaseTable(postgres(), query=sqlalchemy.select(table))


def by_pymysql(rows, _=None):
    return fp.DatabaseTable(MARIADB, table=created(mariadb(), rows))


def without_snapshot(rows, _=None):
    """A table of MariaDB whose storage engine knows no transactions."""
    name = created(mariadb(), rows, {"id": "BIGINT NOT NULL"}, "ENGINE=MyISAM")
    return fp.DatabaseTable(MARIADB, table=name)
