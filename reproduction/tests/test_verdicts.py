"""A verdict follows from numbers, and names what stays apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedparity_reproduction.verdicts import Alternative, agreements, judge, sigmas

COLUMNS = ("Global", "Silo 1")
printed = st.integers(-20_000, 20_000).map(lambda n: f"{n / 10_000:.4f}")


def constant(*values, draws=5):
    return np.tile(np.array(values, dtype=float), (draws, 1))


@given(printed, st.floats(-0.499, 0.499))
def test_what_rounds_to_the_printed_digits_matches_to_the_digits(text, fraction):
    assert agreements((text,), constant(float(text) + fraction * 1e-4)) == ("digits",)


@given(printed, st.floats(0.501, 0.999), st.sampled_from([-1, 1]))
def test_one_unit_of_the_last_digit_is_allowed_and_said(text, fraction, side):
    assert agreements((text,), constant(float(text) + side * fraction * 1e-4)) == ("unit",)


@given(printed, st.floats(1.001, 1e4), st.sampled_from([-1, 1]))
def test_more_than_a_unit_is_apart_where_chance_plays_no_part(text, units, side):
    assert agreements((text,), constant(float(text) + side * units * 1e-4)) == ("apart",)


@given(st.floats(0.01, 10), st.floats(0, 2.99), st.sampled_from([-1, 1]))
def test_three_deviations_of_the_draws_are_allowed(deviation, sigma, side):
    draws = deviation * np.array([[-1.0], [1.0]]) / np.sqrt(2)  # standard deviation: exactly that
    text = f"{side * sigma * deviation:.4f}"

    assert agreements((text,), draws) == ("spread",)
    assert agreements((f"{side * (3.01 * deviation + 1e-3):.4f}",), draws) == ("apart",)


@given(printed, st.lists(st.floats(-2, 2), min_size=2, max_size=8), st.randoms())
def test_the_order_of_draws_plays_no_part(text, values, random):
    shuffled = random.sample(values, len(values))

    found = agreements((text,), np.array(values)[:, None])
    assert found == agreements((text,), np.array(shuffled)[:, None])


def test_equal_draws_are_no_matter_of_chance_even_if_their_mean_rounds():
    draws = constant(0.1, draws=7)

    assert agreements(("0.3",), draws) == ("apart",)


def test_a_row_matches_only_if_every_column_does():
    assert judge(("0.5000", "0.1000"), constant(0.5, 0.1), COLUMNS).word == "matches"
    assert judge(("0.5000", "0.2000"), constant(0.5, 0.1), COLUMNS).word == "differs"


def test_the_reason_is_the_alternative_that_agrees_everywhere():
    half = Alternative(("it is halved",), constant(0.25, 0.05))
    wrong = Alternative(("it is doubled",), constant(1.0, 0.2))

    verdict = judge(("0.2500", "0.0500"), constant(0.5, 0.1), COLUMNS, [wrong, half])

    assert (verdict.word, verdict.reason) == ("differs", "because it is halved")


def test_the_first_of_two_reasons_that_explain_as_much_is_given():
    first, second = (Alternative((why,), constant(0.25, 0.05)) for why in ("simple", "complex"))

    verdict = judge(("0.2500", "0.0500"), constant(0.5, 0.1), COLUMNS, [first, second])

    assert verdict.reason == "because simple"


def test_a_reason_that_leaves_columns_apart_names_them():
    draws = np.array([[0.5, 0.1], [0.5, 0.3]])
    partly = Alternative(("it is halved",), draws / 2)

    verdict = judge(("0.2500", "9.0000"), draws, COLUMNS, [partly])

    assert verdict.reason.startswith("because it is halved, but Silo 1 is printed ")
    assert "none of 2 draws as far" in verdict.reason


def test_without_any_reason_the_distance_is_told():
    draws = np.array([[0.5, 1.0], [0.5, 3.0]])

    reason = judge(("0.5000", "9.0000"), draws, COLUMNS).reason

    away = sigmas("9.0000", draws[:, 1])
    assert reason == f"Silo 1 is printed {away:.1f} sd above the mean (none of 2 draws as far)"


def test_an_alternative_that_explains_nothing_is_not_blamed():
    useless = Alternative(("the moon is full",), constant(7.0, 7.0))

    assert "moon" not in judge(("1.0", "2.0"), constant(0.0, 0.0), COLUMNS, [useless]).reason


def test_a_row_that_is_not_printed_says_so():
    assert judge(None, constant(1.0, 1.0), COLUMNS).word == "not printed"


def test_a_silo_without_a_group_cannot_agree():
    assert agreements(("0.1", "0.1"), constant(0.1, np.nan)) == ("digits", "apart")


@pytest.mark.parametrize("word", ["matches", "differs", "not printed"])
def test_words_have_shapes_of_their_own(word):
    texts = {"matches": ("1.0",), "differs": ("2.0",), "not printed": None}
    shapes = {w: judge(t, constant(1.0), ("Global",)).shape for w, t in texts.items()}

    assert list(shapes.values()).count(shapes[word]) == 1
