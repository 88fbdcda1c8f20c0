"""The federated path against the same path in rational numbers, and against the pooled data."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations

import numpy as np
import ot
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import energy_distance
from tests.oracles import rational, silos
from tests.oracles.agreement import EPS, agrees_with, in_power
from tests.oracles.silos import Silos
from tests.strategies import federations, half, kinds, methods, orders, reach, tables

from fedparity import Cell, Federation, Method, disparity, heterogeneity
from fedparity.theory import (
    attribute,
    centers,
    decompose,
    estimate,
    influences,
    local_audits,
    mixtures,
    pairs,
)

small = federations(max_silos=4, max_groups=3, sizes=st.integers(1, 6))
"""Cells of one to six values: equal or different k, ties, silos that lack a group."""


def sliver(federation, order):
    """What the ends of intervals, rounded, can add to an integral over levels.

    The cumulative masses of two laws that meet in rational numbers may differ by one rounding
    in floats; the sliver of levels between them then counts by the gap of their values.
    """
    return federation.values.size * EPS * (2 * reach(federation.values)) ** order


def parts(federation):
    return Silos.of(federation.cells)


@half
@given(small)
def test_mixtures_weigh_the_step_laws_by_their_records(federation):
    """ν_s× = Σ π_{j|s} ν_{j,s}: the atoms are the values, each cell's sharing its count."""
    for group, expected in parts(federation).mixtures().items():
        actual = mixtures(federation)[group]

        assert actual.atoms.tolist() == [float(atom) for atom in expected.atoms]
        assert actual.cumulative.tolist() == [float(level) for level in expected.reached]


@half
@given(small, methods())
def test_the_estimate_is_the_disparity_of_the_mixtures(federation, method):
    """Ĝ on the grid (Algorithm 1) or exactly, and Ĥ over all breakpoints."""
    whole = parts(federation)
    expected = whole.disparity(whole.mixtures(), whole.totals, method)
    spread = rational.heterogeneity(whole.mixtures(), whole.totals, method.order)

    actual = estimate(federation, method)

    # Only a trimmed exact integral has ends that are rounded.
    rounded = method.estimator == "exact" and method.trim
    slack = sliver(federation, method.order) if rounded else 0.0
    assert actual.disparity == agrees_with(expected, slack=slack)
    assert actual.heterogeneity == agrees_with(spread)
    assert actual.levels == method.levels or method.levels is None
    assert actual.levels == whole.levels or method.levels is not None


@half
@given(
    federations(
        max_silos=3,
        max_groups=3,
        counts=st.sampled_from([0.1, 0.3, 2.5, 7.0]),
        sizes=st.integers(1, 5),
    ),
    methods(),
)
def test_weights_in_the_place_of_counts(federation, method):
    """A cell may count by the total weight of its records; levels are met as in real numbers."""
    cells = {key: (rational.decimal(cell.count), cell) for key, cell in federation.cells.items()}
    whole = Silos(
        {key: count for key, (count, _) in cells.items()},
        {key: rational.law(cell.values.tolist()) for key, (_, cell) in cells.items()},
        federation.max_levels,
    )
    counterfactuals = (whole.mixtures(), whole.without_selection(), whole.with_local_parity())
    expected = [whole.disparity(laws, whole.totals, method) for laws in counterfactuals]
    left = [whole.without(silo) for silo in federation.silos]

    split = attribute(federation, method)
    without = [influence.disparity_without for influence in influences(federation, method)]

    # Sums of weights are rounded: an exact integral gains or loses slivers of levels.
    slack = sliver(federation, method.order) if method.estimator == "exact" else 0.0
    assert estimate(federation, method).disparity == agrees_with(expected[0], slack=slack)
    assert [split.disparity, split.without_selection, split.with_local_parity] == [
        agrees_with(value, slack=slack) for value in expected
    ]
    assert without == [
        agrees_with(others.disparity(others.mixtures(), others.totals, method), slack=slack)
        if len(others.groups) > 1
        else None
        for others in left
    ]


