"""Appendix E: how errors in knots and weights reach the estimate."""

from __future__ import annotations

import numpy as np
import pytest
from tests.paper.densities import Blocks, Tilted, tilted_disparity
from tests.paper.samples import random_law

import fedparity as fp

SEEDS = range(20)


def knots_near(knots, x, radius):
    """Return how many knots lie in (x - η, x + η]."""
    return np.count_nonzero((knots > x - radius) & (knots <= x + radius))


@pytest.mark.parametrize("seed", SEEDS)
def test_lem_knot_stability_counts_the_knots_that_may_cross_a_point(seed):
    """|F_q(x) - F_q'(x)| ≤ (1/k) #{q_l in (x - η, x + η]} at every x, if ‖q - q'‖ ≤ η.

    Knots are whole numbers, so that the half-open interval is met exactly.
    """
    rng = np.random.default_rng(seed)
    levels, radius = 12, int(rng.integers(1, 4))
    knots = np.sort(rng.integers(0, 30, levels))
    moved = np.sort(knots + rng.integers(-radius, radius + 1, levels))
    before, after = fp.theory.step_law(knots), fp.theory.step_law(moved)
    points = np.arange(-5, 36, 0.5)
    counts = np.array([knots_near(knots, x, radius) for x in points])
    changes = np.abs(before.cdf(points) - after.cdf(points))

    assert np.abs(knots - moved).max() <= radius
    assert changes.max() > 0
    assert (changes <= counts / levels + 1e-15).all()
    assert changes.max() <= counts.max() / levels + 1e-15


def test_lem_knot_stability_interval_is_open_below_and_closed_above():
    """A knot at x + η may come down to x and count there; a knot at x - η may not pass it."""
    knots, moved = np.array([3.0]), np.array([2.0])
    x, radius = 2.0, 1.0

    assert knots_near(knots, x, radius) == 1
    assert fp.theory.step_law(knots).cdf(x) != fp.theory.step_law(moved).cdf(x)
    assert knots_near(np.array([1.0]), x, radius) == 0
    assert fp.theory.step_law([1.0]).cdf(x) == fp.theory.step_law([2.0]).cdf(x)


@pytest.mark.parametrize("levels", [1, 4, 16, 100])
@pytest.mark.parametrize("seed", SEEDS)
def test_lem_knot_count_cdf_counts_knots_by_the_increment_of_the_cdf(seed, levels):
    """(1/k) #{q_l in (a, b]} ≤ F(b) - F(a) + 1/k for all a < b, any cdf with ties included."""
    law = random_law(np.random.default_rng(seed))
    knots = fp.theory.quantile_values(law, levels)
    ends = np.arange(-9.5, 9.5)
    low, high = (pair.ravel() for pair in np.meshgrid(ends, ends))
    low, high = low[low < high], high[low < high]
    shares = [np.mean((knots > a) & (knots <= b)) for a, b in zip(low, high, strict=True)]

    assert (shares <= law.cdf(high) - law.cdf(low) + 1 / levels + 1e-15).all()


def test_lem_knot_count_cdf_needs_its_last_term():
    """A short interval holds one knot and hardly any mass: without 1/k the bound fails.

    The proof first bounds a difference of counts without it, and adds it afterwards for ties.
    """
    law, levels = Tilted(0.0), 10
    knots = law.quantile(fp.theory.midpoints(levels))
    low, high = knots[4] - 1e-9, knots[4] + 1e-9

    share = np.mean((knots > low) & (knots <= high))

    assert share > law.cdf(high) - law.cdf(low)
    assert share <= law.cdf(high) - law.cdf(low) + 1 / levels


