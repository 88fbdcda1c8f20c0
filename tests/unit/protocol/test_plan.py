"""A plan is valid once built, and one digest stands for it."""

import copy
import pickle

import numpy as np
import pytest
from tests.unit.protocol.samples import plan

import fedparity as fp
from fedparity.privacy.disclosure import Disclosure

KEY = "BQ" + "A" * 41 + "="

FOUR = ["a", "b", "c", "d"]
FIVE = [*FOUR, "e"]
SUMMED = {"mode": "secure+dp", "epsilon": 1}

WRONG = {
    "no title": {"title": ""},
    "a title of two lines": {"title": "a\nb"},
    "a long title": {"title": "x" * 201},
    "a title that turns the text around": {"title": "Q4 \u202e"},
    "one group": {"groups": ["A"]},
    "no list of groups": {"groups": "AB"},
    "a thousand and one groups": {"groups": list(range(1001))},
    "a fractional label": {"groups": ["A", 0.5]},
    "an empty label": {"groups": ["A", ""]},
    "a huge label": {"groups": ["A", 2**53]},
    "a label and an intersection": {"groups": ["A", ("B", "C")]},
    "intersections of two widths": {"groups": [("A", "B"), ("A", "B", "C")]},
    "an intersection of one": {"groups": [("A",), ("B",)]},
    "a group twice": {"groups": ["A", "B", "A"]},
    "one text as text and as number": {"groups": ["1", 1]},
    "one text as text and as boolean": {"groups": ["true", True]},
    "one intersection twice": {"groups": [("1", True), (1, "true")]},
    "a range upside down": {"score_range": (1, 0)},
    "an empty range": {"score_range": (1, 1)},
    "an endless range": {"score_range": (0, float("inf"))},
    "a range of NaN": {"score_range": (0, float("nan"))},
    "a range of texts": {"score_range": ("0", "1")},
    "a range of three": {"score_range": (0, 1, 2)},
    "scores that cannot be squared": {"score_range": (0, 1e200)},
    "no level": {"levels": 0},
    "a boolean of levels": {"levels": True},
    "half a level": {"levels": 10.5},
    "too many levels": {"levels": 100_001},
    "too many values": {"levels": 100_000, "groups": list(range(21))},
    "a step of zero": {"score_step": 0},
    "a negative step": {"score_step": -0.1},
    "a step that is a text": {"score_step": "0.1"},
    "a step that does not divide the range": {"score_step": 0.3},
    "a step beyond the range": {"score_step": 2},
    "too many points": {"score_step": 1e-5},
    "points that are one float": {"score_range": (1e15, 1e15 + 8), "score_step": 0.001},
    "too many counts": {
        "score_step": 0.0001,
        "sketch": "counts",
        "groups": list(range(300)),
    },
    "counts without a step": {"sketch": "counts"},
    "counts that are rounded": {
        "sketch": "counts",
        "score_step": 0.1,
        "disclosure": {"rounding": 0.01},
    },
    "quantiles rounded off the grid": {"score_step": 0.1, "disclosure": {"rounding": 0.001}},
    "thresholds that are a number": {"thresholds": 0.5},
    "thresholds that fall": {"thresholds": [0.5, 0.4]},
    "a threshold twice": {"thresholds": [0.5, 0.5]},
    "a threshold at the lowest score": {"thresholds": [0]},
    "a threshold beyond the highest score": {"thresholds": [0.5, 1.01]},
    "a threshold that is a text": {"thresholds": ["0.5"]},
    "twenty-one thresholds": {"thresholds": [number / 30 for number in range(1, 22)]},
    "favorable between": {"favorable": "between"},
    "an unknown review unit": {"review_level": 1, "review_unit": "percent"},
    "an unknown sketch": {"sketch": "median"},
    "an unknown estimator": {"estimator": "magic"},
    "order 3": {"order": 3},
    "order True": {"order": True},
    "a review level of zero": {"review_level": 0},
    "an endless review level": {"review_level": float("inf")},
    "a trim of a half": {"trim": 0.5},
    "a negative trim": {"trim": -0.1},
    "an empty roster": {"silos": []},
    "a silo twice": {"silos": ["a", "a"]},
    "a silo without a name": {"silos": [""]},
    "a silo with a control character": {"silos": ["a\x07"]},
    "half a character": {"silos": ["\ud800"]},
    "a roster that is a text": {"silos": "aurora"},
    "a minimum cell of zero": {"disclosure": {"minimum_cell": 0}},
    "a minimum cell of a googol": {"disclosure": {"minimum_cell": 16**5000}},
    "rounding of a half": {"disclosure": {"rounding": 0.5}},
    "an unknown rule": {"disclosure": {"rouding": 0.1}},
    "disclosure that is a number": {"disclosure": 11},
    "no mode": {"privacy": {"epsilon": 1}},
    "dp without epsilon": {"privacy": {"mode": "dp"}},
    "secure with epsilon": {"privacy": {"mode": "secure", "epsilon": 1}},
    "epsilon zero": {"privacy": {"mode": "dp", "epsilon": 0}},
    "an unknown mode": {"privacy": {"mode": "magic"}},
    "an unknown privacy key": {"privacy": {"mode": "dp", "epsilon": 1, "delta": 1e-6}},
    "one bin": {"privacy": {"mode": "dp", "epsilon": 1, "bins": 1}},
    "an unknown unit": {"privacy": {"mode": "dp", "epsilon": 1, "unit": "person"}},
    "edges that fall": {"privacy": {"mode": "dp", "epsilon": 1, "edges": [0.5, 0.2]}},
    "an edge twice": {"privacy": {"mode": "dp", "epsilon": 1, "edges": [0.5, 0.5]}},
    "an edge at the end": {"privacy": {"mode": "dp", "epsilon": 1, "edges": [0.5, 1.0]}},
    "an edge that is a text": {"privacy": {"mode": "dp", "epsilon": 1, "edges": ["0.5"]}},
    "no edge": {"privacy": {"mode": "dp", "epsilon": 1, "edges": []}},
    "edges and other bins": {
        "privacy": {"mode": "dp", "epsilon": 1, "edges": [0.5], "bins": 3},
    },
    "too many bins for the floats": {
        "score_range": (1.0, 1.0 + 1e-10),
        "privacy": {"mode": "dp", "epsilon": 1, "bins": 1024},
    },
    "too many bins in all": {
        "groups": list(range(1000)),
        "privacy": {"mode": "dp", "epsilon": 1, "bins": 4096},
    },
    "more bins than scores": {
        "score_step": 0.1,
        "privacy": {"mode": "dp", "epsilon": 1, "bins": 12},
    },
    "a budget below epsilon": {"privacy": {"mode": "dp", "epsilon": 1, "budget": 0.5}},
    "a threshold without sums": {"privacy": {"mode": "dp", "epsilon": 1, "threshold": 3}},
    "a dose without sums": {"privacy": {"mode": "dp", "epsilon": 1, "dose": "full"}},
    "secure without a roster": {"privacy": {"mode": "secure"}},
    "secure with two silos": {"silos": ["a", "b"], "privacy": {"mode": "secure"}},
    "secure with a budget": {"silos": FOUR, "privacy": {"mode": "secure", "budget": 1}},
    "secure with a dose": {"silos": FOUR, "privacy": {"mode": "secure", "dose": "full"}},
    "half of the silos": {"silos": FOUR, "privacy": {"mode": "secure", "threshold": 2}},
    "two thirds of the silos": {
        "silos": [*FOUR, "e", "f"],
        "privacy": {"mode": "secure", "threshold": 4},
    },
    "too many silos for a sum": {
        "silos": [f"silo {number}" for number in range(1001)],
        "privacy": {"mode": "secure"},
    },
    "more thresholds than edges": {
        "thresholds": [0.2, 0.5],
        "privacy": {"mode": "dp", "epsilon": 1, "bins": 2},
    },
    "a threshold inside a bin": {
        "thresholds": [0.5],
        "privacy": {"mode": "dp", "epsilon": 1, "edges": [0.25, 0.75]},
    },
    "a threshold inside a bin of points": {
        "score_step": 0.1,
        "thresholds": [0.5],
        "privacy": {"mode": "dp", "epsilon": 1, "edges": [0.25, 0.75]},
    },
    "more than all silos": {"silos": FOUR, "privacy": {"mode": "secure", "threshold": 5}},
    "honest with a full dose": {"silos": FOUR, "privacy": {**SUMMED, "honest": 3}},
    "more honest silos than needed": {
        "silos": FOUR,
        "privacy": {**SUMMED, "dose": "split", "threshold": 3, "honest": 4},
    },
    "a short key": {"keys": {"a": "AAAA"}},
    "a key with spaces": {"keys": {"a": KEY + " "}},
    "a key whose last bits are not zero": {"keys": {"a": "A" * 42 + "B="}},
    "a key that is a number": {"keys": {"a": 3}},
    "a key under which anybody can sign": {"keys": {"a": "A" * 43 + "="}},
    "one key for two silos": {"keys": {"a": KEY, "b": KEY}},
    "a key outside the roster": {"silos": ["a"], "keys": {"b": KEY}},
    "a total of zero": {"totals": {"a": 0}},
    "a total that is no number": {"totals": {"a": "900"}},
    "a total outside the roster": {"silos": ["a"], "totals": {"b": 9}},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_plan_is_refused_with_a_fix(changes):
    with pytest.raises(fp.errors.PlanError) as caught:
        plan(**changes)

    sentence, fix = str(caught.value).split("\nfix: ")
    assert sentence.endswith(".")
    assert fix
    assert len(sentence) < 400


def test_what_is_built_is_kept_in_one_form():
    built = plan(
        groups=np.array(["A", "B"]).tolist(),
        score_range=[np.float64(-0.0), 1],
        levels=np.int64(7),
        disclosure={"minimum_cell": 5},
        privacy={"mode": "dp", "epsilon": 1, "bins": 32},
        silos=["x"],
        totals={"x": np.int64(3)},
    )

    assert built.groups == ("A", "B")
    assert str(built.score_range) == "(0.0, 1.0)"
    assert type(built.levels) is int
    assert built.disclosure == Disclosure(minimum_cell=5, rounding=0.001)
    assert built.privacy == fp.documents.PrivacyTerms(mode="dp", epsilon=1.0, bins=32, budget=1.0)
    assert built.totals == {"x": 3}


def test_labels_of_numpy_become_plain_ones():
    built = plan(groups=list(np.array([1, 2])))

    assert [type(group) for group in built.groups] == [int, int]


def test_a_plan_cannot_be_changed():
    with pytest.raises(TypeError):
        plan(totals={"x": 3}).totals["x"] = 4
    with pytest.raises(AttributeError):
        plan().levels = 4


def test_a_stated_default_and_an_absent_one_have_one_digest():
    stated = plan(
        disclosure={"minimum_cell": 11}, order=2, trim=0.0, keys={}, score_range=(0.0, 1)
    )

    assert stated == plan()
    assert stated.digest == plan().digest


def test_the_digest_is_that_of_the_canonical_bytes():
    """Pinned: a change of it would make every sketch answer another plan."""
    assert plan().digest == (
        "sha256:60b60c25944184c154d988407b53c29859e2dc5fe7b50c5c12505cf944470df1"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Q5"},
        {"groups": ["B", "A"]},
        {"score_range": (0, 2)},
        {"levels": 4},
        {"score_step": 0.1},
        {"sketch": "mean"},
        {"estimator": "grid"},
        {"thresholds": [0.5]},
        {"favorable": "below"},
        {"order": 1},
        {"review_level": 0.1},
        {"review_unit": "sd"},
        {"trim": 0.1},
        {"silos": ["x"]},
        {"disclosure": {"rounding": 0}},
        {"privacy": {"mode": "dp", "epsilon": 1}},
        {"keys": {"x": KEY}},
        {"totals": {"x": 3}},
        {"groups": ["A", True]},
    ],
)
def test_every_key_counts_for_the_digest(changes):
    assert plan(**changes).digest != plan().digest


