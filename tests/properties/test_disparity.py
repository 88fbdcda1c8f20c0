"""Disparity and heterogeneity: zero, units, symmetries and the inequalities between them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.agreement import EPS, agrees_with, in_power
from tests.strategies import (
    counted_laws,
    half,
    labels,
    laws,
    orders,
    quarters,
    reach,
    tables,
    weighted_laws,
    weights,
)

from fedparity import Law, Weights, disparity, heterogeneity, wasserstein
from fedparity.theory import bin_averaged_disparity, mixture

groups_of_laws = weighted_laws(counted_laws(max_size=6))
exact_laws = st.lists(quarters, min_size=1, max_size=8).map(Law.from_scores)
"""Laws whose atoms can be shifted and doubled without rounding."""


def measured(*args, **kwargs):
    """U₁, U₂, H₁ and H₂."""
    return [
        measure(*args, order=order, **kwargs)
        for measure in (disparity, heterogeneity)
        for order in (1, 2)
    ]


def about(expected, w=None):
    """Equal to twelve digits, or to what comparing cdfs or quantiles of small shares leaves.

    A large group that is near the center differs from it by the share of the others.
    """
    rel = 1e-12 if w is None else max(1e-12, 8 * EPS / min(w.values()))
    return [agrees_with(value, rel=rel) for value in expected]


def moved(nu, *, factor=1.0, shift=0.0):
    return {group: Law(factor * law.atoms + shift, law.weights) for group, law in nu.items()}


def atoms_of(nu):
    return reach(*(law.atoms for law in nu.values()))


@given(st.data())
def test_groups_that_share_a_law_have_no_disparity(data):
    """Exactly zero, whatever the law, the number of groups and their shares."""
    law = data.draw(laws())
    groups = data.draw(labels())
    w = data.draw(weights(groups))

    assert measured(dict.fromkeys(groups, law), w) == [0.0] * 4


@given(st.data())
def test_the_same_law_may_be_presented_in_several_ways(data):
    """Exactly zero too when groups repeat the records of one another."""
    values = data.draw(st.lists(quarters, min_size=1, max_size=7))
    groups = data.draw(labels())
    times = [data.draw(st.integers(1, 7)) for _ in groups]
    nu = {g: Law.from_scores(values * n) for g, n in zip(groups, times, strict=True)}

    assert measured(nu, data.draw(weights(groups))) == [0.0] * 4


@half
@given(groups_of_laws)
def test_zero_means_that_all_groups_share_a_law(groups):
    """Positive as soon as two groups differ, and never negative."""
    nu, w = groups
    distinct = {(tuple(law.atoms.tolist()), tuple(law.cumulative.tolist())) for law in nu.values()}

    values = measured(nu, w)

    assert min(values) >= 0.0
    assert [value == 0.0 for value in values] == [len(distinct) == 1] * 4


@half
@given(groups_of_laws, st.randoms(use_true_random=False))
def test_the_order_of_groups_does_not_matter(groups, random):
    """Groups are summed in the order given, so the last digits may move, and no other."""
    nu, w = groups
    shuffled = list(nu)
    random.shuffle(shuffled)
    expected = measured(nu, w)

    assert measured({g: nu[g] for g in shuffled}, w) == about(expected, w)


@half
@given(weighted_laws(exact_laws), st.integers(-(2**30), 2**30))
def test_measures_do_not_see_a_common_shift(groups, shift):
    """Bit for bit where the shift does not round."""
    nu, w = groups

    assert measured(moved(nu, shift=shift), w) == measured(moved(nu), w)


@half
@given(weighted_laws(exact_laws), st.sampled_from([-4.0, -1.0, 0.25, 2.0, 2.0**30]))
def test_measures_follow_the_unit_of_the_scores(groups, factor):
    """U_p(cZ) = |c|^p U_p(Z) and H_p(cZ) = |c| H_p(Z), where c does not round."""
    nu, w = groups
    units = [abs(factor), factor**2, abs(factor), abs(factor)]
    expected = [unit * value for unit, value in zip(units, measured(nu, w), strict=True)]

    assert measured(moved(nu, factor=factor), w) == about(expected, w)


@half
@given(groups_of_laws, st.integers(1, 5), st.integers(1, 5))
def test_a_group_cut_in_two_equal_halves_changes_nothing(groups, one, two):
    """Two groups with the same law count as one with their joint share."""
    nu, w = groups
    first, *_ = nu
    halves = nu | {"another half": nu[first]}
    shares = {g: w[g] * (one + two) for g in nu}
    split = shares | {first: w[first] * one, "another half": w[first] * two}
    expected = measured(nu, Weights(shares))

    assert measured(halves, Weights(split)) == about(expected, Weights(split))


@half
@given(groups_of_laws, counted_laws(max_size=6), st.booleans())
def test_a_group_without_share_changes_nothing(groups, other, first):
    """A share of zero is allowed: the group's law does not count."""
    nu, w = groups
    absent = {"absent": other}
    with_absent = absent | nu if first else nu | absent
    expected = measured(nu, w)

    actual = measured(with_absent, Weights({**w, "absent": 0.0}))

    assert actual == about(expected, w)


