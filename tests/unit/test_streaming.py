"""One pass over records that come once: chunks are merged, and the error is stated."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from fedparity.errors import OptionError, ScoreError
from fedparity.sketches.accumulators import SketchRequest
from fedparity.sketches.records import ArrayRecords, Batch, Faults
from fedparity.sketches.select import select
from fedparity.sketches.streaming import StreamSketch

RANDOM = np.random.default_rng(11)
SHAPES = {
    "uniform": RANDOM.random(30_000),
    "sorted": np.sort(RANDOM.random(30_000)),
    "ties": RANDOM.integers(0, 5, 30_000) / 4,
    "tails": RANDOM.standard_cauchy(30_000),
}
CODES = (RANDOM.random(30_000) < 0.3).astype(np.uint8)


def stream(scores, codes=CODES, weights=None, *, resolution=64, chunk=1000, batch=700, **asked):
    sketch = StreamSketch(
        groups=("a", "b"),
        request=SketchRequest(**asked),
        weighted=weights is not None,
        resolution=resolution,
        chunk=chunk,
    )
    for start in range(0, scores.size, batch):
        rows = slice(start, start + batch)
        sketch.update(Batch(scores[rows], codes[rows], None if weights is None else weights[rows]))
    return sketch


def accept(faults: Faults) -> int:
    return ArrayRecords(("a", "b"), np.zeros(0), np.zeros(0, dtype=np.uint8)).accept(faults)


def finish(sketch, levels=20):
    return sketch.finish(lambda _: [levels, levels], accept)


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
    found, errors = finish(stream(scores, chunk=10**6, kind=kind, thresholds=(0.3,)))

    exact = select(
        ArrayRecords(("a", "b"), scores, CODES),
        lambda _: [20, 20],
        kind=kind,
        thresholds=(0.3,),
    )

    assert errors == (0.0, 0.0)
    assert exact.inside == found.inside
    assert exact.above == found.above
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
    found, _ = finish(stream(scores, resolution=512, kind="mean"))
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


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", ["uniform", "sorted", "ties"])
def test_what_bin_means_of_a_stream_leave_out_makes_up_the_whole_variance(shape, weighted, offset):
    """Between and inside the bins sum to the mean square around the mean of the means, exactly known."""
    scores = SHAPES[shape] + offset
    weights = RANDOM.random(scores.size) if weighted else None
    found, _ = finish(stream(scores, weights=weights, kind="mean"))

    for group, (means, inside) in enumerate(zip(found.values, found.inside, strict=True)):
        own = group == CODES
        masses = None if weights is None else weights[own].tolist()
        total = exact_square(scores[own].tolist(), masses, around=exact_mean(means.tolist()))
        between = exact_square(means.tolist(), None, around=exact_mean(means.tolist()))
        assert float(max(0, total - between)) == inside


def exact_mean(values):
    return sum(map(Fraction, values)) / len(values)


def exact_square(values, weights, *, around):
    masses = [Fraction(1)] * len(values) if weights is None else list(map(Fraction, weights))
    squares = ((Fraction(value) - around) ** 2 for value in values)
    return sum(m * s for m, s in zip(masses, squares, strict=True)) / sum(masses)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["quantile", "mean", "counts"])
def test_counts_of_a_stream_are_exact_however_many_chunks_there_are(kind, weighted):
    """At thresholds for every kind, at the points of a grid, in weight, and of workers that are merged."""
    scores, points = SHAPES["ties"], np.arange(5) / 4
    weights = RANDOM.random(scores.size) if weighted else None
    options = {"kind": kind, "thresholds": (0.25, 0.9), "points": points}
    whole = ArrayRecords(("a", "b"), scores, CODES, weights)
    exact = select(whole, lambda _: [20, 20], **options)

    half = slice(None, 15_000), slice(15_000, None)
    parts = [
        stream(scores[rows], CODES[rows], None if weights is None else weights[rows], **options)
        for rows in half
    ]
    parts[0].merge(pickle.loads(pickle.dumps(parts[1])))  # noqa: S301
    found, errors = finish(parts[0])

    assert exact.totals == found.totals
    assert exact.above == found.above
    assert exact.census.effective.tolist() == found.census.effective.tolist()
    for one, other in zip(exact.records, found.records, strict=True):
        assert np.array_equal(one, other)
    if kind == "counts":
        assert errors == (0.0, 0.0)
        for one, other in zip(exact.values, found.values, strict=True):
            assert np.array_equal(one, other)


def test_a_score_off_the_grid_of_a_stream_is_refused():
    scores = SHAPES["ties"].copy()
    scores[29_999] = 0.3

    with pytest.raises(ScoreError, match="1 of"):
        finish(stream(scores, kind="counts", points=np.arange(5) / 4))
