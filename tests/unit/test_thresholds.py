"""Rates at a threshold on examples that can be checked by hand."""

import json
import math

import numpy as np
import pytest
from tests.strategies import off_by

import fedparity as fp
from fedparity.diagnostics.brackets import Bracket
from fedparity.diagnostics.ks_distance import ks_distance
from fedparity.diagnostics.pooled_rates import scoring_rates, tail_rates
from fedparity.diagnostics.rates import compare_rates, widest_gap
from fedparity.diagnostics.thresholds import at_threshold

UNIT = {"score_range": (0.0, 1.0)}
CELLS = {
    ("north", "a"): fp.Cell(count=9, values=[0.1, 0.2, 0.3]),
    ("north", "b"): fp.Cell(count=9, values=[0.6, 0.7, 0.8]),
}
BAD_OPTIONS = {
    "threshold": lambda f: at_threshold(f, math.nan, **UNIT),
    "threshold given as text": lambda f: at_threshold(f, "0.5", **UNIT),
    "threshold given as truth": lambda f: at_threshold(f, True, **UNIT),
    "favourable": lambda f: at_threshold(f, 0.5, favourable="up", **UNIT),
    "score_range": lambda f: at_threshold(f, 0.5, score_range=(1, 0)),
    "outside": lambda f: at_threshold(f, 0.5, score_range=(0.0, 0.5)),
    "unseen": lambda f: at_threshold(f, 0.5, unseen={"c": 1}, **UNIT),
    "unseen records": lambda f: at_threshold(f, 0.5, unseen={"a": math.nan}, **UNIT),
    "level": lambda f: tail_rates(f, 1.0, **UNIT),
    "level given as text": lambda f: tail_rates(f, "0.9", **UNIT),
    "level NaN": lambda f: tail_rates(f, math.nan, **UNIT),
    "group": lambda f: ks_distance(f, "a", "c", **UNIT),
}


@pytest.fixture
def federation():
    return fp.Federation.from_cells(CELLS)


def rate(report, group):
    return next(row.rate for row in report.groups if row.group == group)


def exactly(number):
    return Bracket(value=number, lower=number, upper=number)


def states(*rates):
    groups = dict(enumerate(exactly(rate) for rate in rates))
    return [row.four_fifths for row in compare_rates(groups, 0)]


def test_a_rate_lies_between_the_ranks_around_the_threshold(federation):
    """Ranks 2, 5 and 8 of nine are known: two to four records lie below 0.15."""
    found = rate(at_threshold(federation, 0.15, **UNIT), "a")

    assert (found.lower, found.upper) == (5 / 9, 7 / 9)
    assert found.value == 2 / 3


def test_a_score_at_the_threshold_counts_as_at_least_it(federation):
    """Rank 2 is 0.1: at most one record is below it, and those selected below are the others."""
    at_least = rate(at_threshold(federation, 0.1, **UNIT), "a")
    below = rate(at_threshold(federation, 0.1, favourable="below", **UNIT), "a")

    assert (at_least.lower, at_least.upper) == (8 / 9, 1.0)
    assert (below.lower, below.upper) == (0.0, 1 / 9)


def test_rounding_of_the_values_widens_a_rate_next_to_one_of_them(federation):
    sharp = rate(at_threshold(federation, 0.1995, **UNIT), "a")
    blunt = rate(at_threshold(off_by(federation, 0.001), 0.1995, **UNIT), "a")

    assert (sharp.lower, sharp.upper) == (5 / 9, 7 / 9)
    assert (blunt.lower, blunt.upper) == (2 / 9, 7 / 9)


def test_beyond_the_range_every_rate_is_known(federation):
    for group in "ab":
        assert rate(at_threshold(federation, 0.0, **UNIT), group) == exactly(1.0)
        assert rate(at_threshold(federation, 1.5, **UNIT), group) == exactly(0.0)


def test_without_a_limit_of_unseen_records_nothing_is_known_of_their_group(federation):
    report = at_threshold(federation, 0.5, unseen={"a": math.inf}, **UNIT)

    assert (rate(report, "a").lower, rate(report, "a").upper) == (0.0, 1.0)
    assert rate(report, "b").lower == 8 / 9


def test_without_a_limit_of_unseen_records_the_median_may_be_anything(federation):
    cutoff = scoring_rates(federation, unseen={"a": math.inf}, **UNIT).cutoff

    assert (cutoff.lower, cutoff.upper) == (0.0, 1.0)


def test_the_last_digit_of_a_mean_does_not_decide_a_rate():
    """Three scores of 0.3 whose mean was computed as 0.30000000000000004 are all below it."""
    cells = {
        ("north", group): fp.Cell(count=3, values=[0.1 + 0.2] * 3, kind="mean") for group in "ab"
    }
    report = at_threshold(fp.Federation.from_cells(cells), 0.1 + 0.2, **UNIT)

    assert 0.0 in rate(report, "a")


