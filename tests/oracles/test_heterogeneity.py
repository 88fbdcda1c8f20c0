"""The heterogeneity against rational arithmetic, a dense grid, and containers of records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import rational
from tests.oracles.agreement import EPS, agrees_with, in_power
from tests.strategies import half, orders, reach, real_masses, samples_by_group, tables

from fedparity import Law, Weights, heterogeneity
from fedparity.theory import cramer_power, mixture


@half
@given(orders, samples_by_group())
def test_it_is_the_mean_power_distance_to_the_mixture(order, groups):
    """H_p = Σ α ∫|F_s − F×|^p, for two, three or four groups."""
    samples, shares = groups
    expected = rational.heterogeneity(
        {group: rational.law(*sample) for group, sample in samples.items()}, shares, order
    )

    laws = {group: Law(*sample) for group, sample in samples.items()}

    assert heterogeneity(laws, Weights(shares), order=order) == agrees_with(expected)


@half
@given(orders, samples_by_group(real_masses))
def test_real_masses_count_as_they_are(order, groups):
    """Laws whose masses have no exact sum are measured to the rounding of that sum."""
    samples, shares = groups
    expected = rational.heterogeneity(
        {group: rational.law(*sample) for group, sample in samples.items()}, shares, order
    )

    laws = {group: Law(*sample) for group, sample in samples.items()}
    actual = heterogeneity(laws, Weights(shares), order=order)

    # Each cdf is a sum of up to eight masses with one rounding each; four are compared.
    widest = 2 * reach(*(values for values, _ in samples.values()))
    assert actual == agrees_with(expected, slack=widest * in_power(32 * EPS, order))


@half
@given(orders, samples_by_group())
def test_it_can_be_computed_from_the_mixture(order, groups):
    """Σ α C_p^p(ν_s, ν×), the distances being taken one by one."""
    samples, shares = groups
    laws = {group: Law(*sample) for group, sample in samples.items()}
    weights = Weights(shares)
    pooled = mixture(laws, weights)
    expected = sum(weights[g] * cramer_power(laws[g], pooled, order=order) for g in laws)

    # The cdf of the mixture is a sum of up to 32 masses with one rounding each.
    widest = 2 * reach(*(values for values, _ in samples.values()))
    assert heterogeneity(laws, weights, order=order) == agrees_with(
        expected, slack=widest * in_power(32 * EPS, order)
    )


@given(orders, tables(), st.sampled_from([list, np.array, pd.Series, pl.Series, pa.array]))
def test_records_are_grouped_by_their_label(order, table, container):
    """Scores with one label each, in any container, give the laws and shares of their groups."""
    scores, groups, _ = table
    laws = {
        group: rational.law([x for x, g in zip(scores, groups, strict=True) if g == group])
        for group in set(groups)
    }
    shares = {group: groups.count(group) for group in laws}
    expected = rational.heterogeneity(laws, shares, order)

    actual = heterogeneity(container(scores), sensitive_features=container(groups), order=order)
    fairlearn = heterogeneity([0], container(scores), sensitive_features=groups, order=order)

    assert actual == agrees_with(expected)
    assert fairlearn == actual


@given(orders, st.data())
def test_a_whole_sample_weight_is_a_repetition(order, data):
    """A record of weight w counts as w records, and one of weight zero as none."""
    scores, groups, _ = data.draw(tables())
    size = len(scores) - 2
    weights = [1, 2, *data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))]
    expected = heterogeneity(
        np.repeat(scores, weights), sensitive_features=np.repeat(groups, weights), order=order
    )

    actual = heterogeneity(scores, sensitive_features=groups, sample_weight=weights, order=order)

    assert actual == agrees_with(expected)


@pytest.mark.parametrize("order", [1, 2])
def test_several_sensitive_columns_give_intersections(order):
    """The groups of two columns are the pairs of values that occur."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 40), "old": rng.choice([True, False], 40)})
    scores = rng.integers(0, 11, 40) / 10
    rows = list(frame.itertuples(index=False, name=None))
    laws = {
        label: rational.law([x for x, row in zip(scores, rows, strict=True) if row == label])
        for label in set(rows)
    }
    expected = rational.heterogeneity(laws, {g: rows.count(g) for g in laws}, order)

    assert len(laws) == 4
    assert heterogeneity(scores, sensitive_features=frame, order=order) == agrees_with(expected)
    assert heterogeneity(
        scores, sensitive_features=pl.DataFrame(frame.to_dict("list")), order=order
    ) == agrees_with(expected)


@pytest.mark.parametrize("order", [1, 2])
def test_a_dense_grid_of_scores_comes_near(order):
    """The integral over scores is the limit of its midpoint sums, not divided by the range."""
    rng = np.random.default_rng(11)
    laws = {
        group: Law.from_scores(rng.normal(shift, 1 + shift, size))
        for group, shift, size in (("a", 0, 40), ("b", 1, 55), ("c", 2, 7))
    }
    weights = Weights({"a": 3, "b": 5, "c": 2})
    low, high = (
        pick([end(law.atoms) for law in laws.values()]) for pick, end in ((min, min), (max, max))
    )
    points = 200_000
    step = (high - low) / points
    cdfs = np.array([law.cdf(low + (np.arange(points) + 0.5) * step) for law in laws.values()])
    shares = np.array(list(weights.values()))[:, None]
    gaps = np.abs(cdfs - (shares * cdfs).sum(axis=0))
    expected = (shares * gaps**order).sum() * step

    # A midpoint sum misses at most one step per atom, times a cdf difference below one.
    slack = sum(len(law) for law in laws.values()) * step
    assert heterogeneity(laws, weights, order=order) == pytest.approx(expected, rel=0, abs=slack)
    assert slack < 0.05 * expected
