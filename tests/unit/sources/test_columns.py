"""Numbers and labels of every type, from every library."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies as shared  # noqa: F401 -- loads the settings

import fedparity as fp
from fedparity.tables.columns import as_column
from fedparity.tables.opening import open_records

SCORES = [0.1, 2.0, -3.5]
DECIMALS = [Decimal("0.10"), None, Decimal("-12.345")]


def scores_of(values):
    """The scores of a dict with one group, read as the kernels get them."""
    table = {"z": values, "g": ["a"] * len(values)}
    records = open_records(table, score="z", group="g", groups=("a",))
    return np.concatenate([task().scores for task in records.batches()])


NUMBERS = {
    "float64": np.array(SCORES),
    "float32": np.array(SCORES, np.float32),
    "float16": np.array(SCORES, np.float16),
    "long double": np.array(SCORES, np.longdouble),
    "big endian": np.array(SCORES, ">f8"),
    "every second": np.array(SCORES).repeat(2)[::2],
    "int8": np.array([1, -2, 3], np.int8),
    "uint64": np.array([1, 2**63, 3], np.uint64),
    "boolean": np.array([True, False]),
    "list": SCORES,
    "tuple of whole numbers": (1, 2, 3),
    "objects": np.array([Decimal("0.1"), 2, 0.5], object),
    "pandas sparse": pd.Series(pd.arrays.SparseArray([0.0, 0.0, 1.5])),
    "pandas Int64": pd.Series([1, 2, 3], dtype="Int64"),
    "polars Float32": pl.Series(SCORES, dtype=pl.Float32),
    "polars UInt8": pl.Series([1, 255], dtype=pl.UInt8),
    "polars Boolean": pl.Series([True, False]),
    "Arrow half": pa.array(np.array(SCORES, np.float16)),
    "Arrow booleans": pa.array([True, False]),
    "Arrow int32 in chunks": pa.chunked_array([[1, 2], [3]], pa.int32()),
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers_of_every_type_become_float64(values):
    plain = values.to_pylist() if hasattr(values, "to_pylist") else list(values)

    scores = scores_of(values)

    assert scores.dtype == np.float64
    assert scores.flags.c_contiguous
    assert scores.tolist() == [float(value) for value in plain]


def test_float64_is_not_copied():
    scores = np.linspace(0, 1, 100)
    sources = [
        scores,
        pd.Series(scores, copy=False),
        pl.Series(scores),
        pa.array(scores),
    ]

    for source in sources:
        numbers = as_column(source, "z").rows(10, 90).numbers("z")
        assert np.asarray(numbers.values).base is not None


@pytest.mark.parametrize(
    "values",
    [
        pa.array(DECIMALS, pa.decimal128(10, 4)),
        pa.array(DECIMALS, pa.decimal128(30, 4)),
        pa.array(DECIMALS, pa.decimal256(40, 4)),
        pa.array([None, *DECIMALS], pa.decimal128(10, 4))[1:],
        pl.Series(DECIMALS, dtype=pl.Decimal(10, 4)),
        pd.Series(DECIMALS, dtype=object),
        pd.Series(DECIMALS, dtype=pd.ArrowDtype(pa.decimal128(10, 4))),
        DECIMALS,
    ],
    ids=lambda values: f"{type(values).__module__} {getattr(values, 'type', '')}",
)
def test_decimals_are_read_and_none_is_missing(values):
    assert scores_of(values).tolist() == [0.1, -12.345]


@given(st.lists(st.decimals(-999, 999, places=9), min_size=1))
def test_decimals_become_the_nearest_float(decimals):
    """Arrow's own cast does not: it is off by a bit for about one in four."""
    expected = [float(number) for number in decimals]

    assert scores_of(pa.array(decimals, pa.decimal128(12, 9))).tolist() == expected
    assert scores_of(pa.array(decimals, pa.decimal128(20, 9))).tolist() == expected
    assert scores_of(pl.Series(decimals, dtype=pl.Decimal(12, 9))).tolist() == expected


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([0.5, pd.NA, 1.5], dtype="Float64"),
        pd.Series([1, None, 3], dtype=object),
        pl.Series([1, None, 3]),
        pl.Series([0.5, None, 1.5]),
        pl.Series([True, None, False]),
        pa.array([1, None, 3]),
        pa.array([True, None, False]),
        np.ma.masked_array([0.5, 9.0, 1.5], [False, True, False]),
        np.ma.masked_array([2, 9, 1], [False, True, False]).astype(object),
        [0.5, None, 1.5],
    ],
    ids=lambda values: f"{type(values).__module__} {getattr(values, 'dtype', '')}",
)
def test_missing_numbers_are_left_out_and_counted(values):
    table = {"z": values, "g": ["a"] * 3}
    records = open_records(table, score="z", group="g", groups=("a",), missing="drop")

    (batch,) = (task() for task in records.batches())

    assert batch.scores.size == 2
    assert batch.faults.missing_scores == 1


@pytest.mark.parametrize("values", [pa.nulls(3), pl.Series([None] * 3), [None] * 3])
def test_a_column_of_nothing_is_missing(values):
    records = open_records({"z": values, "g": ["a"] * 3}, score="z", group="g", groups=("a",))

    (batch,) = (task() for task in records.batches())

    assert batch.faults.missing_scores == 3


