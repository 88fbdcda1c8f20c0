"""Wasserstein distances against SciPy, POT, linear programming and rational arithmetic."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance
from tests.oracles import rational
from tests.oracles.agreement import EPS, agrees_with
from tests.strategies import orders, reach, real_masses, scores, weighted_scores
from tests.tiers import examples

from fedparity import Law, wasserstein
from fedparity.theory import wasserstein_power

SIZES = [(1, 1), (1, 7), (5, 5), (12, 7), (100, 100), (100, 137), (1000, 333)]
ORDERS = [1, 2]
METRICS = {1: "cityblock", 2: "sqeuclidean"}


def two_samples(sizes, *, tied):
    rng = np.random.default_rng(sum(sizes) + tied)
    if tied:
        return [
            rng.integers(0, 6, size).astype(np.float64) + shift for shift, size in enumerate(sizes)
        ]
    return [rng.normal(shift, 1 + shift, size) for shift, size in enumerate(sizes)]


def two_masses(sizes):
    rng = np.random.default_rng(7 * sum(sizes))
    masses = [rng.exponential(size=size) for size in sizes]
    return [mass / mass.sum() for mass in masses]


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
class TestAgainstOtherLibraries:
    """SciPy and POT measure the same two samples."""

    def test_order_one_is_scipys_distance(self, sizes, tied):
        """W₁ is scipy.stats.wasserstein_distance."""
        x, y = two_samples(sizes, tied=tied)

        assert wasserstein(x, y, order=1) == agrees_with(wasserstein_distance(x, y))

    def test_order_one_is_scipys_distance_with_weights(self, sizes, tied):
        """W₁ of weighted samples is scipy.stats.wasserstein_distance with those weights."""
        (x, y), (a, b) = two_samples(sizes, tied=tied), two_masses(sizes)

        actual = wasserstein(Law(x, a), Law(y, b), order=1)

        assert actual == agrees_with(wasserstein_distance(x, y, a, b))

    @pytest.mark.parametrize("order", ORDERS)
    def test_the_power_is_what_pot_returns(self, sizes, tied, order):
        """ot.wasserstein_1d returns W_p^p, not W_p."""
        x, y = two_samples(sizes, tied=tied)
        expected = ot.wasserstein_1d(x, y, p=order)

        assert wasserstein_power(x, y, order=order) == agrees_with(expected)
        assert wasserstein(x, y, order=order) == agrees_with(expected ** (1 / order))

    @pytest.mark.parametrize("order", ORDERS)
    def test_the_power_is_what_pot_returns_with_weights(self, sizes, tied, order):
        """ot.wasserstein_1d with weights is W_p^p of the weighted laws."""
        (x, y), (a, b) = two_samples(sizes, tied=tied), two_masses(sizes)
        expected = ot.wasserstein_1d(x, y, a, b, p=order)

        assert wasserstein_power(Law(x, a), Law(y, b), order=order) == agrees_with(expected)

    @pytest.mark.parametrize("order", ORDERS)
    def test_the_power_is_the_cost_of_pots_optimal_plan(self, sizes, tied, order):
        """ot.emd2_1d with |x - y|^p as the cost is W_p^p."""
        (x, y), (a, b) = two_samples(sizes, tied=tied), two_masses(sizes)
        expected = ot.emd2_1d(x, y, a, b, metric=METRICS[order])

        assert wasserstein_power(Law(x, a), Law(y, b), order=order) == agrees_with(expected)


@pytest.mark.parametrize("sizes", [(100_000, 100_000), (100_000, 70_001)])
@pytest.mark.parametrize("order", ORDERS)
def test_large_samples_agree_with_pot(sizes, order):
    """A hundred thousand scores a side, sorted or not, of equal sizes or not."""
    x, y = two_samples(sizes, tied=False)

    assert wasserstein_power(x, y, order=order) == agrees_with(ot.wasserstein_1d(x, y, p=order))


def test_large_tied_samples_agree_with_scipy():
    """A hundred thousand scores with six distinct values."""
    x, y = two_samples((100_000, 70_001), tied=True)

    assert wasserstein(x, y, order=1) == agrees_with(wasserstein_distance(x, y))


def cheapest_plan(x, a, y, b, order):
    """The least cost of moving masses a at x onto masses b at y, over all plans."""
    cost = np.abs(np.subtract.outer(x, y)) ** order
    leaving = np.kron(np.eye(len(x)), np.ones(len(y)))
    arriving = np.kron(np.ones(len(x)), np.eye(len(y)))
    return linprog(
        cost.ravel(),
        A_eq=np.vstack([leaving, arriving]),
        b_eq=np.concatenate([a, b]),
        method="highs-ds",
    ).fun


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(12))
def test_no_plan_is_cheaper(seed, order):
    """W_p^p is the optimum of Kantorovich's linear program."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 6, 2)
    x, y = rng.integers(0, 8, n) / 4, rng.integers(0, 8, m) / 4 + 0.125
    a, b = rng.integers(1, 9, n), rng.integers(1, 9, m)
    expected = cheapest_plan(x, a / a.sum(), y, b / b.sum(), order)

    # 1e-15 is the rounding of the solver where the optimum is zero.
    assert wasserstein_power(Law(x, a), Law(y, b), order=order) == agrees_with(
        expected, slack=1e-15
    )


@given(orders, st.data())
@examples(40)
def test_no_matching_of_equal_samples_is_cheaper(order, data):
    """Between samples of the same size W_p^p is the cheapest of all n! matchings."""
    size = data.draw(st.integers(1, 5))
    x, y = (data.draw(scores(size, size)) for _ in range(2))
    expected = min(
        sum(abs(p - q) ** order for p, q in zip(x, shuffled, strict=True)) / size
        for shuffled in permutations(y)
    )

    assert wasserstein_power(x, y, order=order) == agrees_with(expected)


@given(orders, weighted_scores(), weighted_scores(), st.sampled_from([0.0, 0.05, 0.1, 0.3]))
def test_the_power_is_the_integral_of_quantile_differences(order, mu, nu, trim):
    """∫|Q_μ − Q_ν|^p over [ε, 1−ε], level by level, in rational numbers."""
    expected = rational.wasserstein_power(rational.law(*mu), rational.law(*nu), order, trim)

    # The ends of a trimmed range are rounded, to half an ulp of one each.
    slack = 2 * EPS * (2 * reach(mu[0], nu[0])) ** order if trim else 0.0
    assert wasserstein_power(Law(*mu), Law(*nu), order=order, trim=trim) == agrees_with(
        expected, slack=slack
    )


@given(orders, weighted_scores(real_masses), weighted_scores())
def test_real_masses_count_as_they_are(order, mu, nu):
    """Masses need not be whole: 0.1, 0.2 and 1/3 are summed as the numbers they are."""
    expected = rational.wasserstein_power(rational.law(*mu), rational.law(*nu), order)

    # Twelve masses are added up with one rounding each.
    slack = 12 * EPS * (2 * reach(mu[0], nu[0])) ** order
    assert wasserstein_power(Law(*mu), Law(*nu), order=order) == agrees_with(expected, slack=slack)


@given(orders, weighted_scores(), weighted_scores())
def test_the_distance_is_the_root_of_the_power(order, mu, nu):
    """W_p to the power p is W_p^p, in rational numbers."""
    expected = rational.wasserstein_power(rational.law(*mu), rational.law(*nu), order)

    assert wasserstein(Law(*mu), Law(*nu), order=order) ** order == agrees_with(expected)
