"""Section 4 and its proofs: mixtures across silos and what sketches recover of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from tests.paper.densities import (
    Blocks,
    Tilted,
    distance_between_cdfs,
    tilted_disparity,
    tilted_heterogeneity,
)
from tests.paper.samples import lossless, pooled, random_cells, random_law, sketched

import fedparity as fp

SEEDS = range(8)
EXACT = {order: fp.Method(order=order, estimator="exact") for order in (1, 2)}

TILTS = {"a": (-0.5, -0.2, 0.1), "b": (0.5, 0.3, -0.1)}
"""Tilt of the score law of each group in each of three silos."""
COUNTS = {"a": (10, 20, 30), "b": (25, 10, 5)}
SHARES = np.array([0.6, 0.4])
MIXED = [np.average(TILTS[group], weights=COUNTS[group]) for group in TILTS]
"""Tilt of the mixture of each group: mixtures of tilted laws are tilted laws."""
STEEPNESS = max(1 / Tilted(tilt).lowest_density for tilt in MIXED)
"""A Lipschitz constant of the quantile functions of both mixtures."""


def true_federation(levels):
    """Return the federation whose cells hold the true quantiles and the true shares."""
    grid = fp.theory.midpoints(levels)
    return fp.Federation.from_cells(
        {
            (j, group): fp.Cell(count=COUNTS[group][j], values=Tilted(tilt).quantile(grid))
            for group, tilts in TILTS.items()
            for j, tilt in enumerate(tilts)
        }
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_nu_s_times_averages_the_cdfs_of_the_silos(seed):
    """F_s^× = Σ_j π_{j|s} F_{j,s}, here between step cdfs of different numbers of levels."""
    cells = random_cells(np.random.default_rng(seed), silos=4, groups=2)
    federation = lossless(cells)
    points = np.arange(-6.5, 10)

    for group, law in fp.theory.mixtures(federation).items():
        own = {j: scores for (j, s), scores in cells.items() if s == group}
        shares = fp.Weights({j: len(scores) for j, scores in own.items()})
        expected = sum(shares[j] * fp.Law.from_scores(x).cdf(points) for j, x in own.items())

        assert law.cdf(points) == pytest.approx(expected, rel=1e-13)


def test_eq_nu_s_times_does_not_commute_with_quantiles():
    """The mixture of point masses at 0 and 1 has no atom at 1/2, where their mean quantile is."""
    cells = {(0, "a"): [0.0], (1, "a"): [1.0], (0, "b"): [0.0], (1, "b"): [1.0]}
    federation = sketched(cells, 1)

    assert fp.theory.mixtures(federation)["a"].atoms.tolist() == [0.0, 1.0]
    assert fp.theory.centers(federation)["a"].atoms.tolist() == [0.5]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_eq_nu_s_star_is_nearest_to_the_laws_of_the_silos(seed, order):
    """No law has a smaller Σ_j π_{j|s} W_p(ν_{j,s}, ν)^p than the transport center of the group."""
    rng = np.random.default_rng(seed)
    cells = random_cells(rng, silos=3, groups=2)
    for group, center in fp.theory.centers(lossless(cells), order=order).items():
        laws = {j: fp.Law.from_scores(x) for (j, s), x in cells.items() if s == group}
        shares = fp.Weights({j: len(cells[j, group]) for j in laws})

        def cost(law, laws=laws, shares=shares):
            return sum(
                shares[j] * fp.theory.wasserstein_power(own, law, order=order)
                for j, own in laws.items()
            )

        shaken = center.atoms + rng.normal(scale=0.1, size=len(center))
        others = [fp.Law(shaken, center.weights), random_law(rng), *laws.values()]

        assert cost(center) == pytest.approx(fp.disparity(laws, shares, order=order), rel=1e-12)
        assert cost(center) <= min(map(cost, others)) * (1 + 1e-12)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_def_gp_is_the_mean_power_of_the_distances_of_mixtures_to_their_barycenter(
    seed, groups, order
):
    """G_p = Σ α_s W_p(ν_s^×, ν^{×*})^p and H_p^× = Σ α_s C_p(ν_s^×, ν^×)^p."""
    cells = random_cells(np.random.default_rng(seed), silos=3, groups=groups)
    federation = sketched(cells, 5)
    laws, weights = fp.theory.mixtures(federation), federation.weights
    center = fp.theory.barycenter(laws, weights, order=order)
    whole = fp.theory.mixture(laws, weights)

    disparity = sum(
        weights[s] * fp.theory.wasserstein_power(law, center, order=order)
        for s, law in laws.items()
    )
    heterogeneity = sum(
        weights[s] * fp.theory.cramer_power(law, whole, order=order) for s, law in laws.items()
    )
    result = fp.theory.estimate(federation, EXACT[order])

    assert result.disparity == pytest.approx(disparity, rel=1e-12)
    assert result.heterogeneity == pytest.approx(heterogeneity, rel=1e-12)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_prop_gp_equals_up_when_sketches_lose_nothing(seed, groups, order):
    """G_p = U_p and H_p^× = H_p: cells that send all their records recover the pooled data."""
    cells = random_cells(np.random.default_rng(seed), silos=4, groups=groups)
    scores, labels = pooled(cells)
    disparity = fp.disparity(scores, sensitive_features=labels, order=order)
    heterogeneity = fp.heterogeneity(scores, sensitive_features=labels, order=order)

    result = fp.theory.estimate(lossless(cells), EXACT[order])

    assert result.disparity == pytest.approx(disparity, rel=1e-12)
    assert result.heterogeneity == pytest.approx(heterogeneity, rel=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_prop_gp_equals_up_on_a_grid_that_separates_all_records(order):
    """Algorithm 1 recovers U_p too, once its grid has a level for every record of a group."""
    rng = np.random.default_rng(0)
    cells = {(j, s): rng.normal(s, 1, size) for j, size in enumerate((3, 5, 4)) for s in (0, 1)}
    scores, labels = pooled(cells)

    expected = fp.disparity(scores, sensitive_features=labels, order=order)
    measured = fp.theory.estimate(
        lossless(cells), fp.Method(order=order, estimator="grid", levels=12)
    ).disparity

    assert measured == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("levels", [10, 100, 1000, 10_000])
@pytest.mark.parametrize("order", [1, 2])
def test_prop_federated_consistency_bounds_the_error_of_true_quantiles(order, levels):
    """With true quantiles and shares |Ḡ_{k,p} - G_p| ≤ C/k and |H̄ - H| ≤ p(b - a)/k.

    The proof refers to `prop:discretization`, which has no mixture to invert. The step cdfs are
    within 1/(2k) of the true ones, so are their mixtures, and the inverses within L/(2k); that is
    added to the constant of the Riemann sum, L for p = 1 and 2L for p = 2.
    """
    constant = STEEPNESS / 2 + order * STEEPNESS

    result = fp.theory.estimate(true_federation(levels), fp.Method(order=order, estimator="grid"))

    assert abs(result.disparity - tilted_disparity(MIXED, SHARES, order)) <= constant / levels
    assert abs(result.heterogeneity - tilted_heterogeneity(MIXED, SHARES, order)) <= order / levels


@pytest.mark.parametrize("order", [1, 2])
def test_prop_federated_consistency_follows_the_cdfs_and_counts_of_a_sample(order):
    """|Ĝ_{k,p} - G_p| is within what the realised cdfs and shares allow, plus C/k.

    The cdf of a cell is off by at most ‖F̂ - F‖ + 1/(2k), a mixture by ‖π̂ - π‖₁ more, and its
    quantiles by L times that. G_1 moves by at most as much, and by D/2 times ‖α̂ - α‖₁; G_2, with
    scores in an interval of length D, by D times as much, and by D²/2 times ‖α̂ - α‖₁
    (`lem:Phi-lip-app` with its best constants). No local density is needed, and no log k.
    """
    rng = np.random.default_rng(20)
    records, levels, shift = 2_000_000, 2000, 1.0
    diameter = 1 + shift
    true_pi = np.array([np.array(row) / sum(row) for row in COUNTS.values()])
    counts = rng.multinomial(records, (SHARES[:, None] * true_pi).ravel()).reshape(2, 3)
    laws = {
        (i, j): fp.Law.from_scores(Tilted(tilt).quantile(rng.random(counts[i, j])))
        for i, tilts in enumerate(TILTS.values())
        for j, tilt in enumerate(tilts)
    }
    cells = {
        (j, i): fp.Cell(
            count=law.weights.sum(), values=fp.theory.quantile_values(law, levels) + i * shift
        )
        for (i, j), law in laws.items()
    }
    tilts = list(TILTS.values())
    in_cdf = max(distance_between_cdfs(Tilted(tilts[i][j]), law) for (i, j), law in laws.items())
    pi = counts / counts.sum(axis=1, keepdims=True)
    in_pi = np.abs(pi - true_pi).sum(axis=1).max()
    in_alpha = np.abs(counts.sum(axis=1) / records - SHARES).sum()
    in_quantile = STEEPNESS * (in_cdf + 1 / (2 * levels) + in_pi)
    bound = diameter ** (order - 1) * (
        in_quantile + diameter / 2 * in_alpha + order * STEEPNESS / levels
    )
    gain = MIXED[1] - MIXED[0]
    truth = (
        SHARES.min() * (shift + gain / 6)
        if order == 1
        else SHARES.prod() * (shift**2 + shift * gain / 3) + tilted_disparity(MIXED, SHARES, 2)
    )

    measured = fp.theory.estimate(
        fp.Federation.from_cells(cells), fp.Method(order=order, estimator="grid")
    ).disparity

    assert bound < truth / 10
    assert abs(measured - truth) <= bound


@pytest.mark.parametrize("order", [1, 2])
def test_rem_trimmed_applies_to_the_mixtures_of_a_federation(order):
    """Trimmed, G_p integrates over [ε, 1 - ε], and Algorithm 1 reads the inner grid."""
    trim, levels = 0.0371, 9  # no cumulative mass meets a level of this grid
    federation = sketched(random_cells(np.random.default_rng(2), silos=3, groups=3), levels)
    laws, weights = fp.theory.mixtures(federation), federation.weights
    grid = fp.theory.midpoints(levels, trim=trim)
    values = {s: law.quantile(grid) for s, law in laws.items()}
    integral = fp.disparity(laws, weights, order=order, trim=trim)
    riemann = (1 - 2 * trim) * fp.theory.riemann_disparity(values, weights, order=order)

    exact = fp.theory.estimate(federation, fp.Method(order=order, estimator="exact", trim=trim))
    on_grid = fp.theory.estimate(federation, fp.Method(order=order, estimator="grid", trim=trim))

    assert exact.disparity == pytest.approx(integral, rel=1e-13)
    assert on_grid.disparity == pytest.approx(riemann, rel=1e-13)


def beta_federation(rng, levels):
    """Return the sketches of a beta federation under selection, and its pooled disparity."""
    cells = {}
    for j, lean in enumerate(np.linspace(-1, 1, 5)):
        for s, (a, b) in enumerate([(3.0, 4.0), (6.0, 4.0)]):
            scores = rng.beta(a + 1.5 * lean, b - 1.5 * lean, int(rng.integers(400, 900)))
            cells[j, s] = scores
    scores, labels = pooled(cells)
    return sketched(cells, levels), fp.disparity(scores, sensitive_features=labels)


@pytest.fixture(scope="module")
def errors_of_three_estimators():
    """Mean absolute errors of the grid, exact and linear-exact readings of the same sketches."""
    rng = np.random.default_rng(10)
    errors = {"grid": [], "exact": [], "linear": []}
    for levels in (10, 20, 40):
        for _ in range(10):
            federation, truth = beta_federation(rng, levels)
            grid = fp.theory.midpoints(levels)
            values = {s: law.quantile(grid) for s, law in fp.theory.mixtures(federation).items()}
            readings = {
                "grid": fp.theory.estimate(federation, fp.Method(estimator="grid")).disparity,
                "exact": fp.theory.estimate(federation, EXACT[2]).disparity,
                "linear": fp.theory.linear_disparity(values, federation.weights),
            }
            for name, value in readings.items():
                errors[name].append(abs(value - truth) / truth)
    return {name: np.mean(values) for name, values in errors.items()}


def test_alg_oneshot_loses_accuracy_in_the_inversion_and_not_in_the_sketch(
    errors_of_three_estimators,
):
    """Integrating between the same mixtures exactly cuts the error of the grid about in half."""
    errors = errors_of_three_estimators

    assert errors["exact"] < 0.6 * errors["grid"]


def test_prop_order_gain_is_lost_after_a_stepwise_inversion(errors_of_three_estimators):
    """The linear-exact formula on inverted mixtures is no better than Algorithm 1 itself."""
    errors = errors_of_three_estimators

    assert errors["linear"] > 0.9 * errors["grid"]


def test_prop_hp_quantiles_counts_a_level_below_epsilon_as_trimmed():
    """The index l = εk belongs to {⌈εk⌉, ...} although u_l = ε - 1/(2k) < ε."""
    levels, epsilon = 10, 0.1
    first = math.ceil(epsilon * levels)

    assert fp.theory.midpoints(levels)[first - 1] < epsilon


def test_prop_hp_quantiles_fails_at_that_level():
    """There the bound holds with probability one half only, however many records there are.

    One twentieth of the mass lies below a gap. The density is bounded below on the whole trimmed
    region, but at u = 1/20 the empirical quantile jumps over the gap when fewer than n/20
    records lie below it.
    """
    levels, epsilon, delta, records = 10, 0.1, 0.1, 100_000
    law = Blocks(left=(0.0, 10.0), right=(1.0, 11.0), masses=(0.05, 0.95))
    lowest = law.lowest_density(law.quantile(epsilon), law.quantile(1 - epsilon))
    level = fp.theory.midpoints(levels)[0]
    cells = 2  # one silo, two groups
    bound = math.sqrt(math.log(2 * (levels + 1) * cells / delta) / (2 * records)) / lowest

    wrong_side = stats.binom.cdf(round(records * level) - 1, records, level)

    assert lowest > 0.9
    assert law.left[1] - law.quantile(level) > 100 * bound
    assert wrong_side > 0.45 > delta
