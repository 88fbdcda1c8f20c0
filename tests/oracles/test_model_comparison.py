"""Two models on the same people: against the disparities themselves, and by how often intervals hold."""

import math

import numpy as np
import pandas as pd
import pytest
from benchmarks.model_coverage import WORLDS, run
from tests.tiers import count

import fedparity as fp
from fedparity.errors import GroupError, OptionError, ScoreError

SIZES = (300, 200)
NAMED = {world.name: world for world in WORLDS}


def table_of(shifts, step, random, sizes=SIZES):
    """Scores of two models that share what they know of a person, and the groups."""
    group = np.repeat([0, 1], sizes)
    known = random.normal(size=group.size)
    own = (known + 0.5 * random.normal(size=group.size)) / math.sqrt(1.25)
    scores = known + shifts[0] * group, own + shifts[1] * group
    return [np.round(each / step) * step if step else each for each in scores], group


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["400, 0.4 and 0.4", "400, 0 and 0.4, both in steps of 1", "400, a tenth of them far away"],
)
def test_the_interval_holds_the_true_difference_at_least_as_often_as_it_says(name):
    """Its 99 % Wilson interval does not lie below 93 %."""
    assert run(NAMED[name], count(quick=40, all=60, soak=1000)).holds


def test_the_disparities_are_those_of_each_model_alone():
    scores, group = table_of((0.6, 0.3), None, np.random.default_rng(0))

    found = fp.compare(*scores, sensitive_features=group, redraws=50)

    for own, each in zip((found.first, found.second), scores, strict=True):
        assert own.value == pytest.approx(fp.disparity(each, sensitive_features=group) ** 0.5)
        assert own.corrected <= own.value
    assert found.difference == found.first.corrected - found.second.corrected
    assert found.difference in found.interval


def test_models_in_the_other_order_give_the_opposite_difference():
    scores, group = table_of((0.8, 0.5), None, np.random.default_rng(0))
    options = {"sensitive_features": group, "redraws": 100}

    one, other = fp.compare(*scores, **options), fp.compare(*scores[::-1], **options)

    assert one.difference == pytest.approx(-other.difference)
    assert tuple(one.interval) == pytest.approx((-other.interval.upper, -other.interval.lower))
    assert one.smaller == "second"
    assert other.smaller == "first"


def test_scores_in_other_units_give_a_difference_in_these_units():
    scores, group = table_of((0.8, 0.5), None, np.random.default_rng(0))
    options = {"sensitive_features": group, "redraws": 100}

    found = fp.compare(*scores, **options)
    scaled = fp.compare(*(10 * each + 3 for each in scores), **options)

    assert scaled.difference == pytest.approx(10 * found.difference)
    assert scaled.interval.upper == pytest.approx(10 * found.interval.upper)


def test_a_model_against_itself_differs_by_nothing():
    scores, group = table_of((0.8, 0.5), None, np.random.default_rng(0))

    found = fp.compare(scores[0], scores[0], sensitive_features=group, redraws=50)

    assert (found.difference, *found.interval) == (0.0, 0.0, 0.0)
    assert found.smaller is None


def test_pairing_makes_the_interval_shorter():
    scores, group = table_of((1.0, 0.8), None, np.random.default_rng(0))

    found = fp.compare(*scores, sensitive_features=group, redraws=200)

    apart = math.hypot(found.first.interval.width, found.second.interval.width)
    assert found.interval.width < 0.7 * apart


def test_silos_and_weights_of_one_change_nothing_but_the_redraws():
    scores, group = table_of((1.0, 0.5), None, np.random.default_rng(0))
    options = {"sensitive_features": group, "redraws": 50}

    plain = fp.compare(*scores, **options)

    assert fp.compare(*scores, **options, sample_weight=np.ones(group.size)) == plain
    assert fp.compare(*scores, **options, silos=["all"] * group.size) == plain
    split = fp.compare(*scores, **options, silos=np.arange(group.size) % 3)
    assert split.first.value == plain.first.value
    assert split.interval != plain.interval


def test_the_same_seed_gives_the_same_numbers_and_a_bar_changes_none(capsys):
    scores, group = table_of((1.0, 0.5), None, np.random.default_rng(0))
    options = {"sensitive_features": group, "redraws": 30}
    seen = []

    plain = fp.compare(*scores, **options)

    assert fp.compare(*scores, **options, progress=True) == plain
    assert fp.compare(*scores, **options, progress=lambda *step: seen.append(step)) == plain
    assert seen[-1] == (30, 30)
    assert capsys.readouterr().out == ""


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(ScoreError, match="second"):
        fp.compare([0.1, 0.2], [0.1], sensitive_features=["a", "b"])
    with pytest.raises(GroupError):
        fp.compare([0.1, 0.2], [0.1, 0.3], sensitive_features=["a", "a"])
    with pytest.raises(OptionError, match="redraws"):
        fp.compare([0.1, 0.2], [0.1, 0.3], sensitive_features=["a", "b"], redraws=1)
    with pytest.raises(ScoreError, match="indexes"):
        fp.compare(
            pd.Series([0.1, 0.2]),
            pd.Series([0.1, 0.2], index=[1, 0]),
            sensitive_features=["a", "b"],
        )