NOT_NUMBERS = {
    "text": ["0.5", "0.6"],
    "text among numbers": [0.5, "0.6"],
    "bytes": np.array([b"1", b"2"]),
    "complex": np.array([1j, 2.0]),
    "dates": np.array(["2026-01-01", "2026-01-02"], "M8[D]"),
    "objects": [object(), object()],
    "pandas text": pd.Series(["0.5", "0.6"]),
    "pandas categories": pd.Series([1, 2], dtype="category"),
    "pandas dates": pd.to_datetime(pd.Series(["2026-01-01", "2026-01-02"])),
    "polars text": pl.Series(["0.5", "0.6"]),
    "polars dates": pl.Series(["2026-01-01", "2026-01-02"]).str.to_date(),
    "polars lists": pl.Series([[1.0], [2.0]]),
    "Arrow text": pa.array(["0.5", "0.6"]),
    "Arrow lists": pa.array([[1.0], [2.0]]),
    "Arrow dates": pa.array([1, 2], pa.date32()),
}


@pytest.mark.parametrize("values", NOT_NUMBERS.values(), ids=NOT_NUMBERS.keys())
def test_scores_that_are_no_numbers_are_refused(values):
    with pytest.raises(fp.errors.ScoreError, match="column 'z' must be real numbers") as caught:
        scores_of(values)

    assert "0.5" not in str(caught.value)


def texts_of(values):
    labels = as_column(values, "g").labels("g")
    return [labels.distinct[code] for code in labels.codes]


LABELS = {
    "whole numbers": (np.array([3, -1, 3]), ["3", "-1", "3"]),
    "int8 from end to end": (np.array([-128, 127], np.int8), ["-128", "127"]),
    "uint64": (np.array([2**64 - 1, 2**64 - 3], np.uint64), [str(2**64 - 1), str(2**64 - 3)]),
    "far apart": (np.array([1, 10**12, 1]), ["1", str(10**12), "1"]),
    "big endian": (np.array([1, 256], ">i4"), ["1", "256"]),
    "floats": (np.array([1.0, np.nan, 2.0]), ["1", None, "2"]),
    "fractions": (np.array([0.5, np.nan, np.inf, 2.0]), ["0.5", None, "inf", "2"]),
    "booleans": (np.array([True, False]), ["true", "false"]),
    "masked": (np.ma.masked_array([1, 2], [True, False]), [None, "2"]),
    "no row": (np.array([], np.int64), []),
    "text": (np.array(["b", "a", ""]), ["b", "a", None]),
    "variable text": (np.array(["b", "aa"], np.dtypes.StringDType()), ["b", "aa"]),
    "mixed": (
        [None, "a", 1, 2.0, float("nan"), pd.NA, b"x"],
        [None, "a", "1", "2", None, None, "x"],
    ),
    "pandas floats": (pd.Series([1.0, None]), ["1", None]),
    "pandas Int64": (pd.Series([1, None], dtype="Int64"), ["1", None]),
    "pandas booleans": (pd.Series([True, None], dtype="boolean"), ["true", None]),
    "pandas text": (pd.Series(["a", None, ""]), ["a", None, None]),
    "pandas categories": (
        pd.Series(pd.Categorical([2, None, 1], categories=[0, 1, 2])),
        ["2", None, "1"],
    ),
    "pandas Arrow dictionary": (
        pd.Series(["a", None], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        ["a", None],
    ),
    "polars text": (pl.Series(["b", None, "", "a"]), ["b", None, None, "a"]),
    "polars categories": (pl.Series(["b", None, "a"], dtype=pl.Categorical), ["b", None, "a"]),
    "polars nothing": (pl.Series([None, None]), [None, None]),
    "polars decimals": (pl.Series([Decimal("1.0"), Decimal("2.5")]), ["1", "2.5"]),
    "polars no row": (pl.Series([], dtype=pl.String), []),
    "Arrow text": (pa.array(["b", None, "b"]), ["b", None, "b"]),
    "Arrow bytes": (pa.array([b"b", None]), ["b", None]),
    "Arrow dictionary": (
        pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 2]), ["x", "y", None]),
        ["y", None, "x", None],
    ),
    "Arrow dictionary of numbers": (
        pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.uint64()), [10, 20]),
        ["20", "10"],
    ),
    "Arrow no chunk": (pa.chunked_array([], pa.dictionary(pa.int8(), pa.string())), []),
    "Arrow whole numbers": (pa.array([1, None, 2]), ["1", None, "2"]),
    "Arrow nothing": (pa.nulls(2), [None, None]),
}


@pytest.mark.parametrize(("values", "expected"), LABELS.values(), ids=LABELS.keys())
def test_labels_have_the_same_text_in_every_library(values, expected):
    assert texts_of(values) == expected


@given(st.lists(st.one_of(st.integers(-5000, 5000), st.just(2**62))))
def test_labels_of_whole_numbers_are_their_digits(numbers):
    assert texts_of(np.array(numbers, np.int64)) == [str(number) for number in numbers]


NOT_LABELS = {
    "complex": np.array([1j]),
    "lists": [[1], [2, 3]],
    "dicts": np.array([{}, {}], object),
    "bytes that are no text": pa.array([b"\xff"]),
    "pandas lists": pd.Series([[1], [2]]),
    "pandas dates": pd.to_datetime(pd.Series(["2026-01-01"])),
    "polars lists": pl.Series([[1], [2]]),
    "Arrow lists": pa.array([[1], [2]]),
    "Arrow dictionary of dates": pa.DictionaryArray.from_arrays(
        pa.array([0]), pa.array([1], pa.date32())
    ),
}


@pytest.mark.parametrize("values", NOT_LABELS.values(), ids=NOT_LABELS.keys())
def test_what_cannot_be_a_label_is_refused(values):
    with pytest.raises((fp.errors.LabelError, fp.errors.TableError), match="column 'g'"):
        texts_of(values)
