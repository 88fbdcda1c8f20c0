"""Labels of records are numbered the same way in every container, and rows must belong together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedparity as fp
from fedparity.engines.allocations import allocate
from fedparity.errors import GroupError, ScoreError
from fedparity.laws.labels import encode_labels

LABELS = ["b", "a", "b", "", "c", "a"]
NUMBERS = [7, -3, 7, 0, 12, -3]

OF_ANY = {
    "list": list,
    "NumPy": np.array,
    "NumPy objects": lambda x: np.array(x, dtype=object),
    "pandas": pd.Series,
    "pandas category": lambda x: pd.Series(x, dtype="category"),
    "pandas Categorical": pd.Categorical,
    "pandas Index": pd.Index,
    "polars": pl.Series,
    "Arrow": pa.array,
    "Arrow dictionary": lambda x: pa.array(x).dictionary_encode(),
    "Arrow dictionaries": lambda x: pa.chunked_array(
        [pa.array(x[:2]).dictionary_encode(), pa.array(x[2:]).dictionary_encode()]
    ),
}
OF_TEXT = {
    "pandas text of Arrow": lambda x: pd.Series(x, dtype="string[pyarrow]"),
    "polars Categorical": lambda x: pl.Series(x).cast(pl.Categorical),
    "polars Enum": lambda x: pl.Series(x).cast(pl.Enum(["z", *sorted(set(x))])),
}
OF_NUMBERS = {
    "small NumPy": lambda x: np.array(x, dtype=np.int8),
    "pandas nullable": lambda x: pd.Series(x, dtype="Int64"),
    "pandas of Arrow": lambda x: pd.Series(x, dtype="int64[pyarrow]"),
    "masked": lambda x: np.ma.masked_array(x, mask=False),
}


@pytest.mark.parametrize("container", OF_ANY | OF_TEXT)
def test_texts_are_numbered_in_canonical_order(container):
    """An empty text is a label like any other here, and an unused category is none."""
    assert_encoded((OF_ANY | OF_TEXT)[container](LABELS), ("", "a", "b", "c"), LABELS)


@pytest.mark.parametrize("container", OF_ANY | OF_NUMBERS)
def test_whole_numbers_stay_whole_numbers(container):
    groups = assert_encoded((OF_ANY | OF_NUMBERS)[container](NUMBERS), (-3, 0, 7, 12), NUMBERS)

    assert {type(group) for group in groups} == {int}


@pytest.mark.parametrize("container", OF_ANY)
def test_booleans_stay_booleans(container):
    groups = assert_encoded(
        OF_ANY[container]([True, False, True]), (False, True), [True, False, True]
    )

    assert {type(group) for group in groups} == {bool}


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), min_size=1, max_size=20))
def test_whole_numbers_of_any_span_are_numbered(numbers):
    """Small spans are their own codes; large ones are sorted."""
    assert_encoded(np.array(numbers, dtype=np.int64), tuple(sorted(set(numbers))), numbers)


FRAMES = {  # and the columns that each of them takes
    dict: ["list", "pandas category", "Arrow dictionary", "polars"],
    pd.DataFrame: ["list", "pandas category", "Arrow dictionary", "polars"],
    pl.DataFrame: ["list", "Arrow dictionary", "polars"],
    pa.table: ["list", "pandas category", "Arrow dictionary"],
}


@pytest.mark.parametrize(
    ("frame", "container"), [(frame, each) for frame, taken in FRAMES.items() for each in taken]
)
def test_columns_become_tuples_of_their_own_types(frame, container):
    rows = list(zip(LABELS, NUMBERS, strict=True))
    texts, numbers = OF_ANY[container](LABELS), OF_ANY[container](NUMBERS)

    assert_encoded(frame({"text": texts, "number": numbers}), tuple(sorted(set(rows))), rows)


def test_a_matrix_of_whole_numbers_gives_rows():
    rows = [(1, 2), (1, 3), (1, 2)]

    assert_encoded(np.array(rows), ((1, 2), (1, 3)), rows)


def assert_encoded(labels, groups, records):
    found, codes = encode_labels(labels)
    assert found == groups
    assert codes.dtype == np.int64
    assert [found[code] for code in codes] == records
    return found


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None, float("nan"), "b"],
        pd.Series(["a", None, None, "b"], dtype="category"),
        pd.Series(["a", None, None, "b"], dtype="string[pyarrow]"),
        pa.array(["a", None, None, "b"]).dictionary_encode(),
        pa.array([1, None, None, 2]),
        pl.Series(["a", None, None, "b"]).cast(pl.Categorical),
        pl.Series(["a", None, None, "b"]),
        np.array([1.0, np.nan, np.nan, 2.0]),
        np.ma.masked_array([1, 2, 3, 4], mask=[False, True, True, False]),
        {"sex": ["a", None, "b", "b"], "old": pd.Series([1, 2, None, 3])},
    ],
    ids=lambda labels: type(labels).__module__.partition(".")[0],
)
def test_missing_labels_are_counted(labels):
    with pytest.raises(GroupError, match="2 of 4 labels are missing"):
        encode_labels(labels)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ScoreError, match="labels of 'old'"):
        encode_labels({"sex": ["f", "m"], "old": [1]})


def shuffled(column):
    return column.iloc[::-1]


SCORES = pd.Series([0.1, 0.4, 0.3, 0.8])
GROUPS = pd.Series(["a", "b", "a", "b"])
FRAME = pd.DataFrame({"sex": GROUPS, "old": [1, 2, 1, 2]})

MISALIGNED = {
    "labels": lambda: fp.disparity(SCORES, sensitive_features=shuffled(GROUPS)),
    "a frame of labels": lambda: fp.disparity(SCORES, sensitive_features=shuffled(FRAME)),
    "one column of labels": lambda: fp.disparity(
        SCORES, sensitive_features={"sex": GROUPS, "old": shuffled(FRAME["old"])}
    ),
    "weights": lambda: fp.heterogeneity(
        SCORES, sensitive_features=GROUPS, sample_weight=shuffled(SCORES)
    ),
    "a federation": lambda: fp.Federation.from_scores(
        SCORES, groups=GROUPS, silos=shuffled(GROUPS), levels=1
    ),
    "an allocation": lambda: allocate(SCORES, groups=shuffled(GROUPS), silos=2, seed=0),
    "a table": lambda: fp.simulate(
        {"z": SCORES, "g": shuffled(GROUPS)}, score="z", group="g", silo=None
    ),
}


@pytest.mark.parametrize("case", MISALIGNED)
def test_rows_with_different_pandas_indexes_are_refused(case):
    """Pandas would match rows by their index, and arrays are matched by position."""
    with pytest.raises(ScoreError, match="have different pandas indexes") as error:
        MISALIGNED[case]()

    assert "reset_index" in error.value.fix


def test_equal_indexes_need_not_be_the_same_object():
    scores, groups = shuffled(SCORES), shuffled(GROUPS.copy())

    assert fp.disparity(scores, sensitive_features=groups) == fp.disparity(
        SCORES, sensitive_features=GROUPS
    )
