"""Rates at a threshold on examples that can be checked by hand."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.strategies import off_by
from tests.tiers import DATA

import fedparity as fp
from fedparity.laws.bounds import Bracket
from fedparity.thresholds.rates import at_threshold, compare_rates, effective_sizes
from fedparity.thresholds.tail_rates import ks_distance, scoring_rates, tail_rates

UNIT = {"score_range": (0.0, 1.0)}
CELLS = {
    ("north", "a"): fp.Cell(count=9, values=[0.1, 0.2, 0.3]),
    ("north", "b"): fp.Cell(count=9, values=[0.6, 0.7, 0.8]),
}
BAD_OPTIONS = {
    "threshold": lambda f: at_threshold(f, math.nan, **UNIT),
    "threshold given as text": lambda f: at_threshold(f, "0.5", **UNIT),
    "threshold given as truth": lambda f: at_threshold(f, True, **UNIT),
    "favorable": lambda f: at_threshold(f, 0.5, favorable="up", **UNIT),
    "score_range": lambda f: at_threshold(f, 0.5, score_range=(1, 0)),
    "outside": lambda f: at_threshold(f, 0.5, score_range=(0.0, 0.5)),
    "confidence": lambda f: at_threshold(f, 0.5, confidence=1.0, **UNIT),
    "confidence of a tail": lambda f: tail_rates(f, 0.5, confidence=95, **UNIT),
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


def ends(number):
    return number.lower, number.upper


def exactly(number):
    return Bracket(value=number, lower=number, upper=number)


def compared(rates, sizes=1e6, largest=None):
    """The comparison of rates, given as numbers or brackets, of samples of these sizes."""
    brackets = {group: r if isinstance(r, Bracket) else exactly(r) for group, r in rates.items()}
    return compare_rates(
        brackets,
        sizes=np.broadcast_to(np.asarray(sizes, float), len(rates)),
        largest=next(iter(rates)) if largest is None else largest,
        confidence=0.95,
    )


def test_a_rate_lies_between_the_ranks_around_the_threshold(federation):
    """Ranks 2, 5 and 8 of nine are known: two to four records lie below 0.15."""
    found = rate(at_threshold(federation, 0.15, **UNIT), "a")

    assert (found.lower, found.upper) == (5 / 9, 7 / 9)
    assert found.value == 2 / 3


def test_a_score_at_the_threshold_counts_as_at_least_it(federation):
    """Rank 2 is 0.1: at most one record is below it, and those selected below are the others."""
    at_least = rate(at_threshold(federation, 0.1, **UNIT), "a")
    below = rate(at_threshold(federation, 0.1, favorable="below", **UNIT), "a")

    assert (at_least.lower, at_least.upper) == (8 / 9, 1.0)
    assert (below.lower, below.upper) == (0.0, 1 / 9)


def test_rounding_of_the_values_widens_a_rate_next_to_one_of_them(federation):
    sharp = rate(at_threshold(federation, 0.1995, **UNIT), "a")
    blunt = rate(at_threshold(off_by(federation, 0.001), 0.1995, **UNIT), "a")

    assert (sharp.lower, sharp.upper) == (5 / 9, 7 / 9)
    assert (blunt.lower, blunt.upper) == (2 / 9, 7 / 9)


def test_beyond_the_range_every_rate_is_known(federation):
    for group in "ab":
        assert ends(rate(at_threshold(federation, 0.0, **UNIT), group)) == (1.0, 1.0)
        assert ends(rate(at_threshold(federation, 1.5, **UNIT), group)) == (0.0, 0.0)


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
    gap = compared(rates).widest_gap

    assert (gap.value, gap.lower, gap.upper) == (0.5 - 0.45, 0.0, 0.6 - 0.42)
    assert gap.interval.lower == 0.0
    assert gap.interval.upper == pytest.approx(0.6 - 0.42, abs=0.002)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((0.5, 0.5), ["at least four fifths"] * 2),
        ((0.5, 0.41), ["at least four fifths"] * 2),
        ((0.5, 0.4), ["at least four fifths", "undetermined"]),
        ((0.5, 0.39), ["at least four fifths", "below four fifths"]),
        ((0.0, 0.4), ["below four fifths", "at least four fifths"]),
        ((0.0, 0.0), ["undetermined"] * 2),
    ],
)
def test_with_a_million_records_each_only_four_fifths_itself_is_undetermined(rates, expected):
    found = compared(dict(enumerate(rates)))

    assert [row.answer for row in found.groups] == expected


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ((0.5, 0.5, 0.5), "at least four fifths"),
        ((0.5, 0.4, 0.5), "undetermined"),
        ((0.5, 0.4, 0.3), "below four fifths"),
    ],
)
def test_one_group_below_four_fifths_is_enough(states, expected):
    assert compared(dict(enumerate(states))).answer == expected


def test_a_ratio_that_the_sketches_leave_open_is_called_undetermined():
    rates = {"a": exactly(0.5), "b": Bracket(value=0.42, lower=0.38, upper=0.45)}
    first, second = compared(rates).groups

    assert first.answer == "at least four fifths"
    assert second.answer == "undetermined"
    assert ends(second.ratio) == (0.76, 0.9)


def test_a_ratio_that_sampling_leaves_open_is_called_undetermined():
    """The same rates: 0.72 of a hundred records may be 0.8 of the population, not of 10,000."""
    few, many = (compared({"a": 0.5, "b": 0.36}, sizes=size).groups[1] for size in (100, 10_000))

    assert ends(few.ratio) == ends(many.ratio) == (0.72, 0.72)
    assert (few.answer, many.answer) == ("undetermined", "below four fifths")


def test_the_interval_of_eight_of_128_selected_is_not_a_point():
    """Against 25 of 142: the ratio is 0.356 of the records, and 0.16 to 0.72 of whom they stand for."""
    row = compared({"a": 25 / 142, "b": 8 / 128}, sizes=(142, 128)).groups[1]
    low, high = row.ratio.interval

    assert ends(row.ratio) == pytest.approx((0.355, 0.355))
    assert (low, high) == pytest.approx((0.16, 0.74), abs=0.02)
    assert tuple(row.rate.interval) == pytest.approx((0.029, 0.115), abs=0.001)


def test_more_groups_take_more_to_call_one_of_them_below_four_fifths():
    """Each of many comparisons may fail by chance, so the upper limits of all hold at once."""
    two = compared({"a": 0.5, "b": 0.36}, sizes=1000).groups[1].ratio.interval
    six = compared({"a": 0.5, **dict.fromkeys("bcdef", 0.36)}, sizes=1000).groups[1]

    assert six.ratio.interval.lower == two.lower
    assert six.ratio.interval.upper > two.upper + 0.01


def test_the_best_off_group_need_not_be_known():
    """Either may have the highest rate, so neither ratio is bounded by 1 from below."""
    rates = {"a": Bracket(value=0.5, lower=0.4, upper=0.6), "b": exactly(0.5)}
    first, second = compared(rates, largest="b").groups

    assert ends(first.ratio) == (0.8, 1.0)
    assert ends(second.ratio) == (0.5 / 0.6, 1.0)
    assert ends(first.ratio_to_largest) == (0.8, 1.2)
    assert first.ratio.interval.upper == second.ratio.interval.upper == 1.0


def test_a_ratio_to_a_rate_that_may_be_zero_has_no_upper_bound():
    rates = {"a": exactly(0.5), "b": Bracket(value=0.0, lower=0.0, upper=0.1)}
    ratio = compared(rates, largest="b").groups[0].ratio_to_largest

    assert (ratio.value, ratio.lower, ratio.upper) == (None, 5.0, math.inf)
    assert ratio.interval.lower == pytest.approx(5.0, rel=0.01)
    assert ratio.interval.upper == math.inf
    assert 1e9 in ratio


def test_no_record_selected_of_thirty_does_not_mean_that_nobody_ever_is():
    none, all_of_them = compared({"a": 0.0, "b": 1.0}, sizes=30).groups

    assert tuple(none.rate.interval) == pytest.approx((0.0, 1 - 0.05 ** (1 / 30)))
    assert tuple(all_of_them.rate.interval) == pytest.approx((0.05 ** (1 / 30), 1.0))
    assert none.answer == "below four fifths"


def test_a_higher_confidence_gives_wider_intervals(federation):
    wide, narrow = (
        at_threshold(federation, 0.25, confidence=confidence, **UNIT) for confidence in (0.99, 0.8)
    )

    assert (wide.confidence, narrow.confidence) == (0.99, 0.8)
    for more, less in zip(wide.groups, narrow.groups, strict=True):
        assert more.rate.interval.lower < less.rate.interval.lower
        assert ends(more.rate) == ends(less.rate)


def test_weights_count_by_what_they_amount_to():
    """Of weights 1, 1, 1, 20 two hundred records are worth 66, in one silo or in four."""
    scores, weights = np.tile([0.2, 0.6, 0.8, 0.4], 100), np.repeat([1.0, 20.0], [300, 100])
    random = np.random.default_rng(0)
    table = {"groups": ["a", "b"] * 200, "weights": random.permutation(weights), "levels": 100}
    together = fp.Federation.from_scores(scores, silos=[1] * 400, **table)
    apart = fp.Federation.from_scores(scores, silos=random.integers(0, 4, 400), **table)
    by_hand = [
        table["weights"][i::2].sum() ** 2 / (table["weights"][i::2] ** 2).sum() for i in (0, 1)
    ]

    assert effective_sizes(together) == pytest.approx(by_hand)
    assert effective_sizes(apart) == pytest.approx(by_hand)
    found = rate(at_threshold(apart, 0.5, **UNIT), "a")
    assert found.interval.upper - found.interval.lower > 0.2


def counted(above, thresholds=(0.25,), count=9):
    """Two silos of bin means that leave much open, with counts at thresholds, or without."""
    cells = {
        (silo, group): fp.Cell(
            count=count,
            values=[0.2, 0.4],
            kind="mean",
            above=dict(zip(thresholds, above.get((silo, group), ()), strict=False)),
        )
        for silo in ("north", "south")
        for group in "ab"
    }
    return fp.Federation.from_cells(cells)


def test_counts_at_the_threshold_make_a_rate_exact():
    every = {("north", "a"): [5], ("south", "a"): [6], ("north", "b"): [4], ("south", "b"): [4]}
    report = at_threshold(counted(every), 0.25, **UNIT)
    below = at_threshold(counted(every), 0.25, favorable="below", **UNIT)

    assert ends(rate(report, "a")) == (11 / 18, 11 / 18)
    assert ends(rate(report, "b")) == (8 / 18, 8 / 18)
    assert ends(rate(below, "a")) == (7 / 18, 7 / 18)
    assert rate(report, "a").interval.lower < 0.5 < rate(report, "b").interval.upper


def test_a_silo_that_did_not_count_leaves_its_own_part_open():
    found = rate(at_threshold(counted({("north", "a"): [5]}), 0.25, **UNIT), "a")

    assert ends(found) == pytest.approx((5 / 18, 14 / 18))
    assert 5 / 18 < found.value < 14 / 18


def test_counts_at_other_thresholds_bound_a_rate_between_them():
    federation = counted({("north", "a"): [7, 2]}, thresholds=(0.1, 0.5))
    alone = ends(rate(at_threshold(counted({}), 0.3, **UNIT), "a"))

    assert alone == pytest.approx((0.0, 1.0))
    assert ends(rate(at_threshold(federation, 0.3, **UNIT), "a")) == pytest.approx(
        (2 / 18, 16 / 18)
    )


def test_unseen_records_widen_a_counted_rate():
    every = {(silo, group): [3] for silo in ("north", "south") for group in "ab"}
    report = at_threshold(counted(every), 0.25, unseen={"a": 2}, **UNIT)

    assert ends(rate(report, "a")) == (6 / 20, 8 / 20)
    assert ends(rate(report, "b")) == (6 / 18, 6 / 18)


COMPAS = {
    "African-American": (398, 393, 346, 385, 365, 384, 400, 359, 380, 286),
    "Caucasian": (681, 361, 273, 285, 241, 194, 143, 114, 98, 64),
}
"""How many defendants of two groups got each decile score, 1 to 10."""


def deciles(kind, **changes):
    """The federation of these scores in five silos."""
    groups = np.repeat(list(COMPAS), [sum(counts) for counts in COMPAS.values()])
    scores = np.concatenate([np.repeat(np.arange(1.0, 11), counts) for counts in COMPAS.values()])
    silos = np.random.default_rng(3).integers(0, 5, scores.size)
    return fp.Federation.from_scores(
        scores, groups=groups, silos=silos, levels=20, kind=kind, **changes
    )


def test_counts_on_the_grid_give_the_rates_of_compas_exactly():
    """A decile of 5 counts as at least 5: 58.8 % and 34.8 %, a ratio of 0.592."""
    report = at_threshold(deciles("counts"), 5, score_range=(1, 10))
    first, second = report.groups

    assert ends(first.rate) == (2174 / 3696, 2174 / 3696)
    assert ends(second.rate) == (854 / 2454, 854 / 2454)
    assert second.ratio.value == pytest.approx(0.592, abs=0.0005)
    error = math.sqrt(
        1 / 854 - 1 / 2454 + 1 / 2174 - 1 / 3696
    )  # of the logarithm, if it is normal
    normal = [second.ratio.value * math.exp(z * error) for z in (-1.96, 1.96)]
    assert list(second.ratio.interval) == pytest.approx(normal, abs=0.001)
    assert report.answer == "below four fifths"


def test_on_the_grid_counts_are_exact_at_every_point_between_and_on_both_sides():
    federation = deciles("counts")
    for cut in (0.5, 1, 2, 4.5, 5, 9.99, 10, 11):
        for favorable, share in (("above", 1.0), ("below", 0.0)):
            report = at_threshold(federation, cut, favorable=favorable, score_range=(1, 10))
            for group, counts in COMPAS.items():
                above = sum(count for score, count in enumerate(counts, 1) if score >= cut)
                selected = above if share else sum(counts) - above

                assert ends(rate(report, group)) == (selected / sum(counts),) * 2


def test_scores_counted_together_leave_open_on_which_side_of_the_threshold_they_are():
    """Seven records at 4 or 5: a threshold of 5 may take all of them or none."""
    cells = {
        ("north", group): fp.Cell(
            count=20,
            values=[1.0, 4.5, 8.0],
            masses=np.array([6, 7, 7]),
            value_error=np.array([0.0, 0.5, 0.0]),
            kind="counts",
        )
        for group in "ab"
    }
    federation = fp.Federation.from_cells(cells)
    at_five, at_four, at_six = (
        rate(at_threshold(federation, cut, score_range=(1, 10)), "a") for cut in (5, 4, 6)
    )

    assert ends(at_five) == (7 / 20, 14 / 20)
    assert ends(at_four) == (14 / 20, 14 / 20)
    assert ends(at_six) == (7 / 20, 7 / 20)


def test_counts_of_weights_are_exact_up_to_rounding():
    """Sums of weights that no float holds exactly reach a cell's total from both sides."""
    random = np.random.default_rng(2)
    scores, weights = random.integers(1, 11, 400) * 1.0, random.lognormal(0, 2, 400)
    groups, silos = np.array(["a", "b"] * 200), random.integers(0, 20, 400)
    federation = fp.Federation.from_scores(
        scores, groups=groups, silos=silos, levels=20, kind="counts", weights=weights
    )
    report = at_threshold(federation, 5, score_range=(1, 10))

    for group in "ab":
        own = groups == group
        expected = np.average(scores[own] >= 5, weights=weights[own])
        assert ends(rate(report, group)) == pytest.approx((expected, expected), abs=1e-11)


