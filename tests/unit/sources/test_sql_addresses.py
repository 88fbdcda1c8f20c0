"""Addresses and names: what is a database, what is a secret, and what stays a name."""

import pytest

import fedparity as fp
from fedparity.documents.files import is_address
from fedparity.tables.databases import Address
from fedparity.tables.opening import open_table
from fedparity.tables.sql.statements import name_parts, quoted

SECRETS = [
    "postgresql://ann:tiger@db/clinic",
    "mysql+pymysql://ann:ti%2Fger@db/clinic",
    "postgresql://db/clinic?user=ann&password=tiger",
    "postgresql://db/clinic?sslpassword=tiger",
    "mssql+pyodbc://db/clinic?PWD=tiger",
    "postgresql://ann:ti/ger@db/clinic",
    "postgresql://ann:ti#ger@db/clinic",
    "postgresql://ann:ti?ger@db/clinic",
    "snowflake://db/clinic?token=tiger",
]
NO_SECRETS = [
    "postgresql://ann@db/clinic",
    "postgresql:///clinic",
    "postgresql://db:5432/clinic?sslmode=require",
    "sqlite:///clinic@home.db",
    "duckdb:////srv/clinic.duckdb",
    "mysql+pymysql://ann@db/clinic?read_default_file=/home/ann/.my.cnf",
]


@pytest.mark.parametrize("url", SECRETS)
def test_a_password_is_found_wherever_it_is(url):
    assert Address(url).has_secret


@pytest.mark.parametrize("url", NO_SECRETS)
def test_an_address_without_a_password_has_none(url):
    assert not Address(url).has_secret


@pytest.mark.parametrize("url", SECRETS)
def test_nothing_shows_an_address(url):
    """Neither what represents it, nor an error about it."""
    table = fp.DatabaseTable(url, table="visits")

    assert "ger" not in f"{Address(url)!r}{table!r}{table}"
    with pytest.raises(fp.errors.DatabaseError) as caught:
        open_table(url)
    assert "ger" not in str(caught.value)
    assert "table=" in caught.value.fix


@pytest.mark.parametrize(
    "text", ["visits.csv", "C:\\data\\visits.csv", "/srv/a:b/c.csv", "2026/*.csv"]
)
def test_a_path_is_no_address(text):
    assert not is_address(text)


@pytest.mark.parametrize("url", ["postgresql://ann:ti ger@db/x", "postgresql://[::1/x", "clinic"])
def test_a_broken_address_is_refused_without_a_word_of_it(url):
    with pytest.raises(fp.errors.DatabaseError, match="not that of a database") as caught:
        Address(url)

    assert "ger" not in str(caught.value)


@pytest.mark.parametrize("given", [{}, {"table": "a", "query": "SELECT 1"}])
def test_either_a_table_or_a_query_is_read(given):
    with pytest.raises(fp.errors.DatabaseError, match="which one to read"):
        fp.DatabaseTable("sqlite:///clinic.db", **given)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("visits", ("visits",)),
        ("clinic.visits", ("clinic", "visits")),
        ('"a.b"."c""d"', ("a.b", 'c"d')),
        ("x; DROP TABLE t", ("x; DROP TABLE t",)),
    ],
)
def test_names_have_parts(name, parts):
    assert parts == name_parts(name)


@pytest.mark.parametrize("name", ["", ".", "a.", "a.b.c.d", '"open', 'a"b', "a\x00b"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(fp.errors.DatabaseError, match="not the name of a table"):
        name_parts(name)


def test_a_quoted_name_stays_a_name():
    assert quoted('a" ; DROP') == '"a"" ; DROP"'
    assert quoted("a`b", "`") == "`a``b`"
