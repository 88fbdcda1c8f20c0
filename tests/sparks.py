"""A real Spark for tests, on this machine: one session per process, or a skip with its reason."""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shutil
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

import fedparity as fp

MASTER = "local[2]"
TYPES = {
    "id": "BIGINT", "z": "DOUBLE", "race": "STRING", "sex": "STRING", "smoker": "BOOLEAN",
    "band": "BIGINT", "age": "BIGINT", "w": "DOUBLE", "note": "STRING",
}  # fmt: skip


def _java():
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java") or (home and shutil.which("java", path=Path(home) / "bin"))


def home():
    """The folder of Java, as Spark wants to be told."""
    return os.environ.get("JAVA_HOME") or str(Path(_java()).resolve().parents[1])


def missing():
    """Why there is no Spark here, or None."""
    try:
        import pyspark  # noqa: F401, PLC0415 -- may be missing
    except ImportError:
        return "PySpark is not installed"
    return None if _java() else "Spark needs Java, and there is none on the path"


def session():
    """The session of this process; the test is skipped where there can be none."""
    if reason := missing():
        pytest.skip(reason)
    return _started()


@functools.cache
def _started():
    from pyspark.sql import SparkSession  # noqa: PLC0415

    folder = tempfile.mkdtemp()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        # A statement that is compiled and planned anew costs more than to run it on few rows;
        # as users have it, Spark runs in the tests of the command, and where `compiled` says so.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": folder,
    }
    builder = SparkSession.builder.master(MASTER)
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the version of pandas
        made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(made.stop)
    return made


@contextmanager
def compiled():
    """Let Spark compile its statements, as it does unless told otherwise."""
    made = session()
    usual = {
        "spark.sql.codegen.wholeStage": "true",
        "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
        "spark.sql.adaptive.enabled": "true",
    }
    before = {name: made.conf.get(name) for name in usual}
    for name, value in usual.items():
        made.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            made.conf.set(name, value)


def frame(rows, types=None):
    """A frame with these rows, in a few partitions."""
    kinds = TYPES | (types or {})
    schema = ", ".join(f"`{name}` {kinds[name]}" for name in rows[0])
    return _framed(session(), tuple(tuple(row.values()) for row in rows), schema)


@functools.lru_cache(maxsize=32)
def _framed(made, values, schema):
    return made.createDataFrame(list(values), schema).repartition(3).cache()


def by_address(rows):
    """The same, as a view of the session's catalog."""
    name = "v" + hashlib.sha256(repr(rows).encode()).hexdigest()[:16]
    frame(rows).createOrReplaceTempView(name)
    return fp.DatabaseTable(f"spark:///{MASTER}", table=name)
