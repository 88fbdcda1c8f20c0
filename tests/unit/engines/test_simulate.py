"""Simulating an audit from one table: options, warnings, and what is refused."""

import numpy as np
import pytest

import fedparity as fp
from fedparity.documents.signing import generate_key, public_text
from fedparity.engines.pooled_table import read_pooled
from fedparity.privacy.disclosure import Disclosure


def table(**columns):
    """Twelve rows of two silos, in which both groups are."""
    rows = {
        "z": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.2, 0.4, 0.6, 0.9],
        "race": ["A", "B"] * 6,
        "hospital": ["north"] * 8 + ["south"] * 4,
    }
    return rows | columns


def simulated(data, **options):
    defaults = {"silo": "hospital", "score": "z", "group": "race", "redraws": 20, "levels": 3}
    return fp.simulate(data, **(defaults | options))


def plan_of(**options):
    defaults = {"groups": ("A", "B"), "score_range": (0, 1), "disclosure": Disclosure.off()}
    return fp.Plan(title="Q4", **(defaults | options))


def under_plan(data, plan, **options):
    return fp.simulate(
        data, silo="hospital", score="z", group="race", plan=plan, redraws=20, **options
    )


def test_without_a_plan_nothing_is_withheld_and_the_result_says_where_its_range_is_from():
    found = simulated(table())

    assert found.plan.title == "simulation"
    assert found.plan.score_range == (0.1, 0.9)
    assert found.guarantee["minimum_cell"] == 1
    assert all(not silo.withheld for silo in found.silos)
    assert found.warnings[0].code == "range_from_data"
    assert "score range was taken from the data" in found.warnings[0].text
    assert "0.1" not in found.warnings[0].text


def test_a_range_that_is_given_is_used_without_a_warning():
    found = simulated(table(), score_range=(0, 1))

    assert found.plan.score_range == (0, 1)
    assert not any(warning.code == "range_from_data" for warning in found.warnings)


def test_without_a_sketch_it_is_chosen_by_the_scores():
    """Counts where scores lie on a grid of few points, whatever its origin; else means."""
    random = np.random.default_rng(0)
    points = table(z=[1, 3, 5, 5, 7, 9, 1, 3, 5, 7, 9, 3])
    tenths = table(z=np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) / 10)
    anywhere = table(z=random.random(12))

    plans = [simulated(data, levels=12).plan for data in (points, tenths, anywhere)]

    assert [plan.sketch for plan in plans] == ["counts", "counts", "mean"]
    assert [plan.score_step for plan in plans] == [2.0, 0.1, None]
    assert [plan.estimator for plan in plans] == ["exact"] * 3
    assert simulated(points, levels=3).plan.sketch == "mean"
    assert simulated(points, levels=12, sketch="quantile").plan.score_step is None


def test_counts_at_few_scores_are_exact():
    data = table(z=[1, 3, 5, 5, 7, 9, 1, 3, 5, 7, 9, 3])
    found = simulated(data, levels=12, thresholds=[5])

    truth = fp.disparity(np.array(data["z"], float), sensitive_features=data["race"])
    assert found.disparity.value == pytest.approx(truth, rel=1e-12)
    assert found.disparity.certificate.upper - found.disparity.certificate.lower < 1e-8
    assert [row.rate.value for row in found.thresholds[0].groups] == [4 / 6, 3 / 6]


def test_groups_and_silos_are_in_the_order_of_their_labels():
    found = simulated(table(race=["b", "a"] * 6, hospital=["y"] * 8 + ["x"] * 4))

    assert [each.group for each in found.groups] == ["a", "b"]
    assert found.silos_received == ("x", "y")


def test_settings_reach_the_result():
    found = simulated(
        table(), sketch="mean", estimator="exact", order=1, trim=0.1, review_level=1e-9
    )

    plan = found.plan
    assert (plan.sketch, plan.estimator, plan.order, plan.trim) == ("mean", "exact", 1, 0.1)
    assert (plan.levels, found.disparity.review_level) == (3, 1e-9)


def test_numbers_and_booleans_name_silos_by_their_text():
    found = simulated(table(hospital=[7] * 8 + [10] * 4))

    assert found.silos_received == ("10", "7")


def test_a_group_whose_records_have_no_weight_is_not_one():
    data = table(race=["A", "B", "C"] * 4, w=[1.0, 2.0, 0.0] * 4)

    found = simulated(data, weight="w")

    assert [each.group for each in found.groups] == ["A", "B"]


def test_a_score_that_is_missing_does_not_matter_where_its_weight_is_zero():
    """The kernels of a silo do not look at such a record either."""
    scores = [float("nan"), *table()["z"][1:]]

    found = simulated(table(z=scores, w=[0.0] + [1.0] * 11), weight="w")

    assert found.n == 11


def test_rows_dropped_are_counted_in_their_own_silo():
    scores = np.array(table()["z"])
    scores[[0, 9, 10]] = np.nan

    found = simulated(table(z=scores), missing="drop")

    assert [silo.rows_dropped for silo in found.silos] == [1, 2]


def test_a_silo_of_the_roster_that_the_table_lacks_is_missing():
    found = under_plan(table(), plan_of(silos=["south", "east", "north"]))

    assert found.silos_missing == ("east",)


def test_keys_of_a_plan_are_left_out_and_the_result_says_so():
    plan = plan_of(keys={"north": public_text(generate_key())})

    found = under_plan(table(), plan)

    assert found.warnings[0].code == "keys_left_out"
    assert "keys of the plan were left out" in found.warnings[0].text
    assert found.plan.digest == plan_of().digest != plan.digest


def test_progress_tells_of_every_silo():
    seen = []
    simulated(table(), progress=lambda *step: seen.append(step))

    assert [step for step in seen if step[2] == "sketching"] == [
        (1, 2, "sketching"),
        (2, 2, "sketching"),
    ]


