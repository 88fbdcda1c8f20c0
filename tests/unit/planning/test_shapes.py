"""Shapes are the laws they say they are, from parity apart, inside their range."""

import numpy as np
import pytest
from scipy import stats
from tests.unit.planning.audits import EQUAL

import fedparity as fp
from fedparity.planning.scenario import SHAPES, disparity_between, farthest_distance


def test_the_default_shape_is_a_pair_of_beta_laws():
    levels = np.linspace(0.001, 0.999, 999)
    low, high = SHAPES["beta"].laws(2, 1.0)

    assert low.quantile(levels) == pytest.approx(stats.beta.ppf(levels, 3, 4), abs=1e-6)
    assert high.quantile(levels) == pytest.approx(stats.beta.ppf(levels, 6, 4), abs=1e-6)
    assert disparity_between([low, high], EQUAL) == pytest.approx(0.00761646, abs=1e-8)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=lambda shape: shape.name)
def test_shapes_start_at_parity_and_drift_apart_inside_their_range(shape):
    measured = [
        disparity_between(shape.laws(3, part * shape.furthest), (0.5, 0.3, 0.2))
        for part in (0.0, 0.1, 0.5, 1.0)
    ]
    ends = np.array([1e-9, 1.0])

    assert measured[0] == 0.0
    assert measured == sorted(measured)
    for law in shape.laws(2, shape.furthest):
        assert shape.low <= law.quantile(ends)[0] < law.quantile(ends)[1] <= shape.high


def test_disparities_of_laws_are_those_of_their_atoms():
    laws = SHAPES["deciles"].laws(2, 1.0)
    expected = fp.disparity(dict(enumerate(laws)), fp.Weights({0: 0.7, 1: 0.3}))

    assert disparity_between(laws, (0.7, 0.3)) == pytest.approx(expected, rel=1e-12)
    assert farthest_distance(laws) == pytest.approx(fp.wasserstein(*laws), rel=1e-12)
