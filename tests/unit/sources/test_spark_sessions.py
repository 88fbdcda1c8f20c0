"""Spark by its address: the session that is there, and what is refused."""

import pytest
from tests import sparks
from tests.contracts.table_sources import table_rows

import fedparity as fp
from fedparity.errors import DatabaseNameError, DatabaseUnreachableError, MissingExtraError
from fedparity.tables.databases import Address
from fedparity.tables.opening import is_spark_frame, open_table
from fedparity.tables.spark import spark_table as sessions
from fedparity.tables.spark.spark_sql import error_boundary


def here(**what):
    sparks.session()
    return fp.DatabaseTable(f"spark:///{sparks.MASTER}", **what)


@pytest.mark.spark
def test_an_active_session_is_joined_and_not_stopped():
    made = sparks.session()
    table = open_table(fp.DatabaseTable("spark:///", query="SELECT 1 AS a"))
    del table

    assert made.sql("SELECT 1").collect()


@pytest.mark.spark
@pytest.mark.parametrize(
    "address", ["spark://db.example:7077", "spark:///yarn", "sc://db.example"]
)
def test_another_address_than_that_of_the_active_session_is_refused(address):
    sparks.session()

    with pytest.raises(fp.errors.DatabaseError, match="is active already"):
        open_table(fp.DatabaseTable(address, table="visits"))


@pytest.mark.spark
def test_a_query_is_read_like_a_table():
    sparks.by_address(table_rows(20))
    table = open_table(here(query="SELECT id, id AS b FROM range(3) -- all of it"))

    assert (table.columns, table.rescannable) == (("id", "b"), True)


@pytest.mark.spark
def test_a_query_that_may_give_other_rows_is_read_once():
    table = open_table(here(query="SELECT 0.5D AS z, 'A' AS g FROM range(3) LIMIT 2"))

    assert not table.rescannable


@pytest.mark.spark
@pytest.mark.parametrize(
    "query", ["DROP TABLE visits", "SELECT 1; SELECT 2", "WITH a AS (SELECT 1) INSERT INTO b SELECT 1"]
)  # fmt: skip
def test_a_query_that_does_not_only_read_is_refused_before_spark_sees_it(query):
    with pytest.raises(fp.errors.DatabaseError, match="the query cannot be used"):
        open_table(here(query=query))


@pytest.mark.spark
def test_a_table_that_is_not_there_is_named():
    with pytest.raises(DatabaseNameError, match=r"no table 'clinic\.visits'"):
        open_table(here(table="clinic.visits"))

    assert sparks.session().sql("SELECT 1").collect()  # it is not ours to stop


@pytest.mark.spark
def test_a_query_that_names_nothing_there_is_refused():
    with pytest.raises(DatabaseNameError, match="a column that the Spark database does not have"):
        open_table(here(query="SELECT nosuch FROM range(3)"))


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("[JAVA_GATEWAY_EXITED] secret", MissingExtraError),
        ("StatusCode.UNAVAILABLE: failed to connect to secret", DatabaseUnreachableError),
        ("Cannot call methods on a stopped SparkContext. secret", DatabaseUnreachableError),
        ("secret", fp.errors.DatabaseError),
    ],
)
def test_failures_are_told_by_their_kind(words, kind):
    pytest.importorskip("pyspark")

    with pytest.raises(kind) as caught, error_boundary():
        raise RuntimeError(words)

    assert type(caught.value) is kind
    assert "secret" not in str(caught.value)


def test_parts_of_spark_connect_that_are_missing_are_named(monkeypatch):
    pytest.importorskip("pyspark")

    class Builder:
        def config(self, *_):
            return self

        def remote(self, _):
            return self

        def getOrCreate(self):  # noqa: N802 -- Spark's name
            raise ImportError("grpc_status")

    class Session:
        builder = Builder()
        getActiveSession = staticmethod(lambda: None)  # noqa: N815

    monkeypatch.setattr("pyspark.sql.SparkSession", Session)

    with pytest.raises(MissingExtraError) as caught:
        sessions.open_spark(Address("sc://db.example"), None)

    assert caught.value.fix == "pip install 'pyspark[connect]'"


def test_without_pyspark_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)

    with pytest.raises(MissingExtraError) as caught:
        open_table(fp.DatabaseTable("spark:///local[2]", table="visits"))

    assert caught.value.fix == "pip install 'fedparity[spark]'"


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("sc://db.example:15002", False),
        ("sc://db.example:15002/;user_id=ann", False),
        ("sc://db.example:15002/;use_ssl=true;token=abc", True),
        ("spark://db.example:7077", False),
        ("spark:///local[2]", False),
    ],
)
def test_a_token_is_a_password(url, secret):
    assert Address(url).has_secret is secret
    assert Address(url).is_spark


@pytest.mark.spark
def test_other_objects_are_no_frames_of_spark():
    class DataFrame:
        pass

    assert not is_spark_frame(DataFrame())
    assert is_spark_frame(sparks.session().sql("SELECT 1"))
