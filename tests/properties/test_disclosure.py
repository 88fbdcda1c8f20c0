"""Whatever the data, the disclosure rules hold for what leaves."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import kinds
from tests.unit.privacy import test_ledger

import fedparity as fp
from fedparity.privacy.disclosure import (
    Disclosure,
    Grid,
    allowed_levels,
    decide,
    decimal,
    largest_mean_square,
    mean_square_error,
    round_mean_square,
    round_values,
    rounding_error,
)
from fedparity.privacy.ledger import Ledger

ranges = st.sampled_from(
    [
        (0.0, 1.0),
        (-1.0, 1.0),
        (300.0, 850.0),
        (0.1, 0.7),
        (-1e-3, 2e-3),
        (1e6, 1e6 + 1),
        (0.0, 1e9),
    ]
)
roundings = st.sampled_from([0.1, 0.05, 0.03, 0.01, 0.001, 0.0007, 1e-6, 1e-9, 1e-14, 1 / 3e3])
shares = st.one_of(st.floats(0, 1), st.integers(0, 2000).map(lambda i: i / 2000))
rules = st.builds(
    Disclosure,
    minimum_cell=st.integers(1, 20),
    records_per_level=st.integers(0, 20),
    rounding=st.sampled_from([0.0, 0.001, 0.05]),
)
counts = st.dictionaries(
    st.sampled_from("abcdef"), st.one_of(st.integers(0, 30), st.integers(0, 10**6)), min_size=1
)


@st.composite
def values_in_a_range(draw):
    """Draw sorted values in a public range."""
    low, high = draw(ranges)
    places = sorted(draw(st.lists(shares, min_size=1, max_size=12)))
    return np.clip(low + (high - low) * np.array(places), low, high), (low, high)


@given(values_in_a_range(), roundings)
def test_rounding_moves_no_value_by_more_than_half_a_step(drawn, rounding):
    values, score_range = drawn
    rounded = round_values(values, score_range, rounding)

    assert np.abs(rounded - values).max() <= rounding_error(score_range, rounding)


@given(values_in_a_range(), roundings)
def test_rounding_keeps_the_order_and_the_range(drawn, rounding):
    values, (low, high) = drawn
    rounded = round_values(values, (low, high), rounding)

    assert (np.diff(rounded) >= 0).all()
    assert low <= rounded.min() <= rounded.max() <= high


@given(values_in_a_range(), roundings)
def test_rounding_twice_is_rounding_once(drawn, rounding):
    values, score_range = drawn
    once = round_values(values, score_range, rounding)

    assert round_values(once, score_range, rounding).tobytes() == once.tobytes()


@given(values_in_a_range(), roundings)
def test_all_values_at_once_are_rounded_like_each_in_exact_arithmetic(drawn, rounding):
    values, score_range = drawn
    low, high = map(decimal, score_range)
    grid = Grid.of(score_range, decimal(rounding) * (high - low))
    exact = np.clip(grid.exact(values), *score_range) + 0.0

    assert round_values(values, score_range, rounding).tobytes() == exact.tobytes()


@given(values_in_a_range())
def test_rounding_by_nothing_changes_nothing(drawn):
    values, score_range = drawn

    assert round_values(values, score_range, 0.0) is values


@st.composite
def sorted_records(draw):
    """Draw records in a range, and their number of bins."""
    records, score_range = draw(values_in_a_range())
    return records, score_range, draw(st.integers(1, records.size))


def told_mean_square(records, score_range, levels, rounding):
    """The bin means and the mean square as they are sent, and the latter before it is rounded."""
    law = fp.Law.from_scores(records)
    means = fp.theory.bin_means(law, levels)
    values = round_values(means, score_range, rounding)
    between = np.repeat(records, levels) - np.repeat(values, records.size)
    exact = float(np.mean(between**2))
    terms = {
        "values": values,
        "count": records.size,
        "score_range": score_range,
        "rounding": rounding,
    }
    return exact, round_mean_square(exact, **terms), terms


@given(sorted_records(), st.sampled_from([0.0, 0.001, 0.005, 0.05]))
def test_a_mean_square_moves_by_no_more_than_it_says(drawn, rounding):
    exact, told, terms = told_mean_square(*drawn, rounding)

    assert abs(told - exact) <= mean_square_error(**terms)
    assert 0 <= told <= largest_mean_square(**terms)


@given(sorted_records(), st.sampled_from([0.001, 0.005, 0.05]))
def test_no_record_is_pinned_by_the_mean_square_of_a_cell(drawn, rounding):
    """Scores in an interval of ten roundings fit the sum of squares, wherever the target is."""
    records, (low, high), levels = drawn
    _, _, terms = told_mean_square(*drawn, rounding)
    step = 2 * mean_square_error(**terms) * records.size
    values = terms["values"]
    for place, record in enumerate(records):
        bins = np.arange(levels * place // records.size, -(-levels * (place + 1) // records.size))
        distance = np.abs(record - values[bins]).max()
        fitting = np.sqrt(distance**2 + step) - distance

        assert fitting >= 0.4 * 10 * rounding * (high - low)


@given(counts, st.integers(1, 200), rules, kinds, st.booleans())
def test_a_cell_is_sent_by_the_rules_or_withheld_with_a_reason(
    records, levels, rule, kind, public
):
    found = decide(
        records,
        levels=levels,
        disclosure=rule,
        kind=kind,
        public_total=sum(records.values()) if public else None,
    )

    for group, decision in found.items():
        if decision.withheld:
            assert decision.levels == 0
            assert decision.reasons
        else:
            allowed = allowed_levels(records[group], levels, rule, kind=kind)
            assert decision.levels == allowed
            assert bool(decision.reasons) == (0 < allowed < levels)


@given(counts, rules)
def test_a_small_cell_is_withheld_whether_or_not_a_total_is_public(records, rule):
    for public_total in (None, 1):
        found = decide(records, levels=9, disclosure=rule, public_total=public_total)

        assert all(
            found[group].withheld
            for group, number in records.items()
            if number < rule.minimum_cell and rule.minimum_cell > 1
        )


@given(st.integers(11, 400), st.integers(1, 100), st.integers(0, 2**32))
def test_every_tail_of_a_released_sketch_holds_five_records(records, levels, seed):
    scores = np.random.default_rng(seed).permutation(records) / records
    k = allowed_levels(records, levels, Disclosure())
    values = fp.theory.quantile_values(fp.Law.from_scores(scores), k)

    assert np.count_nonzero(scores <= values[0]) >= 5
    assert np.count_nonzero(scores >= values[-1]) >= 5


@given(st.integers(11, 300), st.integers(0, 2**32))
def test_tails_of_weighted_quantiles_hold_five_records_when_no_weight_is_large(records, seed):
    """W over the largest weight is the stricter number of records that ``decide`` can be given."""
    random = np.random.default_rng(seed)
    scores, weights = random.permutation(records) / records, random.integers(1, 6, records)
    effective = {"a": weights.sum() / weights.max()}
    k = decide({"a": records}, levels=99, disclosure=Disclosure(), effective=effective)["a"].levels
    if k:
        values = fp.theory.quantile_values(fp.Law.from_scores(scores, weights), k)

        assert np.count_nonzero(scores <= values[0]) >= 5
        assert np.count_nonzero(scores >= values[-1]) >= 5


def digest(values):
    return "sha256:" + hashlib.sha256(values.tobytes()).hexdigest()


def release(scores):
    """What a silo would send for one group, rules and all."""
    k = decide({"a": len(scores)}, levels=50, disclosure=Disclosure())["a"].levels
    values = fp.theory.quantile_values(fp.Law.from_scores(scores), k)
    return round_values(values, (0.0, 1.0), 0.001).tolist()


@pytest.mark.parametrize("secret", [0.2, 0.5, 0.8])
def test_two_releases_tell_where_a_record_is_and_the_ledger_allows_only_one(secret, tmp_path):
    """A record left and another came at the top: only the quantiles above the former move."""
    scores = np.random.default_rng(5).random(500)
    before = np.array(release(np.append(scores, secret)))
    after = np.array(release(np.append(scores, 1.0)))
    guess = before[np.argmax(before != after)]
    ledger = Ledger(tmp_path / "ledger.jsonl")
    test_ledger.record(ledger, "plan", "north", digest(before))

    assert abs(guess - secret) < 0.02
    with pytest.raises(fp.errors.LedgerError, match="north"):
        test_ledger.record(ledger, "plan", "north", digest(after))