def test_labels_of_other_types_give_another_digest():
    assert plan(groups=[True, False]).digest != plan(groups=[1, 0]).digest


def test_the_guarantee_states_every_rule():
    private = plan(privacy={"mode": "dp", "epsilon": 0.5})

    assert plan().guarantee == {
        "mode": "none",
        "minimum_cell": 11,
        "records_per_level": 10,
        "rounding": 0.001,
    }
    assert private.guarantee == {
        "mode": "dp",
        "epsilon": 0.5,
        "bins": 32,
        "budget": 0.5,
        "unit": "one record, add or remove",
        "minimum_cell": 11,
    }


def test_plans_survive_pickling_and_copying():
    built = plan(silos=FOUR, totals={"a": 3}, privacy={"mode": "secure", "threshold": 3})

    assert pickle.loads(pickle.dumps(built)) == built  # noqa: S301
    assert copy.deepcopy(built).digest == built.digest
    assert hash(built) == hash(copy.copy(built))


def test_a_plan_prints_on_one_line():
    assert repr(plan()) == f"Plan('Q4', 2 groups, 3 levels, {plan().digest[:15]}…)"


def test_privacy_terms_are_checked_on_their_own():
    with pytest.raises(fp.errors.PlanError, match="epsilon"):
        fp.documents.PrivacyTerms(mode="dp", epsilon=-1)
    with pytest.raises(TypeError, match="noise"):
        fp.documents.PrivacyTerms(mode="secure", noise=1)