@half
@given(small, orders)
def test_centers_are_level_by_level_centers_of_the_silos(federation, order):
    """ν_s*: the mean (p = 2) or lower weighted median (p = 1) of the silos' quantiles."""
    whole = parts(federation)
    for group, actual in centers(federation, order=order).items():
        held = [key for key in whole.laws if key[1] == group]
        counts = [whole.counts[key] for key in held]
        laws = [whole.laws[key] for key in held]
        ends = sorted({end for law in laws for end in law.reached})
        middles = [(low + high) / 2 for low, high in zip([0, *ends], ends, strict=False)]
        expected = [
            float(rational.center([law.quantile(u) for law in laws], counts, order))
            for u in middles
        ]

        slack = 4 * EPS * reach(federation.values)  # a mean near zero of values that are not
        assert actual.quantile([float(u) for u in middles]).tolist() == [
            agrees_with(value, slack=slack) for value in expected
        ]


@half
@given(small, methods())
def test_the_terms_of_the_decomposition(federation, method):
    """V_mix, V_bar and R for order 2; the two sides of the triangle for order 1."""
    expected = silos.decomposition(parts(federation), method)

    actual = decompose(federation, method)

    # Centers are means, rounded at the scale of the values; their cumulative masses are sums.
    slack = in_power(8 * EPS * reach(federation.values), method.order)
    if method.estimator == "exact":
        slack += 8 * sliver(federation, method.order)
    assert actual.v_mix == agrees_with(expected.v_mix, slack=slack)
    assert actual.v_bar == agrees_with(expected.v_bar, slack=slack)
    if method.order == 2:
        terms = float(expected.v_mix + expected.v_bar)  # R is a product of the other two's roots
        assert actual.remainder == agrees_with(expected.remainder, slack=slack + 1e-10 * terms)


@half
@given(small, methods())
def test_the_two_counterfactuals_and_their_shares(federation, method):
    """G(π,ν), G(β,ν) and G(π,ν_j) from the cells, and the Shapley values of the two changes."""
    whole = parts(federation)
    observed, no_selection, parity = (
        whole.disparity(laws, whole.totals, method)
        for laws in (whole.mixtures(), whole.without_selection(), whole.with_local_parity())
    )

    actual = attribute(federation, method)

    slack = sliver(federation, method.order) if method.estimator == "exact" else 0.0
    assert actual.disparity == agrees_with(observed, slack=slack)
    assert actual.without_selection == agrees_with(no_selection, slack=slack)
    assert actual.with_local_parity == agrees_with(parity, slack=slack)
    slack = 2 * slack + 1e-10 * float(observed + no_selection + parity)  # differences of these
    assert actual.selection == agrees_with((observed - no_selection + parity) / 2, slack=slack)
    assert actual.within == agrees_with((observed - parity + no_selection) / 2, slack=slack)


@half
@given(small)
def test_the_pooled_law_stands_in_for_every_lacking_group(federation):
    """``stand_ins`` lists the silos and groups that have no cell, and only those."""
    absent = {(j, s) for j in federation.silos for s in federation.groups} - set(federation.cells)

    actual = attribute(federation).stand_ins

    assert len(actual) == len(absent)
    assert set(actual) == absent


@half
@given(small, methods())
def test_an_influence_is_the_disparity_of_the_other_silos(federation, method):
    """The same grid of levels, without the silo; none where a single group remains."""
    whole = parts(federation)
    observed = whole.disparity(whole.mixtures(), whole.totals, method)
    rounded = method.estimator == "exact" and method.trim
    slack = sliver(federation, method.order) if rounded else 0.0

    actual = influences(federation, method)

    assert [influence.silo for influence in actual] == list(federation.silos)
    for influence in actual:
        others = whole.without(influence.silo)
        if len(others.groups) < 2:
            assert influence.disparity_without is None
            assert influence.change is None
            continue
        expected = others.disparity(others.mixtures(), others.totals, method)
        assert influence.disparity_without == agrees_with(expected, slack=slack)
        change_slack = slack + 1e-10 * float(observed + expected)  # the change is a difference
        assert influence.change == agrees_with(observed - expected, slack=change_slack)


