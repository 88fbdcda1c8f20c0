"""Wasserstein and Cramér distances: metrics, and how they follow the scores."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.agreement import EPS, agrees_with
from tests.strategies import counted_laws, laws, orders, quarters, reach, weighted_scores

from fedparity import Law, wasserstein
from fedparity.theory import cramer, cramer_power, wasserstein_power

one_ulp_each = 1 + 1e-13
"""A sum of two or three distances, each rounded."""

exact_laws = st.lists(quarters, min_size=1, max_size=10).map(Law.from_scores)
"""Laws whose atoms can be shifted and doubled without rounding."""


def distances(mu, nu):
    """W₁, W₂, C₁ and C₂."""
    return [
        distance(mu, nu, order=order) for distance in (wasserstein, cramer) for order in (1, 2)
    ]


def moved(law, *, factor=1.0, shift=0.0):
    return Law(factor * law.atoms + shift, law.weights)


@given(laws(), laws())
def test_distances_are_symmetric(mu, nu):
    """d(μ, ν) = d(ν, μ), bit for bit."""
    assert distances(mu, nu) == distances(nu, mu)


@given(laws())
def test_a_law_is_at_distance_zero_from_itself(law):
    """d(ν, ν) is exactly zero, also when the second ν is built again from its atoms."""
    again = Law(law.atoms, law.weights)

    assert distances(law, law) == [0.0] * 4
    assert distances(law, again) == [0.0] * 4


@given(counted_laws(), counted_laws())
def test_distance_zero_means_the_same_law(mu, nu):
    """d(μ, ν) = 0 if and only if atoms and cumulative masses are the same."""
    same = (
        mu.atoms.tolist() == nu.atoms.tolist() and mu.cumulative.tolist() == nu.cumulative.tolist()
    )

    assert [distance == 0.0 for distance in distances(mu, nu)] == [same] * 4


@given(counted_laws(), counted_laws(), counted_laws())
def test_the_triangle_inequality(mu, nu, other):
    """d(μ, ν) ≤ d(μ, λ) + d(λ, ν), to the rounding of the three."""
    legs = zip(distances(mu, nu), distances(mu, other), distances(other, nu), strict=True)

    assert all(direct <= (there + on) * one_ulp_each for direct, there, on in legs)


@given(exact_laws, exact_laws, st.integers(-(2**30), 2**30))
def test_distances_do_not_see_a_common_shift(mu, nu, shift):
    """d(μ + c, ν + c) = d(μ, ν), bit for bit where the shift does not round."""
    expected = distances(moved(mu), moved(nu))

    assert distances(moved(mu, shift=shift), moved(nu, shift=shift)) == expected


@given(orders, counted_laws(), counted_laws(), st.sampled_from([-3.0, -1.0, 0.1, 2.0, 1e6]))
def test_wasserstein_distances_are_in_the_unit_of_the_scores(order, mu, nu, factor):
    """W_p(c μ, c ν) = |c| W_p(μ, ν), also when c turns the line around."""
    expected = abs(factor) * wasserstein(mu, nu, order=order)

    actual = wasserstein(moved(mu, factor=factor), moved(nu, factor=factor), order=order)

    # Multiplying by c rounds each atom, and close atoms differ by little else.
    slack = 2 * EPS * abs(factor) * reach(mu.atoms, nu.atoms)
    assert actual == agrees_with(expected, slack=slack)


@given(orders, counted_laws(), counted_laws(), st.sampled_from([-3.0, -1.0, 0.1, 2.0, 1e6]))
def test_cramer_powers_are_in_the_unit_of_the_scores(order, mu, nu, factor):
    """C_p^p(c μ, c ν) = |c| C_p^p(μ, ν): a width times a power of probabilities."""
    expected = abs(factor) * cramer_power(mu, nu, order=order)

    actual = cramer_power(moved(mu, factor=factor), moved(nu, factor=factor), order=order)

    # Multiplying by c rounds each atom, and close atoms differ by little else.
    slack = 2 * EPS * abs(factor) * reach(mu.atoms, nu.atoms)
    assert actual == agrees_with(expected, slack=slack)


@given(counted_laws(), counted_laws())
def test_order_one_is_the_same_sideways(mu, nu):
    """W₁ = C₁: the area between two cdfs."""
    assert wasserstein(mu, nu, order=1) == agrees_with(cramer(mu, nu, order=1))


@given(counted_laws(), counted_laws())
def test_distances_grow_with_the_order_as_they_must(mu, nu):
    """|E_μ − E_ν| ≤ W₁ ≤ W₂ (Jensen), and C₂² ≤ C₁ since cdfs differ by one at most."""
    first = wasserstein(mu, nu, order=1)

    # Means are rounded at the scale of the atoms.
    assert abs(mu.mean - nu.mean) <= first * one_ulp_each + 40 * EPS * reach(mu.atoms, nu.atoms)
    assert first <= wasserstein(mu, nu, order=2) * one_ulp_each
    assert cramer_power(mu, nu, order=2) <= cramer(mu, nu, order=1) * one_ulp_each


@given(weighted_scores(), counted_laws(), quarters, st.integers(2, 5))
def test_distances_see_the_law_and_not_its_presentation(sample, nu, point, factor):
    """Repeated records, atoms without mass and multiplied masses change no bit."""
    values, masses = sample
    expected = distances(Law(values, masses), nu)

    assert distances(Law([point, *values], [0, *masses]), nu) == expected
    assert distances(Law(values * 2, masses * 2), nu) == expected
    assert distances(Law(values, [factor * mass for mass in masses]), nu) == expected


@given(orders, laws(), laws())
def test_no_trim_is_the_whole_law(order, mu, nu):
    """trim=0 is the default, bit for bit."""
    expected = wasserstein_power(mu, nu, order=order)

    assert wasserstein_power(mu, nu, order=order, trim=0.0) == expected


@given(orders, counted_laws(), counted_laws(), st.floats(1e-6, 0.49), st.floats(0, 1))
def test_a_smaller_trim_leaves_more(order, mu, nu, trim, fraction):
    """The trimmed power grows as the trim shrinks, and by at most what the ends hold."""
    widest = 2 * reach(mu.atoms, nu.atoms)
    smaller = trim * fraction
    more = wasserstein_power(mu, nu, order=order, trim=smaller)
    less = wasserstein_power(mu, nu, order=order, trim=trim)

    rounding = 4 * EPS * widest**order  # of the ends of both ranges
    assert less <= more * one_ulp_each + rounding
    assert more - less <= 2 * (trim - smaller) * widest**order * one_ulp_each + rounding
