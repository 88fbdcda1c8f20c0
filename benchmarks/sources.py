"""The same table through every source: wall time and peak memory of one silo's sketch.

    python benchmarks/sources.py                 10^7 rows (some minutes, and 3 GB of disk)
    python benchmarks/sources.py --rows 1e6      a smaller version
    python benchmarks/sources.py --write         also writes the table of the documentation

Every way has a process of its own and runs once; all must give the same message, bit for bit.
Memory is that of the process and of what it started, such as Java, not that of servers. Servers are
those of FEDPARITY_POSTGRES and FEDPARITY_MARIADB; ways whose server does not answer, and Spark where
there is no Java, are left out, and said to be.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sqlalchemy
from processes import Measured, in_turn
from silo import write_data, write_table
from sources_methods import MARIADB, METHODS, POSTGRES, TABLE_NAME

SCRIPT = str(Path(__file__).with_name("sources_methods.py"))
TABLE = Path(__file__).parent.parent / "docs" / "reference" / "source-speed-table.md"
_PART = 1 << 16


def write_sqlite(folder: Path, rows: int) -> None:
    """Write the arrays to a SQLite file."""
    scores, groups = _columns(folder, rows)
    with sqlite3.connect(folder / "records.db") as connection:
        connection.execute(f"CREATE TABLE {TABLE_NAME} (score REAL, grp TEXT)")
        connection.executemany(
            f"INSERT INTO {TABLE_NAME} VALUES (?, ?)",  # noqa: S608 -- our own name
            zip(map(float, scores), groups, strict=True),
        )
    connection.close()


def write_duckdb(folder: Path, rows: int) -> None:
    """Write the Parquet file to a DuckDB file."""
    import duckdb  # noqa: PLC0415 -- only the parent writes files

    with duckdb.connect(str(folder / "records.duckdb")) as connection:
        path = folder / f"records-{rows}.parquet"
        connection.execute(
            f"CREATE TABLE {TABLE_NAME} AS SELECT score, \"group\"::VARCHAR AS grp FROM '{path}'"  # noqa: S608
        )


def write_postgres(folder: Path, rows: int) -> None:
    """Copy the CSV file to PostgreSQL."""
    engine = sqlalchemy.create_engine(f"postgresql+psycopg://{POSTGRES.partition('://')[2]}")
    with engine.begin() as connection:
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {TABLE_NAME}")
        connection.exec_driver_sql(f"CREATE UNLOGGED TABLE {TABLE_NAME} (score FLOAT8, grp TEXT)")
        cursor = connection.connection.cursor()
        copy = f"COPY {TABLE_NAME} FROM STDIN (FORMAT csv, HEADER)"
        with (folder / f"records-{rows}.csv").open("rb") as file, cursor.copy(copy) as target:
            while part := file.read(_PART):
                target.write(part)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"VACUUM ANALYZE {TABLE_NAME}")
    engine.dispose()


def write_mariadb(folder: Path, rows: int) -> None:
    """Insert the arrays into MariaDB, many rows at a time."""
    scores, groups = _columns(folder, rows)
    engine = sqlalchemy.create_engine(MARIADB)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {TABLE_NAME}")
        connection.exec_driver_sql(f"CREATE TABLE {TABLE_NAME} (score DOUBLE, grp VARCHAR(8))")
        for start in range(0, rows, _PART):
            part = slice(start, start + _PART)
            values = ",".join(
                f"({float(score)!r},'{group}')"
                for score, group in zip(scores[part], groups[part], strict=True)
            )
            connection.exec_driver_sql(f"INSERT INTO {TABLE_NAME} VALUES {values}")  # noqa: S608
    engine.dispose()


def _columns(folder: Path, rows: int) -> tuple[np.ndarray, list[str]]:
    codes = np.load(folder / f"codes-{rows}.npy", mmap_mode="r")
    return np.load(folder / f"scores-{rows}.npy", mmap_mode="r"), list(map(str, codes.tolist()))


def _available(folder: Path, rows: int) -> list[str]:
    """Write the data everywhere; return the ways that have theirs."""
    writers: dict[str, Callable[[Path, int], None]] = {
        "SQLite": write_sqlite,
        "DuckDB": write_duckdb,
        "PostgreSQL": write_postgres,
        "MariaDB": write_mariadb,
    }
    gone = []
    for kind, write in writers.items():
        print(f"writing {kind} ...", file=sys.stderr, flush=True)
        try:
            write(folder, rows)
        except sqlalchemy.exc.OperationalError:
            gone.append(kind)
            print(f"left out, because no server answers: {kind}", file=sys.stderr)
    if shutil.which("java") is None:
        gone.append("Spark")
        print("left out, because there is no Java: Spark", file=sys.stderr)
    return [name for name in METHODS if not name.startswith(tuple(gone))]


def _drop() -> None:
    for url in (f"postgresql+psycopg://{POSTGRES.partition('://')[2]}", MARIADB):
        engine = sqlalchemy.create_engine(url)
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql(f"DROP TABLE IF EXISTS {TABLE_NAME}")
        except sqlalchemy.exc.OperationalError:
            continue
        finally:
            engine.dispose()


def report(found: dict[str, Measured], rows: int) -> list[str]:
    """Return the table, and a line that says whether all ways agree."""
    lines = [
        f"{rows:.0e} rows, 2 groups, k = 100, one process each.",
        "",
        "| source | seconds | million rows per second | peak memory, MB |",
        "|---|---:|---:|---:|",
    ]
    for name, measured in found.items():
        rate = rows / measured.seconds / 1e6
        lines.append(
            f"| {name} | {measured.seconds:.2f} | {rate:.1f} | {measured.megabytes:,.0f} |"
        )
    same = True
    for means in (False, True):  # of each kind of sketch
        answers = [one.answer for name, one in found.items() if ("bin means" in name) is means]
        same = same and all(answer == answers[0] for answer in answers)
    return [*lines, "", f"All ways give the same numbers, bit for bit: {'yes' if same else 'NO'}."]


def main() -> None:
    """Run all ways."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the documentation's table")
    given = parser.parse_args()
    rows = int(given.rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder, rows)
        for ending in ("parquet", "csv"):
            write_table(folder, rows, ending)
        try:
            ways = _available(folder, rows)
            found = in_turn(SCRIPT, ways, {"data": folder, "rows": rows}, rounds=given.rounds)
        finally:
            _drop()
    lines = report(found, rows)
    print("\n".join(lines))
    if given.write:
        TABLE.write_text("\n".join(lines) + "\n")
    sys.exit(0 if lines[-1].endswith("yes.") else 1)


if __name__ == "__main__":
    main()