@half
@given(small, methods())
def test_a_local_audit_measures_the_cells_of_one_silo(federation, method):
    """U_p, H_p, the largest W_p and the largest gap of means, from the silo's cells alone."""
    whole, order = parts(federation), method.order
    rounded = method.estimator == "exact" and method.trim
    slack = sliver(federation, order) if rounded else 0.0

    for audit in local_audits(federation, method):
        inside = whole.inside(audit.silo)
        counts = {s: whole.counts.get((audit.silo, s), 0) for s in federation.groups}
        assert audit.counts == counts
        if len(inside) < 2:
            measured = (audit.disparity, audit.heterogeneity, audit.wasserstein, audit.mean_gap)
            assert measured == (None,) * 4
            continue
        distance = max(
            whole.integral([inside[s], inside[t]], lambda q: abs(q[0] - q[1]) ** order, method)
            for s, t in combinations(inside, 2)
        )
        gaps = [inside[s].mean - inside[t].mean for s, t in combinations(inside, 2)]
        gap = max(gaps, key=abs)
        assert audit.disparity == agrees_with(whole.disparity(inside, counts, method), slack=slack)
        # A silo's cdfs are multiples of 1/k, rounded.
        cdf_slack = 2 * reach(federation.values) * in_power(4 * EPS, order)
        assert audit.heterogeneity == agrees_with(
            rational.heterogeneity(inside, counts, order), slack=cdf_slack
        )
        assert audit.wasserstein**order == agrees_with(distance, slack=slack)
        # Means are rounded at the scale of the values.
        slack = 8 * EPS * reach(federation.values)
        assert abs(audit.mean_gap) == agrees_with(abs(gap), slack=slack)
        if len(inside) == 2:  # of more groups two pairs may be equally far apart
            assert audit.mean_gap == agrees_with(gap, slack=slack)


@half
@given(small, methods())
def test_pairs_are_distances_between_two_mixtures(federation, method):
    """W_p by the method, C_p and the difference of means, for every two groups in order."""
    whole = parts(federation)
    laws = whole.mixtures()
    rounded = method.estimator == "exact" and method.trim
    slack = sliver(federation, method.order) if rounded else 0.0

    actual = pairs(federation, method)

    assert [pair.groups for pair in actual] == list(combinations(federation.groups, 2))
    for pair in actual:
        mu, nu = (laws[group] for group in pair.groups)
        power = whole.integral([mu, nu], lambda q: abs(q[0] - q[1]) ** method.order, method)
        assert pair.wasserstein**method.order == agrees_with(power, slack=slack)
        assert pair.cramer**method.order == agrees_with(
            rational.cramer_power(mu, nu, method.order)
        )
        # Means are rounded at the scale of the values.
        assert pair.mean_gap == agrees_with(
            mu.mean - nu.mean, slack=16 * EPS * reach(federation.values)
        )


@half
@given(tables(), st.integers(1, 8), st.sampled_from(["quantile", "mean"]))
def test_every_cell_is_the_sketch_of_its_records(table, levels, kind):
    """A federation made from a table holds one sketch per silo and group that occur."""
    scores, groups, silo_labels = table
    federation = Federation.from_scores(
        scores, groups=groups, silos=silo_labels, levels=levels, kind=kind
    )

    assert set(federation.cells) == set(zip(silo_labels, groups, strict=True))
    for (silo, group), cell in federation.cells.items():
        records = [
            score
            for score, *label in zip(scores, silo_labels, groups, strict=True)
            if label == [silo, group]
        ]
        expected = Cell.from_scores(records, levels=levels, kind=kind)
        assert cell.count == len(records)
        assert cell.values.tolist() == expected.values.tolist()


@half
@given(orders, kinds, tables(), st.integers(1, 4), st.sampled_from([0.0, 0.1, 0.25]))
def test_sketches_that_hold_every_record_give_the_pooled_disparity(
    order, kind, table, multiple, trim
):
    """With k a multiple of the cell's n the mixtures are the pooled laws: nothing is lost."""
    scores, groups, silo_labels = table
    records = defaultdict(list)
    for score, *label in zip(scores, silo_labels, groups, strict=True):
        records[tuple(label)].append(score)
    federation = Federation.from_cells(
        {
            label: Cell.from_scores(held, levels=multiple * len(held), kind=kind)
            for label, held in records.items()
        }
    )

    actual = estimate(federation, Method(order=order, estimator="exact", trim=trim))

    slack = sliver(federation, order) if trim else 0.0
    assert actual.disparity == agrees_with(
        disparity(scores, sensitive_features=groups, order=order, trim=trim), slack=slack
    )
    if not trim:
        assert actual.heterogeneity == agrees_with(
            heterogeneity(scores, sensitive_features=groups, order=order)
        )


