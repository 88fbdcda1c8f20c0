"""A query is one statement that reads; everything else is refused before a database sees it."""

import pytest

import fedparity as fp
from fedparity.tables.sql.statements import gives_the_same_rows_again, single_query

READS = [
    "SELECT a FROM t",
    "select a from t;",
    "  SELECT a FROM t ;\n",
    "WITH x AS (SELECT 1 AS a) SELECT a FROM x",
    "VALUES (1, 'f'), (2, 'm')",
    "TABLE visits",
    "(SELECT a FROM t) UNION ALL (SELECT a FROM u)",
    "SELECT a FROM t WHERE note = 'a;b'",
    "SELECT a FROM t WHERE note = 'it''s; DROP TABLE t'",
    'SELECT "update", "a;b" FROM t',
    "SELECT a FROM t WHERE note = 'INSERT INTO x'",
    "SELECT a -- the score\nFROM t /* all of it */",
    "SELECT $$it's$$ AS a, $q$ $$ $q$ AS b",
    "SELECT comment, created, t.update FROM t",
    "SELECT a::text FROM t WHERE b ~ '^\\d+$'",
]

SMUGGLES = [
    "SELECT 1; DROP TABLE t",
    "SELECT 1;;",
    "SELECT 1; --",
    "SELECT 1) AS x; DROP TABLE t; SELECT * FROM (SELECT 1",
    "SELECT 1) AS x, (SELECT 2",
    "SELECT '\\'; DROP TABLE t; --'",
    "SELECT 'a\\'' ; DROP TABLE t -- '",
    "SELECT E'\\'' || 'a;b'",
    "SELECT $a$ ; $a$ || ';'",
    "SELECT `'` ; DROP TABLE t -- '",
    "SELECT 1 # '\n; DROP TABLE t -- '",
    "SELECT 1 /* ' */ ; DROP TABLE t -- '",
    "SELECT 1 /* /* */ '; DROP TABLE t; -- */ '",
    "SELECT 1 --'\n; DROP TABLE t",
    "SELECT a FROM t WHERE b = 'open",
    'SELECT "open FROM t',
    "SELECT 1 /* open",
    "SELECT 1 */",
    "SELECT $a$ open",
    "SELECT (1",
    "SELECT 1)",
    "DROP TABLE t",
    "INSERT INTO t VALUES (1)",
    "EXPLAIN SELECT 1",
    "SET default_transaction_read_only = off",
    "COMMIT",
    "/* SELECT */ DELETE FROM t",
    "-- SELECT\nDELETE FROM t",
    "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
    "SELECT * INTO copy FROM t",
    "SELECT a FROM t INTO OUTFILE '/tmp/x'",
    "SELECT a FROM t FOR UPDATE",
    "SELECT 1 /*! INTO OUTFILE '/tmp/x' */",
    "SELECT 1 /*M!100100 UNION SELECT 2 */",
    "SELECT 1 DROP TABLE t",
    "PRAGMA table_info(t)",
    "ATTACH 'other.db' AS other",
    "SELECT '\x00'",
    ";",
    "",
    "'SELECT'",
]


@pytest.mark.parametrize("sql", READS)
def test_a_statement_that_reads_is_left_as_it_is(sql):
    assert sql.strip().removesuffix(";").strip() == single_query(sql)


@pytest.mark.parametrize("sql", SMUGGLES)
def test_anything_else_is_refused(sql):
    with pytest.raises(fp.errors.DatabaseError, match="the query cannot be used") as caught:
        single_query(sql)

    assert "one statement that reads" in caught.value.fix


def test_a_refusal_shows_nothing_of_the_query():
    """Literals in it may be somebody's data."""
    with pytest.raises(fp.errors.DatabaseError) as caught:
        single_query("SELECT 1; DELETE FROM t WHERE name = 'Ann Secret'")

    assert "Secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "same"),
    [
        ("SELECT a FROM t", True),
        ("SELECT a FROM t WHERE note = 'limit'", True),
        ('SELECT "limit" FROM t', True),
        ("SELECT a FROM t LIMIT 10", False),
        ("SELECT a FROM t TABLESAMPLE SYSTEM (1)", False),
        ("SELECT a + random() FROM t", False),
        ("SELECT TOP 5 a FROM t", False),
    ],
)
def test_a_query_that_may_give_other_rows_is_not_asked_twice(sql, same):
    assert gives_the_same_rows_again(sql) is same
