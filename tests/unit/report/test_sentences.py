"""What sentences say in each state of an audit."""

import dataclasses

import numpy as np
import pytest
from tests.audit_strategies import make_cell, make_message, make_plan
from tests.report_results import (
    aside_result,
    changed,
    incomplete_result,
    judged,
    plain_result,
    result_of_silos,
    weighted_result,
    with_gap,
    with_names,
    with_parts,
    with_worst,
)

from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.result import AuditResult
from fedparity.engines.in_process import audit
from fedparity.report import sentences
from fedparity.report.sentences.naming import is_weighted
from fedparity.report.sentences.origins import LIMITS_OF_TERMS
from fedparity.text import number


def silos_seen(result, *found):
    """The result with silos in which the groups are so far apart."""
    silos = tuple(
        dataclasses.replace(silo, disparity=value, wasserstein=value)
        for silo, value in zip(result.silos, found, strict=True)
    )
    return dataclasses.replace(result, silos=silos)


@pytest.mark.parametrize(
    ("verdict", "ending"),
    [
        ("above", ": above the review level of 0.01 points."),
        ("below", ": below the review level of 0.01 points."),
        ("inconclusive", ": inconclusive at the review level of 0.01 points."),
    ],
)
def test_the_headline_is_one_sentence_with_direction_verdict_and_level(verdict, ending):
    result = with_worst(judged(plain_result(), verdict), corrected=0.1234, share_of_range=0.1234)

    assert sentences.in_points(result) == (
        f"B scores 0.12 points higher than A (12 % of the scale){ending}"
    )


def test_one_point_is_one_point():
    result = with_worst(plain_result(), corrected=1.004)

    assert "B scores 1 point higher than A" in sentences.in_points(result)


def test_without_a_review_level_the_headline_says_so():
    assert sentences.in_points(plain_result(review_level=None)).endswith(
        "the plan names no review level to compare it with."
    )


def test_where_means_are_less_than_half_of_it_groups_differ_in_spread():
    result = with_gap(plain_result(), 0.4, "B")

    assert sentences.direction(result).startswith("A and B differ in spread, not in level, by")
    assert "higher than A" in sentences.direction(with_gap(result, 0.6, "B"))


def test_what_noise_could_show_is_said_to_be_no_more():
    result = changed(plain_result(), "disparity", p_value=0.4)

    assert "no more than chance would give" in sentences.in_points(result)


def test_the_two_furthest_apart_of_ten_groups_are_named():
    result = result_of_silos(4, groups=10)

    assert "the two groups furthest apart" in sentences.direction(result) or (
        "no more than chance" in sentences.direction(result)
    )
    assert "The two groups furthest apart are A and J" in sentences.how_large(result)
    assert "for all pairs of groups at once" in sentences.points_range(result)


def test_groups_set_aside_and_missing_silos_are_told_first():
    first, second = sentences.left_out(aside_result())

    assert first.startswith("rare: no silo released it (withheld by 2 of 2 silos;")
    assert second == "1 of 3 silos sent nothing and is in no estimate: gone."
    assert sentences.what_is_missing(aside_result())[:2] == (first, second)


def test_a_group_set_aside_is_no_complete_audit():
    assert not sentences.is_complete(aside_result())


def test_rates_are_told_with_their_threshold_and_answer():
    result = aside_result()
    [rates], [tail] = result.thresholds, result.tails

    assert sentences.rates_heading(rates) == "Share with a score below 5"
    assert sentences.rates_heading(tail) == "Share above the median of all records, 5"
    assert "are known exactly." in sentences.reading_rates(rates, result)
    assert (
        "If the missing data could be anything: it cannot be told from four fifths by this summary."
        in sentences.reading_rates(rates, result)
    )


@pytest.mark.parametrize(
    ("order", "words"),
    [(1, "(W₁, the mean over ranks,"), (2, "(W₂, the root mean square over ranks,")],
)
def test_how_large_is_said_in_score_points(order, words):
    result = plain_result(order=order)
    worst, pair = result.magnitudes.worst_pair, result.pairs[0]

    assert f"{number(worst.corrected)} points apart {words}" in sentences.how_large(result)
    assert f"The mean of A is {number(-pair.mean_gap)} lower" in sentences.how_large(result)
    assert f"move by {number(result.magnitudes.points.corrected)} points" in (
        sentences.how_large(result)
    )


def test_trimmed_ranks_are_mentioned():
    assert "lowest and the highest 5 % of ranks" in sentences.how_large(plain_result(trim=0.05))


