"""Section 2: two distances, two barycenters, and the two functionals they define."""

from __future__ import annotations

import numpy as np
import pytest
from tests.paper.samples import random_groups, random_law

import fedparity as fp

SEEDS = range(8)


def mean_power_around(laws, weights, center, order):
    """Return the weighted mean of W_p^p between each law and ``center``."""
    return sum(
        weights[group] * fp.theory.wasserstein_power(law, center, order=order)
        for group, law in laws.items()
    )


def mean_cramer_power_around(laws, weights, center, order):
    """Return the weighted mean of C_p^p between each law and ``center``."""
    return sum(
        weights[group] * fp.theory.cramer_power(law, center, order=order)
        for group, law in laws.items()
    )


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_def_up_is_the_mean_power_of_the_distances_to_the_barycenter(seed, groups, order):
    """U_p = Σ α_s W_p(ν_s, ν*)^p with ν* the barycenter."""
    laws, weights = random_groups(np.random.default_rng(seed), groups)
    center = fp.theory.barycenter(laws, weights, order=order)

    expected = mean_power_around(laws, weights, center, order)

    assert fp.disparity(laws, weights, order=order) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("groups", [2, 3, 5])
def test_def_up_is_zero_exactly_under_demographic_parity(groups, order):
    """U_p = 0 if all groups have one law, and U_p > 0 as soon as one atom of one group moves."""
    law = random_law(np.random.default_rng(groups))
    laws = dict.fromkeys(range(groups), law)
    weights = fp.Weights({group: group + 1 for group in range(groups)})
    moved = fp.Law([*law.atoms[:-1], law.atoms[-1] + 1e-3], law.weights)

    assert fp.disparity(laws, weights, order=order) == 0
    assert fp.disparity({**laws, 0: moved}, weights, order=order) > 0


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_def_hp_is_the_mean_power_of_the_distances_to_the_mixture(seed, groups, order):
    """H_p = Σ α_s C_p(ν_s, ν^×)^p with ν^× the mixture."""
    laws, weights = random_groups(np.random.default_rng(seed), groups)

    expected = mean_cramer_power_around(laws, weights, fp.theory.mixture(laws, weights), order)

    assert fp.heterogeneity(laws, weights, order=order) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("groups", [2, 3, 5])
def test_def_hp_is_zero_exactly_when_all_groups_have_one_law(groups, order):
    """H_p = 0 if all groups have one law, and H_p > 0 as soon as one atom of one group moves."""
    law = random_law(np.random.default_rng(groups))
    laws = dict.fromkeys(range(groups), law)
    weights = fp.Weights({group: group + 1 for group in range(groups)})
    moved = fp.Law([*law.atoms[:-1], law.atoms[-1] + 1e-3], law.weights)

    assert fp.heterogeneity(laws, weights, order=order) == 0
    assert fp.heterogeneity({**laws, 0: moved}, weights, order=order) > 0


@pytest.mark.parametrize("reach", [0.5, 1.0, 10.0])
def test_def_hp_is_an_integral_over_scores_and_not_an_average_over_their_range(reach):
    """Two point masses at distance r have H_2 = α_0 α_1 r; the paper's tables divide it by r."""
    laws = {"a": fp.Law([0.0], [1]), "b": fp.Law([reach], [1])}
    weights = fp.Weights({"a": 1, "b": 3})

    expected = weights["a"] * weights["b"] * reach

    assert fp.heterogeneity(laws, weights) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("groups", [2, 3])
def test_def_hp_scales_with_the_scores_and_def_up_with_their_power(groups, order):
    """H_p(cZ) = c H_p(Z), an integral over scores, while U_p(cZ) = c^p U_p(Z)."""
    laws, weights = random_groups(np.random.default_rng(1), groups)
    scale = 7.3
    scaled = {group: fp.Law(scale * law.atoms, law.weights) for group, law in laws.items()}

    heterogeneity = fp.heterogeneity(laws, weights, order=order)
    disparity = fp.disparity(laws, weights, order=order)

    assert fp.heterogeneity(scaled, weights, order=order) == pytest.approx(scale * heterogeneity)
    assert fp.disparity(scaled, weights, order=order) == pytest.approx(scale**order * disparity)