@half
@given(orders, kinds, tables(max_size=12))
def test_levels_that_hold_every_record_of_every_cell(order, kind, table):
    """One k for all, a multiple of every cell's n, is as good; so is a fine enough grid."""
    scores, groups, silo_labels = table
    labels = list(zip(silo_labels, groups, strict=True))
    levels = math.lcm(*(labels.count(label) for label in labels))
    assume(levels <= 120)
    federation = Federation.from_scores(
        scores, groups=groups, silos=silo_labels, levels=levels, kind=kind
    )
    expected = disparity(scores, sensitive_features=groups, order=order)

    exact = estimate(federation, Method(order=order, estimator="exact"))
    # On a grid with a whole number of levels per record no step ends inside a bin.
    fine = math.lcm(*(groups.count(group) for group in groups))
    grid = estimate(federation, Method(order=order, estimator="grid", levels=fine))

    assert exact.disparity == agrees_with(expected)
    assert grid.disparity == agrees_with(expected)


def many_cells(silos, groups, levels, seed):
    """A federation of many silos whose sketches share values, some silos lacking a group."""
    rng = np.random.default_rng(seed)
    return Federation.from_cells(
        {
            (silo, group): Cell(
                count=int(rng.integers(1, 500)),
                values=np.sort(rng.normal(group, 1 + silo % 3, levels).round(2)),
            )
            for silo in range(silos)
            for group in range(groups)
            if silo < groups or rng.random() < 0.9
        }
    )


def test_large_federations_agree_with_scipy_and_pot():
    """G₂ = α₀ α₁ W₂² and H₂ = α₀ α₁ C₂² of mixtures with thousands of atoms each."""
    federation = many_cells(silos=12, groups=2, levels=1500, seed=1)
    atoms, masses = (
        [
            np.concatenate(
                [part(cell) for (_, group), cell in federation.cells.items() if group == g]
            )
            for g in (0, 1)
        ]
        for part in (lambda cell: cell.values, lambda cell: np.full(1500, float(cell.count)))
    )
    first, second = (mass / mass.sum() for mass in masses)
    factor = masses[0].sum() * masses[1].sum() / (masses[0].sum() + masses[1].sum()) ** 2

    actual = estimate(federation, Method(estimator="exact"))

    assert federation.values.size > 2**15
    assert actual.disparity == agrees_with(factor * ot.wasserstein_1d(*atoms, first, second, p=2))
    assert actual.heterogeneity == agrees_with(
        factor * energy_distance(*atoms, first, second) ** 2 / 2
    )


@pytest.mark.parametrize("trim", [0.0, 0.1])
@pytest.mark.parametrize("order", [1, 2])
def test_every_influence_in_a_large_federation(order, trim):
    """Leaving out each of 60 silos at once is leaving out each of them in turn."""
    federation = many_cells(silos=60, groups=3, levels=20, seed=2)
    method = Method(order=order, trim=trim, levels=20)

    assert [influence.disparity_without for influence in influences(federation, method)] == [
        agrees_with(estimate(federation.without(silo), method).disparity)
        for silo in federation.silos
    ]


@pytest.mark.parametrize("order", [1, 2])
def test_exact_influences_of_very_many_silos_come_near(order):
    """Too many silos to integrate without each: the change is then read on a fine grid."""
    federation = many_cells(silos=1200, groups=2, levels=10, seed=3)
    method = Method(order=order, estimator="exact")
    whole = estimate(federation, method).disparity
    actual = influences(federation, method)[::300]

    changes = [
        whole - estimate(federation.without(influence.silo), method).disparity
        for influence in actual
    ]

    # Levels of the fine grid jump over steps of the mixtures: a tenth of the largest change.
    largest = max(map(abs, changes))
    assert [influence.change for influence in actual] == [
        pytest.approx(change, rel=0, abs=largest / 10) for change in changes
    ]
    assert largest > 1e-4 * whole
