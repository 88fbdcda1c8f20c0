"""One pass over records that come once: chunks are merged, and the error is stated."""

import pickle

import numpy as np
import pytest

from fedparity.errors import OptionError, ScoreError
from fedparity.sketches.records import ArrayRecords, Batch, Faults
from fedparity.sketches.selection.select import select
from fedparity.sketches.streaming import StreamSketch

RANDOM = np.random.default_rng(11)
SHAPES = {
    "uniform": RANDOM.random(30_000),
    "sorted": np.sort(RANDOM.random(30_000)),
    "ties": RANDOM.integers(0, 5, 30_000) / 4,
    "tails": RANDOM.standard_cauchy(30_000),
}
CODES = (RANDOM.random(30_000) < 0.3).astype(np.uint8)


def stream(scores, codes=CODES, weights=None, *, resolution=64, chunk=1000, batch=700):
    sketch = StreamSketch(
        groups=("a", "b"), weighted=weights is not None, resolution=resolution, chunk=chunk
    )
    for start in range(0, scores.size, batch):
        rows = slice(start, start + batch)
        sketch.update(Batch(scores[rows], codes[rows], None if weights is None else weights[rows]))
    return sketch


def accept(faults: Faults) -> int:
    return ArrayRecords(("a", "b"), np.zeros(0), np.zeros(0, dtype=np.uint8)).accept(faults)


def finish(sketch, levels=20, kind="quantile"):
    return sketch.finish(lambda _: [levels, levels], accept, kind=kind)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_ranks_are_within_the_stated_error(shape, weighted):
    """F(v) is at least u - e, and F just below v at most u + e, for the e of the message."""
    scores = SHAPES[shape]
    weights = RANDOM.integers(0, 3, scores.size).astype(float) if weighted else None
    found, errors = finish(stream(scores, weights=weights))

    for group, (values, error) in enumerate(zip(found.values, errors, strict=True)):
        own = group == CODES
        masses = np.ones(own.sum()) if weights is None else weights[own]
        upto = np.array([masses[scores[own] <= v].sum() for v in values]) / masses.sum()
        below = np.array([masses[scores[own] < v].sum() for v in values]) / masses.sum()
        levels = (np.arange(20) + 0.5) / 20
        assert 0 < error <= 2 / (2 * 64) + 1e-9
        assert (upto >= levels - error).all()
        assert (below <= levels + error).all()
        assert found.totals[group] == pytest.approx(masses.sum(), rel=1e-12)


@pytest.mark.parametrize("kind", ["quantile", "mean"])
def test_records_that_fill_no_chunk_are_sketched_exactly(kind):
    scores = SHAPES["uniform"]
    found, errors = finish(stream(scores, chunk=10**6), kind=kind)

    exact = select(ArrayRecords(("a", "b"), scores, CODES), lambda _: [20, 20], kind=kind)

    assert errors == (0.0, 0.0)
    for one, other in zip(found.values, exact.values, strict=True):
        assert np.array_equal(one, other)


def test_workers_can_be_pickled_and_merged():
    """Two halves, one of them from another process, give the ranks of the whole."""
    scores = SHAPES["uniform"]
    first = stream(scores[:15_000], CODES[:15_000])
    second = pickle.loads(pickle.dumps(stream(scores[15_000:], CODES[15_000:])))  # noqa: S301

    first.merge(second)
    found, errors = finish(first)

    assert [int((group == CODES).sum()) for group in (0, 1)] == list(found.totals)
    own = np.sort(scores[CODES == 0])
    shares = np.searchsorted(own, found.values[0], side="right") / own.size
    assert np.abs(shares - (np.arange(20) + 0.5) / 20).max() <= errors[0] + 1 / own.size


def test_many_summaries_are_merged_into_one_whose_error_says_so():
    found, errors = finish(stream(SHAPES["uniform"], resolution=32, chunk=100, batch=100))

    assert 1 / 64 < errors[0] <= 6 / 64
    assert found.values[0].size == 20


def test_sketches_of_other_options_are_not_merged():
    with pytest.raises(OptionError, match="same groups"):
        stream(SHAPES["ties"]).merge(stream(SHAPES["ties"], resolution=8))


def test_scores_that_are_not_finite_are_refused_at_the_end_with_their_number():
    scores = SHAPES["uniform"].copy()
    scores[[5, 29_000]] = np.nan

    with pytest.raises(ScoreError, match="2 of"):
        finish(stream(scores))


def test_bin_means_of_a_stream_are_near_the_exact_ones():
    scores = SHAPES["uniform"]
    found, _ = finish(stream(scores, resolution=512), kind="mean")
    exact = select(ArrayRecords(("a", "b"), scores, CODES), lambda _: [20, 20], kind="mean")

    assert np.abs(found.values[0] - exact.values[0]).max() < 1e-3


def test_the_memory_of_a_batch_may_be_used_again():
    """A cursor that fills the same arrays for every batch loses nothing."""
    scores = SHAPES["uniform"]
    sketch = StreamSketch(groups=("a", "b"), chunk=10**6)
    buffer, codes = np.empty(700), np.empty(700, dtype=np.uint8)
    for start in range(0, 29_400, 700):
        buffer[:], codes[:] = scores[start : start + 700], CODES[start : start + 700]
        sketch.update(Batch(buffer, codes))

    found, _ = finish(sketch)

    exact = select(ArrayRecords(("a", "b"), scores[:29_400], CODES[:29_400]), lambda _: [20, 20])
    for one, other in zip(found.values, exact.values, strict=True):
        assert np.array_equal(one, other)


def test_weights_of_any_size_are_summarised():
    scores, weights = SHAPES["uniform"][:2000], np.full(2000, 1e200)
    found, _ = finish(stream(scores, CODES[:2000], weights))

    assert found.totals[0] == pytest.approx(1e200 * np.count_nonzero(CODES[:2000] == 0))
