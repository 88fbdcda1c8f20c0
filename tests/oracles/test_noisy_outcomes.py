"""Error rates and areas with noise: their errors on COMPAS, and how often their intervals hold."""

import csv
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from tests.tiers import DATA, count

from fedparity.outcomes.error_rates import MEASURES, rate_table
from fedparity.outcomes.histogram_outcomes import NoisyDiscrimination, flagged_counts
from fedparity.privacy.histograms import Grid
from fedparity.privacy.noise import NoiseLaw, noisy_counts
from fedparity.uncertainty.noisy_histograms import NoisyHistograms

GRID = Grid.of_points(np.arange(1.0, 11.0))
SILOS = 5
TAIL = 0.025


@pytest.mark.data
@pytest.mark.parametrize(("race", "mean"), [("African-American", 0.003), ("Caucasian", 0.005)])
def test_areas_by_race_are_within_half_a_percent_at_epsilon_one(race, mean):
    """By OpenDP's own noise, drawn by five silos: the mean error of 40 audits."""
    with (Path(DATA) / "compas-scores-two-years.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["race"] == race]
    score = np.array([int(row["decile_score"]) for row in rows])
    outcome = np.array([int(row["two_year_recid"]) for row in rows])
    silo = np.random.default_rng(0).integers(0, SILOS, len(rows))
    counts = np.zeros((SILOS, 2, 10), np.int64)
    np.add.at(counts, (silo, outcome, score - 1), 1)
    truth = roc_auc_score(outcome, score)

    errors = []
    for _ in range(40):
        summed = sum(noisy_counts(each, 1.0) for each in counts)
        found = NoisyDiscrimination.from_counts(
            summed[1], summed[0], GRID, NoiseLaw(1.0, SILOS), tail=TAIL
        )
        errors.append(abs(found.bracket.value - truth))

    assert np.mean(errors) < mean


def population(shift):
    weights = np.exp(-0.5 * ((np.arange(10) - shift) / 2.5) ** 2)
    return weights / weights.sum()


def true_numbers(positives, negatives, base):
    """What is estimated, with a threshold between the fifth and the sixth point."""
    hit, false = positives[5:].sum(), negatives[5:].sum()
    return {
        "auc": np.sum(positives * (np.cumsum(negatives) - negatives / 2)),
        "tpr": hit,
        "fpr": false,
        "fnr": 1 - hit,
        "ppv": base * hit / (base * hit + (1 - base) * false),
        "npv": (1 - base) * (1 - false) / ((1 - base) * (1 - false) + base * (1 - hit)),
    }


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(("size", "base"), [(400, 0.4), (2000, 0.2)])
def test_intervals_hold_as_often_as_they_say(epsilon, size, base):
    """Records and noise are drawn again and again; 95 % of intervals hold the population's number."""
    random = np.random.default_rng(5)
    noise = NoiseLaw(epsilon, SILOS)
    laws = population(5.5), population(3.5)
    truth = true_numbers(*laws, base)
    chances = np.stack([base * laws[0], (1 - base) * laws[1]])
    held = dict.fromkeys(truth, 0)
    runs = count(quick=150, all=600, soak=4000)
    for _ in range(runs):
        drawn = random.multinomial(size, chances.ravel()).reshape(2, 10)
        noisy = drawn + noise.draw(random, drawn.shape)
        area = NoisyDiscrimination.from_counts(*noisy, GRID, noise, tail=TAIL)
        limits = {"auc": area.limits(area.bracket, TAIL)}
        sides = [
            flagged_counts(
                NoisyHistograms(
                    silos=("a",), groups=("g",), counts=each[None, None], grid=GRID, noise=noise
                ),
                5,
                tail=TAIL,
            )
            for each in noisy
        ]
        for measure in MEASURES:
            limits[measure] = rate_table(measure, *sides).shares["g"].limits(TAIL)
        for name, ends in limits.items():
            held[name] += ends.lower <= truth[name] <= ends.upper

    coverage = {name: number / runs for name, number in held.items()}
    allowed = 0.93 - 3 * np.sqrt(0.05 * 0.95 / runs)
    assert min(coverage.values()) > allowed, coverage


def test_the_order_inside_wide_bins_is_in_the_bracket():
    """Counts without noise: the area of the records lies in it, whatever their order."""
    random = np.random.default_rng(2)
    grid = Grid.of((0.0, 1.0), bins=8)
    quiet = NoiseLaw(50.0)
    for _ in range(50):
        scores = random.beta(2, 3, 300), random.beta(2, 4, 200)
        counts = [np.bincount(grid.positions(each), minlength=8) for each in scores]
        found = NoisyDiscrimination.from_counts(*counts, grid, quiet, tail=TAIL).bracket
        outcomes = np.repeat([1, 0], [300, 200])
        truth = roc_auc_score(outcomes, np.concatenate(scores))

        assert found.lower <= truth <= found.upper
