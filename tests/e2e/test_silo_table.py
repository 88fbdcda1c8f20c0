"""A silo's table as it is, by the real command: pipes, dialects, faults, settings, and a local socket."""

import os
import subprocess
import sys

import pytest
from tests import databases
from tests.contracts.table_sources import workbook

PLAN = """schema = "fedparity/plan/1"
title = "Q4"
groups = ["Female", "Male", "Other"]
score_range = [0.0, 1.0]
"""
ROWS = [
    (position % 97 / 100, ("Female", "Male", "Other")[position % 3]) for position in range(240)
]


@pytest.fixture
def silo(tmp_path):
    """What runs the command in a folder with a plan; it returns code, output and errors."""
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    home = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}

    def run(*arguments, data=None, **variables):
        done = subprocess.run(  # noqa: S603 -- our own code
            [sys.executable, "-m", "fedparity", "sketch", "plan.toml", *arguments],
            input=data,
            cwd=tmp_path,
            env={**os.environ, **home, "PYTHONUTF8": "1", **variables},
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr.decode()

    return run


def text(delimiter=",", decimal="."):
    lines = [("risk", "sex"), *((str(z).replace(".", decimal), g) for z, g in ROWS)]
    return "".join(f"{delimiter.join(line)}\n" for line in lines)


COLUMNS = ("--silo", "aurora", "--score", "risk", "--group", "sex", "--dry-run", "--json")


def test_every_way_to_write_a_table_gives_the_same_message(silo, tmp_path):
    (tmp_path / "plain.csv").write_text(text(), encoding="utf-8")
    (tmp_path / "german.txt").write_text(text(";", ","), encoding="utf-16")
    workbook(tmp_path / "book.xlsx", [{"risk": z, "sex": g} for z, g in ROWS])
    german = ("--delimiter", ";", "--decimal", ",", "--encoding", "utf-16")

    expected = silo("plain.csv", *COLUMNS)

    assert expected[0] == 0
    assert silo("-", *COLUMNS, data=text().encode())[:2] == expected[:2]
    assert silo("german.txt", *german, *COLUMNS)[:2] == expected[:2]
    assert silo("book.xlsx", *COLUMNS)[:2] == expected[:2]


def test_a_dialect_that_was_not_given_is_an_error_that_names_the_option(silo, tmp_path):
    (tmp_path / "german.csv").write_text(text(";", ","), encoding="utf-8")
    (tmp_path / "latin.csv").write_text(text().replace("Female", "Fémale"), encoding="latin-1")

    code, printed, said = silo("german.csv", *COLUMNS)
    assert (code, printed) == (3, b"")
    assert "fix: pass --delimiter ';'" in said
    code, printed, said = silo("german.csv", "--delimiter", ";", *COLUMNS)
    assert (code, printed) == (3, b"")
    assert "fix: pass --decimal ," in said
    code, printed, said = silo("latin.csv", *COLUMNS)
    assert (code, printed) == (3, b"")
    assert "--encoding cp1252" in said


def test_a_release_is_recorded_with_its_filter_and_its_rows(silo, tmp_path):
    (tmp_path / "t.csv").write_text(text().replace("Male", "m"), encoding="utf-8")
    columns = [*COLUMNS[:-2], "--map", "m=Male", "--where", "risk >= 0.2", "--missing", "drop"]

    code, _, said = silo("t.csv", *columns)
    assert code == 0, said
    shown = subprocess.run(
        [sys.executable, "-m", "fedparity", "ledger", "show"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout

    words = " ".join(shown.split())
    filtered = sum(z < 0.2 for z, _ in ROWS)
    mapped = sum(z >= 0.2 and g == "Male" for z, g in ROWS)
    assert '--where "risk >= 0.2"' in words
    assert f"240 rows read, {filtered} left out by the filter" in words
    assert f"{mapped} with “m” as Male (map)" in words


@pytest.mark.database
def test_an_address_without_a_host_is_found_as_psql_finds_it(silo):
    """The local socket, the user and the database by the variables of psql."""
    folder = next(
        (f for f in ("/var/run/postgresql", "/tmp") if os.path.exists(f"{f}/.s.PGSQL.5432")),  # noqa: PTH110, S108
        None,
    )
    if folder is None:
        pytest.skip("no PostgreSQL server listens on a local socket")
    databases.server(databases.POSTGRES)
    query = "SELECT (i % 97) / 100.0::float8 AS risk, (ARRAY['Female', 'Male', 'Other'])[1 + i % 3] AS sex FROM generate_series(0, 239) AS i"

    for address, variables in {
        "postgresql:///test": {"PGUSER": "postgres"},
        "postgresql://postgres@/": {"PGDATABASE": "test"},
        "postgresql://": {"PGUSER": "postgres", "PGDATABASE": "test", "PGHOST": folder},
    }.items():
        code, printed, said = silo(address, "--query", query, *COLUMNS, **variables)

        assert code == 0, said
        assert b'"count":80' in printed
