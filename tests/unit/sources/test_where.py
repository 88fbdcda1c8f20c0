"""Filters."""

import numpy as np
import polars as pl
import pytest

import fedparity as fp
from fedparity.tables.columns import as_column
from fedparity.tables.where import Condition

COLUMNS = {
    "age": [17, 18, None, 70],
    "site": ["N", "S", "N", None],
    "order": [1.5, 2.5, 3.5, float("nan")],
    "seen": pl.Series(["2026-01-01", "2026-06-01", None, "2025-01-01"]).str.to_date(),
    "kind": pl.Series(["aa", "ab", "b", None], dtype=pl.Categorical),
    "weird name": [True, False, True, None],
}

READS_WORDS = tuple(map(int, pl.__version__.split(".")[:2])) < (1, 40)
"""Older versions of polars read a word of SQL as the name of a column."""


def kept(sql):
    condition = Condition(sql)
    columns = {name: as_column(COLUMNS[name], name) for name in condition.columns}
    return np.flatnonzero(condition.keep(columns)).tolist()


CONDITIONS = {
    "age >= 18": [1, 3],
    "age BETWEEN 17 AND 18 AND site = 'N'": [0],
    "site IN ('S', 'X') OR age IS NULL": [1, 2],
    "NOT (site = 'N')": [1],
    '"order" < 3': [0, 1],
    "seen >= DATE '2026-01-01'": [0, 1],
    "kind LIKE 'a%'": [0, 1],
    "upper(kind) = 'B'": [2],
    '"weird name"': [0, 2],
    "coalesce(age, 0) < 18 -- minors": [0, 2],
    "CASE WHEN site = 'S' THEN age > 70 ELSE age < 70 END": [0],
    "site = 'N); select (1'": [],
    "CAST(age AS DOUBLE) / 2 > 9": [3],
}


@pytest.mark.parametrize(("sql", "expected"), CONDITIONS.items())
def test_a_condition_keeps_the_rows_of_which_it_is_true(sql, expected):
    assert kept(sql) == expected


NOT_CONDITIONS = [
    "",
    "age >",
    "age > 3; DROP TABLE t",
    "SELECT 1",
    "age IN (SELECT 1)",
    "age > (select max(age) from t)",
    "EXISTS (SELECT 1)",
    "age > avg(age)",
    "count(*) > 1",
    "sum(age) > 1",
    "first(age) = 1",
    "row_number() OVER () < 3",
    "rank() over (order by age) < 3",
    "1 = 1",
    "*",
    "columns('a.*') > 3",
    "read_csv('x') = 1",
    "age",
    "age + 1",
    "site > 3",
    "CAST(site AS INTEGER) > 3",
    pytest.param("order < 3", marks=pytest.mark.skipif(READS_WORDS, reason="polars is older")),
]


@pytest.mark.parametrize("sql", NOT_CONDITIONS)
def test_anything_but_a_condition_on_one_row_is_refused(sql):
    with pytest.raises(fp.errors.TableError, match="cannot be used") as caught:
        kept(sql)

    assert "double quotes" in caught.value.fix
    assert "'S'" not in str(caught.value)


def test_a_long_filter_is_cut_in_messages():
    with pytest.raises(fp.errors.TableError) as caught:
        Condition("age > 3 AND " * 1000)

    assert len(str(caught.value)) < 500
