"""Sums of floats without rounding."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedparity.sketches import exact_sums
from fedparity.sketches.exact_sums import ExactSums, exact_integer, exact_total
from fedparity.sketches.resolve import CountedRuns

finite = st.floats(allow_nan=False, allow_infinity=False)
UNIT, PRODUCT_UNIT = 2**1074, 2**2148


@given(st.lists(st.tuples(st.integers(0, 2), finite), max_size=30))
def test_sums_by_row_are_those_of_fractions(terms):
    rows = np.array([row for row, _ in terms], dtype=np.int64)
    values = np.array([value for _, value in terms])
    sums = ExactSums.zeros(3)

    sums.add(rows, values)

    expected = [sum((Fraction(v) for r, v in terms if r == row), Fraction(0)) for row in range(3)]
    assert expected == [Fraction(total, UNIT) for total in sums.totals()]


@given(st.lists(st.tuples(finite, finite), max_size=20))
def test_products_are_not_rounded_either(pairs):
    first, second = (np.array([pair[i] for pair in pairs], dtype=np.float64) for i in (0, 1))
    sums = ExactSums.zeros(1, products=True)

    sums.add_products(np.zeros(len(pairs), dtype=np.int64), first, second)

    expected = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
    assert expected == Fraction(sums.totals()[0], PRODUCT_UNIT)


@given(st.lists(finite, max_size=12), st.lists(finite, max_size=12))
def test_merging_sums_is_summing_together(first, second):
    parts = [ExactSums.zeros(1), ExactSums.zeros(1)]
    for part, values in zip(parts, (first, second), strict=True):
        part.add(np.zeros(len(values), dtype=np.int64), np.array(values, dtype=np.float64))

    parts[0].merge(parts[1])

    assert exact_total(np.array(first + second, dtype=np.float64)) == parts[0].totals()[0]


def test_many_terms_carry_before_a_limb_overflows(monkeypatch):
    """With room for four terms between carries, ten thousand still add up."""
    monkeypatch.setattr(exact_sums, "_MOST_TERMS", 4)
    sums = ExactSums.zeros(1)
    values = np.random.default_rng(1).normal(size=10_000)

    for start in range(0, values.size, 2):
        sums.add(np.zeros(2, dtype=np.int64), values[start : start + 2])

    assert exact_total(values) == sums.totals()[0]


@pytest.mark.parametrize("value", [5e-324, -5e-324, 0.0, 1.0, -1.7976931348623157e308])
def test_a_float_is_a_whole_number_of_the_smallest_one(value):
    assert Fraction(value) == Fraction(exact_integer(value), UNIT)


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(1, 2**61), finite), min_size=1, max_size=20)
)
def test_moments_of_counted_runs_are_those_of_whole_numbers(runs):
    rows, counts, scores = (np.array(column) for column in zip(*runs, strict=True))

    found = CountedRuns(scores, counts).moments(rows, 3)

    terms = [(row, count * exact_integer(score)) for row, count, score in runs]
    assert found == [sum(term for own, term in terms if own == row) for row in range(3)]