@given(counted_laws(max_size=6), counted_laws(max_size=6))
def test_one_group_with_all_the_share_has_no_disparity(law, other):
    """A law is not spread around itself, whatever a group without share looks like."""
    assert measured({"a": law, "b": other}, Weights({"a": 1, "b": 0})) == [0.0] * 4


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(table, random):
    """Shuffled rows give the same bits."""
    scores, groups, _ = table
    rows = list(zip(scores, groups, strict=True))
    random.shuffle(rows)
    expected = measured(scores, sensitive_features=groups)

    shuffled, labeled = zip(*rows, strict=True)

    assert measured(shuffled, sensitive_features=labeled) == expected


@given(tables(), st.integers(2, 5))
def test_repeating_every_record_changes_nothing(table, times):
    """A measure is of laws and shares, not of sample sizes."""
    scores, groups, _ = table
    expected = measured(scores, sensitive_features=groups)

    assert measured(scores * times, sensitive_features=groups * times) == about(expected)


@half
@given(groups_of_laws)
def test_the_heterogeneity_of_order_one_is_a_mean_distance_to_the_mixture(groups):
    """H₁ = Σ α W₁(ν_s, ν×), since C₁ is W₁."""
    nu, w = groups
    pooled = mixture(nu, w)
    expected = sum(w[g] * wasserstein(nu[g], pooled, order=1) for g in nu)

    # The cumulative masses of the mixture are sums of up to 24 masses, one rounding each.
    slack = 24 * EPS * 2 * atoms_of(nu)
    assert heterogeneity(nu, w, order=1) == agrees_with(expected, slack=slack)


@half
@given(groups_of_laws)
def test_inequalities_between_the_measures(groups):
    """U₁² ≤ U₂ (Jensen), H₂ ≤ H₁ (cdfs), and U₁ ≤ H₁ (no law is nearer than the barycenter)."""
    nu, w = groups
    one_ulp_each = 1 + 1e-12
    u_1, u_2, h_1, h_2 = measured(nu, w)

    assert u_1**2 <= u_2 * one_ulp_each
    assert h_2 <= h_1 * one_ulp_each
    assert u_1 <= h_1 * one_ulp_each


@half
@given(groups_of_laws)
def test_gaps_between_means_are_part_of_the_disparity(groups):
    """Σ α (E_s − Σ α E)² ≤ U₂, with equality only up to the shapes of the laws."""
    nu, w = groups
    grand = sum(w[g] * nu[g].mean for g in nu)
    between = sum(w[g] * (nu[g].mean - grand) ** 2 for g in nu)

    # Means are rounded at the scale of the atoms.
    slack = in_power(40 * EPS * atoms_of(nu), 2)
    assert between <= disparity(nu, w) * (1 + 1e-10) + slack
    assert bin_averaged_disparity(nu, w, 1) == agrees_with(between, slack=slack)


@half
@given(orders, weighted_laws())
def test_no_trim_is_the_whole_law(order, groups):
    """trim=0 is the default, bit for bit."""
    nu, w = groups

    assert disparity(nu, w, order=order, trim=0.0) == disparity(nu, w, order=order)


@half
@given(orders, groups_of_laws, st.floats(1e-6, 0.49), st.floats(0, 1))
def test_a_smaller_trim_leaves_more(order, groups, trim, fraction):
    """The trimmed disparity grows to the whole one as the trim goes to zero."""
    nu, w = groups
    widest = (2 * atoms_of(nu)) ** order
    smaller = trim * fraction
    more = disparity(nu, w, order=order, trim=smaller)
    less = disparity(nu, w, order=order, trim=trim)

    rounding = 4 * EPS * widest  # of the ends of both ranges
    assert less <= more * (1 + 1e-12) + rounding
    assert more - less <= 2 * (trim - smaller) * widest * (1 + 1e-12) + rounding