def test_equal_means_are_called_equal():
    pair = dataclasses.replace(plain_result().pairs[0], mean_gap=0.0)
    result = dataclasses.replace(plain_result(), pairs=(pair,))

    assert "The means of A and B are equal." in sentences.how_large(result)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ((0.005, 0.004, 0.01), "No silo alone shows more than the review level of 0.01 points."),
        ((0.05, 0.004, 0.003), "1 of 3 silos alone shows more than"),
        ((0.05, 0.04, 0.003), "2 of 3 silos alone show more than"),
        ((0.05, 0.04, 0.03), "All 3 silos alone show more than"),
        ((0.05, 0.04, 0.03), "The most is 0.05 points, at s0; all silos together have"),
    ],
)
def test_what_silos_see_alone_is_compared_with_the_level(found, words):
    assert words in sentences.seen_alone(silos_seen(plain_result(), *found))


@pytest.mark.parametrize("unit", ["squared", "share"])
def test_silos_are_compared_in_the_unit_of_the_level(unit):
    """The disparity with a level of squares; points with a share of a scale from 0 to 1."""
    text = sentences.seen_alone(silos_seen(plain_result(review_unit=unit), 0.9, 1e-4, 1e-4))

    assert text.startswith("1 of 3 silos alone shows more than the review level of")
    assert (" points, at s0" in text) == (unit == "share")


@pytest.mark.parametrize("options", [{"review_level": None}, {"review_unit": "sd"}])
def test_without_a_level_silos_are_compared_with_the_whole(options):
    result = silos_seen(plain_result(**options), 0.9, 1e-4, 1e-4)

    assert sentences.seen_alone(result).startswith(
        "1 of 3 silos alone shows as much as all silos together ("
    )


def test_silos_with_one_group_are_counted():
    assert "1 silo has fewer than two groups" in sentences.seen_alone(incomplete_result())


def test_if_no_silo_can_compare_none_could_have_seen_it():
    result = plain_result()
    nothing = {"disparity": None, "wasserstein": None, "interval": None}
    silos = tuple(dataclasses.replace(silo, **nothing) for silo in result.silos)

    assert sentences.seen_alone(dataclasses.replace(result, silos=silos)).startswith(
        "No silo has two groups to compare"
    )


@pytest.mark.parametrize(
    ("selection", "within", "words"),
    [
        ((0.9, (0.8, 1.0)), (0.1, (0.0, 0.2)), "Most of it is how the groups are spread over"),
        ((0.1, (0.0, 0.2)), (0.9, (0.8, 1.0)), "Most of it is how the groups score inside"),
        ((0.6, (0.3, 1.0)), (0.4, (0.0, 0.7)), "overlap, so which is larger is not certain."),
        ((-0.1, (-0.2, -0.01)), (0.9, (0.8, 1.0)), "The two oppose each other, and the larger is"),
        ((0.5, (0.4, 0.6)), (0.5, (0.4, 0.6)), "The two parts are equal."),
    ],
)
def test_why_names_the_larger_part_or_says_that_it_is_open(selection, within, words):
    text = sentences.why(with_parts(plain_result(), selection, within))

    assert words in text
    assert text.endswith("This splits the number; it does not explain causes.")


def test_parts_are_given_as_shares_of_the_disparity():
    result = changed(plain_result(), "disparity", value=0.02)
    result = with_parts(result, (0.015, (0.014, 0.016)), (0.005, (0.004, 0.006)))

    assert "0.015 (75 %) is selection" in sentences.why(result)
    assert "0.005 (25 %) lies within silos" in sentences.why(result)


def test_nothing_is_attributed_where_there_is_nothing():
    result = with_parts(plain_result(), (0.0, (0.0, 0.0)), (0.0, (0.0, 0.0)))

    assert sentences.why(result) == "There is nothing to attribute."


def test_one_silo_has_no_selection_to_see():
    assert "no selection between silos to see" in sentences.why(result_of_silos(1))


def test_noise_that_explains_the_whole_explains_its_parts():
    result = changed(plain_result(), "disparity", p_value=0.4)

    assert "Chance alone could explain the whole" in sentences.why(result)
    assert "in 40 % of samples (p <= 0.4): chance could explain" in sentences.how_certain(result)


def test_a_complete_audit_says_that_nothing_is_missing():
    assert sentences.what_is_missing(plain_result())[0].startswith(
        "No silo that the plan names is missing"
    )


