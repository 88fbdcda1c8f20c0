"""What the disclosure rules let out, against counting by hand."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import fedparity as fp
from fedparity.privacy.disclosure import (
    Disclosure,
    allowed_levels,
    complementary_cells,
    decide,
    round_to_points,
    round_values,
    rounding_error,
    score_points,
    smallest_cell,
    whole_steps,
)
from fedparity.sketches.kinds import ranks

BAD_RULES = [
    {"minimum_cell": 0},
    {"minimum_cell": 2.5},
    {"minimum_cell": True},
    {"minimum_cell": "11"},
    {"minimum_cell": 10**13},
    {"records_per_level": -1},
    {"records_per_level": None},
    {"rounding": -0.001},
    {"rounding": 0.2},
    {"rounding": math.nan},
    {"rounding": math.inf},
    {"rounding": 10**400},
    {"rounding": True},
    {"rounding": "0.001"},
]


def largest_by_hand(records, levels, disclosure, kind):
    """The largest k that obeys every rule, found by trying all of them."""

    def obeys(k):
        per_level = disclosure.records_per_level
        if k > 1 and k * per_level > records:
            return False
        if kind == "mean":
            return records >= 5 * k
        lowest, *_, highest = [0, *ranks(records, k).tolist()][1:] * 2
        return lowest >= 5 and records - highest + 1 >= 5

    if records < disclosure.minimum_cell:
        return 0
    return max((k for k in range(1, levels + 1) if obeys(k)), default=0)


def everything_an_attacker_sees(counts, minimum):
    """The total, the labels of withheld cells, and the counts that are sent."""
    rules = Disclosure(minimum_cell=minimum, records_per_level=0)
    records = dict(enumerate(counts))
    found = decide(records, levels=1, disclosure=rules, public_total=sum(counts))
    labels = tuple(decision.withheld for decision in found.values())
    sent = tuple(count for count, label in zip(counts, labels, strict=True) if label is None)
    return sum(counts), labels, sent


@pytest.mark.parametrize("rules", BAD_RULES, ids=str)
def test_rules_out_of_range_are_refused_when_they_are_built(rules):
    with pytest.raises(fp.errors.OptionError, match=next(iter(rules))):
        Disclosure(**rules)


def test_rules_are_plain_numbers_whatever_they_were_built_from():
    rules = Disclosure(minimum_cell=np.int64(5), records_per_level=np.uint8(3), rounding=0)

    assert [type(value) for value in rules.to_dict().values()] == [int, int, float]
    assert Disclosure(**rules.to_dict()) == rules


@pytest.mark.parametrize("kind", ["quantile", "mean"])
@pytest.mark.parametrize("per_level", [1, 3, 5, 8, 10, 25])
@pytest.mark.parametrize("minimum", [1, 3, 11, 30])
def test_the_number_of_levels_is_the_largest_that_obeys_every_rule(minimum, per_level, kind):
    rules = Disclosure(minimum_cell=minimum, records_per_level=per_level)
    for records in range(130):
        for levels in (1, 2, 7, 100):
            expected = largest_by_hand(records, levels, rules, kind)

            assert allowed_levels(records, levels, rules, kind=kind) == expected


@pytest.mark.parametrize("kind", ["quantile", "mean"])
def test_the_smallest_cell_is_the_first_that_may_send_a_value(kind):
    for rules in (
        Disclosure(minimum_cell=m, records_per_level=p) for m in (1, 4, 30) for p in (0, 10)
    ):
        sent = [n for n in range(60) if allowed_levels(n, 100, rules, kind=kind)]

        assert sent == list(range(smallest_cell(rules, kind=kind), 60))


def test_without_rules_every_record_may_be_sent():
    found = decide({"a": 1, "b": 0}, levels=100, disclosure=Disclosure.off(), public_total=1)

    assert (found["a"].levels, found["a"].withheld) == (100, None)
    assert (found["b"].levels, found["b"].withheld) == (0, None)


@pytest.mark.parametrize(
    ("records", "rules", "expected"),
    [
        (5000, {}, ()),
        (423, {}, ("42 values instead of 100 (one per 10 records)",)),
        (423, {"records_per_level": 5}, ("52 values instead of 100 (5 records beyond each end)",)),
        (10, {}, ("fewer than 11 records",)),
        (0, {}, ("fewer than 11 records",)),
        (8, {"minimum_cell": 3}, ("fewer than 9 records: no value leaves 5 in each tail",)),
    ],
)
def test_reasons_name_the_rule_that_fired(records, rules, expected):
    found = decide({"a": records, "b": 99}, levels=100, disclosure=Disclosure(**rules))

    assert found["a"].reasons == expected


def test_a_cell_without_records_looks_like_a_small_one():
    found = decide({"a": 0, "b": 10, "c": 99}, levels=5, disclosure=Disclosure())

    assert (found["a"].levels, found["a"].withheld) == (found["b"].levels, found["b"].withheld)


def test_a_single_withheld_cell_hides_behind_the_smallest_other_when_the_total_is_public():
    records = {"a": 5000, "b": 3, "c": 300}
    alone = decide(records, levels=10, disclosure=Disclosure())
    hidden = decide(records, levels=10, disclosure=Disclosure(), public_total=5303)

    assert [alone[g].withheld for g in "abc"] == [None, "small", None]
    assert [hidden[g].withheld for g in "abc"] == [None, "complementary", "complementary"]
    assert "total" in hidden["c"].reasons[0]


def test_small_cells_that_only_hold_a_few_records_together_hide_behind_a_third():
    records = {"a": 1, "b": 2, "c": 300, "d": 5000}

    assert complementary_cells(records, 11) == ("c",)


def test_cells_of_equal_size_do_not_hide_each_other():
    """A withheld cell of at most 20 records, and 30 missing, would leave the other exactly 10."""
    assert complementary_cells({"a": 10, "b": 20, "c": 20, "d": 900}, 11) == ("b", "c")


def test_a_silo_in_which_nothing_is_left_to_send_still_gets_its_decisions():
    found = decide({"a": 3, "b": 12}, levels=9, disclosure=Disclosure(), public_total=15)

    assert {(d.levels, d.withheld) for d in found.values()} == {(0, "complementary")}


@pytest.mark.parametrize(("minimum", "groups", "most"), [(3, 2, 14), (3, 3, 14), (4, 4, 12)])
def test_no_small_count_can_be_recovered_from_a_total_even_by_someone_who_knows_the_rule(
    minimum, groups, most
):
    """All counts that look the same from outside leave two numbers possible for a small cell."""
    alike = defaultdict(list)
    for counts in product(range(most + 1), repeat=groups):
        if 0 < sum(counts) <= most:
            alike[everything_an_attacker_sees(counts, minimum)].append(counts)
    for (_, labels, _), possible in alike.items():
        for cell in range(groups):
            numbers = {counts[cell] for counts in possible}

            assert labels[cell] is None or len(numbers) > 1 or min(numbers) >= minimum


def test_weights_that_one_record_dominates_do_not_make_a_cell_large():
    found = decide(
        {"a": 500, "b": 500},
        levels=100,
        disclosure=Disclosure(),
        effective={"a": 1.8, "b": 260.0},
    )

    assert found["a"].reasons == ("the weights amount to fewer than 11 records",)
    assert found["a"].withheld == "complementary"
    assert found["b"].levels == 26


def test_equal_weights_amount_to_the_number_of_records_in_spite_of_floats():
    weights = np.full(11, 0.1)
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    found = decide({"a": 11}, levels=1, disclosure=Disclosure(), effective={"a": effective})

    assert effective < 11
    assert found["a"].levels == 1


def test_rounded_values_are_the_floats_of_short_decimals():
    values = np.linspace(0.0, 1.0, 7919)
    rounded = round_values(values, (0.0, 1.0), 0.001)

    assert {len(repr(value)) for value in rounded.tolist()} <= {3, 4, 5}
    assert rounded.tolist() == [round(value, 3) for value in rounded.tolist()]


@pytest.mark.parametrize(
    ("value", "score_range", "rounding", "expected"),
    [
        (0.0005, (0.0, 1.0), 0.001, 0.0),
        (0.0015, (0.0, 1.0), 0.001, 0.002),
        (0.0025, (0.0, 1.0), 0.001, 0.002),
        (1.0, (0.0, 1.0), 0.07, 0.98),
        (0.99, (0.0, 1.0), 0.08, 0.96),
        (0.99, (0.0, 1.0), 0.035, 0.98),
        (1.0, (0.0, 1.0), 0.035, 1.0),
        (-0.04, (-1.0, 1.0), 0.05, 0.0),
        (-0.001, (-1.0, -0.0), 0.035, 0.0),
        (612.0, (300.0, 850.0), 0.01, 613.5),
        (0.7005, (0.1, 0.9), 0.001, 0.7008),
        (1e-9, (0.0, 1.0), 1e-13, 1e-9),
    ],
)
def test_values_go_to_the_nearest_point_counted_from_the_lower_bound(
    value, score_range, rounding, expected
):
    rounded = round_values(np.array([value]), score_range, rounding)

    assert rounded.tolist() == [expected]
    assert not np.signbit(rounded).any() or expected < 0
    assert abs(value - expected) <= rounding_error(score_range, rounding)


@pytest.mark.parametrize("rounding", [3e-15, 7e-14, 1e-13, 3e-9])
def test_a_grid_nearly_as_fine_as_floats_is_still_met_exactly(rounding):
    """In floats a position among 10^14 points is known to a few hundredths only."""
    values = np.random.default_rng(3).random(2000)
    step = Fraction(repr(rounding))
    expected = [float(round(Fraction(repr(value)) / step) * step) for value in values.tolist()]

    assert round_values(values, (0.0, 1.0), rounding).tolist() == expected


def test_a_decile_stays_a_decile():
    """Steps of 0.009, counted from 1, put 5 at 4.996: below a threshold that it reaches."""
    asked = fp.Plan(
        title="Deciles", groups=("A", "B"), score_range=(1, 10), score_step=1, sketch="quantile"
    )
    deciles = np.arange(1.0, 11.0)

    assert round_values(np.array([5.0]), (1.0, 10.0), 0.001).tolist() == [4.996]
    assert round_values(deciles, asked.score_range, asked.rounding).tolist() == deciles.tolist()


def test_values_go_to_the_nearest_point_of_a_score():
    points = score_points((-0.3, 0.3), 0.1)
    computed = np.arange(-3, 4) * 0.1

    assert round_to_points(computed, (-0.3, 0.3), 0.1).tolist() == points.tolist()
    assert round_to_points(np.array([2.4, 9.9]), (1.0, 10.0), 3.0).tolist() == [1.0, 10.0]


@pytest.mark.parametrize(
    ("score_range", "step", "expected"),
    [
        ((0.0, 1.0), 0.1, 10),
        ((0.1, 0.7), 0.2, 3),
        ((300.0, 850.0), 1.0, 550),
        ((0.0, 1.0), 1.0, 1),
        ((0.0, 1.0), 0.03, None),
        ((0.0, 1.0), 2.0, None),
        ((0.0, 1.0), 1 / 3, None),
    ],
)
def test_steps_are_counted_in_decimals(score_range, step, expected):
    assert whole_steps(score_range, step) == expected


def test_counts_are_withheld_by_their_number_alone():
    found = decide(
        {"a": 11, "b": 10, "c": 5000}, levels=10, disclosure=Disclosure(), kind="counts"
    )

    assert [(found[group].levels, found[group].withheld) for group in "abc"] == [
        (10, None),
        (0, "small"),
        (10, None),
    ]
    assert not found["a"].reasons
