"""Appendix B: steps or lines between the quantiles that were sent."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate
from tests.paper.densities import Tilted, tilted_disparity

import fedparity as fp

LEVELS = [2, 3, 8, 40]
TILTS = (-0.5, 0.1, 0.5)

GROUPS = {"a": (0.0, 1.0, -0.5), "b": (0.5, 2.0, 0.1), "c": (-0.5, 1.5, 0.5)}
"""Shift, scale and tilt of three score laws with smooth quantile functions."""
SHARES = fp.Weights({"a": 2, "b": 3, "c": 5})
STEEPNESS = max(scale / Tilted(tilt).lowest_density for _, scale, tilt in GROUPS.values())
CURVATURE = max(scale * Tilted(tilt).curvature for _, scale, tilt in GROUPS.values())
DIAMETER = 3.0
"""Of the union [-0.5, 2.5] of the supports."""


def power_quantile(exponent):
    """Return Q(u) = u^a and its modulus of continuity, at one end of [0, 1] or the other."""

    def quantile(u):
        return u**exponent

    def modulus(delta):
        return 1 - (1 - delta) ** exponent if exponent >= 1 else delta**exponent

    return quantile, modulus


def jump(delta):
    """Return the modulus of continuity of a quantile function that jumps from 0 to 1."""
    return 1.0 if delta > 0 else 0.0


MONOTONE = {
    "square": power_quantile(2),
    "cube": power_quantile(3),
    "root": power_quantile(0.5),
    "jump": (lambda u: np.where(u > 0.4, 1.0, 0.0), jump),
}


def inner_levels(levels):
    """Return many levels between the first and the last midpoint, and the midpoints."""
    grid = fp.theory.midpoints(levels)
    return grid, np.linspace(grid[0], grid[-1], 7 * levels * 11 + 1)


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", MONOTONE)
def test_prop_interp_bounds_steps_by_the_modulus_of_continuity(name, levels):
    """‖Q_k^st - Q‖ ≤ ω_Q(1/(2k)) between the outer midpoints: the paper's ω_Q(1/k), sharper."""
    quantile, modulus = MONOTONE[name]
    grid, u = inner_levels(levels)

    error = np.abs(fp.theory.step_law(quantile(grid)).quantile(u) - quantile(u)).max()

    assert error <= modulus(1 / (2 * levels)) * (1 + 1e-12)


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", MONOTONE)
def test_prop_interp_bounds_lines_by_the_modulus_of_continuity(name, levels):
    """‖Q_k^lin - Q‖ ≤ ω_Q(1/k) between the outer midpoints, for any monotone Q."""
    quantile, modulus = MONOTONE[name]
    grid, u = inner_levels(levels)

    error = np.abs(np.interp(u, grid, quantile(grid)) - quantile(u)).max()

    assert error <= modulus(1 / levels)


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("tilt", TILTS)
def test_prop_interp_bounds_both_by_the_lipschitz_constant(tilt, levels):
    """If Q is L-Lipschitz both errors are at most L/k."""
    law = Tilted(tilt)
    grid, u = inner_levels(levels)
    values = law.quantile(grid)
    by_steps = np.abs(fp.theory.step_law(values).quantile(u) - law.quantile(u)).max()
    by_lines = np.abs(np.interp(u, grid, values) - law.quantile(u)).max()

    assert max(by_steps, by_lines) <= 1 / law.lowest_density / levels


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("tilt", TILTS)
def test_prop_interp_bounds_lines_by_the_curvature(tilt, levels):
    """If Q is C², ‖Q_k^lin - Q‖ ≤ ‖Q''‖/(8k²)."""
    law = Tilted(tilt)
    grid, u = inner_levels(levels)

    error = np.abs(np.interp(u, grid, law.quantile(grid)) - law.quantile(u)).max()

    assert error <= law.curvature / (8 * levels**2)


@pytest.mark.parametrize("levels", LEVELS)
def test_prop_interp_curvature_bound_is_reached_by_a_parabola(levels):
    """For Q(u) = u² the error in the middle of every interval is Q''/(8k²) = 1/(4k²)."""
    grid = fp.theory.midpoints(levels)
    middle = (grid[1:] + grid[:-1]) / 2

    errors = np.interp(middle, grid, grid**2) - middle**2

    assert errors == pytest.approx(2 / (8 * levels**2), rel=1e-9)


@pytest.mark.parametrize("levels", [1, 2, 3, 10])
@pytest.mark.parametrize("seed", range(5))
def test_eq_u_lin_exact_integrates_the_squares_of_the_lines(seed, levels):
    """U_{2,k}^lin is ∫ Σ α_s (Q_s^lin - Q^lin*)², integrated here piece by piece by quadrature."""
    rng = np.random.default_rng(seed)
    weights = fp.Weights({s: int(rng.integers(1, 9)) for s in range(3)})
    values = {s: np.sort(rng.normal(s, 1, levels)) for s in weights}
    shares = np.array(list(weights.values()))
    grid = fp.theory.midpoints(levels)

    def variance(u):
        lines = np.array([np.interp(u, grid, row) for row in values.values()])
        return shares @ (lines - shares @ lines) ** 2

    ends = [0.0, *grid, 1.0]
    pieces = [integrate.quad(variance, a, b)[0] for a, b in pairwise(ends)]

    assert fp.theory.linear_disparity(values, weights) == pytest.approx(sum(pieces), rel=1e-10)


