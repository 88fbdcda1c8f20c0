"""Nothing heavy is imported at start, and no optional package at all."""

import subprocess
import sys

import pytest

import fedparity as fp

HEAVY = (
    "adbc_driver_manager", "dask", "duckdb", "ibis", "matplotlib", "numba", "ot", "pandas",
    "polars", "pyarrow", "pyspark", "rich", "scipy", "sklearn", "sqlalchemy", "sqlite3",
)  # fmt: skip


def printed_by(code):
    return subprocess.run(  # noqa: S603 -- our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


def imported_after(statement):
    return printed_by(f"import sys; {statement}; print(*sys.modules)")


@pytest.mark.parametrize(
    "statement", ["import fedparity", "import fedparity.cli.main", "import fedparity.plots"]
)
def test_start_imports_nothing_heavy(statement):
    assert not set(HEAVY) & set(imported_after(statement))


def test_the_package_alone_imports_nothing_but_its_version():
    own = {name for name in imported_after("import fedparity") if name.startswith("fedparity")}

    assert own == {"fedparity", "fedparity.version"}
    assert "numpy" not in imported_after("import fedparity")


def test_completion_lists_what_is_not_imported_yet():
    listed = printed_by("import fedparity; print(*dir(fedparity))")

    assert {*fp.__all__, "__doc__", "documents", "errors", "planning", "plots", "theory"} <= set(
        listed
    )


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
