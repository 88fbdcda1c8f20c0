"""Exact sketches without sorting: the same bits as an oracle that sorts and adds fractions."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.oracles.exact_sketch import (
    exact_above,
    exact_counts,
    exact_effective,
    exact_inside,
    exact_sketch,
)
from tests.strategies import deciles, decimals, ticks
from tests.tiers import examples

from fedparity.errors import OptionError, RecordsError, ScoreError
from fedparity.sketches import kinds as targets
from fedparity.sketches.accumulators import Tuning
from fedparity.sketches.records import ArrayRecords, Batch
from fedparity.sketches.select import select

LARGEST = sys.float_info.max
KERNELS = ("numpy", "numba")

denormals = st.sampled_from([5e-324, -5e-324, 1e-310, 0.0, -0.0, 2.2250738585072014e-308])
huge = st.sampled_from([1e308, -1e308, LARGEST, -LARGEST, 1e300, 0.0, 1.0])
magnitudes = st.builds(
    lambda mantissa, power: mantissa * 10.0**power, st.integers(-99, 99), st.integers(-305, 305)
)
palettes = st.sampled_from(
    [
        st.just(0.3),
        st.sampled_from([0.0, 1.0]),
        denormals,
        huge,
        ticks,
        deciles,
        decimals,
        magnitudes,
        st.one_of(decimals, st.just(1e300)),
    ]
)
masses = st.sampled_from(
    [
        st.just(1.0),
        st.sampled_from([0.0, 0.1, 0.2]),
        st.integers(0, 3).map(float),
        st.floats(0, 1),
        st.integers(-200, 200).map(lambda power: 10.0**power),
    ]
)
tunings = st.builds(
    Tuning,
    few=st.sampled_from([0, 1 << 15]),
    sample=st.sampled_from([1, 4, 1 << 15]),
    buckets=st.sampled_from([8, 1 << 17]),
    kept=st.sampled_from([0, 3, 1 << 21]),
    parts=st.sampled_from([4, 64, 1 << 18]),
    candidate=st.sampled_from([1, 2, 8]),
    crowded=st.sampled_from([0, 2, 1 << 10]),
    window=st.sampled_from([1, 256]),
    ties=st.sampled_from([0.001, 1.0]),
)
"""Sizes that send a handful of records down every path."""


@dataclass(frozen=True)
class Case:
    """Records of a few groups, and what is wanted of them."""

    scores: list[float]
    codes: list[int]
    weights: list[float] | None
    groups: int
    levels: int
    kind: str
    thresholds: tuple[float, ...] = ()

    @property
    def records(self) -> ArrayRecords:
        """The arrays that a kernel reads."""
        return ArrayRecords(
            tuple(range(self.groups)),
            np.array(self.scores, dtype=np.float64),
            np.array(self.codes, dtype=np.uint8),
            None if self.weights is None else np.array(self.weights, dtype=np.float64),
        )

    def parts(self) -> list[tuple[list[float], list[float] | None]]:
        """The scores and the weights of each group."""
        own = [[i for i, code in enumerate(self.codes) if code == g] for g in range(self.groups)]
        return [
            (
                [self.scores[i] for i in rows],
                None if self.weights is None else [self.weights[i] for i in rows],
            )
            for rows in own
        ]

    def expected(self) -> list[tuple[float, list[float]] | None]:
        """What each group's sketch should hold."""
        return [exact_sketch(*part, self.levels, self.kind) for part in self.parts()]

    def select(self, **options):
        """What is found of them."""
        return select(
            self.records,
            lambda census: [self.levels] * census.counts.size,
            kind=self.kind,
            thresholds=self.thresholds,
            threads=1,
            **options,
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw up to 40 records of one to fifty groups, ties and extremes included."""
    size = draw(st.integers(1, 40))
    groups = draw(st.sampled_from([1, 2, 3, 50]))
    palette, weights = draw(palettes), draw(st.one_of(st.none(), masses))
    scores = draw(st.lists(palette, min_size=size, max_size=size))
    order = draw(st.sampled_from(["as drawn", "sorted", "reversed"]))
    if order != "as drawn":
        scores = sorted(scores, reverse=order == "reversed")
    return Case(
        scores,
        draw(st.lists(st.integers(0, groups - 1), min_size=size, max_size=size)),
        None if weights is None else draw(st.lists(weights, min_size=size, max_size=size)),
        groups,
        draw(st.integers(1, size + 5)),
        draw(st.sampled_from(["quantile", "mean"])),
        tuple(draw(st.lists(st.one_of(palette, st.sampled_from(scores)), max_size=3))),
    )


def assert_equal_bits(found, case: Case) -> None:
    expected = case.expected()
    for total, values, wanted in zip(found.totals, found.values, expected, strict=True):
        if wanted is None:
            assert values is None
        else:
            assert wanted == (total, values.tolist())
            assert not np.signbit(values[values == 0]).any(), "no negative zeros"
    for group, part in enumerate(case.parts()):
        inside = exact_inside(*part, case.levels) if case.kind == "mean" else None
        assert inside == found.inside[group]
        assert exact_above(*part, case.thresholds) == found.above[group]
        if case.weights is not None:
            assert exact_effective(part[1]) == found.census.effective[group]


@pytest.mark.parametrize("kernel", KERNELS)
@examples(150)
@given(cases(), tunings)
@example(Case([0.0] * 100, [0] * 100, None, 1, 55, "quantile"), Tuning())
@example(Case([i / 7 for i in range(100)], [0] * 100, None, 1, 10, "quantile"), Tuning(few=0))
def test_every_path_gives_the_bits_of_the_oracle(kernel, case, tuning):
    """Kernels, stages, candidates, sums: none of them can be seen in the result."""
    assert_equal_bits(case.select(kernel=kernel, tuning=tuning), case)


@pytest.mark.parametrize("kernel", KERNELS)
@examples(60)
@given(cases(), st.sampled_from([1e8, -3e7, 2.0**52]))
def test_an_offset_costs_no_bit(kernel, case, offset):
    """Squares of large scores that differ by little are not lost: they are whole numbers."""
    small = [score for score in case.scores if abs(score) < 1e3] or [0.1]
    moved = Case(
        [score + offset for score in small],
        [0] * len(small),
        None if case.weights is None else case.weights[: len(small)],
        1,
        min(case.levels, 3),
        "mean",
        (offset,),
    )

    assert_equal_bits(moved.select(kernel=kernel), moved)


@pytest.mark.parametrize("kernel", KERNELS)
@given(st.data())
def test_counts_at_the_points_of_a_grid_are_exact(kernel, data):
    """Numbers of records, or weights, at all points; thresholds are counted from them."""
    points = sorted(data.draw(st.sets(decimals, min_size=1, max_size=12)))
    case = data.draw(cases())
    scores = [points[hash(score) % len(points)] for score in case.scores]
    case = Case(scores, case.codes, case.weights, case.groups, 1, "counts", tuple(points[::2]))

    found = case.select(kernel=kernel, points=np.array(points))

    for group, part in enumerate(case.parts()):
        counts = exact_counts(*part, points)
        values = found.values[group]
        assert counts == (None if values is None else values.tolist())
        assert exact_above(*part, case.thresholds) == found.above[group]
        if counts is not None:
            kept = exact_counts(
                [
                    s
                    for s, w in zip(part[0], part[1] or part[0], strict=True)
                    if w > 0 or part[1] is None
                ],
                None,
                points,
            )
            assert kept == found.records[group].tolist()
            assert np.issubdtype(values.dtype, np.integer) == (case.weights is None)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_off_the_grid_are_counted_and_refused(kernel, weighted):
    """Their number is told, and no score; rounding of decimals is no reason to refuse."""
    random = np.random.default_rng(5)
    scores = random.integers(0, 11, 3000) / 10 + random.choice([0.0, 1e-12, -1e-12], 3000)
    weights = np.ones(3000) if weighted else None
    points = np.arange(11) / 10
    records = ArrayRecords(("a",), scores, np.zeros(3000, dtype=np.uint8), weights)

    found = select(records, lambda _: [1], kind="counts", points=points, kernel=kernel)
    assert found.values[0].tolist() == np.bincount(np.rint(scores * 10).astype(int)).tolist()

    scores[[7, 2000]] = 0.3123456, 0.95
    with pytest.raises(ScoreError, match="2 of 3000 are not") as caught:
        select(records, lambda _: [1], kind="counts", points=points, kernel=kernel)
    assert "3123" not in str(caught.value)


def test_counts_need_points():
    records = ArrayRecords(("a",), np.zeros(1), np.zeros(1, dtype=np.uint8))

    with pytest.raises(OptionError, match="points"):
        select(records, lambda _: [1], kind="counts")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", ["quantile", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kept", [300, 10**6])
@pytest.mark.parametrize(
    "shape", ["uniform", "logistic", "tails", "deciles", "zeros", "sorted", "narrow", "outlier"]
)
def test_many_records_on_several_threads_give_the_bits_of_a_sort(
    kernel, kind, weighted, kept, shape
):
    random = np.random.default_rng(7)
    size = 12_000
    scores = {
        "uniform": lambda: random.random(size),
        "logistic": lambda: 1 / (1 + np.exp(-random.normal(size=size))),
        "tails": lambda: random.standard_cauchy(size) ** 3,
        "deciles": lambda: random.integers(0, 11, size) / 10,
        "zeros": lambda: np.where(random.random(size) < 0.4, 0.0, random.random(size)),
        "sorted": lambda: np.sort(random.random(size)),
        "narrow": lambda: 0.5 + random.random(size) * 1e-12,
        "outlier": lambda: np.append(random.random(size - 1), 1e300),
    }[shape]()
    codes = random.integers(0, 3, size).astype(np.uint8)
    weights = random.integers(0, 4, size) / 4 if weighted else None
    records = ArrayRecords(("a", "b", "c"), scores, codes, weights, block=1000)
    thresholds = float(scores[0]), float(np.median(scores))

    found = select(
        records,
        lambda _: [7, 0, 60],
        kind=kind,
        thresholds=thresholds,
        kernel=kernel,
        threads=3,
        tuning=Tuning(few=0, sample=1000, kept=kept, window=30),
    )

    assert (found.values[1], found.inside[1], found.above[1]) == (None, None, None)
    for group, levels in ((0, 7), (2, 60)):
        own = codes == group
        part = scores[own].tolist(), None if weights is None else weights[own].tolist()
        given = scores[own].tobytes(), None if weights is None else weights[own].tobytes()
        expected = exact_sketch_of_bytes(*given, levels, kind)
        assert expected == (found.totals[group], found.values[group].tolist())
        assert exact_above(*part, thresholds) == found.above[group]
        inside = exact_inside(*part, levels) if kind == "mean" else None
        assert inside == found.inside[group]


@cache
def exact_sketch_of_bytes(scores, weights, levels, kind):
    """The oracle, asked once for all kernels and tunings."""
    numbers = None if weights is None else np.frombuffer(weights).tolist()
    return exact_sketch(np.frombuffer(scores).tolist(), numbers, levels, kind)


@pytest.mark.parametrize("kernel", KERNELS)
def test_scores_that_are_not_numbers_are_counted_and_refused(kernel):
    scores = np.random.default_rng(0).random(70_000)
    scores[[3, 60_000]] = np.nan
    scores[69_999] = -np.inf
    records = ArrayRecords(("a",), scores, np.zeros(70_000, dtype=np.uint8))

    with pytest.raises(ScoreError, match="2 of 70000 are NaN and 1 infinite"):
        select(records, lambda _: [5], kernel=kernel)


@pytest.mark.parametrize("kernel", KERNELS)
def test_scores_outside_the_range_are_counted_and_refused(kernel):
    scores = np.random.default_rng(0).random(70_000)
    scores[[3, 60_000]] = 1.5, -0.25
    records = ArrayRecords(("a",), scores, np.zeros(70_000, dtype=np.uint8))

    with pytest.raises(ScoreError, match=r"between 0 and 1, but 2 of 70000 do not"):
        select(records, lambda _: [5], kernel=kernel, score_range=(0.0, 1.0))


def test_scores_without_weight_are_not_looked_at():
    scores, weights = np.array([0.2, np.nan, 9.0]), np.array([1.0, 0.0, 0.0])
    records = ArrayRecords(("a",), scores, np.zeros(3, dtype=np.uint8), weights)

    found = select(records, lambda _: [1], score_range=(0.0, 1.0))

    assert (found.totals[0], found.values[0].tolist()) == (1.0, [0.2])


class Shrinking(ArrayRecords):
    """Records of which one is gone when they are read again."""

    def batches(self):
        """Yield one batch, shorter the second time."""
        object.__setattr__(self, "reads", getattr(self, "reads", 0) + 1)
        rows = self.scores.size - (self.reads > 1)
        yield lambda: Batch(self.scores[:rows], self.codes[:rows])


def test_records_that_change_between_passes_are_noticed():
    records = Shrinking(("a",), np.ones(50), np.zeros(50, dtype=np.uint8))

    with pytest.raises(RecordsError, match="changed while they were read"):
        select(records, lambda _: [5], threads=1)


def test_progress_reaches_the_number_of_rows_in_each_pass():
    seen = []
    records = ArrayRecords(("a",), np.ones(100_000), np.zeros(100_000, dtype=np.uint8))

    select(records, lambda _: [5], progress=lambda *state: seen.append(state), threads=2)

    assert seen == [(100_000, 100_000, "counting"), (100_000, 100_000, "collecting")]


def test_a_window_that_misses_its_rank_costs_a_pass_and_no_bit():
    """Scores crowd at one point of each bucket, where a window does not look."""
    random = np.random.default_rng(2)
    scores = np.round(random.random(20_000) * 50) / 50 + 1e-7 * random.random(20_000)
    records = ArrayRecords(("a",), scores, np.zeros(scores.size, dtype=np.uint8))
    tuning = Tuning(few=0, buckets=64, window=30, ties=1.0)

    found = select(records, lambda _: [9], kernel="numba", threads=1, tuning=tuning)

    assert found.passes == 3
    assert exact_sketch(scores.tolist(), None, 9, "quantile") == (
        found.totals[0],
        found.values[0].tolist(),
    )


@pytest.mark.parametrize("kind", ["quantile", "mean"])
@pytest.mark.parametrize("seed", range(20))
def test_weighted_targets_never_stray_over_records_that_were_left_behind(kind, seed, monkeypatch):
    """Running weights that are barely known widen the search, and change nothing else."""
    monkeypatch.setattr(targets, "_EPSILON", 2.0**-18)
    random = np.random.default_rng(seed)
    scores, weights = random.random(30), random.random(30)
    records = ArrayRecords(("a",), scores, np.zeros(30, dtype=np.uint8), weights)
    tuning = Tuning(few=0, buckets=64, kept=0, parts=16, candidate=100)

    found = select(records, lambda _: [28], kind=kind, kernel="numpy", threads=1, tuning=tuning)

    assert exact_sketch(scores.tolist(), weights.tolist(), 28, kind) == (
        found.totals[0],
        found.values[0].tolist(),
    )
