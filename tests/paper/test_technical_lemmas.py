"""Appendix C and the lemmas of appendix F: quantiles, Riemann sums, cdfs and their inverses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize
from tests.paper.densities import Blocks, Tilted, distance_between_cdfs
from tests.paper.samples import random_law

import fedparity as fp

SEEDS = range(10)


def cost_of_the_best_plan(mu, nu, order):
    """Return the smallest mean cost of any coupling of two laws, by linear programming."""
    costs = np.abs(mu.atoms[:, None] - nu.atoms[None]) ** order
    rows, columns = costs.shape
    leaves = np.kron(np.eye(rows), np.ones(columns))
    arrives = np.kron(np.ones(rows), np.eye(columns))
    plan = optimize.linprog(
        costs.ravel(),
        A_eq=np.vstack([leaves, arrives]),
        b_eq=np.concatenate([mu.masses, nu.masses]),
    )
    return plan.fun


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_lem_wp_quantiles_is_the_cost_of_the_best_transport_plan(seed, order):
    """∫ |Q_μ - Q_ν|^p is the least mean of |x - y|^p over all couplings of μ and ν."""
    rng = np.random.default_rng(seed)
    mu, nu = random_law(rng), random_law(rng)

    expected = cost_of_the_best_plan(mu, nu, order)

    assert fp.theory.wasserstein_power(mu, nu, order=order) == pytest.approx(expected, rel=1e-9)
    assert fp.wasserstein(mu, nu, order=order) == pytest.approx(expected ** (1 / order), rel=1e-9)


@pytest.mark.parametrize("levels", [1, 2, 7, 30])
@pytest.mark.parametrize("seed", SEEDS)
def test_lem_midpoint_riemann_bounds_the_error_by_the_lipschitz_constant(seed, levels):
    """|∫ g - (1/k) Σ g(u_l)| ≤ L/(4k) for piecewise linear g: half of the paper's L/(2k)."""
    rng = np.random.default_rng(seed)
    nodes = np.concatenate(([0.0], np.sort(rng.random(12)), [1.0]))
    heights = rng.normal(size=nodes.size)
    lipschitz = np.abs(np.diff(heights) / np.diff(nodes)).max()
    integral = np.trapezoid(heights, nodes)

    error = abs(integral - np.interp(fp.theory.midpoints(levels), nodes, heights).mean())

    assert error <= lipschitz / (4 * levels)


@pytest.mark.parametrize("levels", [1, 2, 7, 30])
def test_lem_midpoint_riemann_best_constant_is_one_quarter(levels):
    """g(u) = distance to the nearest midpoint is 1-Lipschitz with integral 1/(4k) and sum zero."""
    nodes = np.arange(2 * levels + 1) / (2 * levels)
    heights = np.where(np.arange(nodes.size) % 2, 0.0, 1 / (2 * levels))

    error = (
        np.trapezoid(heights, nodes)
        - np.interp(fp.theory.midpoints(levels), nodes, heights).mean()
    )

    assert error == pytest.approx(1 / (4 * levels), rel=1e-12)


@pytest.mark.parametrize("levels", [1, 2, 7, 100])
@pytest.mark.parametrize("tilt", [-0.7, 0.0, 0.4])
def test_lem_cdf_unif_is_an_equality_for_continuous_cdfs(tilt, levels):
    """‖F̄_k - F‖ ≤ 1/(2k), reached on both sides of every knot of a continuous F."""
    law = Tilted(tilt)
    step = fp.theory.step_law(law.quantile(fp.theory.midpoints(levels)))

    distance = distance_between_cdfs(law, step)

    assert distance == pytest.approx(1 / (2 * levels), rel=1e-12)


@pytest.mark.parametrize("levels", [1, 2, 3, 8, 50])
@pytest.mark.parametrize("seed", SEEDS)
def test_lem_stepcdf_holds_for_any_cdf_with_half_the_constant(seed, levels):
    """‖F_k - F‖ ≤ 1/(2k) for any F, empirical ones included: half of the paper's 1/k.

    q_l ≤ x means u_l ≤ F(x), so k F_k(x) counts the l with l - 1/2 ≤ k F(x): it is the whole
    number nearest to k F(x).
    """
    law = random_law(np.random.default_rng(seed))
    step = fp.theory.step_law(fp.theory.quantile_values(law, levels))

    distance = np.abs(step.cdf(law.atoms) - law.cumulative).max()

    assert distance <= 1 / (2 * levels) + 1e-15


