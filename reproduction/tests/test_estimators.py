"""Estimates of any table: the order of records plays no part, and full sketches give the truth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedparity as fp
from fedparity_reproduction.datasets import Dataset
from fedparity_reproduction.estimators import Ranking, estimates

PLAIN = st.one_of(st.integers(-3, 3).map(float), st.integers(-999, 999).map(lambda n: n / 1000))
EXTREME = st.sampled_from([1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 5e-324, -1e100])
"""Ranges that no float divides, and means that rounding puts below the lowest score."""
ANY = st.one_of(PLAIN, st.floats(-1e6, 1e6), EXTREME)


@st.composite
def allocated(draw, scores):
    """A data set of two or three groups, the silo of each record, and the number of silos."""
    groups, number = draw(st.integers(2, 3)), draw(st.integers(1, 6))
    codes = [*range(groups), *draw(st.lists(st.integers(0, groups - 1), max_size=40))]
    drawn = draw(st.lists(scores, min_size=len(codes), max_size=len(codes)))
    silos = draw(st.lists(st.integers(0, number - 1), min_size=len(codes), max_size=len(codes)))
    data = Dataset(
        name="drawn",
        title="Drawn",
        scores=np.array(drawn),
        codes=np.array(codes),
        group_names=tuple("abc"[:groups]),
        specification="drawn",
    )
    return data, np.array(silos), number


@given(allocated(PLAIN), st.integers(1, 3))
def test_bin_means_as_many_as_records_give_the_truth(drawn, multiple):
    """A k that every count divides cuts no record in part: bin means are the records themselves."""
    data, silos, number = drawn
    cells = np.unique(data.codes * number + silos, return_counts=True)[1]
    levels = int(np.lcm.reduce(cells)) * multiple
    if levels > 20_000:
        return
    scale = max(1.0, np.ptp(data.scores)) ** 2

    found = estimates(Ranking.from_dataset(data), silos, number, [levels])

    truth = fp.disparity(data.scores, sensitive_features=data.codes)
    assert found[1:, 0] == pytest.approx(truth, rel=1e-9, abs=1e-12 * scale)


@given(allocated(ANY), st.integers(1, 12))
def test_records_in_any_order_give_the_same_estimates(drawn, levels):
    data, silos, number = drawn
    shuffled = np.random.default_rng(0).permutation(len(data))
    turned = replace(data, scores=data.scores[shuffled], codes=data.codes[shuffled])

    found = [
        estimates(Ranking.from_dataset(each), own, number, [levels]).tobytes()
        for each, own in ((data, silos), (turned, silos[shuffled]))
    ]

    assert found[0] == found[1]