def test_rates_that_may_be_equal_may_have_no_gap():
    rates = {
        "a": Bracket(value=0.5, lower=0.4, upper=0.6),
        "b": Bracket(value=0.45, lower=0.42, upper=0.5),
    }

    assert widest_gap(rates) == Bracket(value=0.5 - 0.45, lower=0.0, upper=0.6 - 0.42)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((0.5, 0.5), ["at least four fifths"] * 2),
        ((0.5, 0.4), ["at least four fifths"] * 2),
        ((5 / 6, 4 / 6), ["at least four fifths"] * 2),
        ((0.5, 0.39), ["at least four fifths", "below four fifths"]),
        ((0.0, 0.4), ["below four fifths", "at least four fifths"]),
        ((0.0, 0.0), ["undetermined by the sketches"] * 2),
    ],
)
def test_four_fifths_is_counted_as_at_least_four_fifths(rates, expected):
    assert states(*rates) == expected


def test_a_ratio_that_the_sketches_leave_open_is_called_undetermined():
    rates = {"a": exactly(0.5), "b": Bracket(value=0.42, lower=0.38, upper=0.45)}
    first, second = compare_rates(rates, "a")

    assert first.four_fifths == "at least four fifths"
    assert second.four_fifths == "undetermined by the sketches"
    assert (second.ratio_to_best.lower, second.ratio_to_best.upper) == (0.76, 0.9)


def test_the_best_off_group_need_not_be_known():
    """Either may have the highest rate, so neither ratio is bounded by 1 from below."""
    rates = {"a": Bracket(value=0.5, lower=0.4, upper=0.6), "b": exactly(0.5)}
    first, second = compare_rates(rates, "b")

    assert (first.ratio_to_best.lower, first.ratio_to_best.upper) == (0.8, 1.0)
    assert (second.ratio_to_best.lower, second.ratio_to_best.upper) == (0.5 / 0.6, 1.0)
    assert (first.ratio_to_largest.lower, first.ratio_to_largest.upper) == (0.8, 1.2)


def test_a_ratio_to_a_rate_that_may_be_zero_has_no_upper_bound():
    rates = {"a": exactly(0.5), "b": Bracket(value=0.0, lower=0.0, upper=0.1)}
    ratio = compare_rates(rates, "b")[0].ratio_to_largest

    assert (ratio.value, ratio.lower, ratio.upper) == (None, 5.0, None)
    assert 1e9 in ratio


def test_scoring_rates_are_shares_strictly_above_the_median():
    """Five of nine scores are the median or below it; ties at the median are not above it."""
    scores = [0.1, 0.2, 0.5, 0.6, 0.7, 0.3, 0.5, 0.5, 0.9]
    federation = fp.Federation.from_scores(
        scores, groups=list("aaaaabbbb"), silos=[1] * 9, levels=20
    )
    report = scoring_rates(federation, **UNIT)

    assert report.cutoff == exactly(0.5)
    assert [row.rate for row in report.groups] == [exactly(0.4), exactly(0.25)]
    assert report.groups[1].ratio_to_best.value == 0.625


def test_all_groups_together_leave_at_most_the_tail_above_its_quantile():
    """The rest of the tail is all that one group can have of it."""
    random = np.random.default_rng(0)
    groups = np.repeat(["a", "b"], [900, 100])
    federation = fp.Federation.from_scores(
        random.random(1000), groups=groups, silos=random.integers(0, 3, 1000), levels=10
    )
    report = tail_rates(federation, 0.9, **UNIT)
    least = {row.group: row.rate.lower for row in report.groups}
    open_end = tail_rates(federation, 0.9, unseen={"b": 1}, **UNIT)

    assert rate(report, "a").upper <= (0.1 - 0.1 * least["b"]) / 0.9 + 1e-9
    assert rate(open_end, "a").upper > rate(report, "a").upper + 0.01  # whose are the unseen?


def test_groups_whose_scores_do_not_overlap_are_at_most_one_apart(federation):
    """Up to 0.3 lie at least 8 of 9 records of the first group, and at most 1 of the other."""
    found = ks_distance(federation, "a", "b", **UNIT)

    assert found.lower == pytest.approx(7 / 9)
    assert (found.value, found.upper) == (1.0, 1.0)


def test_reports_are_plain_json_with_every_field():
    cells = {("x", ("f", 1)): CELLS["north", "a"], ("x", ("m", 2)): CELLS["north", "b"]}
    federation = fp.Federation.from_cells(cells)
    at_cut = at_threshold(federation, 0.65, **UNIT).to_dict()
    tail = tail_rates(federation, 0.9, **UNIT).to_dict()

    assert json.loads(json.dumps(at_cut)) == at_cut
    assert json.loads(json.dumps(tail)) == tail
    assert at_cut["groups"][0]["group"] == ["f", 1]
    assert at_cut.keys() - {"threshold", "favourable"} == tail.keys() - {"level", "cutoff"}


@pytest.mark.parametrize("call", BAD_OPTIONS.values(), ids=BAD_OPTIONS.keys())
def test_options_out_of_their_range_are_refused_with_a_fix(call, federation):
    with pytest.raises(fp.OptionError) as caught:
        call(federation)

    assert caught.value.fix
