"""One way to write a number."""

import pytest

from fedparity import text as fitting
from fedparity import text as numbers
from fedparity.laws.bounds import Bounds
from fedparity.text import amount, number, percent, span, stated, told_apart


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.00012345, "0.000123"),
        (0.0323456, "0.0323"),
        (-0.00123, "−0.00123"),
        (1.5e-5, "1.5e-05"),
        (1234.5, "1,234"),
        (999.96, "1000"),
        (1e9, "1.0e+09"),
    ],
)
def test_three_digits_and_a_true_minus(value, text):
    assert number(value) == text


@pytest.mark.parametrize("value", [0.02, 0.0123456, 3.0, 1e-5, 1.25e-7, 0.1 + 0.2])
def test_what_was_chosen_is_written_as_it_was_chosen(value):
    """A review level keeps its digits: nobody reads 0.0123 for 0.01234."""
    assert float(stated(value)) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(
    ("value", "other", "text"),
    [
        (0.0323, 0.02, "0.0323"),
        (0.02000001, 0.02, "0.02000001"),
        (0.01999999, 0.02, "0.01999999"),
        (1.00001e-6, 1e-6, "1.00001e-06"),
        (0.02, 0.02, "0.02"),
    ],
)
def test_numbers_that_differ_do_not_look_alike(value, other, text):
    assert told_apart(value, other) == text


def test_neighboring_floats_are_told_apart():
    """Seventeen digits tell any two doubles apart."""
    value = 0.1
    above = 0.1 + 2**-56 * 2

    assert value != above
    assert told_apart(above, value) != told_apart(value, above)


def test_ranges_need_no_dash():
    assert span(Bounds(-0.01, 0.02)) == "−0.01 to 0.02"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.95, "95 %"),
        (0.999, "99.9 %"),
        (0.0196, "2 %"),
        (-0.0123, "−1.2 %"),
        (1.2e-6, "0.00012 %"),
        (4.1e-9, "<0.0001 %"),
        (-4.1e-9, ">−0.0001 %"),
        (4.1e-12, "0 %"),
    ],
)
def test_percentages(share, text):
    assert percent(share) == text


def test_records_are_never_cut():
    assert amount(123456789) == "123,456,789"
    assert amount(0.1234567) == "0.1234567"


@pytest.mark.parametrize("name", ["number", "counted"])
def test_the_command_line_writes_numbers_as_reports_do(name):
    assert getattr(fitting, name) is getattr(numbers, name)
