"""A disparity that is said to be detectable is detected, in fresh audits, as often as wanted."""

import json

import numpy as np
import pytest
from tests.unit.planning.audits import EQUAL, KINDS, fresh_audits

import fedparity as fp
from fedparity.planning.detection import strength_at
from fedparity.planning.scenario import SHAPES


@pytest.fixture(scope="module")
def detectable():
    return fp.planning.detectable_disparity(
        records=100, levels=10, silos=3, replicates=1000, seed=3
    )


def test_the_detectable_disparity_is_detected_with_the_wanted_power(detectable):
    """80 % of fresh audits pass the threshold, up to three standard deviations of both."""
    strength = strength_at(SHAPES["beta"], EQUAL, detectable.disparity)
    estimates = fresh_audits(400, strength=strength, silos=3, records=100, levels=10, seed=99)

    assert np.mean(estimates > detectable.threshold) == pytest.approx(0.8, abs=0.075)


def test_at_parity_the_threshold_is_passed_one_time_in_twenty(detectable):
    estimates = fresh_audits(400, strength=0.0, silos=3, records=100, levels=10, seed=98)

    assert np.mean(estimates > detectable.threshold) == pytest.approx(0.05, abs=0.04)


def test_more_records_detect_smaller_disparities(detectable):
    found = [row.disparity for row in detectable.by_records]

    assert len(found) == 5
    assert found == sorted(found, reverse=True)


def test_more_silos_detect_smaller_disparities(detectable):
    more = fp.planning.detectable_disparity(records=100, levels=10, silos=12, replicates=100)

    assert more.disparity < 0.6 * detectable.disparity


def test_more_power_takes_a_larger_disparity(detectable):
    surer = fp.planning.detectable_disparity(
        records=100, levels=10, silos=3, power=0.95, replicates=1000, seed=3
    )

    assert surer.threshold == detectable.threshold
    assert surer.disparity > detectable.disparity


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_bound_is_below_a_detectable_disparity(shape, kind):
    found = fp.planning.detectable_disparity(
        records=4000, levels=200, shape=shape, kind=kind, silos=2, replicates=40
    )

    assert found.bound is not None
    assert all(row.bound is None or row.disparity <= row.bound for row in found.table)


def test_a_disparity_beyond_the_shape_is_not_detected():
    found = fp.planning.detectable_disparity(
        records=2, levels=1, silos=1, power=0.99, shape="uniform"
    )

    assert found.disparity is None
    assert found.wasserstein is None
    assert "G2 none" in repr(found)


def test_for_two_groups_the_disparity_is_the_squared_distance_times_the_shares():
    found = fp.planning.detectable_disparity(records=100, levels=10, shares=(3, 1), replicates=40)
    expected = 3 / 16 * found.wasserstein**2

    assert found.disparity == pytest.approx(expected, rel=1e-9)


def test_a_detection_tells_its_progress_up_to_the_total():
    steps = []
    fp.planning.detectable_disparity(
        records=50, levels=5, replicates=20, progress=lambda *step: steps.append(step)
    )

    assert steps == [(done, 5) for done in range(1, 6)]


def test_a_detection_is_plain_when_written_and_short_when_shown(detectable):
    written = detectable.to_dict()

    assert json.loads(json.dumps(written)) == written
    assert written["disparity"] == detectable.disparity
    assert "\n" not in repr(detectable)


@pytest.mark.parametrize(
    "options",
    [
        {"records": 1},
        {"records": 100, "power": 1.0},
        {"records": 100, "levels": 0},
        {"records": 100, "silos": 10_000, "levels": 1000},
    ],
    ids=str,
)
def test_a_detection_refuses_what_it_cannot_answer(options):
    with pytest.raises(fp.errors.OptionError) as refused:
        fp.planning.detectable_disparity(**options)

    assert refused.value.fix
