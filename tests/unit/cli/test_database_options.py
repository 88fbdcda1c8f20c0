"""Databases on the command line: which table, and never a password."""

import json
import sqlite3

import pytest
from tests.databases import MARIADB, POSTGRES, created, driver, mariadb, postgres
from tests.unit.cli.samples import plan, run, table, write_table

SECRET = "tiger-secret"  # noqa: S105 -- it opens nothing


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a plan, a table as CSV, and the same table in a SQLite file."""
    monkeypatch.chdir(tmp_path)
    plan(sketch="quantile").write(tmp_path / "plan.toml")
    columns = table(0)
    write_table(tmp_path / "north.csv", columns)
    clinic = sqlite3.connect(tmp_path / "clinic.db")
    clinic.execute("CREATE TABLE visits (score REAL, grp TEXT, silo TEXT)")
    rows = zip(columns["score"].tolist(), columns["group"].tolist(), strict=True)
    clinic.executemany("INSERT INTO visits VALUES (?, ?, 'north')", rows)
    clinic.commit()
    clinic.close()
    return tmp_path


BASE = ("sketch", "plan.toml", "--silo", "north", "--dry-run", "--json")
SKETCH = (*BASE, "--group", "grp")
RANKED = (*BASE, "--score", "z", "--group", "race", "--verbose")


def rows_of(columns):
    pairs = zip(columns["score"].tolist(), columns["group"].tolist(), strict=True)
    return [{"z": score, "race": str(label)} for score, label in pairs]


@pytest.mark.parametrize(
    "what",
    [("--table", "visits"), ("--table", "main.visits"), ("--query", "SELECT * FROM visits;")],
)
def test_a_database_gives_the_bytes_of_the_same_file(what):
    expected = run(*BASE, "north.csv")

    done = run(*SKETCH, "sqlite:///clinic.db", *what)

    assert done.exit_code == 0, done.output
    assert expected.stdout == done.stdout


def test_simulate_reads_a_database():
    done = run(
        "simulate", "sqlite:///clinic.db", "--query", "SELECT score, grp, silo FROM visits",
        "--silo", "silo", "--group", "grp", "--json",
    )  # fmt: skip

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["n"] == 240


@pytest.mark.database
@pytest.mark.parametrize(
    ("address", "server"),
    [(driver(POSTGRES, "adbc"), postgres), (driver(POSTGRES, "psycopg"), postgres)],
    ids=["ADBC", "psycopg"],
)
def test_verbose_says_that_no_row_was_read(address, server):
    name = created(server(), rows_of(table(0)))

    done = run(*RANKED, address, "--table", name)
    expected = run(*BASE, "north.csv")
    assert "240 records, ranked inside PostgreSQL by 3 queries; none was read" in done.stderr
    assert expected.stdout == done.stdout


@pytest.mark.database
def test_mariadb_gives_the_bytes_of_the_same_file():
    name = created(mariadb(), rows_of(table(0)))

    done = run(*RANKED, MARIADB, "--table", name)

    expected = run(*BASE, "north.csv")
    assert expected.stdout == done.stdout
    assert "240 records, in memory" in done.stderr


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{SECRET}@127.0.0.1/test",
        f"postgresql://127.0.0.1/test?password={SECRET}",
        f"mysql+pymysql://ann:{SECRET}#x@127.0.0.1/test",
    ],
)
@pytest.mark.parametrize("what", [(), ("--table", "visits")])
def test_a_password_on_the_command_line_is_refused(address, what):
    done = run(*SKETCH, address, *what)

    assert done.exit_code == 2
    assert "--url-file" in done.stderr
    assert SECRET not in done.output + done.stderr


def test_an_address_comes_from_a_file_that_only_its_owner_may_read(folder):
    file = folder / "clinic.url"
    file.write_text("sqlite:///clinic.db\n")
    file.chmod(0o600)

    done = run(*SKETCH, "--url-file", "clinic.url", "--table", "visits")

    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["silo"] == "north"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_file_that_others_may_read_is_refused(folder, mode):
    file = folder / "clinic.url"
    file.write_text(f"postgresql://ann:{SECRET}@127.0.0.1/test")
    file.chmod(mode)

    done = run(*SKETCH, "--url-file", "clinic.url", "--table", "visits")

    assert done.exit_code == 2
    assert "chmod 600" in done.stderr
    assert SECRET not in done.stderr


def test_an_address_comes_from_the_standard_input():
    done = run(*SKETCH, "--url-file", "-", "--table", "visits", input="sqlite:///clinic.db\n")

    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("text", ["", f"two lines\n{SECRET}", f"password={SECRET}", "north.csv"])
def test_a_file_without_an_address_is_refused_without_showing_it(text):
    done = run(*SKETCH, "--url-file", "-", "--table", "visits", input=text)

    assert done.exit_code == 2
    assert "does not hold the address" in done.stderr
    assert SECRET not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("sqlite:///clinic.db",),
        ("sqlite:///clinic.db", "--table", "visits", "--query", "SELECT 1"),
        ("north.csv", "--table", "visits"),
        ("north.csv", "--query", "SELECT 1"),
        ("north.csv", "--url-file", "-"),
        (),
    ],
)
def test_what_does_not_go_together_is_refused(arguments):
    done = run(*SKETCH, *arguments, input="")

    assert done.exit_code == 2
    assert "fix: " in done.stderr


@pytest.mark.parametrize("query", ["DROP TABLE visits", "SELECT 1; DROP TABLE visits"])
def test_a_query_that_does_more_than_read_is_refused_and_does_nothing(folder, query):
    done = run(*SKETCH, "sqlite:///clinic.db", "--query", query)

    assert done.exit_code == 3
    assert "the query cannot be used" in done.stderr
    clinic = sqlite3.connect(folder / "clinic.db")
    assert clinic.execute("SELECT COUNT(*) FROM visits").fetchone() == (240,)
    clinic.close()


def test_a_server_that_does_not_answer_ends_with_the_code_for_networks():
    done = run(*SKETCH, "mysql+pymysql://root@127.0.0.1:1/test", "--table", "visits")

    assert done.exit_code == 6
    assert "MariaDB database cannot be reached" in done.stderr


@pytest.mark.usefixtures("lenient_law")
def test_a_secure_sum_counts_a_database_as_it_counts_a_file(folder):
    """With an address from a file there is no DATA: all that follows the plan are messages."""
    plan(privacy={"mode": "secure", "bins": 16}).write(folder / "secure.toml")
    (folder / "clinic.url").write_text("sqlite:///clinic.db")
    (folder / "clinic.url").chmod(0o600)
    mask = ("secure", "mask", "secure.toml")
    given = ("--silo", "north", "--dry-run", "--group", "grp", "--table", "visits")

    by_address = run(*mask, "sqlite:///clinic.db", "inbox", *given)
    by_file = run(*mask, "inbox", "--url-file", "clinic.url", *given)

    assert by_address.exit_code == 0, by_address.stderr
    assert by_address.stdout == by_file.stdout
