"""A driver's words stay unsaid: errors say what kind of failure it was, and what to do."""

import pytest
import sqlalchemy
from tests.contracts.table_sources import table_rows
from tests.databases import (
    MARIADB,
    POSTGRES,
    SCHEMA,
    created,
    driver,
    mariadb,
    postgres,
    sqlite_file,
)

import fedparity as fp
from fedparity.errors import MissingExtraError
from fedparity.tables.opening import open_records, open_table

ROWS = table_rows(20, seed=3)
URLS = {
    "ADBC": driver(POSTGRES, "adbc"),
    "psycopg": driver(POSTGRES, "psycopg"),
    "MariaDB": MARIADB,
}
every_url = pytest.mark.parametrize("url", URLS.values(), ids=URLS)


def server_of(url):
    return mariadb() if url == MARIADB else postgres()


def read(data):
    records = open_records(data, score="z", group="sex", groups=("f", "m"))
    return [task() for task in records.batches()]


def message(url, **what):
    with pytest.raises(fp.FedparityError) as caught:
        read(fp.DatabaseTable(url, **what))
    return caught.value


@pytest.mark.database
@every_url
def test_a_missing_table_names_the_nearest(url):
    server_of(url)
    with server_of(url).begin() as connection:
        connection.exec_driver_sql(f"CREATE TABLE IF NOT EXISTS {SCHEMA}.visits_2026 (z int)")
    database = url.rpartition("/")[0]
    place = f"{database}/{SCHEMA}" if url == MARIADB else url

    error = message(place, table="visits_2062")

    assert isinstance(error, fp.errors.DatabaseNameError)
    assert "has no table 'visits_2062'" in error.message
    assert "'visits_2026'" in error.fix


@pytest.mark.database
@every_url
def test_a_query_of_what_is_not_there_says_which_kind(url):
    name = created(server_of(url), ROWS)

    assert "a table that" in message(url, query="SELECT z FROM nowhere").message
    assert "a column that" in message(url, query=f"SELECT zz FROM {name}").message


@pytest.mark.database
@every_url
def test_a_failure_shows_no_value(url):
    """PostgreSQL says which text is no number, MariaDB which value is no date."""
    server_of(url)
    failing = {
        MARIADB: "SELECT (SELECT 'secret' UNION SELECT 'b') AS z, 'f' AS sex",
    }.get(url, "SELECT 'secret'::text::float8 AS z, 'f' AS sex")

    error = message(url, query=failing)

    assert isinstance(error, fp.errors.DatabaseError)
    assert "secret" not in f"{error}{error.__cause__}"


@pytest.mark.database
@every_url
def test_a_server_that_does_not_answer_is_told_apart(url):
    server_of(url)
    base, _, name = url.rpartition("/")
    away = f"{base.rpartition(':')[0]}:1/{name}"

    assert isinstance(message(away, table="visits"), fp.errors.DatabaseUnreachableError)


@pytest.mark.database
@every_url
def test_a_login_that_is_refused_shows_no_password(url):
    server_of(url)
    scheme, _, rest = url.partition("://")
    wrong = f"{scheme}://nobody_at_all:tiger-secret@{rest.partition('@')[2]}"

    error = message(wrong, table="visits")

    assert "did not accept the user" in error.message
    assert "tiger" not in str(error)


@pytest.mark.database
def test_a_user_without_the_right_to_read_is_told_so():
    name = created(postgres(), ROWS)
    user = f"{SCHEMA}_reader"
    with postgres().begin() as connection:
        connection.exec_driver_sql(f"DROP ROLE IF EXISTS {user}")
        connection.exec_driver_sql(f"CREATE ROLE {user} LOGIN")
        connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {user}")
    scheme, _, rest = POSTGRES.partition("://")

    error = message(f"{scheme}://{user}@{rest.partition('@')[2]}", table=name)

    with postgres().begin() as connection:
        connection.exec_driver_sql(f"DROP OWNED BY {user}")
        connection.exec_driver_sql(f"DROP ROLE {user}")
    assert "does not permit" in error.message


def test_a_file_that_is_not_there_and_one_that_is_no_database(tmp_path):
    text = tmp_path / "notes.db"
    text.write_text("secret " * 200)

    for kind in ("sqlite", "duckdb"):
        assert "no file" in message(f"{kind}:///{tmp_path}/none.db", table="t").message
        error = message(f"{kind}:///{text}", table="t")
        assert isinstance(error, fp.errors.DatabaseUnreachableError)
        assert "secret" not in str(error)


def test_a_missing_table_of_a_file_names_the_nearest(tmp_path):
    error = message(f"sqlite:///{sqlite_file(ROWS, tmp_path)}", table="Visit")

    assert error.fix == "did you mean 'visits'?"


def test_a_kind_of_database_that_nobody_knows():
    with pytest.raises(
        fp.errors.DatabaseError, match="no driver for databases of the kind 'nosuch'"
    ):
        open_table(fp.DatabaseTable("nosuch://db/x", table="t"))


def test_a_driver_that_is_not_installed_is_named():
    with pytest.raises(MissingExtraError, match="MySQLdb") as caught:
        open_table(fp.DatabaseTable("mysql+mysqldb://db/x", table="t"))

    assert caught.value.fix == "pip install 'fedparity[sql]'"


def test_an_engine_that_cannot_connect_is_told_as_an_address_is(tmp_path):
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/no/such/folder.db")

    with pytest.raises(fp.errors.DatabaseUnreachableError):
        open_table(fp.DatabaseTable(engine, table="t"))