def test_lem_stepcdf_constant_is_reached():
    """A law whose cdf passes half way between two steps is 1/(2k) away."""
    law = fp.Law([0.0, 1.0], [1, 3])
    step = fp.theory.step_law(fp.theory.quantile_values(law, 2))

    assert abs(step.cdf(0.0) - law.cdf(0.0)) == 1 / 4


@pytest.mark.parametrize("seed", range(30))
def test_lem_quantile_bracket_encloses_the_inverse(seed):
    """F←(u - Δ) ≤ G←(u) ≤ F←(u + Δ) for u in (Δ, 1 - Δ), Δ = ‖F - G‖.

    Masses are multiples of 1/64, so that every level and distance is an exact float.
    """
    rng = np.random.default_rng(seed)
    first, second = (fp.Law(np.arange(9), rng.multinomial(64, np.ones(9) / 9)) for _ in range(2))
    points = np.arange(9)
    distance = np.abs(first.cdf(points) - second.cdf(points)).max()
    levels = np.arange(1, 256) / 256
    inside = levels[(levels > distance) & (levels < 1 - distance)]

    assert 0 < distance < 0.5
    assert (first.quantile(inside - distance) <= second.quantile(inside)).all()
    assert (second.quantile(inside) <= first.quantile(inside + distance)).all()


def test_lem_quantile_bracket_needs_the_whole_distance():
    """With any less than Δ the bracket fails: one record of a hundred moved is enough."""
    first, second = fp.Law([0.0, 1.0], [50, 50]), fp.Law([0.0, 1.0], [49, 51])
    distance = abs(first.cdf(0.0) - second.cdf(0.0))

    assert second.quantile(0.495) <= first.quantile(0.495 + distance)
    assert second.quantile(0.495) > first.quantile(0.495 + distance / 4)


GAPPED = Blocks(
    left=(-11.0, 0.0, 1.0, 12.0), right=(-10.0, 1.0, 3.0, 13.0), masses=(0.09, 0.4, 0.42, 0.09)
)
"""A law whose density is at least 0.21 on its trimmed region, with a gap on either side of it."""
TRIM = 0.1
LOWEST = GAPPED.lowest_density(GAPPED.quantile(TRIM), GAPPED.quantile(1 - TRIM))


@pytest.mark.parametrize("records", [200, 2_000, 20_000])
@pytest.mark.parametrize("seed", range(5))
def test_lem_quantile_lip_holds_one_distance_inside_the_trimmed_region(seed, records):
    """|G←(u) - F←(u)| ≤ Δ/m for u in [ε + Δ, 1 - ε - Δ], where u ± Δ stays in the region."""
    rng = np.random.default_rng(seed)
    sample = fp.Law.from_scores(GAPPED.quantile(rng.random(records)))
    distance = distance_between_cdfs(GAPPED, sample)
    u = np.linspace(TRIM + distance, 1 - TRIM - distance, 2_001)

    error = np.abs(sample.quantile(u) - GAPPED.quantile(u)).max()

    assert LOWEST > 0.2
    assert error <= distance / LOWEST


def test_lem_quantile_lip_fails_at_the_end_of_the_trimmed_region():
    """At u = ε the inverse may jump over a gap below F←(ε), however small Δ ≤ ε/2 is.

    Two hundredths of the mass move below the gap. The hypothesis of the lemma holds, and the
    inverse moves by more than ten where Δ/m is less than one tenth.
    """
    moved = Blocks(left=GAPPED.left, right=GAPPED.right, masses=(0.11, 0.38, 0.42, 0.09))
    points = np.linspace(-12, 14, 10_001)
    distance = np.abs(GAPPED.cdf(points) - moved.cdf(points)).max()

    error = abs(moved.quantile(TRIM) - GAPPED.quantile(TRIM))

    assert distance == pytest.approx(0.02)
    assert distance <= TRIM / 2
    assert distance / LOWEST < 0.1
    assert error > 10


