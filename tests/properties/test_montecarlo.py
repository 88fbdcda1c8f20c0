"""Every kernel finds the same bits, and every estimator the truth once sketches say all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.experiments.tables import MADE

import fedparity as fp
from fedparity.experiments.datasets import Dataset
from fedparity.experiments.montecarlo.numba_kernel import NumbaKernel
from fedparity.experiments.montecarlo.numpy_kernel import NumpyKernel
from fedparity.experiments.montecarlo.ranking import Ranking

PLAIN = st.one_of(st.integers(-3, 3).map(float), st.integers(-999, 999).map(lambda n: n / 1000))
EXTREME = st.sampled_from([1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 5e-324, -1e100])
"""Ranges that no float divides, and means that rounding puts below the lowest score."""
ANY = st.one_of(PLAIN, st.floats(-1e6, 1e6), EXTREME)


@st.composite
def allocated(draw, scores):
    """A data set of two or three groups, the silo of each record, and how many silos there are."""
    groups, number = draw(st.integers(2, 3)), draw(st.integers(1, 6))
    extra = draw(st.lists(st.integers(0, groups - 1), max_size=40))
    codes = [*range(groups), *extra]
    drawn = draw(st.lists(scores, min_size=len(codes), max_size=len(codes)))
    silos = draw(st.lists(st.integers(0, number - 1), min_size=len(codes), max_size=len(codes)))
    data = Dataset(
        name="drawn",
        title="Drawn",
        scores=np.array(drawn),
        codes=np.array(codes),
        group_names=tuple("abc"[:groups]),
        provenance=MADE,
    )
    return data, np.array(silos), number


LEVELS = st.lists(st.integers(1, 25), min_size=1, max_size=3)


@given(st.one_of(allocated(ANY), allocated(EXTREME)), LEVELS)
def test_kernels_agree_to_the_last_bit(drawn, levels):
    data, silos, number = drawn
    ranking = Ranking.of(data)
    in_order = silos[ranking.order]

    by_numpy = NumpyKernel(ranking, levels).estimates(in_order, number)
    by_numba = NumbaKernel(ranking, levels).estimates(in_order, number)

    assert by_numpy.tobytes() == by_numba.tobytes()


@given(allocated(PLAIN), st.integers(1, 3))
def test_bin_means_as_many_as_records_give_the_truth(drawn, multiple):
    """A k that every count divides cuts no record in part: bin means are the records themselves."""
    data, silos, number = drawn
    ranking = Ranking.of(data)
    cells = np.unique(data.codes * number + silos, return_counts=True)[1]
    levels = int(np.lcm.reduce(cells)) * multiple
    if levels > 20_000:
        return
    scale = max(1.0, np.ptp(data.scores)) ** 2

    found = NumpyKernel(ranking, [levels]).estimates(silos[ranking.order], number)

    truth = fp.disparity(data.scores, sensitive_features=data.codes)
    assert found[1:, 0] == pytest.approx(truth, rel=1e-9, abs=1e-12 * scale)


@given(allocated(ANY), st.integers(1, 12))
def test_records_in_any_order_give_the_same_estimates(drawn, levels):
    data, silos, number = drawn
    shuffled = np.random.default_rng(0).permutation(len(data))
    turned = Dataset(
        name=data.name,
        title=data.title,
        scores=data.scores[shuffled],
        codes=data.codes[shuffled],
        group_names=data.group_names,
        provenance=MADE,
    )
    found = []
    for each, own in ((data, silos), (turned, silos[shuffled])):
        ranking = Ranking.of(each)
        found.append(NumpyKernel(ranking, [levels]).estimates(own[ranking.order], number))

    assert found[0].tobytes() == found[1].tobytes()
