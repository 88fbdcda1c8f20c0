"""Nothing heavy is imported at start, and no optional package at all."""

import subprocess
import sys

import pytest

HEAVY = (
    "adbc_driver_manager", "dask", "duckdb", "ibis", "matplotlib", "numba", "ot", "pandas",
    "polars", "pyarrow", "pyspark", "rich", "scipy", "sklearn", "sqlalchemy", "sqlite3",
)  # fmt: skip


def imported_after(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    return subprocess.run(  # noqa: S603 -- our own statement
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.parametrize(
    "statement", ["import fedparity", "import fedparity.cli.main", "import fedparity.plots"]
)
def test_start_imports_nothing_heavy(statement):
    assert not set(HEAVY) & set(imported_after(statement))


def test_a_metric_imports_nothing_heavy():
    call = "import fedparity as f; f.disparity([1.0, 2.0], sensitive_features=['a', 'b'])"

    assert not set(HEAVY) & set(imported_after(call))


def test_the_module_runs_as_a_program():
    printed = subprocess.run(
        [sys.executable, "-m", "fedparity", "--version"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert printed.startswith("fedparity, version ")
