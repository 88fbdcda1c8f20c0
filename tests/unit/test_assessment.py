"""What an assessment says, and when it says that it does not know."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, kstest

import fedparity as fp
from fedparity.documents.result_parts import verdict
from fedparity.uncertainty.bootstrap import Draws, bootstrap
from fedparity.uncertainty.intervals import basic_interval, interval_of_length, p_value


def federation(seed, *, gap=3.0, silos=3, size=2000, levels=50, kind="quantile"):
    random = np.random.default_rng(seed)
    groups = random.integers(0, 2, size)
    return fp.Federation.from_scores(
        random.beta(3 + gap * groups, 4),
        groups=groups,
        silos=random.integers(0, silos, size),
        levels=levels,
        kind=kind,
    )


@pytest.fixture(scope="module")
def found():
    return fp.assess(federation(0), score_range=(0, 1), redraws=200)


def assessed(interval, certificate, *, outer=None, value=0.02):
    outer = outer or certificate
    return fp.theory.DisparityAssessment(
        value=value,
        corrected=value,
        interval=fp.theory.Bounds(*interval),
        certificate=fp.theory.Bounds(lower=certificate[0], upper=certificate[1]),
        outer=fp.theory.Bounds(lower=outer[0], upper=outer[1]),
        p_value=0.5,
        null=(),
    )


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (None, "none"),
        (0.01, "above"),
        (0.02, "inconclusive"),
        (0.024, "inconclusive"),
        (0.05, "below"),
    ],
)
def test_the_verdict_is_inconclusive_where_the_errors_straddle_the_level(level, expected):
    """Sampling alone would say below 0.024; the sketch leaves it open."""
    disparity = assessed((0.017, 0.023), (0.018, 0.022))

    assert tuple(disparity.combined) == pytest.approx((0.015, 0.025))
    assert disparity.verdict(level) == expected


def test_missing_records_can_make_the_verdict_for_all_inconclusive():
    complete = assessed((0.017, 0.023), (0.019, 0.021))
    incomplete = assessed((0.017, 0.023), (0.019, 0.021), outer=(0.01, 0.04))

    assert complete.verdict(0.03) == incomplete.verdict(0.03) == "below"
    assert verdict(complete.combined_all, 0.03) == "below"
    assert verdict(incomplete.combined_all, 0.03) == "inconclusive"
    assert incomplete.certificate == complete.certificate


def test_the_three_errors_contain_the_estimate(found):
    disparity = found.disparity

    assert disparity.value in disparity.certificate
    assert disparity.interval.lower < disparity.corrected < disparity.interval.upper
    assert disparity.combined.lower <= disparity.interval.lower
    assert disparity.combined.upper >= disparity.interval.upper
    assert disparity.p_value == pytest.approx(1 / 201)


def test_every_part_has_an_interval(found):
    """Each holds what it is the interval of; the terms of the decomposition have none."""
    parts = fp.theory.attribute(federation(0))
    for name, (lower, upper) in found.attribution.items():
        assert lower < getattr(parts, name) < upper
    lengths = [found.heterogeneity, *found.pairs, *found.local.values()]
    for length in lengths:
        assert length.interval.lower < length.corrected < length.interval.upper
        assert length.interval.lower < length.value < length.interval.upper
    for pair in found.pairs:
        assert pair.simultaneous == pair.interval  # of the only pair there is


def test_intervals_of_all_pairs_at_once_are_wider():
    random = np.random.default_rng(2)
    groups = random.integers(0, 3, 3000)
    sketches = fp.Federation.from_scores(
        random.beta(3 + groups, 4), groups=groups, silos=random.integers(0, 3, 3000), levels=20
    )

    for pair in fp.assess(sketches, score_range=(0, 1), redraws=200).pairs:
        assert pair.simultaneous.lower < pair.interval.lower
        assert pair.simultaneous.upper > pair.interval.upper


def test_unseen_records_widen_the_outer_bounds_only():
    sketches = federation(1)
    plain = fp.assess(sketches, score_range=(0, 1), redraws=50)
    missing = fp.assess(sketches, score_range=(0, 1), redraws=50, unseen={0: 100})

    assert missing.disparity.interval == plain.disparity.interval
    assert missing.disparity.outer.lower < plain.disparity.outer.lower
    assert missing.disparity.outer.upper > plain.disparity.outer.upper


def test_a_silo_with_one_group_has_no_local_interval():
    cells = federation(0).cells
    del cells[0, 1]
    found = fp.assess(fp.Federation.from_cells(cells), score_range=(0, 1), redraws=30)

    assert found.local[0] is None
    assert found.local[1] is not None


def test_warnings_name_what_makes_the_numbers_weak():
    small = federation(0, size=300)
    few = fp.assess(small, score_range=(0, 1), redraws=30)
    tied = fp.Federation.from_scores(
        np.maximum(np.random.default_rng(0).normal(size=800), 0.0),
        groups=np.arange(800) % 2,
        silos=np.zeros(800, int),
        levels=50,
    )

    assert "fewer than 100 records" in few.warnings[0].text
    assert (
        "one score holds more than 25%"
        in fp.assess(tied, score_range=(0, 5), redraws=30).warnings[0].text
    )
    assert fp.assess(federation(0), score_range=(0, 1), redraws=30).warnings == ()


def test_a_corrected_value_is_nearer_to_nothing_when_there_is_nothing():
    """The plug-in cannot be negative, so noise adds to it; the correction takes its mean away."""
    found = [
        fp.assess(federation(s, gap=0.0, size=800), score_range=(0, 1), redraws=60).disparity
        for s in range(30)
    ]

    assert np.mean([f.corrected for f in found]) < 0.6 * np.mean([f.value for f in found])


@pytest.mark.parametrize("confidence", [0, 1, 1.5, math.nan, "95%"])
def test_a_wrong_confidence_is_refused(confidence):
    with pytest.raises(fp.errors.OptionError):
        fp.assess(federation(0), score_range=(0, 1), confidence=confidence)


@pytest.mark.parametrize("redraws", [0, 19, 2.5, True])
def test_too_few_redraws_are_refused(redraws):
    with pytest.raises(fp.errors.OptionError):
        fp.assess(federation(0), score_range=(0, 1), redraws=redraws)


def test_a_basic_interval_turns_the_redraws_around():
    redrawn = np.linspace(-1.0, 3.0, 401)  # around 0: one below, three above

    assert tuple(basic_interval(5.0, 0.0, redrawn, 0.95)) == pytest.approx((5 - 2.9, 5 + 0.9))


def test_no_noise_leaves_a_point():
    quiet = np.zeros(100)
    draws = Draws(np.array(1.0), quiet + 1.0, quiet, quiet)
    lower, upper = interval_of_length(1.0, draws, confidence=0.95, order=2)

    assert lower == pytest.approx(1.0, abs=0.02)
    assert upper == pytest.approx(1.0, abs=0.02)


def test_a_p_value_counts_the_observation_itself():
    assert p_value(5.0, np.arange(9.0)) == pytest.approx(5 / 10)


def simulated(gap, truth, federations=100):
    """Coverage of the 95 % interval, and the p-values."""
    covered, p_values = 0, []
    for seed in range(federations):
        sketches = federation(seed, gap=gap, size=1200)
        value = fp.theory.estimate(sketches).disparity
        draws = bootstrap(sketches, redraws=120, seed=seed, details=False)["disparity"]
        interval = interval_of_length(value, draws, confidence=0.95, order=2)
        covered += interval.lower <= truth <= interval.upper
        p_values.append(p_value(value, draws.null))
    return covered, p_values


def fits(covered, federations=100):
    """Whether so many covered is what 92 to 98 % would give, up to the luck of the draw."""
    return binom.ppf(0.005, federations, 0.92) <= covered <= binom.ppf(0.995, federations, 0.98)


def test_intervals_cover_and_p_values_are_uniform_without_disparity():
    covered, p_values = simulated(0.0, 0.0)

    assert fits(covered)
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_intervals_cover_with_disparity_and_it_is_always_detected():
    random = np.random.default_rng(9)
    fine = {g: fp.Law.from_scores(random.beta(3 + 3 * g, 4, 1_000_000)) for g in (0, 1)}
    covered, p_values = simulated(3.0, fp.disparity(fine, fp.Weights({0: 1, 1: 1})))

    assert fits(covered)
    assert max(p_values) < 0.05


def test_of_many_pairs_at_once_intervals_are_wider_and_tell_more_than_redraws_can():
    """Sixty-six pairs: a part of the error probability that a hundred redraws cannot tell."""
    random = np.random.default_rng(0)
    groups = random.integers(0, 12, 6000)
    sketches = fp.Federation.from_scores(
        random.beta(2 + groups, 6), groups=groups, silos=random.integers(0, 2, 6000), levels=50
    )

    found = fp.assess(sketches, score_range=(0, 1), redraws=100).pairs

    worst = max(found, key=lambda pair: pair.value)
    for pair in found:
        assert pair.simultaneous.lower <= pair.interval.lower <= pair.corrected
        assert pair.value <= pair.interval.upper <= pair.simultaneous.upper
    assert worst.simultaneous.lower > 0.8 * worst.value
    assert worst.simultaneous.upper < 1.2 * worst.value


def test_without_a_difference_the_worst_of_many_pairs_is_seldom_more_than_noise():
    found = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        sketches = fp.Federation.from_scores(
            random.beta(3, 4, 600), groups=np.arange(600) % 6, silos=[0] * 600, levels=20
        )
        pairs = fp.assess(sketches, score_range=(0, 1), redraws=60, seed=seed, local=[]).pairs
        found += max(pair.simultaneous.lower for pair in pairs) > 0

    assert found <= 6  # 2 are expected; more than 6 with a chance of 1 %


def test_weights_widen_an_interval_by_what_they_amount_to():
    """Of weights 1, 1, 1, 20 a hundred records are worth 33; counted as weight they would be worth 575."""
    random = np.random.default_rng(2)
    groups = np.arange(2000) % 2
    sketches = fp.Federation.from_scores(
        random.beta(3 + groups, 4),
        groups=groups,
        silos=random.integers(0, 2, 2000),
        weights=random.permutation(np.tile([1.0, 1.0, 1.0, 20.0], 500)),
        levels=50,
    )
    naive = replace(sketches, effective=sketches.counts.astype(np.float64))
    right, wrong = (
        fp.assess(each, score_range=(0, 1), redraws=100, local=[]).pairs[0].interval.width
        for each in (sketches, naive)
    )

    assert 3 < right / wrong < 6  # the root of 575 / 33 is 4.2
