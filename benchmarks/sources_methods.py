"""What ``sources.py`` compares: one sketch of the same rows, through each source.

Run by ``sources.py``, one process per way. A way returns the numbers of both groups.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from processes import report

import fedparity as fp
from fedparity.privacy.disclosure import Disclosure
from fedparity.silo.sketch import prepare
from fedparity.sketches.select import ComputeOptions

POSTGRES = os.environ.get("FEDPARITY_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
MARIADB = os.environ.get("FEDPARITY_MARIADB", "mysql+pymysql://root@127.0.0.1:3306/test")
TABLE_NAME = "fedparity_benchmark"
_ALL = "score >= 0"
"""A filter that keeps every row: PostgreSQL then sends them instead of ranking them."""
_LITTLE = 1 << 22

_IMPORTED = "adbc_driver_postgresql.dbapi", "duckdb", "polars", "pyarrow.parquet", "sqlalchemy"

Source = Callable[[Path, int], object]


def _numpy(folder: Path, rows: int) -> object:
    return {
        "score": np.load(folder / f"scores-{rows}.npy"),
        "grp": np.load(folder / f"codes-{rows}.npy"),
    }


def _file(ending: str) -> Source:
    return lambda folder, rows: folder / f"records-{rows}.{ending}"


def _local(scheme: str, name: str) -> Source:
    return lambda folder, _: fp.DatabaseTable(f"{scheme}:///{folder / name}", table=TABLE_NAME)


def _server(url: str) -> Source:
    return lambda _, __: fp.DatabaseTable(url, table=TABLE_NAME)


def _spark(folder: Path, rows: int) -> object:
    """A frame of the Parquet file; Spark has been started, and has counted its rows once."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 -- only where it is measured

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    frame = session.read.parquet(str(folder / f"records-{rows}.parquet"))
    frame.groupBy("group").count().collect()
    return frame


_PSYCOPG = f"postgresql+psycopg://{POSTGRES.partition('://')[2]}"

METHODS: dict[str, tuple[Source, dict[str, Any]]] = {
    "NumPy arrays": (_numpy, {}),
    "Parquet": (_file("parquet"), {"group": "group"}),
    "Parquet, bin means": (_file("parquet"), {"group": "group", "sketch": "mean"}),
    "CSV": (_file("csv"), {"group": "group"}),
    "DuckDB": (_local("duckdb", "records.duckdb"), {}),
    "DuckDB, several scans": (_local("duckdb", "records.duckdb"), {"memory": _LITTLE}),
    "SQLite": (_local("sqlite", "records.db"), {}),
    "PostgreSQL, ranked inside": (_server(POSTGRES), {}),
    "PostgreSQL over ADBC": (_server(POSTGRES), {"where": _ALL}),
    "PostgreSQL over ADBC, several scans": (_server(POSTGRES), {"where": _ALL, "memory": _LITTLE}),
    "PostgreSQL over psycopg": (_server(_PSYCOPG), {"where": _ALL}),
    "MariaDB over PyMySQL": (_server(MARIADB), {}),
    "Spark, ranked inside": (_spark, {"group": "group"}),
    "Spark, bin means inside": (_spark, {"group": "group", "sketch": "mean"}),
}


def main() -> None:
    """Run one way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--method", choices=METHODS)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rows", type=int)
    given = parser.parse_args()
    source, options = METHODS[given.method]
    options = {"group": "grp", **options}
    computing = ComputeOptions(memory=options.pop("memory", None))
    plan = fp.Plan(
        title="bench",
        groups=(0, 1),
        score_range=(0, 1),
        levels=100,
        sketch=options.pop("sketch", "quantile"),
        disclosure=Disclosure.off(),
    )

    def prepared() -> Callable[[], object]:
        for module in _IMPORTED:  # so that what is measured is the memory of records
            import_module(module)
        data = source(given.data, given.rows)

        def sketch() -> object:
            release = prepare(
                data, plan=plan, silo="s", score="score", options=computing, **options
            )
            return [
                None if cell.values is None else cell.values.tolist()
                for cell in release.sketch.cells
            ]

        return sketch

    report(prepared)


if __name__ == "__main__":
    main()
