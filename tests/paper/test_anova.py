"""Section 5 and its proofs: the terms of the global disparity, and what they cannot see."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.paper.samples import random_cells, random_law, sketched

import fedparity as fp

SEEDS = range(10)
METHODS = [fp.Method(estimator="grid"), fp.Method(estimator="exact")]
EXACT = fp.Method(estimator="exact")
SCALE = 13.0
"""No two scores of the random cells are further apart."""
ROUNDING = 1e-15 * SCALE**2


def random_federation(seed, groups=3, levels=4):
    """Return a random federation of three silos."""
    cells = random_cells(np.random.default_rng(seed), silos=3, groups=groups)
    return sketched(cells, levels)


def relabelled(federation, group):
    """Return the federation in which the silos of one group have exchanged their names."""
    turned = dict(zip(federation.silos, reversed(federation.silos), strict=True))
    return fp.Federation.from_cells(
        {
            (turned[silo] if own == group else silo, own): cell
            for (silo, own), cell in federation.cells.items()
        }
    )


def sorted_silos():
    """Return five silos with nearly the same scores for both groups, from low to high.

    Group b is found more often where scores are high: selection, and hardly anything else.
    """
    grid = fp.theory.midpoints(20)
    return fp.Federation.from_cells(
        {
            (j, s): fp.Cell(count=count, values=2 * j + (3 + 0.1 * (s == "b")) * grid)
            for s, counts in {"a": (50, 40, 30, 20, 10), "b": (10, 20, 30, 40, 50)}.items()
            for j, count in enumerate(counts)
        }
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_thm_anova_terms_are_distances_between_mixtures_centers_and_their_barycenter(seed):
    """V_mix = Σ α_s W_2²(ν_s^×, ν_s*) and V_bar = Σ α_s W_2²(ν_s*, ν^{×*})."""
    federation = random_federation(seed)
    weights = federation.weights
    mixed, central = fp.theory.mixtures(federation), fp.theory.centers(federation)
    whole = fp.theory.barycenter(mixed, weights)

    terms = fp.theory.decompose(federation, EXACT)
    v_mix = sum(weights[s] * fp.theory.wasserstein_power(mixed[s], central[s]) for s in weights)
    v_bar = sum(weights[s] * fp.theory.wasserstein_power(central[s], whole) for s in weights)

    assert terms.v_mix == pytest.approx(v_mix, rel=1e-12, abs=ROUNDING)
    assert terms.v_bar == pytest.approx(v_bar, rel=1e-12, abs=ROUNDING)


@pytest.mark.parametrize("seed", SEEDS)
def test_thm_anova_remainder_is_an_inner_product_of_quantile_functions(seed):
    """R = 2 Σ α_s ⟨Q_s^× - Q_s*, Q_s* - Q^{×*}⟩, on a grid that separates all their steps."""
    federation = random_federation(seed, groups=2)
    totals = federation.count_table.sum(axis=0)
    levels = fp.theory.midpoints(federation.max_levels * math.lcm(*totals.tolist()))
    mixed = np.stack([law.quantile(levels) for law in fp.theory.mixtures(federation).values()])
    central = np.stack([law.quantile(levels) for law in fp.theory.centers(federation).values()])
    shares = totals / totals.sum()
    whole = shares @ mixed

    expected = 2 * shares @ np.mean((mixed - central) * (central - whole), axis=1)

    assert fp.theory.decompose(federation, EXACT).remainder == pytest.approx(
        expected, rel=1e-12, abs=ROUNDING
    )


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.estimator)
@pytest.mark.parametrize("groups", [2, 3, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_thm_anova_identity_adds_up_to_the_disparity(seed, groups, method):
    """G_2 = V_mix + V_bar + R, on the grid of Algorithm 1 and between the mixtures themselves."""
    federation = random_federation(seed, groups=groups)

    terms = fp.theory.decompose(federation, method)
    disparity = fp.theory.estimate(federation, method).disparity

    assert terms.v_mix + terms.v_bar + terms.remainder == pytest.approx(
        disparity, rel=1e-12, abs=ROUNDING
    )


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.estimator)
@pytest.mark.parametrize("seed", SEEDS)
def test_thm_anova_remainder_is_bounded_by_the_other_terms(seed, method):
    """|R| ≤ 2 √(V_mix V_bar)."""
    terms = fp.theory.decompose(random_federation(seed), method)

    bound = 2 * math.sqrt(terms.v_mix * terms.v_bar)

    assert terms.remainder_bound == pytest.approx(bound, rel=1e-14)
    assert abs(terms.remainder) <= bound + ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_thm_anova_v_bar_is_the_disparity_of_the_centers_and_an_offset(seed):
    """V_bar = U_2(ν_0*, ν_1*, ...) + W_2²(ν**, ν^{×*}), ν** the barycenter of the centers.

    It is centered at the barycenter of the mixtures, so it exceeds the disparity that remains
    when every mixture is replaced by its transport center.
    """
    federation = random_federation(seed)
    weights = federation.weights
    mixed, central = fp.theory.mixtures(federation), fp.theory.centers(federation)
    offset = fp.theory.wasserstein_power(
        fp.theory.barycenter(central, weights), fp.theory.barycenter(mixed, weights)
    )

    expected = fp.disparity(central, weights) + offset

    assert fp.theory.decompose(federation, EXACT).v_bar == pytest.approx(
        expected, rel=1e-12, abs=ROUNDING
    )


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.estimator)
@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_prop_anova_bounds_hold_on_both_sides(seed, groups, method):
    """(√V_mix - √V_bar)² ≤ G_2 ≤ (√V_mix + √V_bar)²."""
    federation = random_federation(seed, groups=groups)

    terms = fp.theory.decompose(federation, method)
    disparity = fp.theory.estimate(federation, method).disparity
    lower = (math.sqrt(terms.v_mix) - math.sqrt(terms.v_bar)) ** 2
    upper = (math.sqrt(terms.v_mix) + math.sqrt(terms.v_bar)) ** 2

    assert (terms.lower, terms.upper) == pytest.approx((lower, upper), rel=1e-14)
    assert lower - ROUNDING <= disparity <= upper + ROUNDING


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.estimator)
def test_prop_anova_bounds_are_reached_by_parity_in_unlike_silos(method):
    """With parity everywhere and unlike silos G_2 = 0, yet V_mix = V_bar = -R/2 > 0.

    The lower bound is reached, and a large V_bar is no sign of any disparity.
    """
    federation = fp.Federation.from_cells(
        {(j, s): fp.Cell(count=10, values=[float(j), j + 1.0]) for j in (0, 4) for s in ("a", "b")}
    )

    terms = fp.theory.decompose(federation, method)

    assert fp.theory.estimate(federation, method).disparity == 0
    assert terms.v_mix == terms.v_bar == -terms.remainder / 2
    assert terms.v_bar > 1
    assert terms.lower == 0


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.estimator)
@pytest.mark.parametrize("seed", SEEDS)
def test_cor_vanishing_1_alike_silos_have_no_mixture_discrepancy(seed, method):
    """If the law of a group is the same in every silo, V_mix = 0 and G_2 = V_bar.

    So V_mix is no measure of selection, and V_bar none of heterogeneity across silos: here there
    is selection and no heterogeneity, and V_bar is all there is.
    """
    rng = np.random.default_rng(seed)
    values = {s: np.sort(rng.normal(s, 1, 6)) for s in range(3)}
    federation = fp.Federation.from_cells(
        {
            (j, s): fp.Cell(count=int(rng.integers(1, 50)), values=row)
            for s, row in values.items()
            for j in range(4)
        }
    )

    terms = fp.theory.decompose(federation, method)
    disparity = fp.theory.estimate(federation, method).disparity

    assert terms.v_mix == pytest.approx(0, abs=ROUNDING)
    assert terms.v_bar == pytest.approx(disparity, rel=1e-12)
    assert disparity > 0.1


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.estimator)
@pytest.mark.parametrize("seed", SEEDS)
def test_cor_vanishing_2_parity_in_every_silo_leaves_selection_only(seed, method):
    """If groups have one law in every silo, all disparity is selection and every silo shows none."""
    rng = np.random.default_rng(seed)
    values = {j: np.sort(rng.normal(2 * j, 1, 6)) for j in range(4)}
    federation = fp.Federation.from_cells(
        {
            (j, s): fp.Cell(count=int(rng.integers(1, 50)), values=row)
            for j, row in values.items()
            for s in range(3)
        }
    )

    parts = fp.theory.attribute(federation, method)

    assert {audit.disparity for audit in fp.theory.local_audits(federation, method)} == {0.0}
    assert parts.disparity > 0.01
    assert parts.selection == pytest.approx(parts.disparity, rel=1e-12)
    assert parts.within == pytest.approx(0, abs=ROUNDING)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.estimator)
@pytest.mark.parametrize("seed", SEEDS)
def test_cor_vanishing_2_parity_in_every_silo_without_selection_is_global_parity(seed, method):
    """If moreover π_{j|s} = β_j, then G_2 = 0, although V_mix and V_bar are not."""
    rng = np.random.default_rng(seed)
    values = {j: np.sort(rng.normal(2 * j, 1, 6)) for j in range(4)}
    sizes = {j: int(rng.integers(1, 50)) for j in values}
    federation = fp.Federation.from_cells(
        {
            (j, s): fp.Cell(count=sizes[j] * (s + 1), values=row)
            for j, row in values.items()
            for s in range(3)
        }
    )

    terms = fp.theory.decompose(federation, method)

    assert fp.theory.estimate(federation, method).disparity == pytest.approx(0, abs=ROUNDING)
    assert min(terms.v_mix, terms.v_bar) > 0.1


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.estimator)
def test_cor_vanishing_3_one_law_everywhere_is_global_parity(method):
    """If the law depends on neither silo nor group, every term is zero."""
    rng = np.random.default_rng(0)
    values = np.sort(rng.normal(size=8))
    federation = fp.Federation.from_cells(
        {
            (j, s): fp.Cell(count=int(rng.integers(1, 50)), values=values)
            for j in range(4)
            for s in range(3)
        }
    )

    terms = fp.theory.decompose(federation, method)

    assert fp.theory.estimate(federation, method).disparity == 0
    assert (terms.v_mix, terms.v_bar, terms.remainder) == pytest.approx((0, 0, 0), abs=ROUNDING)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.estimator)
def test_thm_anova_cannot_see_which_silo_is_which_across_groups(method):
    """Exchanging the silos of one group leaves V_mix, V_bar and R as they are.

    In one federation the silos are nearly at parity, in the other they are far from it, and the
    disparity is the same. Its attribution to selection and to the inside of silos tells them
    apart.
    """
    selected = sorted_silos()
    exchanged = relabelled(selected, "b")
    before, after = (
        fp.theory.decompose(federation, method) for federation in (selected, exchanged)
    )

    in_selected, in_exchanged = (
        fp.theory.attribute(federation, method) for federation in (selected, exchanged)
    )
    worst = max(audit.disparity for audit in fp.theory.local_audits(selected, method))
    best = sorted(audit.disparity for audit in fp.theory.local_audits(exchanged, method))[1]

    assert (after.v_mix, after.v_bar, after.remainder) == pytest.approx(
        (before.v_mix, before.v_bar, before.remainder), rel=1e-12
    )
    assert in_exchanged.disparity == pytest.approx(in_selected.disparity, rel=1e-12)
    assert worst < 0.01 * best
    assert in_selected.selection > 0.9 * in_selected.disparity
    assert in_exchanged.selection < 0.1 * in_exchanged.disparity


@pytest.mark.parametrize("estimator", ["grid", "exact"])
@pytest.mark.parametrize("groups", [2, 3, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_rem_p1_bounds_hold_on_both_sides(seed, groups, estimator):
    """|V_bar - V_mix| ≤ G_1 ≤ V_bar + V_mix."""
    federation = random_federation(seed, groups=groups)
    method = fp.Method(order=1, estimator=estimator)

    terms = fp.theory.decompose(federation, method)
    disparity = fp.theory.estimate(federation, method).disparity

    assert (terms.lower, terms.upper) == (
        abs(terms.v_bar - terms.v_mix),
        terms.v_bar + terms.v_mix,
    )
    assert terms.lower - 1e-14 <= disparity <= terms.upper + 1e-14


@pytest.mark.parametrize("seed", SEEDS)
def test_rem_p1_terms_are_distances_between_mixtures_medians_and_their_barycenter(seed):
    """V_mix = Σ α_s W_1(ν_s^×, ν_s*) and V_bar = Σ α_s W_1(ν_s*, ν^{×*}), with lower medians."""
    federation = random_federation(seed)
    weights = federation.weights
    mixed, central = fp.theory.mixtures(federation), fp.theory.centers(federation, order=1)
    whole = fp.theory.barycenter(mixed, weights, order=1)

    terms = fp.theory.decompose(federation, fp.Method(order=1, estimator="exact"))
    v_mix = sum(weights[s] * fp.wasserstein(mixed[s], central[s], order=1) for s in weights)
    v_bar = sum(weights[s] * fp.wasserstein(central[s], whole, order=1) for s in weights)

    assert (terms.v_mix, terms.v_bar) == pytest.approx((v_mix, v_bar), rel=1e-12)


def test_rem_p1_terms_depend_on_the_median_and_the_bounds_do_not():
    """The lower medians of -Z are minus the upper ones of Z: other terms, same G_1, same bounds."""
    rng = np.random.default_rng(4)
    cells = {
        (j, s): np.sort(rng.integers(0, 9, 3)).astype(float) for j in range(2) for s in range(2)
    }
    method = fp.Method(order=1, estimator="exact")
    lower, upper = (
        fp.Federation.from_cells(
            {label: fp.Cell(count=3, values=np.sort(sign * x)) for label, x in cells.items()}
        )
        for sign in (1, -1)
    )

    disparity = fp.theory.estimate(lower, method).disparity
    chosen, other = fp.theory.decompose(lower, method), fp.theory.decompose(upper, method)

    assert fp.theory.estimate(upper, method).disparity == pytest.approx(disparity, rel=1e-14)
    assert (other.v_mix, other.v_bar) != pytest.approx((chosen.v_mix, chosen.v_bar), rel=0.01)
    assert chosen.lower <= disparity <= chosen.upper
    assert other.lower <= disparity <= other.upper


def test_rem_p1_upper_bound_is_reached_by_alike_silos():
    """If the law of a group is the same in every silo, V_mix = 0 and G_1 = V_bar."""
    rng = np.random.default_rng(5)
    laws = {s: random_law(rng) for s in range(3)}
    federation = fp.Federation.from_cells(
        {
            (j, s): fp.Cell(count=j + s + 1, values=fp.theory.quantile_values(law, 12))
            for s, law in laws.items()
            for j in range(3)
        }
    )
    method = fp.Method(order=1, estimator="exact")

    terms = fp.theory.decompose(federation, method)

    assert terms.v_mix == pytest.approx(0, abs=1e-14)
    assert fp.theory.estimate(federation, method).disparity == pytest.approx(
        terms.upper, rel=1e-13
    )
