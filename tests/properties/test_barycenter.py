"""The barycenter: nearest of all laws, and what that implies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.agreement import EPS, agrees_with
from tests.strategies import counted_laws, half, laws, orders, reach, weighted_laws

from fedparity import Weights, disparity
from fedparity.theory import barycenter, mixture, wasserstein_power

groups_of_laws = weighted_laws(counted_laws(max_size=6))


def cost_of(nu, w, law, order):
    return sum(w[group] * wasserstein_power(nu[group], law, order=order) for group in nu)


def rounding(nu, *others, order):
    """What the atoms and cumulative masses of a barycenter, rounded, can do to a cost.

    Its atoms are means of up to four atoms, and its masses are differences of cumulative
    masses, added up again.
    """
    widest = 2 * reach(*(law.atoms for law in (*nu.values(), *others)))
    atoms = sum(len(law) for law in nu.values())
    return 4 * atoms * EPS * widest**order


@half
@given(groups_of_laws, counted_laws(max_size=6))
def test_distances_to_any_law_split_at_the_barycenter(groups, other):
    """Σ α W₂²(ν_s, ν) = Σ α W₂²(ν_s, ν*) + W₂²(ν*, ν): Pythagoras, hence minimality."""
    nu, w = groups
    center = barycenter(nu, w)
    expected = cost_of(nu, w, center, 2) + wasserstein_power(center, other)

    slack = rounding(nu, other, order=2)
    assert cost_of(nu, w, other, 2) == agrees_with(expected, slack=slack)


@half
@given(orders, groups_of_laws, counted_laws(max_size=6))
def test_no_law_is_nearer(order, groups, other):
    """Σ α W_p^p(ν_s, ν*) ≤ Σ α W_p^p(ν_s, ν) for every ν."""
    nu, w = groups
    nearest = cost_of(nu, w, barycenter(nu, w, order=order), order)

    assert nearest <= cost_of(nu, w, other, order) + rounding(nu, other, order=order)


@half
@given(orders, groups_of_laws)
def test_the_disparity_is_the_cost_of_the_barycenter(order, groups):
    """U_p = Σ α W_p^p(ν_s, ν*), the distances being taken one by one."""
    nu, w = groups
    expected = cost_of(nu, w, barycenter(nu, w, order=order), order)

    slack = rounding(nu, order=order)
    assert disparity(nu, w, order=order) == agrees_with(expected, slack=slack)


@half
@given(weighted_laws())
def test_barycenter_and_mixture_have_the_same_mean(groups):
    """Averaging horizontally or vertically, the mean is Σ α E_s."""
    nu, w = groups

    # Means are rounded at the scale of the atoms.
    slack = 40 * EPS * reach(*(law.atoms for law in nu.values()))
    assert barycenter(nu, w).mean == agrees_with(mixture(nu, w).mean, slack=slack)


@given(orders, laws(max_size=6), st.integers(1, 9), st.integers(1, 9))
def test_the_barycenter_of_one_law_is_that_law(order, law, first, second):
    """Nothing is blurred: the atoms are the same, to one rounding of a mean."""
    center = barycenter(
        {"a": law, "b": law, "c": law}, Weights({"a": first, "b": second, "c": 1}), order=order
    )

    assert center.atoms.tolist() == [
        pytest.approx(atom, rel=4 * EPS, abs=0) for atom in law.atoms.tolist()
    ]


@given(groups_of_laws)
def test_a_median_is_one_of_the_values(groups):
    """For order 1 every atom of the barycenter is an atom of a group, bit for bit."""
    nu, w = groups
    known = {atom for law in nu.values() for atom in law.atoms.tolist()}

    assert set(barycenter(nu, w, order=1).atoms.tolist()) <= known


@given(groups_of_laws, st.floats(0.01, 1))
def test_levels_of_the_barycenter_are_means_of_levels(groups, level):
    """Q*(u) = Σ α Q_s(u), away from the ends of steps."""
    nu, w = groups
    ends = [end for law in nu.values() for end in law.cumulative.tolist()]
    if min(abs(level - end) for end in ends) < 1e-12:
        level = max(level - 1e-9, 1e-9)
    expected = sum(w[group] * nu[group].quantile(level) for group in nu)

    slack = 4 * EPS * reach(*(law.atoms for law in nu.values()))
    assert barycenter(nu, w).quantile(level) == agrees_with(expected, slack=slack)
