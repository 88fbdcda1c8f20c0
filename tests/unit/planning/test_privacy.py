"""What noise will cost, by simulation: against audits of real noise, and in its limits."""

import numpy as np
import pytest
from tests.oracles.test_dp_accuracy import METHOD, Population

import fedparity as fp
from fedparity.planning.noise_cost import PrivateAudit
from fedparity.planning.scenario import SHAPES, disparity_between
from fedparity.privacy.noise import NoiseLaw

LAWS = SHAPES["beta"].laws(2, 1.0)


def test_the_planned_error_is_that_of_audits_with_opendp_s_noise():
    random = np.random.default_rng(0)
    errors = []
    for _ in range(25):
        scores = np.concatenate([law.quantile(random.random(4000)) for law in LAWS])
        held = Population(
            scores, np.repeat([0, 1], 4000), random.integers(0, 5, 8000), (0.0, 1.0), bins=16
        )
        found = fp.theory.estimate(held.released().federation(), METHOD).disparity
        errors.append(abs(found - held.exact))

    planned = fp.planning.plan_privacy(epsilon=1.0, records=4000, bins=16, replicates=200)

    spread = np.std(errors) / 5 + planned.answer.error / 10
    assert np.mean(errors) == pytest.approx(planned.answer.error, abs=4 * spread)


def test_without_noise_only_bins_are_left():
    audit = PrivateAudit(laws=LAWS, score_range=(0.0, 1.0), records=20_000, silos=5)

    found = audit.simulate(bins=256, noise=NoiseLaw(50.0), summed=False, replicates=20, seed=0)

    exact = disparity_between(LAWS, (0.5, 0.5))
    assert np.abs(found.errors).max() < 1e-3 * exact
    assert found.raw.mean() == pytest.approx(exact, rel=0.03)


def test_deciles_are_counted_at_their_points():
    """Without noise nothing is left: bins that are points do not smear the scores."""
    found = fp.planning.plan_privacy(epsilon=50.0, records=5000, shape="deciles", replicates=20)

    assert {row.bins for row in found.by_epsilon} == {10}
    assert found.answer.error < 1e-9 * found.disparity
    assert found.answer.interval < 1e-9 * found.disparity


def test_fewer_bins_than_points_hide_some_of_it():
    found = fp.planning.plan_privacy(
        epsilon=50.0, records=5000, shape="deciles", replicates=20, bins=5
    )

    assert found.answer.bins == 5
    assert 1e-4 < found.answer.error / found.disparity < 0.1
    assert found.answer.interval > 0


def test_errors_fall_with_epsilon_and_with_records():
    small = fp.planning.plan_privacy(epsilon=1.0, records=1000, replicates=100)
    large = fp.planning.plan_privacy(epsilon=1.0, records=20_000, replicates=100)

    errors = [row.error for row in small.by_epsilon]
    assert errors == sorted(errors, reverse=True)
    assert large.answer.error < small.answer.error / 3
    assert small.answer.population > small.sampling > large.sampling


def test_split_noise_costs_less_than_full_doses():
    full = fp.planning.plan_privacy(
        epsilon=0.5, records=3000, mode="secure+dp", replicates=200, bins=16
    )
    split = fp.planning.plan_privacy(
        epsilon=0.5, records=3000, mode="secure+dp", honest=5, replicates=200, bins=16
    )

    assert (full.doses, split.doses) == (5.0, 1.0)
    assert split.answer.error < 0.8 * full.answer.error


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 0},
        {"epsilon": 1e9},
        {"records": 0},
        {"silos": 0},
        {"groups": 1},
        {"honest": 3},
        {"honest": 9, "mode": "secure+dp"},
        {"shape": "round"},
        {"disparity": 5.0},
    ],
)
def test_what_cannot_be_planned_is_refused(options):
    with pytest.raises(fp.errors.OptionError):
        fp.planning.plan_privacy(**{"epsilon": 1.0, "records": 1000, "replicates": 10, **options})


def test_more_groups_and_another_range_are_simulated():
    found = fp.planning.plan_privacy(
        epsilon=1.0, records=2000, groups=4, shape="deciles", replicates=20, disparity=0.3
    )

    assert found.disparity == pytest.approx(0.3)
    assert found.score_range == (1.0, 10.0)
    assert found.to_dict()["answer"]["bins"] == found.answer.bins
