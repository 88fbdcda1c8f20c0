"""Federations: what may change about the cells without changing what they say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.agreement import EPS, agrees_with, in_power
from tests.strategies import (
    atoms,
    federations,
    few_levels,
    half,
    kinds,
    labels,
    methods,
    quarters,
    reach,
    real_masses,
    tables,
    whole_masses,
)

from fedparity import Cell, Federation, Method, disparity, heterogeneity
from fedparity.theory import (
    attribute,
    decompose,
    estimate,
    influences,
    local_audits,
    mixtures,
    pairs,
)

ANSWERS = [estimate, decompose, attribute, influences, local_audits, pairs]


def answers(federation, method):
    """Everything that can be asked of a federation."""
    return [answer(federation, method) for answer in ANSWERS]


def numbers(federation, method):
    """The global numbers: G, H, the terms of the decomposition and the two counterfactuals."""
    whole = estimate(federation, method)
    terms = decompose(federation, method)
    split = attribute(federation, method)
    return {
        "disparity": whole.disparity,
        "heterogeneity": whole.heterogeneity,
        "v_mix": terms.v_mix,
        "v_bar": terms.v_bar,
        "without selection": split.without_selection,
        "with local parity": split.with_local_parity,
    }


def nearly(expected, federation, method):
    """Equal to ten digits, but for the roundings of centers and of cumulative masses.

    Centers are means, rounded at the scale of the values. An exact integral may gain or lose
    slivers of levels where two sums of masses that are equal are rounded differently.
    """
    scale, order = reach(federation.values), method.order
    centers = in_power(8 * EPS * scale, order)
    slivers = 0.0
    if method.estimator == "exact":
        slivers = 8 * federation.values.size * EPS * (2 * scale) ** order
    slack = {
        "disparity": slivers,
        "heterogeneity": 2 * scale * in_power(4 * EPS, order),
        "v_mix": slivers + centers,
        "v_bar": slivers + centers,
        "without selection": slivers,
        "with local parity": slivers,
    }
    return {name: agrees_with(value, slack=slack[name]) for name, value in expected.items()}


def rebuilt(federation, change):
    """The federation whose cells are ``change(silo, group, cell)``."""
    return Federation.from_cells(
        {
            (silo, group): change(silo, group, cell)
            for (silo, group), cell in federation.cells.items()
        }
    )


@half
@given(federations(), methods(), st.randoms(use_true_random=False))
def test_the_order_of_messages_does_not_matter(federation, method, random):
    """Cells that arrive in another order give the same answers, bit for bit."""
    arrived = list(federation.cells.items())
    random.shuffle(arrived)

    actual = Federation.from_cells(dict(arrived))

    assert actual.values.tobytes() == federation.values.tobytes()
    assert answers(actual, method) == answers(federation, method)


@half
@given(tables(), kinds, few_levels, methods(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(table, kind, k, method, random):
    """Rows of a table in another order give the same answers, bit for bit."""
    rows = list(zip(*table, strict=True))
    random.shuffle(rows)

    def federation(scores, groups, silos):
        return Federation.from_scores(scores, groups=groups, silos=silos, levels=k, kind=kind)

    shuffled = federation(*zip(*rows, strict=True))

    assert answers(shuffled, method) == answers(federation(*table), method)


@half
@given(federations(), methods(), st.permutations(["north", "east", "south", "west", "x"]))
def test_the_names_of_silos_do_not_matter(federation, method, names):
    """Silos called otherwise, and so summed in another order, give the same numbers."""
    renamed = dict(zip(["north", "east", "south", "west", "x"], names, strict=True))
    other = Federation.from_cells(
        {(renamed[silo], group): cell for (silo, group), cell in federation.cells.items()}
    )

    actual = numbers(other, method)

    assert actual == nearly(numbers(federation, method), federation, method)


@half
@given(federations(), methods(), st.randoms(use_true_random=False))
def test_the_order_of_groups_does_not_matter(federation, method, random):
    """Groups reported in another order have the same numbers."""
    groups = list(federation.groups)
    random.shuffle(groups)
    other = Federation.from_cells(federation.cells, groups=groups)

    assert numbers(other, method) == nearly(numbers(federation, method), federation, method)
    assert list(mixtures(other)) == groups


@half
@given(federations(max_silos=4), methods(), st.integers(1, 3), st.integers(1, 3), st.data())
def test_a_silo_cut_in_two_alike_changes_nothing(federation, method, one, two, data):
    """Two silos with the same laws and proportional counts count as one.

    So no institution gains by splitting itself up, and merging equal ones loses nothing.
    """
    chosen = data.draw(st.sampled_from(federation.silos))
    merged = rebuilt(
        federation,
        lambda silo, _, cell: counted(cell, (one + two) * cell.count if silo == chosen else None),
    )
    parts = rebuilt(
        federation,
        lambda silo, _, cell: counted(cell, one * cell.count if silo == chosen else None),
    )
    twin = {
        ("the other half", group): counted(cell, two * cell.count)
        for (silo, group), cell in federation.cells.items()
        if silo == chosen
    }

    actual = numbers(Federation.from_cells({**parts.cells, **twin}), method)

    assert actual == nearly(numbers(merged, method), federation, method)


def counted(cell, count):
    """The same sketch with another count, if one is given."""
    return atoms(count=cell.count if count is None else count, values=cell.values, kind=cell.kind)


@half
@given(federations(), methods(), st.integers(2, 9))
def test_only_the_ratios_of_counts_matter(federation, method, factor):
    """Every record counted c times gives the same numbers, and the same answers per silo."""
    other = rebuilt(federation, lambda _, __, cell: counted(cell, factor * cell.count))

    assert numbers(other, method) == nearly(numbers(federation, method), federation, method)
    assert [i.disparity_without for i in influences(other, method)] == [
        i.disparity_without if i.disparity_without is None else agrees_with(i.disparity_without)
        for i in influences(federation, method)
    ]


@half
@given(
    federations(max_silos=3, max_groups=3, sizes=st.sampled_from([3, 16, 17, 19])),
    methods(levels=997),
)
def test_counts_may_be_too_large_for_whole_masses(federation, method):
    """Where masses in common units do not fit 64 bits, levels are still met as in real numbers."""
    other = rebuilt(federation, lambda _, __, cell: counted(cell, 5 * 10**10 * cell.count))

    assert numbers(other, method) == nearly(numbers(federation, method), federation, method)
    assert [i.disparity_without for i in influences(other, method)] == [
        i.disparity_without if i.disparity_without is None else agrees_with(i.disparity_without)
        for i in influences(federation, method)
    ]


@half
@given(federations(), methods(), st.integers(2, 4))
def test_values_repeated_say_the_same(federation, method, times):
    """A sketch with every value m times has the same step law, on the same grid of levels."""
    method = replace(method, levels=method.levels or federation.max_levels)
    other = rebuilt(
        federation,
        lambda _, __, cell: atoms(
            count=cell.count, values=np.repeat(cell.values, times), kind=cell.kind
        ),
    )

    assert numbers(other, method) == nearly(numbers(federation, method), federation, method)


@half
@given(federations(values=quarters), methods(), st.integers(-(2**20), 2**20))
def test_answers_do_not_see_a_common_shift(federation, method, shift):
    """Scores counted from another origin, without rounding, are equally far from each other."""
    other = rebuilt(
        federation,
        lambda _, __, cell: atoms(count=cell.count, values=cell.values + shift, kind=cell.kind),
    )

    assert numbers(other, method) == nearly(numbers(federation, method), other, method)
    assert estimate(other, method) == estimate(federation, method)


@half
@given(federations(values=quarters), methods(), st.sampled_from([0.25, 2.0, 2.0**20]))
def test_answers_follow_the_unit_of_the_scores(federation, method, factor):
    """G and V are in the unit of the scores to the power p, H in that unit: |c|^p and |c|."""
    other = rebuilt(
        federation,
        lambda _, __, cell: atoms(count=cell.count, values=factor * cell.values, kind=cell.kind),
    )
    expected = {
        name: value * (factor if name == "heterogeneity" else factor**method.order)
        for name, value in numbers(federation, method).items()
    }

    assert numbers(other, method) == nearly(expected, other, method)


@half
@given(st.data())
def test_groups_that_share_a_law_have_no_disparity(data):
    """Exactly zero, globally and in every silo, when all cells repeat the same values."""
    values = sorted(data.draw(st.lists(quarters, min_size=1, max_size=5)))
    groups = data.draw(labels())
    silos = range(data.draw(st.integers(1, 4)))
    method = data.draw(methods())
    federation = Federation.from_cells(
        {
            (silo, group): Cell(
                count=data.draw(whole_masses),
                values=np.repeat(values, data.draw(st.integers(1, 7))),
            )
            for silo in silos
            for group in groups
        }
    )

    whole, split = estimate(federation, method), attribute(federation, method)

    assert (whole.disparity, whole.heterogeneity) == (0.0, 0.0)
    assert (split.selection, split.within) == agrees_with_zero(federation, method)
    for audit in local_audits(federation, method):
        assert (audit.disparity, audit.wasserstein, audit.mean_gap) == (0.0, 0.0, 0.0)
        assert audit.heterogeneity == 0.0
    for influence in influences(federation, method):
        assert influence.disparity_without in (0.0, None)


def agrees_with_zero(federation, method):
    """Zero, to the slivers of levels between sums of real masses (of selection times parity)."""
    slack = nearly({"with local parity": 0.0}, federation, method)["with local parity"]
    return (slack, slack)


@half
@given(st.data())
def test_a_silo_that_lacks_a_group_can_have_no_disparity(data):
    """Exactly zero in a silo whose own groups share a law, whichever group it lacks."""
    values = sorted(data.draw(st.lists(st.integers(1, 99).map(lambda i: i / 100), min_size=1)))
    lacking = data.draw(st.sampled_from("abc"))
    cells = {
        ("here", group): Cell(count=data.draw(whole_masses), values=values)
        for group in "abc"
        if group != lacking
    }
    elsewhere = {("there", lacking): Cell(count=1, values=[data.draw(quarters)])}
    federation = Federation.from_cells(cells | elsewhere)

    for order in (1, 2):
        here, _ = local_audits(federation, Method(order=order))
        _, without_there = influences(federation, Method(order=order))

        assert (here.disparity, here.heterogeneity) == (0.0, 0.0)
        assert without_there.disparity_without == 0.0


@half
@given(federations(sizes=st.integers(1, 3), counts=st.integers(1, 3)), st.sampled_from([1, 2]))
def test_a_grid_that_no_step_straddles_is_exact(federation, order):
    """With k a multiple of all cumulative masses the midpoint sum is the integral."""
    totals = federation.count_table.sum(axis=0).tolist()
    fine = math.lcm(*totals) * math.lcm(*federation.levels.tolist())
    exact = estimate(federation, Method(order=order, estimator="exact"))

    if fine <= 20_000:
        grid = estimate(federation, Method(order=order, estimator="grid", levels=fine))
        assert grid.disparity == agrees_with(exact.disparity)
        assert grid.heterogeneity == agrees_with(exact.heterogeneity)


@half
@given(federations(), st.sampled_from([1, 2]))
def test_the_exact_estimate_is_the_disparity_of_the_mixtures(federation, order):
    """G = U_p and H = H_p of the laws that ``mixtures`` returns, with the shares of the groups."""
    laws, weights = mixtures(federation), federation.weights

    actual = estimate(federation, Method(order=order, estimator="exact"))

    expected = [measure(laws, weights, order=order) for measure in (disparity, heterogeneity)]
    assert [actual.disparity, actual.heterogeneity] == [
        agrees_with(value, rel=1e-12) for value in expected
    ]


@half
@given(federations(counts=real_masses), methods())
def test_weights_in_the_place_of_counts_are_positive_numbers_too(federation, method):
    """Cells that count by weight give finite numbers, and parts that add up."""
    split = attribute(federation, method)

    assert all(math.isfinite(value) for value in numbers(federation, method).values())
    total = abs(split.without_selection) + abs(split.with_local_parity) + split.disparity
    assert split.selection + split.within == pytest.approx(
        split.disparity, rel=0, abs=4 * EPS * total
    )


@half
@given(federations(), methods(trim=0.0))
def test_the_trim_starts_at_zero(federation, method):
    """A trim of a billionth changes an exact integral by at most what the ends hold."""
    method = Method(order=method.order, estimator="exact")
    barely = Method(order=method.order, estimator="exact", trim=1e-9)
    widest = (2 * reach(federation.values)) ** method.order

    whole, trimmed = (estimate(federation, m) for m in (method, barely))

    assert whole.disparity - trimmed.disparity + 1e-14 * widest >= 0
    assert whole.disparity - trimmed.disparity <= 2e-9 * widest + 1e-14 * widest
    assert trimmed.heterogeneity == whole.heterogeneity
