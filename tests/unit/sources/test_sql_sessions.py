"""One read-only transaction: the same rows in every scan, and no way to write."""

import gc
import sqlite3

import duckdb
import numpy as np
import pytest
import sqlalchemy
from tests.contracts.table_sources import collect, scan, table_rows
from tests.databases import (
    MARIADB,
    POSTGRES,
    SCHEMA,
    by_adbc,
    by_psycopg,
    by_pymysql,
    created,
    driver,
    mariadb,
    postgres,
    sqlite_file,
    sqlite_table,
    without_snapshot,
)

import fedparity as fp
from fedparity.privacy.disclosure import Disclosure
from fedparity.silo.sketch import prepare
from fedparity.sketches.select import ComputeOptions
from fedparity.tables.databases import Address
from fedparity.tables.opening import open_records, open_table
from fedparity.tables.sql.drivers import connect
from fedparity.tables.table import Selection

SERVERS = {"ADBC": by_adbc, "psycopg": by_psycopg, "MariaDB": by_pymysql}
ROWS = table_rows(50, seed=11)


def records_of(data):
    return open_records(data, score="z", group="sex", groups=("f", "m"))


def count(records):
    return sum(collect(records, scan(records))[0].values())


@pytest.mark.database
@pytest.mark.parametrize("make", SERVERS.values(), ids=SERVERS)
def test_rows_that_come_later_are_not_seen_by_a_later_scan(make):
    rows = [{"z": 0.5, "sex": "f"}, {"z": 0.25, "sex": "m"}]
    data = make(rows)
    records = records_of(data)
    first = count(records)
    writer = mariadb() if make is by_pymysql else postgres()

    with writer.begin() as connection:
        connection.exec_driver_sql(f"INSERT INTO {data.table} VALUES (0.75, 'f')")
    second = count(records)
    again = count(records_of(data))
    with writer.begin() as connection:
        connection.exec_driver_sql(f"DELETE FROM {data.table} WHERE z = 0.75")

    assert (first, second, again) == (2, 2, 3)


