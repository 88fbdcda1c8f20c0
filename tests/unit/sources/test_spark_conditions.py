"""Filters that run inside Spark keep the rows that polars keeps, and the others are not sent."""

import datetime as dt

import polars as pl
import pytest
from tests import sparks
from tests.contracts.table_sources import arrow, table_rows

import fedparity as fp
from fedparity.tables.columns import ArrowColumn
from fedparity.tables.spark.spark_sql import spark_condition
from fedparity.tables.where import Condition

TYPES = {
    "id": "long", "z": "double", "race": "string", "sex": "string", "smoker": "boolean",
    "band": "long", "age": "long", "w": "double", "note": "string",
}  # fmt: skip

_KEEPING = [
    "age >= 40",
    "age + 1 <> 41 AND NOT (z * 2 < -1.5)",
    "race = 'O''Neil' OR race IS NULL",
    "race IN ('A', 'Ż, x') AND z IS NOT NULL",
    'race <> "sex"',
    "note LIKE '%\"%' OR note LIKE '_lain'",
    "note NOT LIKE '%two_lines%'",
    "smoker",
    "smoker = FALSE AND band BETWEEN 2 AND 10",
    "z > .5 OR z < -1e-1",
    "NOT z > 0.1",
    "race < 'B'",
    "z - -1 > 0",
]


@pytest.mark.spark
@pytest.mark.parametrize("where", _KEEPING)
def test_the_same_rows_are_kept_as_by_polars(where):
    rows = table_rows(120, seed=3, scores=0.1, labels=0.2)
    table = arrow(rows)
    condition = Condition(where)
    written = spark_condition(condition, TYPES)

    kept = condition.keep({name: ArrowColumn.from_array(table.column(name)) for name in TYPES})

    found = {row["id"] for row in sparks.frame(rows).where(written).collect()}
    assert {row["id"] for row, keep in zip(rows, kept.tolist(), strict=True) if keep} == found
    assert 0 < len(found) < len(rows)


SHORT_LITERALS = pytest.mark.skipif(
    pl.__version__.startswith("1."), reason="polars 1 refuses whole numbers of this length"
)


@pytest.mark.parametrize(
    "where",
    [
        "log(age, 10) > 1",
        "age / 2 > 20",
        "age % 2 = 1",
        "concat(race, sex) = 'Af'",
        "note = 'a\\b'",
        "CAST(age AS DOUBLE) > 40",
        "CASE WHEN age > 40 THEN TRUE ELSE FALSE END",
        "race || sex = 'Af'",
        pytest.param("age > 99999999999999999999", marks=SHORT_LITERALS),
        "age > 40 -- or not",
    ],
)
def test_what_might_mean_something_else_to_spark_is_not_sent(where):
    assert spark_condition(Condition(where), TYPES) is None


def test_types_that_polars_and_spark_compare_differently_are_not_sent():
    assert spark_condition(Condition("d > 1"), {"d": "decimal"}) is None
    assert spark_condition(Condition("d > 1"), {"d": "timestamp"}) is None


def test_a_filter_that_does_not_fit_is_refused_before_spark_sees_it():
    with pytest.raises(fp.errors.TableError, match="does not fit the types"):
        spark_condition(Condition("age > 'x'"), TYPES)


def test_strings_and_names_cannot_end_early():
    written = spark_condition(Condition("\"a`b\" = ''' OR 1=1'"), {"a`b": "string"})

    assert written == "NULLIF(`a``b`, '') = CAST(X'27204F5220313D31' AS STRING)"
    assert bytes.fromhex("27204F5220313D31").decode() == "' OR 1=1"


@pytest.mark.spark
def test_dates_are_compared_with_dates():
    made = sparks.session()
    data = made.createDataFrame([(dt.date(2026, 1, 2),)], "d DATE")

    written = spark_condition(Condition("d = d"), {"d": "date"})

    assert data.where(written).count() == 1
