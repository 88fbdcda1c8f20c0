"""Decomposition, attribution, influence and local audits: identities and bounds."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.agreement import EPS, agrees_with, in_power
from tests.strategies import cells, federations, half, methods, reach

from fedparity import Cell, Federation
from fedparity.errors import FederationError, GroupError
from fedparity.theory import attribute, decompose, estimate, influences, local_audits, pairs


def slivers(federation, method):
    """What cumulative masses, rounded, can add to an exact integral over levels."""
    if method.estimator == "grid":
        return 0.0
    return 8 * federation.values.size * EPS * (2 * reach(federation.values)) ** method.order


def center_rounding(federation, method):
    """What centers, rounded at the scale of the values, can do to a p-th power."""
    return in_power(8 * EPS * reach(federation.values), method.order)


@st.composite
def one_silo(draw):
    """A federation of a single silo."""
    groups = "abcd"[: draw(st.integers(2, 4))]
    return Federation.from_cells({("only", group): draw(cells()) for group in groups})


@half
@given(federations(), methods(order=2))
def test_the_terms_add_up_to_the_disparity(federation, method):
    """G₂ = V_mix + V_bar + R, to the rounding of terms that may cancel."""
    terms = decompose(federation, method)
    expected = estimate(federation, method).disparity

    slack = 1e-12 * (terms.v_mix + terms.v_bar)
    slack += slivers(federation, method) + center_rounding(federation, method)
    assert terms.disparity == terms.v_mix + terms.v_bar + terms.remainder
    assert terms.disparity == agrees_with(expected, slack=slack)


@half
@given(federations(), methods())
def test_the_terms_bound_the_disparity(federation, method):
    """(√V_mix − √V_bar)² ≤ G₂ ≤ (√V_mix + √V_bar)², and the triangle for order 1."""
    terms = decompose(federation, method)
    value = estimate(federation, method).disparity

    slack = 1e-12 * (terms.v_mix + terms.v_bar) + slivers(federation, method)
    slack += center_rounding(federation, method)
    assert terms.lower <= value + slack
    assert value <= terms.upper + slack
    if method.order == 2:
        assert abs(terms.remainder) <= terms.remainder_bound + slack
        assert terms.lower == agrees_with(
            terms.v_mix + terms.v_bar - terms.remainder_bound, slack=slack
        )


@half
@given(federations(), methods(), st.data())
def test_the_terms_cannot_see_which_silo_is_which(federation, method, data):
    """Relabelling the silos of one group leaves every term unchanged: they measure no selection."""
    group = data.draw(st.sampled_from(federation.groups))
    own = [silo for silo, held in federation.cells if held == group]
    renamed = dict(zip(own, data.draw(st.permutations(own)), strict=True))
    other = Federation.from_cells(
        {
            (renamed[silo] if held == group else silo, held): cell
            for (silo, held), cell in federation.cells.items()
        }
    )
    expected = decompose(federation, method)

    actual = decompose(other, method)

    slack = slivers(federation, method) + center_rounding(federation, method)
    assert actual.v_mix == agrees_with(expected.v_mix, slack=slack)
    assert actual.v_bar == agrees_with(expected.v_bar, slack=slack)
    assert estimate(other, method).disparity == agrees_with(
        estimate(federation, method).disparity, slack=slivers(federation, method)
    )


@half
@given(one_silo(), methods())
def test_one_silo_has_no_mixture_discrepancy(federation, method):
    """V_mix = 0 with one silo, exactly so on a grid: its laws are their own centers."""
    terms = decompose(federation, method)

    assert terms.v_mix == pytest.approx(0.0, abs=slivers(federation, method))
    assert terms.v_bar == agrees_with(
        estimate(federation, method).disparity,
        slack=slivers(federation, method) + center_rounding(federation, method),
    )


@half
@given(federations(), methods())
def test_the_two_parts_add_up_to_the_disparity(federation, method):
    """Selection + within = G, to one rounding each."""
    split = attribute(federation, method)

    total = split.disparity + split.without_selection + split.with_local_parity
    assert split.selection + split.within == pytest.approx(
        split.disparity, rel=0, abs=2 * EPS * total
    )
    assert split.disparity == estimate(federation, method).disparity


@half
@given(one_silo(), methods())
def test_one_silo_selects_nobody(federation, method):
    """Selection is exactly zero with one silo: everybody is there."""
    split = attribute(federation, method)

    assert split.selection == 0.0
    assert split.with_local_parity == 0.0
    assert split.within == split.disparity


@half
@given(st.data(), methods())
def test_groups_spread_alike_are_not_selected(data, method):
    """When every group is spread over the silos as the whole is, removing selection does nothing."""
    federation = data.draw(federations())
    sizes = {silo: data.draw(st.integers(1, 5)) for silo in federation.silos}
    groups = {group: data.draw(st.integers(1, 5)) for group in federation.groups}
    sketches = cycle(federation.cells.values())
    proportional = Federation.from_cells(
        {
            (silo, group): Cell(count=sizes[silo] * groups[group], values=next(sketches).values)
            for silo in federation.silos
            for group in federation.groups
        }
    )

    split = attribute(proportional, method)

    slack = slivers(proportional, method)
    assert split.without_selection == agrees_with(split.disparity, slack=slack)
    assert split.with_local_parity == pytest.approx(0.0, abs=slack)


@half
@given(federations(), methods())
def test_silos_that_are_fair_inside_differ_by_selection_only(federation, method):
    """When the groups of each silo share a law, local parity changes nothing and ``within`` is 0."""
    laws = {silo: cell for (silo, _), cell in federation.cells.items()}
    fair = Federation.from_cells(
        {
            (silo, group): Cell(count=cell.count, values=laws[silo].values)
            for (silo, group), cell in federation.cells.items()
        }
    )

    split = attribute(fair, method)

    slack = slivers(fair, method)
    assert split.without_selection == pytest.approx(0.0, abs=slack)
    assert split.with_local_parity == agrees_with(split.disparity, slack=slack)
    assert split.within == pytest.approx(0.0, abs=slack + 1e-10 * split.disparity)


@half
@given(federations(), methods())
def test_an_influence_is_the_estimate_run_again(federation, method):
    """``disparity_without`` is the estimate of the others, on the same grid of levels."""
    again = replace(method, levels=method.levels or federation.max_levels)
    whole = estimate(federation, method).disparity

    for influence in influences(federation, method):
        try:
            expected = estimate(federation.without(influence.silo), again).disparity
        except GroupError:
            assert influence.disparity_without is None
            assert influence.change is None
        except FederationError:  # no silo is left
            assert len(federation.silos) == 1
            assert influence.disparity_without is None
        else:
            assert influence.disparity_without == agrees_with(expected)
            assert influence.change == whole - influence.disparity_without


@half
@given(one_silo(), methods())
def test_the_only_silo_sees_everything(federation, method):
    """The local audit of a single silo is the global one."""
    (audit,) = local_audits(federation, method)
    whole = estimate(federation, method)
    distances = pairs(federation, method)

    # A silo's cdfs are multiples of 1/k, rounded; means are rounded at the scale of the values.
    scale = reach(federation.values)
    assert audit.disparity == agrees_with(whole.disparity, slack=slivers(federation, method))
    assert audit.heterogeneity == agrees_with(
        whole.heterogeneity, slack=2 * scale * in_power(4 * EPS, method.order)
    )
    assert audit.wasserstein**method.order == agrees_with(
        max(pair.wasserstein for pair in distances) ** method.order,
        slack=slivers(federation, method),
    )
    largest = max(abs(pair.mean_gap) for pair in distances)
    assert abs(audit.mean_gap) == agrees_with(largest, slack=16 * EPS * scale)
    assert any(
        audit.mean_gap == agrees_with(pair.mean_gap, slack=16 * EPS * scale) for pair in distances
    )
    assert audit.note == ""


@half
@given(federations(), methods())
def test_a_local_audit_depends_on_its_own_silo_only(federation, method):
    """Each silo's audit is that of a federation of its own, read on the same grid of levels."""
    again = replace(method, levels=method.levels or federation.max_levels)
    for audit in local_audits(federation, method):
        own = {key: cell for key, cell in federation.cells.items() if key[0] == audit.silo}
        lacking = [str(group) for group, count in audit.counts.items() if not count]
        assert audit.note == ("lacks " + ", ".join(lacking) if lacking else "")
        if len(own) < 2:
            assert audit.disparity is None
            continue
        (alone,) = local_audits(Federation.from_cells(own), again)
        measured = (audit.disparity, audit.heterogeneity, audit.wasserstein, audit.mean_gap)
        expected = (alone.disparity, alone.heterogeneity, alone.wasserstein, alone.mean_gap)
        assert measured == tuple(agrees_with(value) for value in expected)