@pytest.mark.parametrize(
    ("changes", "stated"),
    [
        ({"privacy": {"mode": "dp", "epsilon": 2}}, {"bins": 32, "budget": 2.0}),
        ({"privacy": {"mode": "dp", "epsilon": 1, "records": 2454}, "silos": FIVE}, {"bins": 16}),
        ({"privacy": {"mode": "dp", "epsilon": 1, "records": 10**4}, "silos": FIVE}, {"bins": 32}),
        ({"privacy": {"mode": "dp", "epsilon": 1, "edges": [0.1, 0.5]}}, {"bins": 3}),
        ({"privacy": {"mode": "secure"}, "silos": FOUR}, {"bins": 256, "threshold": 3}),
        ({"privacy": {"mode": "secure"}, "silos": FIVE}, {"threshold": 4}),
        ({"privacy": SUMMED, "silos": FIVE}, {"dose": "full", "threshold": 4, "budget": 1.0}),
        ({"privacy": {**SUMMED, "dose": "split"}, "silos": FIVE}, {"honest": 4}),
        (
            {"privacy": {**SUMMED, "dose": "split", "records": 2454}, "silos": FIVE},
            {"bins": 32},
        ),
    ],
)
def test_every_default_of_the_privacy_terms_is_stated(changes, stated):
    """What a plan means does not change with the version that reads it."""
    terms = plan(**changes).to_dict()["privacy"]

    assert {name: terms[name] for name in stated} == stated
    assert fp.Plan.from_toml(plan(**changes).to_toml()) == plan(**changes)
    again = plan(**{**changes, "privacy": terms})
    assert again.digest == plan(**changes).digest


