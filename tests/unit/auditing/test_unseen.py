"""How much an audit may have missed: a bound for each group, never a guess."""

import math

import pytest
from tests.audit_strategies import make_message, make_plan

from fedparity.auditing.audit import silo_note
from fedparity.documents.message_cells import SketchedCell
from fedparity.modes.sketch_audit import find_missing, measured_groups, unreleased_groups

RULES = {"minimum_cell": 11, "records_per_level": 10, "rounding": 0.0}


def released(group, count=100):
    return SketchedCell(group=group, count=count, values=[0.2, 0.4], mean_square=0.01)


def withheld(group, reason="small"):
    return SketchedCell.kept_back(group, reason)


def most_unseen(plan, *cells_by_silo):
    messages = [make_message(plan, f"s{j}", list(cells)) for j, cells in enumerate(cells_by_silo)]
    return find_missing(plan, messages).most


def test_complete_messages_leave_nothing_unseen():
    plan = make_plan(silos=["s0"])

    assert most_unseen(plan, (released("A"), released("B"))) == {"A": 0, "B": 0}


def test_a_small_cell_has_fewer_records_than_the_smallest_one_released():
    plan = make_plan(disclosure=RULES)

    found = most_unseen(plan, (released("A"), withheld("B")), (released("A"), withheld("B")))

    assert found == {"A": 0, "B": 20}


def test_the_tail_rule_can_withhold_more_than_the_minimum_says():
    """With a minimum of 3, one mean of up to four records is a tail of fewer than five."""
    plan = make_plan(disclosure=RULES | {"minimum_cell": 3})

    assert most_unseen(plan, (released("A"), withheld("B"))) == {"A": 0, "B": 4}


def test_a_public_total_bounds_complementary_cells():
    plan = make_plan(disclosure=RULES, groups=("A", "B", "C"), totals={"s0": 150})

    found = most_unseen(plan, (released("A"), withheld("B"), withheld("C", "complementary")))

    assert found == {"A": 0, "B": 10, "C": 50}


def test_a_public_total_can_bound_a_small_cell_further():
    plan = make_plan(disclosure=RULES, totals={"s0": 104})

    assert most_unseen(plan, (released("A"), withheld("B"))) == {"A": 0, "B": 4}


def test_without_a_total_a_complementary_cell_has_no_limit():
    plan = make_plan(disclosure=RULES)

    assert most_unseen(plan, (released("A"), withheld("B", "complementary")))["B"] == math.inf


def test_a_missing_silo_can_hold_its_total_of_any_group():
    plan = make_plan(silos=["s0", "s1"], totals={"s1": 30})

    assert most_unseen(plan, (released("A"), released("B"))) == {"A": 30, "B": 30}


def test_a_missing_silo_without_a_total_has_no_limit():
    plan = make_plan(silos=["s0", "s1", "s2"], totals={"s1": 30})

    assert most_unseen(plan, (released("A"), released("B"))) == {"A": math.inf, "B": math.inf}


def test_a_silo_with_a_total_is_expected_even_without_a_roster():
    plan = make_plan(totals={"elsewhere": 30})
    message = make_message(plan, "s0", [released("A"), released("B")])

    assert find_missing(plan, [message]).silos_missing == ("elsewhere",)


def test_a_total_below_what_was_released_bounds_nothing_and_is_reported():
    plan = make_plan(disclosure=RULES, totals={"s0": 90})
    message = make_message(plan, "s0", [released("A"), withheld("B", "complementary")])

    unseen = find_missing(plan, [message])

    assert unseen.contradicted == ("s0",)
    assert unseen.most["B"] == math.inf


@pytest.mark.parametrize("stated", [True, False])
def test_numbers_of_records_do_not_bound_weights(stated):
    """Ten records may weigh anything: said in the message, or seen in a count."""
    plan = make_plan(disclosure=RULES, totals={"s0": 150})
    said = {"guarantee": {**plan.guarantee, "weighted": True}} if stated else {}
    count = 100 if stated else 100.5
    message = make_message(plan, "s0", [released("A", count), withheld("B")], **said)

    assert find_missing(plan, [message]).most["B"] == math.inf


def test_a_note_names_what_a_message_lacks():
    plan = make_plan(groups=("A", "B", ("C")))
    cells = [released("A"), SketchedCell.empty("B"), withheld("C", "complementary")]

    note = silo_note(make_message(plan, "s0", cells, rows_dropped=1200), cells)

    assert note == "lacks B, C withheld (complementary), 1,200 rows dropped"


def unseen_in_all(plan, *cells_by_silo):
    messages = [make_message(plan, f"s{j}", list(cells)) for j, cells in enumerate(cells_by_silo)]
    return find_missing(plan, messages).total


def test_a_record_of_a_missing_silo_counts_once_in_the_total():
    """It may be of any group, but not of two."""
    plan = make_plan(groups=("A", "B", "C"), silos=["s0", "s1"], totals={"s1": 30})

    assert unseen_in_all(plan, (released("A"), released("B"), released("C"))) == 30


def test_a_silo_s_total_bounds_what_it_withheld_of_all_groups_together():
    plan = make_plan(disclosure=RULES, groups=("A", "B", "C"), totals={"s0": 112})
    cells = (released("A"), withheld("B"), withheld("C", "complementary"))

    assert most_unseen(plan, cells) == {"A": 0, "B": 10, "C": 12}
    assert unseen_in_all(plan, cells) == 12


def test_a_group_that_no_silo_released_is_set_aside_with_what_is_known_of_it():
    plan = make_plan(disclosure=RULES, groups=("A", "B", "C"))
    messages = [
        make_message(plan, silo, [released("A"), released("B"), withheld("C")]) for silo in "xy"
    ]

    (aside,) = unreleased_groups(plan, messages, find_missing(plan, messages))

    assert (aside.group, aside.withheld, aside.most) == ("C", 2, 20)
    assert aside.known == "withheld by 2 of 2 silos; at most 20 records"


@pytest.mark.parametrize(
    ("options", "known"),
    [
        ({}, "no silo has a record of it"),
        ({"silos": ["s0", "s1"], "totals": {"s1": 1}}, "1 silo sent nothing; at most 1 record"),
        ({"silos": ["s0", "s1"]}, "1 silo sent nothing; nothing bounds its number"),
    ],
)
def test_what_is_known_of_a_group_that_nobody_has(options, known):
    plan = make_plan(groups=("A", "B", "C"), **options)
    message = make_message(plan, "s0", [released("A"), released("B"), SketchedCell.empty("C")])

    (aside,) = unreleased_groups(plan, [message], find_missing(plan, [message]))

    assert aside.known.endswith(known)
    assert measured_groups(plan, [aside]) == ("A", "B")


def test_labels_that_python_takes_for_equal_are_told_apart():
    plan = make_plan(groups=(1, True, "x"), disclosure=RULES)
    cells = [released(1), withheld(True), released("x")]
    message = make_message(plan, "s0", cells)

    aside = unreleased_groups(plan, [message], find_missing(plan, [message]))

    assert [each.group for each in aside] == [True]
    assert measured_groups(plan, aside) == (1, "x")
