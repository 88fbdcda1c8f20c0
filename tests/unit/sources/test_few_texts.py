"""Codes of a handful of texts in compiled loops: those of a dictionary, or none at all."""

from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pytest.importorskip("numba")

import fedparity.sketches.numba_kernel  # noqa: E402, F401 -- the loops need it loaded
from fedparity.tables.columns import (  # noqa: E402
    ArrowColumn,
    PandasColumn,
    PolarsColumn,
    few_labels,
)

KINDS = [pa.string(), pa.large_string(), pa.string_view()]

# Texts that differ in one byte, at each place that a loop treats in its own way.
LONG = ["x" * size for size in (0, 1, 7, 8, 9, 12, 13, 15, 16, 17, 24, 25, 33)]
ALIKE = [text[:i] + "y" + text[i + 1 :] for text in LONG for i in range(len(text))]
texts = st.sampled_from(sorted(set(LONG + ALIKE))) | st.text("ab", max_size=20) | st.just("Žluť")


def read(labels):
    return [labels.distinct[code] for code in labels.codes]


@given(
    known=st.lists(texts, min_size=1, max_size=8, unique=True),
    data=st.data(),
    kind=st.sampled_from(KINDS),
)
def test_every_row_gets_its_own_text(known, data, kind):
    """Whatever the lengths, missing texts, chunks and slices: the text of the code is the row's."""
    rows = data.draw(st.lists(st.sampled_from(known) | st.none(), max_size=40))
    cut = data.draw(st.integers(0, len(rows)))
    array = pa.chunked_array([pa.array(rows[:cut], kind), pa.array(rows[cut:], kind)])
    start = data.draw(st.integers(0, len(rows)))

    found = few_labels(array.slice(start))

    if found is None:
        assert kind == pa.string_view()
        assert any(len(text.encode()) > 12 for text in known)
    else:
        assert read(found) == [text or None for text in rows[start:]]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_texts_that_differ_in_one_byte_are_never_taken_for_each_other(kind):
    """Neither if the first rows show both, nor if the second comes after them."""
    every = sorted(set(LONG + ALIKE), key=len)
    for first, second in pairwise(every):
        rows = [first] * 1000 + [second]
        late = pa.chunked_array([pa.array(rows, kind)])
        early = pa.chunked_array([pa.array(rows[::-1], kind)])

        found = few_labels(early)

        assert few_labels(late) is None
        assert found is None or read(found) == [text or None for text in rows[::-1]]
        assert (found is None) == (kind == pa.string_view() and len(second) > 12)
        assert read(ArrowColumn(late).labels("group")) == [text or None for text in rows]


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_text_that_ends_with_the_memory_is_read_no_further(size):
    """Offsets and bytes of exactly the texts' size, without the padding that Arrow adds."""
    rows = ["ab", "abc", "b" * size]
    raw = "".join(rows).encode()
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    array = pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(raw)]
    )

    assert read(few_labels(pa.chunked_array([array]))) == [text or None for text in rows]


def test_more_than_a_handful_of_texts_are_left_to_a_dictionary():
    array = pa.chunked_array([pa.array([str(i % 9) for i in range(90)])])

    assert few_labels(array) is None


def test_bytes_are_left_to_a_dictionary():
    assert few_labels(pa.chunked_array([pa.array([b"a", b"b"])])) is None


@pytest.mark.parametrize("missing", [None, "x"])
def test_frames_of_texts_have_the_same_labels(missing):
    pd = pytest.importorskip("pandas")
    rows = ["women", "men", missing, "a longer text than a view can hold"] * 50

    polars = PolarsColumn(pl.Series(rows)).labels("group")
    pandas = PandasColumn(pd.Series(rows, dtype="string[pyarrow]")).labels("group")

    assert read(polars) == read(pandas) == rows