def test_a_table_without_silos_is_one_silo_in_an_order_of_its_own():
    """What an allocation starts from: it must not depend on the order of rows in a file."""
    rows = table(w=[1.0, 2.0, 0.5, 1.0] * 3)
    reverse = {name: column[::-1] for name, column in rows.items()}
    first, second = (
        read_pooled(data, silo=None, score="z", group="race", weight="w")
        for data in (rows, reverse)
    )

    assert first.silos == ("all",)
    assert first.scores.tolist() == sorted(rows["z"])
    assert first.codes.tolist() == second.codes.tolist()
    assert first.weights.tolist() == second.weights.tolist()


@pytest.mark.parametrize(
    ("columns", "options", "error", "words"),
    [
        ({}, {"silo": "hopsital"}, fp.errors.TableError, "did you mean 'hospital'"),
        ({}, {"silo": "race"}, fp.errors.TableError, "two roles"),
        ({}, {"silo": "z"}, fp.errors.TableError, "two roles"),
        ({"hospital": [None, ""] + ["x"] * 10}, {}, fp.errors.TableError, "2 rows have no silo"),
        ({"race": ["A"] * 12}, {}, fp.errors.GroupError, "two groups or more"),
        (
            {"race": [None] + ["A"] * 11},
            {},
            fp.errors.LabelError,
            "1 record has no label in 'race'",
        ),
        ({"z": [0.5] * 12}, {}, fp.errors.OptionError, "no score range"),
        ({"z": [1e150] + [0.5] * 11}, {}, fp.errors.MagnitudeError, "too large"),
        ({"z": [None] + [0.5] * 11}, {}, fp.errors.TableError, "1 "),
        ({"z": [float("nan")] * 2 + [0.5] * 10}, {}, fp.errors.TableError, "2 "),
        (
            {"z": [float("inf")] + [0.5] * 11},
            {"missing": "drop"},
            fp.errors.TableError,
            "infinite",
        ),
        ({"z": [None] * 12}, {"missing": "drop"}, fp.errors.ScoreError, "no score"),
        ({"w": [-1.0] + [1.0] * 11}, {"weight": "w"}, fp.errors.TableError, "weight"),
        ({"w": [0.0] * 12}, {"weight": "w"}, fp.errors.MassError, "all zero"),
        ({}, {"where": "z > 2"}, fp.errors.TableError, "z > 2"),
        ({}, {"score_range": (0, 0.5)}, fp.errors.ScoreError, "3 of 8"),
        ({}, {"missing": "ignore"}, fp.errors.OptionError, "missing"),
        ({}, {"levels": 0}, fp.errors.PlanError, "levels"),
        ({}, {"plan": plan_of(), "levels": 9}, fp.errors.OptionError, "together with 'levels'"),
        ({"z": [], "race": [], "hospital": []}, {}, fp.errors.TableError, "no row"),
    ],
)
def test_what_cannot_be_simulated_is_refused_by_name(columns, options, error, words):
    with pytest.raises(error) as caught:
        simulated(table(**columns), **options)

    assert words in str(caught.value)


def test_silos_outside_the_roster_are_named():
    with pytest.raises(fp.errors.TableError, match="not among the 1 of the plan: 'north'"):
        under_plan(table(), plan_of(silos=["south"]))


def test_labels_outside_the_plan_are_named_with_the_nearest_group():
    with pytest.raises(fp.errors.LabelError, match=r"'b' \(6\)"):
        under_plan(table(race=["A", "b"] * 6), plan_of())


def test_no_message_of_an_error_holds_a_score():
    data = table(z=[0.123456] + [0.5] * 11)
    for options in ({"score_range": (0.4, 1)}, {"score_range": (0.0, 0.2)}):
        with pytest.raises(fp.errors.ScoreError) as caught:
            simulated(data, **options)

        assert "0.123456" not in str(caught.value)


def test_labels_that_differ_only_by_case_or_spaces_are_named_with_a_map():
    table = {"z": [0.1, 0.2, 0.3, 0.4], "g": ["Frau", "Frau ", "frau", "Mann"], "s": list("aaaa")}
    columns = {"score": "z", "group": "g", "silo": "s", "score_range": (0, 1)}

    found = fp.simulate(table, **columns)

    (alike,) = (warning.text for warning in found.warnings if warning.code == "labels_alike")
    assert "2 groups may be another group in another spelling" in alike
    assert "--map 'Frau =Frau' --map frau=Frau" in alike
    mapping = {"Frau ": "Frau", "frau": "Frau"}
    assert str(mapping) in alike
    joined = fp.simulate(table, **columns, mapping=mapping)
    assert [group.group for group in joined.groups] == ["Frau", "Mann"]
    assert all(warning.code != "labels_alike" for warning in joined.warnings)


def test_of_labels_that_are_alike_one_without_spaces_is_kept():
    table = {"z": [0.1, 0.2, 0.3], "g": [" Frau", "Frau", "Mann"], "s": list("aaa")}

    found = fp.simulate(table, score="z", group="g", silo="s", score_range=(0, 1))

    assert "--map ' Frau=Frau'" in next(
        warning.text for warning in found.warnings if warning.code == "labels_alike"
    )


def test_rows_without_a_label_are_answered_without_a_plan():
    table = {"z": [0.1, 0.2, 0.3, 0.4], "g": ["A", "B", "", None], "s": list("aaaa")}

    with pytest.raises(fp.errors.LabelError) as caught:
        fp.simulate(table, score="z", group="g", silo="s", score_range=(0, 1))

    assert "the plan" not in str(caught.value)
    assert '--map "=unknown"' in caught.value.fix