def test_a_plan_without_a_privacy_mode_has_no_bins():
    with pytest.raises(fp.errors.PlanError, match=r"no \[privacy\] table"):
        _ = plan().grid


@pytest.mark.parametrize(
    ("changes", "sketch", "rounding"),
    [
        ({}, "mean", 0.005),
        ({"score_step": 0.001}, "mean", 0.005),
        ({"score_step": 0.01}, "mean", 0.005),
        ({"score_step": 0.01, "levels": 101}, "counts", 0.0),
        ({"score_step": 0.5}, "counts", 0.0),
        ({"score_step": 0.5, "sketch": "mean"}, "mean", 0.005),
        ({"score_step": 0.5, "sketch": "quantile"}, "quantile", 0.0),
        ({"sketch": "quantile"}, "quantile", 0.001),
        ({"sketch": "quantile", "score_step": 0.01, "disclosure": {"rounding": 0.05}}, None, 0.05),
        ({"disclosure": {"rounding": 0.02, "minimum_cell": 3}}, "mean", 0.02),
        ({"disclosure": Disclosure.off()}, "mean", 0.0),
    ],
)
def test_the_sketch_follows_from_the_step_and_the_rounding_from_the_sketch(
    changes, sketch, rounding
):
    built = plan(**{"levels": 100, "sketch": None, **changes})

    assert built.sketch == (sketch or changes["sketch"])
    assert built.rounding == built.disclosure.rounding == rounding
    assert built.to_dict()["disclosure"]["rounding"] == rounding