@pytest.mark.parametrize("seed", SEEDS)
def test_rem_two_groups_order_2_needs_one_distance_only(seed):
    """For two groups U_2 = α_0 α_1 W_2² and H_2 = α_0 α_1 C_2²."""
    laws, weights = random_groups(np.random.default_rng(seed), 2)
    mu, nu = laws.values()
    product = np.prod(list(weights.values()))
    around_barycenter = mean_power_around(laws, weights, fp.theory.barycenter(laws, weights), 2)
    around_mixture = mean_cramer_power_around(laws, weights, fp.theory.mixture(laws, weights), 2)

    assert around_barycenter == pytest.approx(product * fp.wasserstein(mu, nu) ** 2, rel=1e-13)
    assert around_mixture == pytest.approx(product * fp.theory.cramer(mu, nu) ** 2, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_rem_two_groups_order_1_has_other_factors(seed):
    """For two groups U_1 = min(α_0, α_1) W_1 and H_1 = 2 α_0 α_1 W_1, not α_0 α_1 W_1."""
    laws, weights = random_groups(np.random.default_rng(seed), 2)
    shares = list(weights.values())
    distance = fp.wasserstein(*laws.values(), order=1)
    center = fp.theory.barycenter(laws, weights, order=1)
    around_barycenter = mean_power_around(laws, weights, center, 1)
    around_mixture = mean_cramer_power_around(laws, weights, fp.theory.mixture(laws, weights), 1)

    assert around_barycenter == pytest.approx(min(shares) * distance, rel=1e-13)
    assert around_mixture == pytest.approx(2 * np.prod(shares) * distance, rel=1e-12)


@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_rem_two_groups_extends_to_a_sum_over_pairs(seed, groups):
    """For any number of groups U_2 = Σ_{s<t} α_s α_t W_2²(ν_s, ν_t), and H_2 with C_2."""
    laws, weights = random_groups(np.random.default_rng(seed), groups)
    pairs = [(s, t) for s in laws for t in laws if s < t]
    transport = [
        weights[s] * weights[t] * fp.theory.wasserstein_power(laws[s], laws[t]) for s, t in pairs
    ]
    vertical = [
        weights[s] * weights[t] * fp.theory.cramer_power(laws[s], laws[t]) for s, t in pairs
    ]

    assert fp.disparity(laws, weights) == pytest.approx(sum(transport), rel=1e-13)
    assert fp.heterogeneity(laws, weights) == pytest.approx(sum(vertical), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_wass_barycenter_order_2_splits_distances_to_any_law(seed):
    """Σ α_s W_2²(ν_s, ν) = Σ α_s W_2²(ν_s, ν*) + W_2²(ν*, ν): ν* is the only minimizer."""
    rng = np.random.default_rng(seed)
    laws, weights = random_groups(rng, 3)
    center, other = fp.theory.barycenter(laws, weights), random_law(rng)

    expected = mean_power_around(laws, weights, center, 2) + fp.theory.wasserstein_power(
        center, other
    )

    assert mean_power_around(laws, weights, other, 2) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("groups", [2, 3, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_eq_wass_barycenter_order_1_reaches_the_smallest_sum_at_every_level(seed, groups):
    """For p = 1, U_1 = ∫ min_z Σ α_s |Q_s(u) - z| du; some Q_s(u) is a minimizer."""
    rng = np.random.default_rng(seed)
    records = 6
    quantiles = np.sort(rng.integers(-9, 10, (groups, records)), axis=1)
    laws = {s: fp.Law.from_scores(row) for s, row in enumerate(quantiles)}
    weights = fp.Weights({s: int(rng.integers(1, 4)) for s in laws})
    shares = np.array(list(weights.values()))
    costs = np.einsum("s,szu->zu", shares, np.abs(quantiles[:, None] - quantiles[None]))

    expected = costs.min(axis=0).mean()
    center = fp.theory.barycenter(laws, weights, order=1)

    assert mean_power_around(laws, weights, center, 1) == pytest.approx(expected, rel=1e-13)
    assert fp.disparity(laws, weights, order=1) == pytest.approx(expected, rel=1e-13)


def test_eq_wass_barycenter_order_1_is_the_lower_median_where_it_is_not_unique():
    """With two equal shares every law between the two is a minimizer; the lower one is taken."""
    laws = {"a": fp.Law([0.0, 1.0], [1, 1]), "b": fp.Law([2.0, 5.0], [1, 1])}
    weights = fp.Weights({"a": 1, "b": 1})
    between = fp.theory.barycenter(laws, weights, order=2)

    lower = fp.theory.barycenter(laws, weights, order=1)

    assert lower.atoms.tolist() == laws["a"].atoms.tolist()
    assert mean_power_around(laws, weights, lower, 1) == pytest.approx(
        mean_power_around(laws, weights, between, 1), rel=1e-15
    )


@pytest.mark.parametrize("groups", [10, 12, 20, 40])
def test_eq_wass_barycenter_order_1_finds_the_lower_median_of_equal_shares(groups):
    """Half of the shares reach one half, although six twelfths added up in floats do not."""
    laws = {s: fp.Law([float(s)], [1]) for s in range(groups)}
    weights = fp.Weights(dict.fromkeys(laws, 1))

    assert fp.theory.barycenter(laws, weights, order=1).atoms.tolist() == [groups / 2 - 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_cramer_barycenter_order_2_splits_distances_to_any_law(seed):
    """Σ α_s C_2²(ν_s, ν) = H_2 + C_2²(ν^×, ν): the mixture is the only minimizer for p = 2."""
    rng = np.random.default_rng(seed)
    laws, weights = random_groups(rng, 3)
    mixed, other = fp.theory.mixture(laws, weights), random_law(rng)

    expected = fp.heterogeneity(laws, weights) + fp.theory.cramer_power(mixed, other)

    assert mean_cramer_power_around(laws, weights, other, 2) == pytest.approx(expected, rel=1e-12)


def test_eq_cramer_barycenter_order_1_is_not_the_mixture():
    """For p = 1 C_1 = W_1, whose barycenter is a median: nearer to all than the mixture is.

    So H_1 is not a Fréchet variance; it exceeds U_1, the smallest value of the same sum.
    """
    laws = {"a": fp.Law([0.0], [1]), "b": fp.Law([1.0], [1])}
    weights = fp.Weights({"a": 1, "b": 3})
    median = fp.theory.barycenter(laws, weights, order=1)

    at_median = mean_cramer_power_around(laws, weights, median, 1)

    assert at_median == fp.disparity(laws, weights, order=1)
    assert fp.heterogeneity(laws, weights, order=1) > at_median


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_cp_cdf_is_the_integral_between_the_cdfs(seed):
    """C_p^p = ∫ |F - G|^p: with whole-number atoms, a sum over unit intervals; and C_1 = W_1."""
    rng = np.random.default_rng(seed)
    mu, nu = random_law(rng), random_law(rng)
    units = np.arange(-9, 9)
    gaps = np.abs(mu.cdf(units) - nu.cdf(units))

    assert fp.theory.cramer_power(mu, nu, order=1) == pytest.approx(gaps.sum(), rel=1e-13)
    assert fp.theory.cramer_power(mu, nu, order=2) == pytest.approx((gaps**2).sum(), rel=1e-13)
    assert fp.wasserstein(mu, nu, order=1) == pytest.approx(gaps.sum(), rel=1e-13)