def test_a_sqlite_file_is_seen_as_it_was(tmp_path):
    """With a write-ahead log others may write meanwhile, and are not seen."""
    file = sqlite_file(ROWS, tmp_path)
    writer = sqlite3.connect(file, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    records = records_of(fp.DatabaseTable(f"sqlite:///{file}", table="visits"))

    first = count(records)
    writer.execute("DELETE FROM visits")
    second = count(records)
    writer.close()

    assert first == second == len(ROWS)


def sessions(tmp_path):
    postgres(), mariadb()
    file = sqlite_file(ROWS, tmp_path)
    duck = tmp_path / "x.duckdb"
    duckdb.connect(str(duck)).close()
    engine = sqlalchemy.create_engine(f"sqlite:///{file}", poolclass=sqlalchemy.pool.NullPool)
    return {
        "ADBC": connect(Address(POSTGRES)),
        "psycopg": connect(Address(driver(POSTGRES, "psycopg"))),
        "MariaDB": connect(Address(MARIADB)),
        "SQLite": connect(Address(f"sqlite:///{file}")),
        "SQLite, an engine": connect(engine),
        "DuckDB": connect(Address(f"duckdb:///{duck}")),
    }


@pytest.mark.database
def test_a_session_cannot_write(tmp_path):
    """The second lock: whatever came past the first, the database itself refuses it."""
    for name, session in sessions(tmp_path).items():
        with pytest.raises(fp.errors.DatabaseError, match="would change"):
            session.fetch(
                f"CREATE TABLE {'' if 'SQL' in name or 'Duck' in name else SCHEMA + '.'}w (a int)"
            )
        session.close()


@pytest.mark.database
def test_a_session_takes_one_statement(tmp_path):
    """The third lock: drivers that prepare, or do not take, a second statement."""
    for name, session in sessions(tmp_path).items():
        if name not in ("psycopg", "DuckDB"):  # which take several; the first lock holds them
            with pytest.raises(fp.errors.DatabaseError):
                session.fetch("SELECT 1 AS a; SELECT 2 AS b")
        session.close()


@pytest.mark.database
@pytest.mark.parametrize("make", SERVERS.values(), ids=SERVERS)
def test_a_scan_that_was_given_up_is_closed_before_the_next(make, monkeypatch):
    """It must not be left to the collector, which may run inside the driver's own lock."""
    monkeypatch.setattr("fedparity.tables.sql.drivers.CHUNK_ROWS", 10)
    records = records_of(make(ROWS))
    given_up = records.batches()
    next(given_up)()

    assert count(records) == len(ROWS)
    with pytest.raises(fp.errors.TableError, match="ended by another"):
        list(given_up)


@pytest.mark.database
@pytest.mark.parametrize("make", SERVERS.values(), ids=SERVERS)
def test_a_connection_ends_with_its_table(make):
    data = make(ROWS)
    table = open_table(data)
    session = table._session  # noqa: SLF001 -- to see it end

    del table
    gc.collect()

    with pytest.raises(fp.errors.DatabaseError):
        session.fetch("SELECT 1")


@pytest.mark.database
def test_a_table_without_snapshots_is_read_once_and_says_so():
    """MyISAM has no transactions, so two scans might see two tables."""
    plan = fp.Plan(title="t", groups=("f", "m"), score_range=(-9, 9), levels=3)

    release = prepare(without_snapshot(ROWS), plan=plan, silo="s", score="z", group="sex")

    assert release.execution.strategy == "one pass"


@pytest.mark.database
@pytest.mark.parametrize("query", ["SELECT * FROM {} LIMIT 40", "SELECT *, random() FROM {}"])
def test_a_query_that_may_differ_when_asked_again_is_asked_once(query):
    name = created(postgres(), ROWS)

    assert not open_table(fp.DatabaseTable(POSTGRES, query=query.format(name))).rescannable


@pytest.mark.database
def test_a_query_of_mariadb_is_asked_again_only_if_all_tables_have_snapshots():
    without_snapshot(ROWS)
    query = f"SELECT z, sex FROM {created(mariadb(), ROWS)}"

    assert not open_table(fp.DatabaseTable(MARIADB, query=query)).rescannable


def engines(tmp_path):
    """Engines that keep one connection, and use it again; each with the name of a table."""
    names = "visits", created(postgres(), ROWS), created(mariadb(), ROWS)
    urls = f"sqlite:///{sqlite_file(ROWS, tmp_path)}", driver(POSTGRES, "psycopg"), MARIADB
    for url, name in zip(urls, names, strict=True):
        yield sqlalchemy.create_engine(url, pool_size=1, max_overflow=0), name


@pytest.mark.database
def test_an_engine_may_write_again_afterwards(tmp_path):
    """Its connection goes back to the pool without a setting of ours."""
    for engine, name in engines(tmp_path):
        table = open_table(fp.DatabaseTable(engine, table=name))

        del table
        gc.collect()

        with engine.begin() as connection:
            connection.exec_driver_sql(f"UPDATE {name} SET age = age")
            if engine.dialect.name == "postgresql":
                shown = connection.exec_driver_sql("SHOW default_transaction_read_only").scalar()
                assert shown == "off"
        engine.dispose()


def test_columns_of_several_types_are_read(tmp_path):
    """SQLite lets a column hold anything: whole numbers among floats, no value first."""
    scores = [None] * 3 + [1, 0.5, 2**53 + 1, 3.0]
    values = ", ".join(f"({'NULL' if s is None else repr(s)}, 'a')" for s in scores)
    url = sqlite_table(
        tmp_path,
        ["CREATE TABLE t (z, g TEXT)", f"INSERT INTO t VALUES {values}"],
    )
    records = open_records(
        fp.DatabaseTable(url, table="t"), score="z", group="g", groups=("a",), missing="drop"
    )

    assert np.concatenate([b.scores for b in scan(records)]).tolist() == [1.0, 0.5, 2.0**53, 3.0]


def test_text_among_the_scores_is_refused_without_showing_it(tmp_path):
    url = sqlite_table(
        tmp_path, ["CREATE TABLE t (z, g)", "INSERT INTO t VALUES (0.5, 'a'), ('secret', 'a')"]
    )
    records = open_records(fp.DatabaseTable(url, table="t"), score="z", group="g", groups=("a",))

    with pytest.raises(fp.errors.ScoreError) as caught:
        scan(records)

    assert "secret" not in str(caught.value)


@pytest.mark.database
def test_numbers_of_mariadb_lose_nothing():
    """Its server prints six digits of a FLOAT, unless it is asked for a double."""
    value = np.float32(0.123456789)
    types = {"z": "FLOAT", "w": "DECIMAL(30, 20)", "id": "BIGINT UNSIGNED"}
    rows = [{"z": float(value), "w": "0.10000000000000000555", "id": 2**63 + 2048, "sex": "f"}]
    table = open_table(fp.DatabaseTable(MARIADB, table=created(mariadb(), rows, types)))

    block = next(table.scan(Selection(numbers=("z", "w", "id"), labels=("sex",))))()

    read = [float(block.columns[name].numbers(name).values[0]) for name in ("z", "w", "id")]
    assert read == [float(value), 0.1, float(2**63 + 2048)]


@pytest.mark.database
def test_a_statement_of_sqlalchemy_keeps_its_percent_signs():
    rows = [{**row, "note": "50%" if row["sex"] == "f" else "%s"} for row in ROWS]
    for engine in (postgres(), mariadb()):
        name = created(engine, rows).partition(".")[2]
        table = sqlalchemy.Table(name, sqlalchemy.MetaData(), schema=SCHEMA, autoload_with=engine)
        query = sqlalchemy.select(table).where(table.c.note == "50%")

        found = count(records_of(fp.DatabaseTable(engine, query=query)))

        assert found == sum(row["sex"] == "f" for row in rows)
        assert count(records_of(fp.DatabaseTable(engine, table=table))) == len(rows)


def test_names_that_look_like_statements_stay_names(tmp_path):
    name, column = 'x"; DROP TABLE t; --', "z'; SELECT 1; --"
    quoted = name.replace('"', '""')
    url = sqlite_table(
        tmp_path,
        [
            f'CREATE TABLE "{quoted}" ("{column}" REAL, g TEXT)',
            f"INSERT INTO \"{quoted}\" VALUES (0.5, 'a')",
        ],
    )
    data = fp.DatabaseTable(url, table=f'"{quoted}"')

    records = open_records(data, score=column, group="g", groups=("a",))

    assert count(records) == 1


@pytest.mark.slow
@pytest.mark.database
def test_memory_does_not_grow_with_the_table():
    """With no memory to hold records, PostgreSQL's rows are read twice in chunks."""
    postgres()
    query = "SELECT i::float8 / 3e5 AS z, i % 2 AS sex FROM generate_series(1, 300000) AS i"
    plan = fp.Plan(
        title="t",
        groups=(0, 1),
        score_range=(0, 1),
        levels=3,
        sketch="quantile",
        disclosure=Disclosure.off(),
    )

    for url in (driver(POSTGRES, "adbc"), driver(POSTGRES, "psycopg")):
        release = prepare(
            fp.DatabaseTable(url, query=query),
            plan=plan,
            silo="s",
            score="z",
            group="sex",
            where="z > 0",
            options=ComputeOptions(memory=1 << 20),
        )

        assert release.execution.strategy == "several scans"
        assert release.sketch.cells[0].values.tolist() == [50000 / 3e5, 0.5, 250000 / 3e5]