@pytest.mark.parametrize("levels", [5, 50, 500])
@pytest.mark.parametrize("radius", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("tilt", [-0.5, 0.0, 0.5])
def test_cor_knot_stability_lip_bounds_the_change_of_the_cdf(tilt, radius, levels):
    """‖F_q - F_q'‖ ≤ 2Mη + 1/k if the density is at most M everywhere."""
    rng = np.random.default_rng(levels)
    law = Tilted(tilt)
    knots = law.quantile(fp.theory.midpoints(levels))
    moves = (
        np.full(levels, radius),
        np.full(levels, -radius),
        rng.uniform(-radius, radius, levels),
    )
    steps = [fp.theory.step_law(np.sort(knots + move)) for move in moves]
    before = fp.theory.step_law(knots)

    change = max(
        np.abs(before.cdf(points) - after.cdf(points)).max()
        for after in steps
        for points in (before.atoms, after.atoms)
    )

    assert change > 0
    assert change <= 2 * law.highest_density * radius + 1 / levels


def test_cor_knot_stability_lip_fails_when_the_density_is_bounded_on_a_part_only():
    """A bound on an interval says nothing of the supremum over the line.

    Half of the mass lies in a narrow block outside of it, whose knots all move together. The
    proof of `thm:master-bound` uses the corollary with a bound on the trimmed range.
    """
    law = Blocks(left=(0.0, 2.0), right=(1.0, 2.001), masses=(0.5, 0.5))
    levels, radius, highest = 100, 0.01, 0.5
    knots = law.quantile(fp.theory.midpoints(levels))
    before, after = fp.theory.step_law(knots), fp.theory.step_law(knots + radius)

    change = np.abs(before.cdf(before.atoms) - after.cdf(before.atoms)).max()

    assert law.lowest_density(0.0, 1.0) == highest
    assert change > 10 * (2 * highest * radius + 1 / levels)


GROUPS = {"a": (0.0, (-0.5, 0.1)), "b": (1.0, (0.5, 0.2))}
"""Shift of each group, and the tilts of its law in two silos."""
COUNTS = {"a": (400, 200), "b": (100, 300)}
ALPHA = np.array([0.6, 0.4])
PI = np.array([np.array(row) / sum(row) for row in COUNTS.values()])
MIXED = [row @ np.array(tilts) for row, (_, tilts) in zip(PI, GROUPS.values(), strict=True)]
DIAMETER = 2.0
"""Of the union [0, 2] of the supports."""


def true_disparity():
    """Return G_2 of the two groups, whose mixtures are a shift and a tilt apart."""
    gain = MIXED[1] - MIXED[0]
    return ALPHA.prod() * (1 + gain / 3) + tilted_disparity(MIXED, ALPHA, 2)


def true_knots(levels):
    """Return the true quantiles of every cell."""
    grid = fp.theory.midpoints(levels)
    return {
        (j, s): shift + Tilted(tilt).quantile(grid)
        for s, (shift, tilts) in GROUPS.items()
        for j, tilt in enumerate(tilts)
    }


@pytest.mark.parametrize("seed", range(5))
def test_thm_master_bound_holds_when_every_knot_is_counted(seed):
    """|Ĝ_{k,2} - G_2| ≤ C (1/k + η_Q + η_π + η_α), step by step as in the proof.

    Cell cdfs are off by 2Mη_Q + 2/k, mixtures by η_π more, their quantiles by 1/m times that, and
    Ĝ by D times as much and D²/2 times η_α (`lem:Phi-lip-app` with its best constants, B = D/2);
    the grid adds 2DL/k. Density bounds hold on the whole support here, and η_Q counts all knots.
    """
    rng = np.random.default_rng(seed)
    levels = 2_000
    knots = true_knots(levels)
    sent = {
        label: np.sort(row + rng.uniform(-0.001, 0.001, levels)).clip(
            GROUPS[label[1]][0], GROUPS[label[1]][0] + 1
        )
        for label, row in knots.items()
    }
    counts = {
        (j, s): n + int(rng.integers(-2, 3))
        for s, row in COUNTS.items()
        for j, n in enumerate(row)
    }
    federation = fp.Federation.from_cells(
        {label: fp.Cell(count=counts[label], values=row) for label, row in sent.items()}
    )
    table = federation.count_table.T
    eta_q = max(np.abs(sent[label] - row).max() for label, row in knots.items())
    eta_pi = np.abs(table / table.sum(axis=1, keepdims=True) - PI).sum(axis=1).max()
    eta_alpha = np.abs(federation.shares - ALPHA).sum()
    highest = max(Tilted(tilt).highest_density for _, tilts in GROUPS.values() for tilt in tilts)
    lowest = min(Tilted(tilt).lowest_density for tilt in MIXED)
    in_quantile = (2 * highest * eta_q + 2 / levels + eta_pi) / lowest
    bound = DIAMETER * in_quantile + DIAMETER**2 / 2 * eta_alpha + 2 * DIAMETER / lowest / levels

    error = abs(
        fp.theory.estimate(federation, fp.Method(estimator="grid")).disparity - true_disparity()
    )

    assert bound < true_disparity() / 4
    assert error <= bound


def test_thm_master_bound_fails_when_only_trimmed_knots_are_counted():
    """As stated η_Q leaves out the outer knots, but Algorithm 1 does not.

    The highest knot of one cell grows without limit while η_Q = η_π = η_α = 0, and the estimate
    with it: no constant will do.
    """
    levels, epsilon = 20, 0.1
    trimmed = range(int(np.ceil(epsilon * levels)), int((1 - epsilon) * levels) + 1)
    knots = true_knots(levels)

    def error(reach):
        row = knots[0, "a"].copy()
        row[-1] = reach
        cells = {
            (j, s): fp.Cell(count=COUNTS[s][j], values=row if (j, s) == (0, "a") else own)
            for (j, s), own in knots.items()
        }
        return abs(
            fp.theory.estimate(
                fp.Federation.from_cells(cells), fp.Method(estimator="grid")
            ).disparity
            - true_disparity()
        )

    assert levels not in trimmed
    assert error(1e2) > 100 / levels
    assert error(1e4) > 1e3 * error(1e2)
