"""Cramér distances against SciPy's energy distance and rational arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import energy_distance, wasserstein_distance
from tests.oracles import rational
from tests.oracles.agreement import EPS, agrees_with, in_power
from tests.strategies import orders, reach, real_masses, weighted_scores

from fedparity import Law
from fedparity.theory import cramer, cramer_power

SIZES = [(1, 1), (1, 7), (5, 5), (12, 7), (100, 137), (1000, 333), (100_000, 70_001)]


def two_samples(sizes, *, tied):
    rng = np.random.default_rng(sum(sizes) + tied)
    if tied:
        return [
            rng.integers(0, 6, size).astype(np.float64) + shift for shift, size in enumerate(sizes)
        ]
    return [rng.normal(shift, 1 + shift, size) for shift, size in enumerate(sizes)]


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
class TestAgainstScipy:
    """SciPy measures the same two samples."""

    def test_order_two_is_the_energy_distance_over_root_two(self, sizes, tied):
        """Székely: the energy distance on the line is √2 C₂."""
        x, y = two_samples(sizes, tied=tied)

        actual = cramer(Law.from_scores(x), Law.from_scores(y))

        assert np.sqrt(2) * actual == agrees_with(energy_distance(x, y))

    def test_weights_are_those_of_the_energy_distance(self, sizes, tied):
        """The same relation holds between weighted laws."""
        x, y = two_samples(sizes, tied=tied)
        rng = np.random.default_rng(sum(sizes))
        a, b = rng.integers(1, 9, x.size), rng.exponential(size=y.size)

        actual = cramer(Law(x, a), Law(y, b))

        assert np.sqrt(2) * actual == agrees_with(energy_distance(x, y, a, b))

    def test_order_one_is_the_wasserstein_distance(self, sizes, tied):
        """C₁ = W₁: the area between two cdfs, read upright or sideways."""
        x, y = two_samples(sizes, tied=tied)

        actual = cramer(Law.from_scores(x), Law.from_scores(y), order=1)

        assert actual == agrees_with(wasserstein_distance(x, y))


@given(orders, weighted_scores(), weighted_scores())
def test_the_power_is_the_integral_of_cdf_differences(order, mu, nu):
    """∫|F_μ − F_ν|^p, breakpoint by breakpoint, in rational numbers."""
    expected = rational.cramer_power(rational.law(*mu), rational.law(*nu), order)

    assert cramer_power(Law(*mu), Law(*nu), order=order) == agrees_with(expected)
    assert cramer(Law(*mu), Law(*nu), order=order) ** order == agrees_with(expected)


@given(orders, weighted_scores(real_masses), weighted_scores(real_masses))
def test_real_masses_count_as_they_are(order, mu, nu):
    """Masses need not be whole: 0.1, 0.2 and 1/3 are summed as the numbers they are."""
    expected = rational.cramer_power(rational.law(*mu), rational.law(*nu), order)

    # Each cdf is a sum of twelve masses with one rounding each.
    slack = 2 * reach(mu[0], nu[0]) * in_power(24 * EPS, order)
    assert cramer_power(Law(*mu), Law(*nu), order=order) == agrees_with(expected, slack=slack)
