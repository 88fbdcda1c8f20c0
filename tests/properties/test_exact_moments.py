"""Sums of scores and of squares: the whole numbers that fractions give."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedparity.sketches.exact_sums import exact_moments

LARGEST = 1.7976931348623157e308

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0, 1),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, LARGEST, -LARGEST, 1e140, 2.0**-1022]),
)
weights = st.one_of(st.floats(0, LARGEST), st.floats(0, 10), st.sampled_from([0.0, 5e-324, 1.0]))


def whole(value, places):
    exact = value * 2**places
    assert exact.denominator == 1
    return exact.numerator


def sums(scores, masses, power):
    pairs = zip(scores, masses, strict=True)
    return sum((Fraction(m) * Fraction(x) ** power for x, m in pairs), Fraction(0))


@given(st.lists(numbers, max_size=50))
def test_sums_of_floats_of_any_size_are_not_rounded(scores):
    expected = tuple(whole(sums(scores, [1] * len(scores), p), p * 1074) for p in (1, 2))

    assert expected == exact_moments(np.array(scores, dtype=np.float64))


@given(st.lists(st.tuples(numbers, weights), max_size=50))
def test_weighted_sums_of_floats_of_any_size_are_not_rounded(records):
    scores, masses = zip(*records, strict=True) if records else ((), ())
    expected = tuple(whole(sums(scores, masses, p), (p + 1) * 1074) for p in (1, 2))

    found = exact_moments(np.array(scores, dtype=np.float64), np.array(masses, dtype=np.float64))

    assert expected == found


@pytest.mark.parametrize("size", [8191, 8192, 8193, 20_000])
@pytest.mark.parametrize("value", [np.nextafter(1.0, 0.0), 1.0, -np.nextafter(2.0, 0.0), 1 / 3])
def test_the_longest_rows_of_the_largest_digits_fit(size, value):
    """No sum of products of digits is beyond the whole numbers that floats hold."""
    scores, masses = np.full(size, value), np.full(size, np.nextafter(1.0, 0.0))
    first, second = Fraction(value) * size, Fraction(value) ** 2 * size

    assert (whole(first, 1074), whole(second, 2148)) == exact_moments(scores)
    assert (
        whole(first * Fraction(masses[0]), 2148),
        whole(second * Fraction(masses[0]), 3222),
    ) == exact_moments(scores, masses)


def test_the_order_of_records_is_of_no_effect():
    random = np.random.default_rng(3)
    scores = random.standard_cauchy(30_000) ** 3
    masses = random.random(30_000)
    order = random.permutation(30_000)

    assert exact_moments(scores) == exact_moments(scores[order])
    assert exact_moments(scores, masses) == exact_moments(scores[order], masses[order])
