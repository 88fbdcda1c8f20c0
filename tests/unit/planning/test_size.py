"""A plan says how large an audit must be, and audits of that size bear it out."""

import json
import math

import numpy as np
import pytest
from tests.unit.planning.audits import KINDS, fresh_audits, labels

import fedparity as fp
from fedparity.planning.scenario import SHAPES

PAPER = {"kind": "quantile", "estimator": "grid"}
"""What the paper proposes."""


@pytest.fixture(scope="module")
def planned():
    """The plan for an error of a quarter of the disparity."""
    return fp.plan_size(error=0.25, seed=3)


def test_the_planned_size_gives_the_wanted_error_on_fresh_records(planned):
    """95 % of audits are within the error, up to three standard deviations of 300 audits."""
    estimates = fresh_audits(
        300, strength=1.0, silos=5, records=planned.records, levels=planned.levels, seed=99
    )

    assert np.mean(np.abs(estimates - planned.disparity) <= planned.error) > 0.91


def test_a_quarter_of_the_planned_records_does_not(planned):
    records = planned.records // 4
    estimates = fresh_audits(
        300, strength=1.0, silos=5, records=records, levels=planned.levels, seed=99
    )

    assert np.mean(np.abs(estimates - planned.disparity) <= planned.error) < 0.91


def test_the_planned_levels_take_at_most_a_quarter_of_the_error_on_fresh_records(planned):
    random = np.random.default_rng(99)
    groups, places = labels(5, (2000, 2000))
    errors = []
    for _ in range(20):
        scores = np.concatenate([random.beta(3, 4, 10_000), random.beta(6, 4, 10_000)])
        federation = fp.Federation.from_scores(
            scores, groups=groups, silos=places, levels=planned.levels
        )
        exact = fp.disparity(scores, sensitive_features=groups)
        errors.append(abs(fp.theory.estimate(federation).disparity - exact))

    assert np.mean(np.array(errors) <= planned.sketch_error) >= 0.9


def test_the_planned_levels_are_the_first_that_take_at_most_a_quarter_of_the_error():
    plan = fp.plan_size(error=0.1, **PAPER)
    errors = {row.levels: row.error for row in plan.by_levels}

    assert plan.sketch_error == plan.error / 4
    assert plan.levels == 15
    assert errors[15] <= plan.sketch_error < errors[10]


def test_errors_shrink_as_levels_and_records_grow(planned):
    levels = [row.error for row in planned.by_levels if row.levels in (5, 50, 500)]
    records = [row.error for row in planned.by_records]

    assert levels == sorted(levels, reverse=True)
    assert records == sorted(records, reverse=True)


def test_a_smaller_error_takes_more_levels_and_more_records():
    coarse, fine = (fp.plan_size(error=error, replicates=100, **PAPER) for error in (0.3, 0.03))

    assert coarse.levels < fine.levels
    assert coarse.records < fine.records
    assert coarse.levels_bound < fine.levels_bound
    assert coarse.records_bound < fine.records_bound


def test_bin_means_read_exactly_take_fewer_levels():
    quantiles = fp.plan_size(error=0.02, replicates=50, **PAPER)
    means = fp.plan_size(error=0.02, kind="mean", estimator="exact", replicates=50)

    assert means.levels < quantiles.levels


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_bound_is_below_a_simulated_error(shape, kind):
    plan = fp.plan_size(error=0.5, shape=shape, kind=kind, silos=2, replicates=40)

    assert all(row.error <= row.bound for row in plan.table)
    assert plan.levels <= plan.levels_bound
    assert plan.records <= plan.records_bound


def test_the_same_seed_gives_the_same_plan_and_another_seed_another():
    one, same, other = (fp.plan_size(error=0.5, replicates=30, seed=seed) for seed in (1, 1, 2))

    assert one == same
    assert one.by_levels != other.by_levels


def test_an_expected_disparity_moves_the_laws():
    plan = fp.plan_size(error=0.5, disparity=0.002, replicates=30)

    assert plan.disparity == pytest.approx(0.002, rel=1e-6)
    assert plan.error == pytest.approx(0.001, rel=1e-6)


def test_an_absolute_error_is_in_the_units_of_the_disparity():
    plan = fp.plan_size(error=0.3, relative=False, score_range=(0, 10), replicates=30)

    assert plan.error == 0.3
    assert plan.disparity == pytest.approx(100 * 0.0076165, rel=1e-4)


def test_a_wider_range_changes_the_unit_and_not_the_size():
    narrow = fp.plan_size(error=0.4, replicates=30)
    wide = fp.plan_size(error=0.4, score_range=(0, 100), replicates=30)

    assert (wide.levels, wide.records) == (narrow.levels, narrow.records)
    assert wide.levels_bound == narrow.levels_bound


def test_levels_that_are_enough_by_accident_are_not_planned():
    """On ten scores, 10 levels err less than 20: the plan starts where all further ones do."""
    plan = fp.plan_size(error=0.92, shape="deciles", disparity=0.9, replicates=100, **PAPER)
    enough = [row.levels for row in plan.by_levels if row.error <= plan.sketch_error]
    further = [row.levels for row in plan.by_levels if row.levels >= plan.levels]

    assert enough[0] < plan.levels
    assert enough[-len(further) :] == further


def test_fixed_levels_are_kept_and_may_never_be_enough():
    plan = fp.plan_size(error=0.02, levels=2, replicates=30, **PAPER)

    assert plan.levels == plan.levels_bound == 2
    assert plan.records is None
    assert plan.records_bound is None


def test_an_error_below_what_the_ladder_reaches_is_not_planned():
    plan = fp.plan_size(error=1e-6, replicates=20)

    assert plan.levels is None
    assert plan.records is None
    assert plan.by_records == ()
    assert plan.levels_bound > 10**8


def test_a_plan_tells_its_progress_up_to_the_total():
    steps = []
    fp.plan_size(error=0.5, replicates=20, progress=lambda *step: steps.append(step))

    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1]


def test_a_plan_is_plain_when_written_and_short_when_shown(planned):
    written = planned.to_dict()

    assert json.loads(json.dumps(written)) == written
    assert written["simulated"] == {"levels": planned.levels, "records": planned.records}
    assert "\n" not in repr(planned)


@pytest.mark.parametrize(
    "options",
    [
        {"error": 0.0},
        {"error": math.nan},
        {"error": 0.1, "silos": 0},
        {"error": 0.1, "silos": 2.5},
        {"error": 0.1, "groups": 1},
        {"error": 0.1, "shares": (0.2, 0.3, 0.5)},
        {"error": 0.1, "shares": (1.0, 0.0)},
        {"error": 0.1, "shape": "gauss"},
        {"error": 0.1, "score_range": (1.0, 0.0)},
        {"error": 0.1, "disparity": 0.0},
        {"error": 0.1, "disparity": 0.2},
        {"error": 0.1, "confidence": 1.0},
        {"error": 0.1, "kind": "median"},
        {"error": 0.1, "kind": "counts"},
        {"error": 0.1, "estimator": "linear"},
        {"error": 0.1, "levels": 0},
        {"error": 0.1, "replicates": 18},
        {"error": 0.1, "seed": -1},
    ],
    ids=str,
)
def test_a_plan_refuses_what_it_cannot_answer(options):
    with pytest.raises(fp.errors.OptionError) as refused:
        fp.plan_size(**options)

    assert refused.value.fix
