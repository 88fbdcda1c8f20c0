"""Sketches against order statistics of whole ranks and rational integrals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import rational
from tests.oracles.agreement import EPS, agrees_with, in_power
from tests.strategies import decimals, half, orders, reach, real_masses, scores, weighted_scores

from fedparity import Cell, Law, Weights
from fedparity.theory import (
    bin_averaged_disparity,
    bin_means,
    linear_disparity,
    midpoints,
    quantile_values,
    riemann_disparity,
)


def order_statistics(values, levels):
    """The records of rank ⌈n u⌉ for u = (l − ½)/k, the ranks being exact."""
    ordered, n = sorted(values), len(values)
    return [
        ordered[math.ceil(n * Fraction(2 * step - 1, 2 * levels)) - 1]
        for step in range(1, levels + 1)
    ]


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 10, 20, 49, 50, 99, 100, 101, 199, 300])
def test_quantiles_are_order_statistics_for_every_number_of_levels(n, tied):
    """Whatever k, fewer than the records or more, no rank is off by one."""
    records = [float((7 * i) % n) if not tied else float((7 * i) % n // 3) for i in range(n)]
    law = Law.from_scores(records)

    for levels in range(1, n + 6):
        assert quantile_values(law, levels).tolist() == order_statistics(records, levels)


@pytest.mark.parametrize("levels", [1, 2, 3, 7, 10, 25, 100])
def test_quantiles_are_order_statistics_for_every_number_of_records(levels):
    """Whatever n from 1 to 300, no rank is off by one."""
    for n in range(1, 301):
        records = [i / 7 for i in range(n)]

        actual = quantile_values(Law.from_scores(records), levels).tolist()

        assert actual == order_statistics(records, levels)


def test_the_level_055_of_a_hundred_records_is_the_55th():
    """In floats 100 · 0.55 is 55.00000000000001, whose ceiling is 56."""
    records = [float(rank) for rank in range(1, 101)]

    actual = quantile_values(Law.from_scores(records), 10)

    assert actual.tolist() == [5, 15, 25, 35, 45, 55, 65, 75, 85, 95]


@given(scores(max_size=30), st.integers(1, 40))
def test_a_cell_holds_the_order_statistics_of_its_records(values, levels):
    """Cell.from_scores counts the records and keeps those of rank ⌈n u⌉."""
    cell = Cell.from_scores(values, levels=levels)

    assert cell.count == len(values)
    assert cell.values.tolist() == order_statistics(values, levels)


@given(weighted_scores(), st.integers(1, 40))
def test_a_whole_weight_is_a_repetition(sample, levels):
    """The ranks count a record of weight w as w records, for both kinds of sketch."""
    repeated = np.repeat(*sample)

    assert quantile_values(Law(*sample), levels).tolist() == order_statistics(repeated, levels)
    assert (
        bin_means(Law(*sample), levels).tolist()
        == bin_means(Law.from_scores(repeated), levels).tolist()
    )


@given(weighted_scores(), st.integers(1, 40))
def test_bin_means_are_integrals_of_the_quantile_function(sample, levels):
    """K ∫ Q over each bin, atoms being cut where a bin ends inside them."""
    expected = rational.bin_means(rational.law(*sample), levels)

    actual = bin_means(Law(*sample), levels).tolist()

    # A mean near zero of values that are not is known to the rounding of those values.
    slack = 8 * EPS * reach(sample[0])
    assert actual == [agrees_with(value, slack=slack) for value in expected]


@pytest.mark.parametrize("n", [1, 2, 7, 49, 100, 300])
@pytest.mark.parametrize("levels", [1, 2, 3, 10, 49, 100, 305])
def test_bin_means_of_records(n, levels):
    """The same, from one record to three hundred."""
    records = [i * i / 7 for i in range(1, n + 1)]
    expected = rational.bin_means(rational.law(records), levels)

    actual = bin_means(Law.from_scores(records), levels).tolist()

    assert actual == [agrees_with(value) for value in expected]


@given(weighted_scores(real_masses), st.integers(1, 12))
def test_bin_means_of_real_masses(sample, levels):
    """Masses need not be whole; the bins are then cut to the rounding of their sum."""
    expected = rational.bin_means(rational.law(*sample), levels)

    actual = bin_means(Law(*sample), levels).tolist()

    # Twelve masses are added with one rounding each, and a bin is a k-th of their sum.
    slack = 24 * EPS * levels * reach(sample[0])
    assert actual == [agrees_with(value, slack=slack) for value in expected]


@given(st.integers(1, 300), st.sampled_from([0.0, 0.1, 0.25]))
def test_levels_are_the_midpoints_of_equal_bins(levels, trim):
    """U = ε + (l − ½)(1 − 2ε)/k, each to two roundings."""
    low = rational.decimal(trim)
    expected = [
        low + Fraction(2 * step - 1, 2 * levels) * (1 - 2 * low) for step in range(1, levels + 1)
    ]

    actual = midpoints(levels, trim=trim)

    assert actual.tolist() == [pytest.approx(float(u), rel=1e-15, abs=0) for u in expected]


@st.composite
def rows_of_values(draw):
    """The values of two to four groups at the same levels, and the counts of the groups."""
    size = draw(st.integers(1, 8))
    number = draw(st.integers(2, 4))
    rows = {
        group: sorted(draw(st.lists(decimals, min_size=size, max_size=size)))
        for group in range(number)
    }
    return rows, {group: draw(st.integers(1, 20)) for group in rows}


@given(orders, rows_of_values())
def test_the_riemann_sum_is_the_disparity_of_step_laws(order, groups):
    """(1/k) Σ Σ α |q_{s,l} − q*_l|^p, the laws having mass 1/k at each value."""
    rows, counts = groups
    laws = {group: rational.law(row) for group, row in rows.items()}
    expected = rational.disparity(laws, counts, order)

    assert riemann_disparity(rows, Weights(counts), order=order) == agrees_with(expected)


@given(rows_of_values())
def test_the_linear_sum_integrates_interpolated_quantiles(groups):
    """Simpson's rule is exact for squares of pieces of lines, and the outer half bins are flat."""
    rows, counts = groups
    size = len(rows[0])
    spread = rational.dispersion(counts.values(), 2)
    columns = [[Fraction(row[i]) for row in rows.values()] for i in range(size)]
    halfway = [
        [(p + q) / 2 for p, q in zip(columns[i], columns[i + 1], strict=True)]
        for i in range(size - 1)
    ]
    outer = (spread(columns[0]) + spread(columns[-1])) / 2
    inner = sum(
        (spread(columns[i]) + 4 * spread(halfway[i]) + spread(columns[i + 1])) / 6
        for i in range(size - 1)
    )

    actual = linear_disparity(rows, Weights(counts))

    # Values are compared with their mean, which is rounded.
    slack = in_power(4 * EPS * reach(*rows.values()), 2)
    assert actual == agrees_with((outer + inner) / size, slack=slack)


@half
@given(st.data())
def test_the_bin_averaged_disparity_is_that_of_the_bin_means(data):
    """Ū is the disparity of laws with mass 1/k at the mean of each bin."""
    samples = {group: data.draw(weighted_scores(max_size=6)) for group in "abc"}
    counts = {group: data.draw(st.integers(1, 20)) for group in samples}
    levels = data.draw(st.integers(1, 8))
    steps = {
        group: rational.law(rational.bin_means(rational.law(*sample), levels))
        for group, sample in samples.items()
    }
    expected = rational.disparity(steps, counts, 2)

    laws = {group: Law(*sample) for group, sample in samples.items()}
    actual = bin_averaged_disparity(laws, Weights(counts), levels)

    # Bin means are rounded at the scale of the scores.
    slack = in_power(8 * EPS * reach(*(values for values, _ in samples.values())), 2)
    assert actual == agrees_with(expected, slack=slack)
