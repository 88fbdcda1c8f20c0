"""The bucket sort gives the very array that NumPy's sort gives."""

import numpy as np
import pytest

from fedparity.laws import law as sorting

SIZE = 60_000
RANDOM = np.random.default_rng(7)
SAMPLES = {
    "uniform": RANDOM.random(SIZE),
    "normal": RANDOM.normal(size=SIZE),
    "heavy tails": RANDOM.standard_cauchy(SIZE),
    "lognormal": np.exp(3 * RANDOM.normal(size=SIZE)),
    "one value": np.full(SIZE, 0.25),
    "two values": RANDOM.integers(0, 2, SIZE).astype(float),
    "three decimals": RANDOM.integers(0, 1000, SIZE) / 1000,
    "an outlier": np.append(RANDOM.random(SIZE - 1), 1e300),
    "both extremes": np.append(RANDOM.random(SIZE - 2), [-1.7e308, 1.7e308]),
    "mostly extreme": RANDOM.choice([-1.7e308, 1.7e308, 0.0], SIZE),
    "denormal": RANDOM.random(SIZE) * 1e-310,
    "sorted": np.sort(RANDOM.random(SIZE)),
    "reversed": np.sort(RANDOM.random(SIZE))[::-1].copy(),
    "narrow": 1.0 + RANDOM.random(SIZE) * 1e-12,
}


@pytest.fixture(params=[True, False], ids=["buckets", "plain"])
def choice(request, monkeypatch):
    monkeypatch.setattr(sorting, "_buckets_are_faster", lambda: request.param)


@pytest.mark.usefixtures("choice")
@pytest.mark.parametrize("scores", SAMPLES.values(), ids=SAMPLES.keys())
def test_sorted_scores_are_numpys(scores):
    assert np.array_equal(sorting.sort_scores(scores), np.sort(scores))


@pytest.mark.usefixtures("choice")
@pytest.mark.parametrize("scores", SAMPLES.values(), ids=SAMPLES.keys())
def test_sort_order_sorts_and_is_a_permutation(scores):
    order = sorting.sort_order(scores)

    assert np.array_equal(scores[order], np.sort(scores))
    assert np.array_equal(np.sort(order), np.arange(scores.size))


@pytest.mark.usefixtures("choice")
def test_several_arrays_are_sorted_on_threads_as_one_by_one():
    arrays = list(SAMPLES.values())

    for found, scores in zip(sorting.sort_all(arrays), arrays, strict=True):
        assert np.array_equal(found, np.sort(scores))


def test_the_input_is_left_as_it_was():
    scores = SAMPLES["uniform"].copy()

    sorting.sort_scores(scores)

    assert np.array_equal(scores, SAMPLES["uniform"])


def test_the_choice_is_measured_and_either_way_right():
    assert sorting._buckets_are_faster() in (True, False)  # noqa: SLF001