@pytest.mark.data
def test_the_deciles_of_the_file_are_those_of_the_table():
    file = Path(DATA) / "compas-scores-two-years.csv"
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))

    for group, counts in COMPAS.items():
        found = [int(row["decile_score"]) for row in rows if row["race"] == group]
        assert tuple(np.bincount(found, minlength=11)[1:].tolist()) == counts


def test_a_threshold_estimated_from_the_same_records_widens_differences():
    """One group lies around the median that the other one straddles, so it moves their gap."""
    random = np.random.default_rng(5)
    groups = np.repeat(["wide", "narrow"], 500)
    scores = np.where(
        groups == "wide", random.uniform(0, 1, 1000), random.uniform(0.45, 0.55, 1000)
    )
    federation = fp.Federation.from_scores(
        scores, groups=groups, silos=[1] * 1000, levels=1000, kind="quantile"
    )
    tail = scoring_rates(federation, **UNIT)
    fixed = at_threshold(federation, float(np.nextafter(tail.cutoff.value, 1)), **UNIT)

    assert [row.rate.value for row in tail.groups] == [row.rate.value for row in fixed.groups]
    assert tail.widest_gap.interval.upper > fixed.widest_gap.interval.upper + 0.01
    for moved, known in zip(tail.groups, fixed.groups, strict=True):
        assert moved.rate.interval.upper > known.rate.interval.upper