def test_the_best_sketch_is_the_default():
    built = fp.Plan(title="Q4", groups=("A", "B"), score_range=(0, 1))

    assert (built.sketch, built.estimator, built.levels) == ("mean", "exact", 100)


@pytest.mark.parametrize(
    ("score_range", "step", "expected"),
    [
        ((1, 10), 1, [float(number) for number in range(1, 11)]),
        ((0, 1), 0.1, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
        ((-0.3, 0.3), 0.1, [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]),
        ((0.05, 0.2), 0.05, [0.05, 0.1, 0.15, 0.2]),
        ((0, 1e-20), 5e-21, [0.0, 5e-21, 1e-20]),
        ((1e15, 1e15 + 1), 0.5, [1e15, 1e15 + 0.5, 1e15 + 1]),
    ],
)
def test_the_points_of_a_score_are_the_floats_of_decimals(score_range, step, expected):
    built = plan(score_range=score_range, score_step=step)

    assert built.score_points.tolist() == expected
    with pytest.raises(ValueError, match="read-only"):
        built.score_points[0] = 3


def test_a_plan_without_a_step_has_no_points():
    with pytest.raises(fp.errors.PlanError, match="no score_step"):
        _ = plan().score_points


def test_a_cell_has_as_many_values_as_levels_or_as_points():
    assert plan().most_values == 3
    assert plan(score_step=0.1, sketch="counts").most_values == 11
    assert plan(score_step=0.1).most_values == 3


@pytest.mark.parametrize(
    ("terms", "edges"),
    [
        ({}, [1.5, 2.5, 3.5, 4.5]),
        ({"bins": 2}, [2.5]),
        ({"bins": 3}, [1.5, 3.5]),
        ({"edges": [2.2, 3.5]}, [2.5, 3.5]),
    ],
)
def test_bins_of_a_score_on_a_grid_meet_between_its_points(terms, edges):
    private = {"mode": "dp", "epsilon": 1, **terms}
    built = plan(score_range=(1, 5), score_step=1, privacy=private)

    assert built.grid.edges.tolist() == edges
    assert built.privacy.bins == len(edges) + 1
    assert fp.Plan.from_toml(built.to_toml()) == built


def test_a_fine_grid_has_as_many_bins_as_the_rule_says():
    built = plan(score_step=0.001, privacy={"mode": "dp", "epsilon": 1})
    held = np.histogram(built.score_points, bins=built.grid.bounds)[0]

    assert built.privacy.bins == 32
    assert set(held.tolist()) == {31, 32}