@given(st.data())
def test_a_lacking_group_costs_no_digit(data):
    """Scores far from zero and near each other are told apart in a silo that lacks a group.

    The differences are exact here, whatever the origin, so ten digits are due.
    """
    origin = data.draw(st.sampled_from([2.0**20, -(2.0**30), 2.0**40]))
    quarters = st.lists(st.integers(-8, 8), min_size=2, max_size=2)
    offsets = {group: sorted(data.draw(quarters)) for group in "abc"}
    counts = {group: data.draw(st.integers(1, 9)) for group in "abc"}
    lacking = data.draw(st.sampled_from("abc"))
    method = data.draw(methods(estimator="grid"))
    near, far = (
        Federation.from_cells(
            {
                (silo, group): Cell(
                    count=counts[group], values=[start + x / 4 for x in offsets[group]]
                )
                for silo, group in [
                    ("here", "a"),
                    ("here", "b"),
                    ("here", "c"),
                    ("there", lacking),
                ]
                if (silo, group) != ("here", lacking)
            }
        )
        for start in (0.0, origin)
    )

    expected, _ = local_audits(near, method)
    actual, _ = local_audits(far, method)

    assert actual.disparity == agrees_with(expected.disparity)
    assert actual.wasserstein == agrees_with(expected.wasserstein)
    assert [i.disparity_without for i in influences(far, method)] == [
        None if i.disparity_without is None else agrees_with(i.disparity_without)
        for i in influences(near, method)
    ]


@half
@given(federations(), methods())
def test_pairs_measure_what_two_groups_alone_would(federation, method):
    """W_p and C_p of two groups do not depend on the others."""
    again = replace(method, levels=method.levels or federation.max_levels)
    for pair in pairs(federation, method):
        own = {key: cell for key, cell in federation.cells.items() if key[1] in pair.groups}
        (alone,) = pairs(Federation.from_cells(own, groups=pair.groups), again)
        # The masses of both are divided by other common factors, each rounded once.
        slack = slivers(federation, method) ** (1 / method.order) if method.trim else 0.0
        assert pair.wasserstein == agrees_with(alone.wasserstein, slack=slack)
        assert pair.cramer == agrees_with(alone.cramer)
        assert pair.mean_gap == agrees_with(
            alone.mean_gap, slack=16 * EPS * reach(federation.values)
        )