def test_scoring_rates_are_shares_strictly_above_the_median():
    """Five of nine scores are the median or below it; ties at the median are not above it."""
    scores = [0.1, 0.2, 0.5, 0.6, 0.7, 0.3, 0.5, 0.5, 0.9]
    federation = fp.Federation.from_scores(
        scores, groups=list("aaaaabbbb"), silos=[1] * 9, levels=20, kind="quantile"
    )
    report = scoring_rates(federation, **UNIT)

    assert report.cutoff == exactly(0.5)
    assert [ends(row.rate) for row in report.groups] == [(0.4, 0.4), (0.25, 0.25)]
    assert report.groups[1].ratio.value == 0.625


def test_all_groups_together_leave_at_most_the_tail_above_its_quantile():
    """The rest of the tail is all that one group can have of it."""
    random = np.random.default_rng(0)
    groups = np.repeat(["a", "b"], [900, 100])
    federation = fp.Federation.from_scores(
        random.random(1000),
        groups=groups,
        silos=random.integers(0, 3, 1000),
        levels=10,
        kind="quantile",
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
    assert at_cut.keys() - {"score", "favorable"} == tail.keys() - {"level", "cutoff"}


@pytest.mark.parametrize("call", BAD_OPTIONS.values(), ids=BAD_OPTIONS.keys())
def test_options_out_of_their_range_are_refused_with_a_fix(call, federation):
    with pytest.raises(fp.errors.OptionError) as caught:
        call(federation)

    assert caught.value.fix