def test_lem_quantile_lip_constant_is_reached():
    """A uniform law with Δ of its mass moved to its lowest point is Δ lower at every level."""
    distance = 0.05
    records = 1_000
    uniform = Tilted(0.0)
    scores = np.maximum(fp.theory.midpoints(records) - distance, 0.0)
    lower = fp.Law.from_scores(scores)
    u = fp.theory.midpoints(records)[100:900]

    errors = np.abs(lower.quantile(u) - uniform.quantile(u))

    assert distance_between_cdfs(uniform, lower) == pytest.approx(distance, abs=1 / records)
    assert errors == pytest.approx(distance / uniform.lowest_density, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_lem_quantile_lip_cr_holds_one_distance_inside_the_central_region(seed):
    """The bound holds for u in [ε + Δ, 1 - ε - Δ] and G a mixture of F with anything."""
    rng = np.random.default_rng(seed)
    other = random_law(rng)
    records = 4_000
    fine = fp.Law.from_scores(GAPPED.quantile(fp.theory.midpoints(records)))
    mixed = fp.theory.mixture({"F": fine, "other": other}, fp.Weights({"F": 19, "other": 1}))
    distance = distance_between_cdfs(GAPPED, mixed)
    u = np.linspace(TRIM + distance, 1 - TRIM - distance, 2_001)

    error = np.abs(mixed.quantile(u) - GAPPED.quantile(u)).max()

    assert 0.005 < distance < 0.1
    assert error <= distance / LOWEST


def test_lem_quantile_lip_cr_fails_for_cdfs_that_are_far_away():
    """It is stated for "any CDF G": a far point mass has Δ = 1 and an inverse as far as it likes."""
    uniform, far = Tilted(0.0), fp.Law([1000.0], [1])
    distance = distance_between_cdfs(uniform, far)

    error = abs(far.quantile(0.5) - uniform.quantile(0.5))

    assert distance == 1
    assert error > 100 * distance / uniform.lowest_density


@pytest.mark.parametrize("levels", [1, 3, 10])
@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_lem_phi_lip_app_bounds_the_effect_of_knots(seed, groups, levels):
    """|Φ_α(q) - Φ_α(q')| ≤ 2B ‖q - q'‖, an eighth of the paper's 16B.

    The gradient of Φ is twice the deviations, whose weighted mean is at most B.
    """
    rng = np.random.default_rng(seed)
    weights = fp.Weights({s: int(rng.integers(1, 9)) for s in range(groups)})
    bound = 3.0
    table = rng.uniform(-bound, bound, (groups, levels))
    moved = np.clip(
        table + rng.normal(scale=rng.uniform(0.001, 1), size=table.shape), -bound, bound
    )
    largest = np.abs(table - moved).max()

    change = fp.theory.riemann_disparity(
        dict(enumerate(table)), weights
    ) - fp.theory.riemann_disparity(dict(enumerate(moved)), weights)

    assert abs(change) <= 2 * bound * largest


def test_lem_phi_lip_app_best_constant_for_knots_is_two():
    """Two equal groups at ±B that approach each other change Φ by 2B ‖q - q'‖ to first order."""
    weights = fp.Weights({0: 1, 1: 1})
    bound, step = 3.0, 1e-6

    change = fp.theory.riemann_disparity(
        {0: [bound], 1: [-bound]}, weights
    ) - fp.theory.riemann_disparity({0: [bound - step], 1: [-bound + step]}, weights)

    assert change == pytest.approx(2 * bound * step, rel=1e-6)


@pytest.mark.parametrize("levels", [1, 3, 10])
@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_lem_phi_lip_app_bounds_the_effect_of_weights(seed, groups, levels):
    """|Φ_α̂(q) - Φ_α(q)| ≤ 2B² ‖α̂ - α‖₁, an eighth of the paper's 16B².

    The proof takes q* to be the same for both weights. It is not: the change is
    Σ (α̂_s - α_s) ψ_s minus the mean of (q̂* - q*)². The constant suffices all the same.
    """
    rng = np.random.default_rng(seed)
    bound = 3.0
    table = rng.uniform(-bound, bound, (groups, levels))
    alpha, moved = rng.dirichlet(np.ones(groups), 2)
    values = dict(enumerate(table))
    center, moved_center = alpha @ table, moved @ table
    frozen = (moved - alpha) @ np.mean((table - center) ** 2, axis=1)
    forgotten = np.mean((moved_center - center) ** 2)

    change = fp.theory.riemann_disparity(values, fp.Weights(dict(enumerate(moved)))) - (
        fp.theory.riemann_disparity(values, fp.Weights(dict(enumerate(alpha))))
    )

    assert change == pytest.approx(frozen - forgotten, rel=1e-9, abs=1e-14)
    assert forgotten > 0
    assert abs(change) <= 2 * bound**2 * np.abs(moved - alpha).sum()


def test_lem_phi_lip_app_best_constant_for_weights_is_two():
    """A group that appears at the other end changes Φ by 2B² ‖α̂ - α‖₁ to first order."""
    bound, share = 3.0, 1e-6
    values = {0: [bound], 1: [-bound]}

    change = fp.theory.riemann_disparity(values, fp.Weights({0: 1 - share, 1: share}))

    assert change == pytest.approx(2 * bound**2 * 2 * share, rel=1e-5)