def test_everything_that_is_missing_is_named_once():
    """Fields of the result and its warnings speak of the same things; readers hear them once."""
    result = incomplete_result()
    told = sentences.what_is_missing(result)
    text = " ".join(told)

    assert "1 of 5 silos sent nothing and is in no estimate: absent." in told
    assert "1 of 8 cells was withheld: tiny (B: too few records)." in told
    assert (
        "3 rows without a score were dropped: tiny (3). The ranges do not allow for them." in told
    )
    assert text.count("sent nothing") == text.count("withheld") == text.count("dropped") == 1
    assert len(told) == 4 + sum(
        warning.code not in ("silos_missing", "cells_withheld", "rows_dropped")
        for warning in result.warnings
    )


def test_of_many_missing_silos_a_few_are_named():
    names = tuple(f"silo {i}" for i in range(9))
    result = dataclasses.replace(plain_result(), silos_missing=names)

    assert "silo 0, silo 1, silo 2, silo 3, silo 4 and 4 more." in " ".join(
        sentences.what_is_missing(result)
    )


def test_weights_are_not_called_records():
    result = weighted_result()
    read = AuditResult.from_dict(dataclasses.replace(result, n=1000.0).to_dict())

    for each in (result, read):
        assert is_weighted(each)
        assert "a weight of 1,000" in sentences.size(each)
        assert "counted by the weight it has there" in sentences.explain_laws(each)
    assert not is_weighted(plain_result())


def test_a_weight_that_json_writes_like_a_count_is_still_a_weight():
    """1000.0 becomes 1000 in JSON; the warning remains."""
    result = dataclasses.replace(weighted_result(), n=1000)

    assert is_weighted(result)


def test_the_terms_come_with_their_limits():
    for order in (1, 2):
        text = sentences.explain_decomposition(plain_result(order=order))
        assert text.endswith(LIMITS_OF_TERMS)


def test_cells_that_stood_in_are_counted():
    assert "lacks a group (1 cell)" in sentences.explain_attribution(incomplete_result())
    assert "stands in" not in sentences.explain_attribution(plain_result())


def test_the_four_ranges_are_told_apart():
    text = sentences.explain_accuracy(incomplete_result())

    for word in ("Interval,", "Certificate,", "Outer bounds,", "Combined,", "k = 20"):
        assert word in text
    assert "4 of 7 cells have fewer, the smallest 3." in text
    assert "Outer bounds are the same" in sentences.explain_accuracy(plain_result())
    assert sentences.levels_words(plain_result()) == "k = 20: up to 20 bin means per cell."


def test_the_command_makes_the_same_result():
    result = dataclasses.replace(plain_result(), confidence=0.9, seed=7)

    assert sentences.reproduce_command(result) == (
        "fedparity audit plan.toml inbox --confidence 0.9 --seed 7 --redraws 20 -o result.json"
    )


def test_recombined_redraws_are_asked_for_by_not_asking():
    """A number of redraws would make plain ones instead."""
    text = "the sketches hold 300,001 values: intervals come from redraws of whole groups."
    warning = AuditWarning(code="pooled_redraws", text=text)
    result = dataclasses.replace(plain_result(), warnings=(warning,))

    assert "--redraws" not in sentences.reproduce_command(result)


def test_long_names_are_cut_in_sentences():
    result = with_names(incomplete_result(), {"s0": "x" * 200, "tiny": "y" * 200})

    for text in (*sentences.what_is_missing(result), sentences.seen_alone(result)):
        assert "x" * 61 not in text
        assert "y" * 61 not in text


def test_a_trace_is_not_written_with_an_exponent():
    result = changed(plain_result(), "disparity", value=0.02)
    result = with_parts(result, (1e-9, (-1e-5, 1e-5)), (0.02, (0.01, 0.03)))

    assert "(<0.1 %) is selection" in sentences.why(result)


def test_withheld_cells_are_told_in_the_order_of_the_plan_wherever_the_result_comes_from():
    """JSON sorts the names of its fields; the sentences must not depend on that."""
    plan = make_plan(groups=("Z", "A", "M"), levels=4, disclosure={}, totals={"small": 100})
    small = make_message(
        plan,
        "small",
        [
            SketchedCell.kept_back("Z", "complementary"),
            SketchedCell.kept_back("A", "complementary"),
            make_cell(plan, "M", np.linspace(0, 1, 60)),
        ],
    )
    large = make_message(
        plan, "large", [make_cell(plan, group, np.linspace(0, 1, 60)) for group in ("Z", "A", "M")]
    )
    found = audit(plan, [small, large], redraws=20)

    again = AuditResult.from_dict(found.to_dict())

    assert sentences.what_is_missing(again) == sentences.what_is_missing(found)
    assert any(
        "small (Z: to protect another cell); small (A: to" in each
        for each in sentences.what_is_missing(found)
    )
