"""Section 3 and its proofs: what k numbers per group say of the disparity."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from tests.paper.densities import (
    Tilted,
    distance_between_cdfs,
    tilted_disparity,
    tilted_heterogeneity,
)
from tests.paper.samples import random_groups

import fedparity as fp

SEEDS = range(8)
TILTS = {"a": -0.6, "b": 0.2, "c": 0.5}
SHARES = fp.Weights({"a": 5, "b": 3, "c": 2})
STEEPNESS = max(1 / Tilted(tilt).lowest_density for tilt in TILTS.values())
"""A Lipschitz constant of all the quantile functions: one over the lowest density."""
DIAMETER = 1.0
"""Of the common support [0, 1]."""


def tilted_sketch(levels):
    """Return the true midpoint quantiles of each tilted group."""
    grid = fp.theory.midpoints(levels)
    return {group: Tilted(tilt).quantile(grid) for group, tilt in TILTS.items()}


def hull(laws):
    """Return the diameter of the smallest interval that holds all atoms."""
    atoms = np.concatenate([law.atoms for law in laws.values()])
    return np.ptp(atoms)


def bin_averages(law, records, levels):
    """Return the means of Q over k bins for a law of ``records`` scores, by a finer grid."""
    fine = math.lcm(records, levels)
    return law.quantile(fp.theory.midpoints(fine)).reshape(levels, -1).mean(axis=1)


def equal_records(rng, records):
    """Return the law of ``records`` whole-number scores."""
    return fp.Law.from_scores(rng.integers(-9, 10, records))


@pytest.mark.parametrize("levels", [1, 2, 3, 10, 55])
def test_eq_u_grid_is_the_midpoint_of_every_bin(levels):
    """u_l = (l - 1/2)/k, each rounded once, and never 0 or 1."""
    expected = [float(Fraction(2 * ell - 1, 2 * levels)) for ell in range(1, levels + 1)]

    assert fp.theory.midpoints(levels).tolist() == expected
    assert 0 < min(expected) <= max(expected) < 1


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_eq_u_bar_kp_riemann_is_the_disparity_of_the_step_laws(seed, order):
    """Σ α_s (1/k) Σ_l |q_{s,l} - q*_l|^p is U_p of the laws with mass 1/k at each value."""
    laws, weights = random_groups(np.random.default_rng(seed), 3)
    values = {group: fp.theory.quantile_values(law, 7) for group, law in laws.items()}
    steps = {group: fp.theory.step_law(row) for group, row in values.items()}

    expected = fp.disparity(steps, weights, order=order)

    assert fp.theory.riemann_disparity(values, weights, order=order) == pytest.approx(
        expected, rel=1e-12
    )


def test_eq_nu_bar_k_reads_order_statistics_at_whole_number_ranks():
    """The quantile at u = 0.55 of n = 100 records is the 55th, although 100 · 0.55 > 55 in floats."""
    law = fp.Law.from_scores(np.arange(1, 101))

    assert math.ceil(100 * 0.55) == 56
    assert fp.theory.quantile_values(law, 10)[5] == 55
    assert law.quantile(0.55) == 55


@pytest.mark.parametrize("records", [1, 7, 40, 99, 100, 360, 1000])
def test_eq_nu_bar_k_sends_the_record_of_rank_ceil_n_u(records):
    """Q̂(u_l) is the order statistic of rank ⌈n u_l⌉, computed here in fractions."""
    law = fp.Law.from_scores(np.arange(1, records + 1))
    for levels in (1, 3, 10, 50, 100, 365):
        expected = [
            math.ceil(Fraction(records * (2 * ell - 1), 2 * levels))
            for ell in range(1, levels + 1)
        ]

        assert fp.theory.quantile_values(law, levels).tolist() == expected


@pytest.mark.parametrize("levels", [1, 2, 5, 20, 100, 1000])
@pytest.mark.parametrize("order", [1, 2])
def test_prop_discretization_bounds_the_error_of_the_disparity(order, levels):
    """|U_p - Ū_{k,p}| ≤ C_U/k with the constant of the proof, half that of the integrand.

    The quantile functions are L-Lipschitz and within D of their center, so the integrand is
    2L-Lipschitz for p = 1 and 2D·2L-Lipschitz for p = 2.
    """
    truth = tilted_disparity(list(TILTS.values()), list(SHARES.values()), order)
    integrand = 2 * STEEPNESS if order == 1 else 2 * DIAMETER * 2 * STEEPNESS
    constant = integrand / 2

    measured = fp.theory.riemann_disparity(tilted_sketch(levels), SHARES, order=order)

    assert abs(truth - measured) <= constant / levels


@pytest.mark.parametrize("levels", [1, 2, 5, 20, 100, 1000])
@pytest.mark.parametrize("order", [1, 2])
def test_prop_discretization_bounds_the_error_of_the_heterogeneity(order, levels):
    """|H_p - H̄_{k,p}| ≤ C_H/k with C_H = p (b - a), as the proof integrates it."""
    truth = tilted_heterogeneity(list(TILTS.values()), list(SHARES.values()), order)
    steps = {group: fp.theory.step_law(row) for group, row in tilted_sketch(levels).items()}
    constant = order * DIAMETER

    measured = fp.heterogeneity(steps, SHARES, order=order)

    assert abs(truth - measured) <= constant / levels


@pytest.mark.parametrize("levels", [1, 2, 3, 8, 30])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_prop_discretization_holds_for_any_bounded_law(seed, order, levels):
    """No density is needed: C_U = D for p = 1 and 2D² for p = 2, and C_H = pD.

    The proof takes Q to be Lipschitz, which fails as soon as the support has a gap. A monotone Q
    on [a, b] varies by D = b - a in all, so the integrand varies by at most C_U, and a Riemann
    sum of k bins is within its variation over k.
    """
    laws, weights = random_groups(np.random.default_rng(seed), 3)
    values = {group: fp.theory.quantile_values(law, levels) for group, law in laws.items()}
    steps = {group: fp.theory.step_law(row) for group, row in values.items()}
    width = hull(laws)
    disparity_error = fp.disparity(laws, weights, order=order) - fp.theory.riemann_disparity(
        values, weights, order=order
    )
    heterogeneity_error = fp.heterogeneity(laws, weights, order=order) - fp.heterogeneity(
        steps, weights, order=order
    )

    assert abs(disparity_error) <= (width if order == 1 else 2 * width**2) / levels
    assert abs(heterogeneity_error) <= order * width / levels


@pytest.mark.parametrize("records", [1_000, 30_000, 1_000_000])
@pytest.mark.parametrize("order", [1, 2])
def test_prop_discretization_plug_in_error_follows_the_empirical_cdf(order, records):
    """At fixed k, |Û_{k,p} - Ū_{k,p}| ≤ L max_s ‖F̂_s - F_s‖, which vanishes with n.

    Where the density is at least 1/L on the whole support a quantile moves by at most L times
    the distance of the cdfs, and both Ū_{k,1} and, on [0, 1], Ū_{k,2} by at most as much.
    """
    rng = np.random.default_rng(records)
    levels = 10
    samples = {
        group: fp.Law.from_scores(Tilted(tilt).quantile(rng.random(records)))
        for group, tilt in TILTS.items()
    }
    distance = max(distance_between_cdfs(Tilted(TILTS[g]), law) for g, law in samples.items())
    estimated = {group: fp.theory.quantile_values(law, levels) for group, law in samples.items()}

    error = fp.theory.riemann_disparity(
        estimated, SHARES, order=order
    ) - fp.theory.riemann_disparity(tilted_sketch(levels), SHARES, order=order)

    assert distance < 2 / math.sqrt(records)
    assert abs(error) <= STEEPNESS * distance


@pytest.mark.parametrize("trim", [0.05, 0.1, 0.25])
@pytest.mark.parametrize("levels", [4, 20, 100])
def test_rem_trimmed_grid_converges_where_the_whole_disparity_is_infinite(levels, trim):
    """Cauchy laws have no W_2, but W_{2,ε} is finite and its grid is within L(1-2ε)²/(4k).

    Q(u) = γ tan(π(u - 1/2)), and the integral of tan² is tan(πx)/π - x.
    """
    scales = {"a": 1.0, "b": 3.0}
    weights = fp.Weights({"a": 1, "b": 2})
    factor = weights["a"] * weights["b"] * (scales["b"] - scales["a"]) ** 2
    end = math.pi * (0.5 - trim)
    length = 1 - 2 * trim
    truth = factor * (2 * math.tan(end) / math.pi - length)
    lipschitz = factor * 2 * math.tan(end) * math.pi / math.cos(end) ** 2
    grid = fp.theory.midpoints(levels, trim=trim)
    values = {g: scale * np.tan(math.pi * (grid - 0.5)) for g, scale in scales.items()}

    measured = length * fp.theory.riemann_disparity(values, weights)

    assert abs(measured - truth) <= lipschitz * length**2 / (4 * levels)


@pytest.mark.parametrize("trim", [0.05, 0.1, 0.25])
def test_rem_trimmed_disparity_integrates_the_inner_levels_only(trim):
    """U_{2,ε} of laws of n records is the sum over their inner records, divided by n."""
    rng = np.random.default_rng(3)
    records = 20
    scores = np.sort(rng.normal(size=(2, records)), axis=1)
    laws = dict(enumerate(map(fp.Law.from_scores, scores)))
    weights = fp.Weights({0: 1, 1: 3})
    cut = round(trim * records)
    inner = scores[:, cut : records - cut]

    distance = np.sum((inner[0] - inner[1]) ** 2) / records

    assert fp.theory.wasserstein_power(laws[0], laws[1], trim=trim) == pytest.approx(
        distance, rel=1e-12
    )
    assert fp.disparity(laws, weights, trim=trim) == pytest.approx(
        weights[0] * weights[1] * distance, rel=1e-12
    )


@pytest.mark.parametrize("trim", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("levels", [1, 7, 50])
def test_rem_trimmed_grid_lies_in_the_middle_of_the_inner_bins(levels, trim):
    """u_l = ε + (l - 1/2)(1 - 2ε)/k."""
    steps = np.arange(1, levels + 1) - 0.5

    expected = trim + steps * (1 - 2 * trim) / levels

    assert fp.theory.midpoints(levels, trim=trim) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("levels", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("seed", SEEDS)
def test_prop_baruk2_short_averages_the_difference_of_quantiles_over_bins(seed, levels):
    """Ū_{k,2} = α_0 α_1 (1/k) Σ_l Δ̄_l² for two groups, Δ̄_l the mean of Q_1 - Q_0 over a bin."""
    rng = np.random.default_rng(seed)
    sizes = {"a": 7, "b": 10}
    laws = {group: equal_records(rng, size) for group, size in sizes.items()}
    weights = fp.Weights({"a": 1, "b": 2})
    averages = [bin_averages(laws[group], size, levels) for group, size in sizes.items()]

    expected = weights["a"] * weights["b"] * np.mean((averages[1] - averages[0]) ** 2)

    assert fp.theory.bin_averaged_disparity(laws, weights, levels) == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("seed", SEEDS)
def test_prop_baruk2_short_never_exceeds_the_disparity_of_any_number_of_groups(seed, groups):
    """Ū_{k,2} ≤ U_2 for every k, and not for two groups only."""
    laws, weights = random_groups(np.random.default_rng(seed), groups)
    exact = fp.disparity(laws, weights)

    for levels in range(1, 25):
        assert fp.theory.bin_averaged_disparity(laws, weights, levels) <= exact * (1 + 1e-14)


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_prop_baruk2_short_grows_when_bins_are_split(seed, groups):
    """Ū_{k,2} ≤ Ū_{mk,2}: cutting every bin in m parts loses less, down to nothing."""
    rng = np.random.default_rng(seed)
    laws = {s: equal_records(rng, 12) for s in range(groups)}
    weights = fp.Weights({s: s + 1 for s in range(groups)})

    chain = [fp.theory.bin_averaged_disparity(laws, weights, levels) for levels in (1, 2, 4, 12)]

    assert all(coarse <= fine * (1 + 1e-14) for coarse, fine in pairwise(chain))
    assert chain[-1] == pytest.approx(fp.disparity(laws, weights), rel=1e-14)


def test_prop_baruk2_short_need_not_grow_with_the_number_of_bins():
    """The convergence from below is not monotone in k: two bins may fit better than three."""
    laws = {"a": fp.Law([0.0], [1]), "b": fp.Law([0.0, 1.0], [1, 1])}
    weights = fp.Weights({"a": 1, "b": 1})

    two, three = (fp.theory.bin_averaged_disparity(laws, weights, levels) for levels in (2, 3))

    assert three < two == fp.disparity(laws, weights)


def test_rem_strictness_bar_is_an_equality_when_jumps_meet_the_bins():
    """Ū_{k,2} = U_2 if Q_1 - Q_0 is constant on every bin, and only then."""
    laws = {"a": fp.Law([0.0, 1.0], [1, 3]), "b": fp.Law([2.0, 6.0], [1, 1])}
    weights = fp.Weights({"a": 1, "b": 1})
    exact = fp.disparity(laws, weights)
    equal = {
        levels
        for levels in range(1, 17)
        if fp.theory.bin_averaged_disparity(laws, weights, levels)
        == pytest.approx(exact, rel=1e-13)
    }

    assert equal == {4, 8, 12, 16}


def test_rem_strictness_bar_is_an_equality_when_only_the_difference_is_constant():
    """A shift has Q_1 - Q_0 constant: one bin is enough, however the laws look inside."""
    law = fp.Law([0.0, 1.0, 5.0], [1, 2, 4])
    laws = {"a": law, "b": fp.Law(law.atoms + 2, law.weights)}
    weights = fp.Weights({"a": 1, "b": 1})

    assert fp.theory.bin_averaged_disparity(laws, weights, 1) == pytest.approx(1.0, rel=1e-14)
    assert fp.disparity(laws, weights) == pytest.approx(1.0, rel=1e-14)


def test_rem_strictness_bar_does_not_extend_to_midpoints():
    """The midpoint version lies above U_2 for one pair of laws and below it for another."""
    weights = fp.Weights({"a": 1, "b": 1})
    low, high = (
        {"a": fp.Law([0.0], [1]), "b": fp.Law([0.0, 1.0], masses)} for masses in ([2, 1], [1, 2])
    )

    def midpoint(laws):
        values = {group: fp.theory.quantile_values(law, 1) for group, law in laws.items()}
        return fp.theory.riemann_disparity(values, weights)

    assert midpoint(low) < fp.disparity(low, weights)
    assert midpoint(high) > fp.disparity(high, weights)