def quantiles(group, u):
    """Return the true quantiles of a group."""
    shift, scale, tilt = GROUPS[group]
    return shift + scale * Tilted(tilt).quantile(u)


@pytest.fixture(scope="module")
def truth():
    """The disparity of the three groups, by quadrature of a smooth function."""
    shares = np.array(list(SHARES.values()))

    def variance(u):
        values = np.array([quantiles(group, u) for group in GROUPS])
        return shares @ (values - shares @ values) ** 2

    return integrate.quad(variance, 0, 1, epsabs=1e-14, epsrel=1e-13)[0]


def from_midpoints(measure, levels):
    """Return what ``measure`` makes of the true midpoint quantiles."""
    grid = fp.theory.midpoints(levels)
    return measure({group: quantiles(group, grid) for group in GROUPS}, SHARES)


@pytest.mark.parametrize("levels", [5, 20, 100, 500])
def test_prop_order_gain_bounds_the_linear_error_by_one_over_k_squared(truth, levels):
    """|U_{2,k}^lin - U_2| ≤ (M/2 + L) D/k², M the curvature and D the diameter.

    Inside, d_k and d are within 2M/(8k²) of each other and their sum within 2D; on the two outer
    half bins the constants are off by at most 2L|u - u_1|, which integrates to L/(4k²) each.
    """
    constant = DIAMETER * (CURVATURE / 2 + STEEPNESS)

    measured = from_midpoints(fp.theory.linear_disparity, levels)

    assert abs(measured - truth) <= constant / levels**2


@pytest.mark.parametrize("levels", [5, 20, 100, 500])
def test_prop_order_gain_midpoints_are_of_second_order_without_an_upgrade(truth, levels):
    """|U_{2,k}^mid - U_2| ≤ sup|g''|/(24k²): the midpoint rule does not "remain O(1/k)".

    With smooth quantile functions g'' = 2 Σ α_s (d'² + d d''), where |d'| ≤ L, |d''| ≤ 2M and
    |d| ≤ D.
    """
    constant = 2 * (STEEPNESS**2 + DIAMETER * 2 * CURVATURE) / 24

    measured = from_midpoints(fp.theory.riemann_disparity, levels)

    assert abs(measured - truth) <= constant / levels**2


@pytest.mark.parametrize("measure", [fp.theory.linear_disparity, fp.theory.riemann_disparity])
def test_prop_order_gain_quarters_the_error_when_k_doubles(truth, measure):
    """Both rules are of second order, the midpoint rule too: from k to 2k errors fall by four."""
    errors = [from_midpoints(measure, levels) - truth for levels in (100, 200, 400, 800)]

    ratios = [coarse / fine for coarse, fine in pairwise(errors)]

    assert ratios == pytest.approx([4, 4, 4], rel=0.02)


@pytest.mark.parametrize("levels", [1, 2, 3, 10, 100])
@pytest.mark.parametrize("seed", range(5))
def test_prop_order_gain_differs_from_midpoints_by_squared_steps_only(seed, levels):
    """U^lin = U^mid - (1/6k) Σ α_s Σ_l (d_{s,l+1} - d_{s,l})², for any values whatever.

    If the d_s are L-Lipschitz the difference is at most L²/(6k²), so the two rules have the same
    order; and the linear one is never the larger.
    """
    rng = np.random.default_rng(seed)
    weights = fp.Weights({s: int(rng.integers(1, 9)) for s in range(3)})
    values = {s: np.sort(rng.normal(s, 1, levels)) for s in weights}
    shares, table = np.array(list(weights.values())), np.stack(list(values.values()))
    steps = np.diff(table - shares @ table, axis=1)

    expected = fp.theory.riemann_disparity(values, weights) - shares @ (steps**2).sum(axis=1) / (
        6 * levels
    )

    assert fp.theory.linear_disparity(values, weights) == pytest.approx(expected, rel=1e-13)


def test_prop_order_gain_survives_mixing_when_lines_are_drawn_before():
    """Lines drawn in every cell before mixing keep the second order that Algorithm 1 loses.

    Each cell is redrawn from its k quantiles by lines, thirty times as fine, and the mixtures are
    integrated exactly.
    """
    tilts = {"a": (-0.5, -0.2, 0.1), "b": (0.5, 0.3, -0.1)}
    mixed = tilted_disparity([np.mean(row) for row in tilts.values()], [0.5, 0.5], 2)
    by_lines, by_algorithm_1 = [], []
    for levels in (40, 80, 160):
        grid, fine = fp.theory.midpoints(levels), fp.theory.midpoints(30 * levels)
        sent = {
            (j, s): Tilted(tilt).quantile(grid)
            for s, row in tilts.items()
            for j, tilt in enumerate(row)
        }
        steps, lines = (
            fp.Federation.from_cells(
                {label: fp.Cell(count=1, values=redraw(row)) for label, row in sent.items()}
            )
            for redraw in (np.copy, lambda row, u=fine, at=grid: np.interp(u, at, row))
        )
        by_algorithm_1.append(
            fp.theory.estimate(steps, fp.Method(estimator="grid")).disparity - mixed
        )
        exact = fp.Method(estimator="exact")
        by_lines.append(fp.theory.estimate(lines, exact).disparity - mixed)

    ratios = [coarse / fine for coarse, fine in pairwise(by_lines)]

    assert ratios == pytest.approx([4, 4], rel=0.1)
    assert all(
        abs(line) < abs(step) / 10 for line, step in zip(by_lines, by_algorithm_1, strict=True)
    )
