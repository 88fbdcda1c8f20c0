"""What noise costs: errors and coverage of whole audits, against the raw data.

The acceptance of the privacy modes, with the projection, the intervals and OpenDP's own noise. The
same on more data sets, with more runs, is in ``benchmarks/privacy.py``.
"""

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.tiers import DATA

import fedparity as fp
from fedparity.privacy.histograms import Grid
from fedparity.privacy.noise import NoiseLaw, noisy_counts
from fedparity.uncertainty.noisy_assessment import assess_noisy
from fedparity.uncertainty.noisy_histograms import NoisyHistograms

RUNS = 60
METHOD = fp.Method(levels=1000)


class Population:
    """A table with silos, counted on the grid of a plan with epsilon = 1."""

    def __init__(self, scores, groups, silos, score_range, *, bins=None):
        size = int(np.bincount(groups).min())
        plan = fp.Plan(
            title="population",
            groups=("0", "1"),
            score_range=score_range,
            silos=[str(silo) for silo in np.unique(silos)],
            privacy={
                "mode": "dp",
                "epsilon": 1.0,
                **({"bins": bins} if bins else {"records": size}),
            },
        )
        self.score_range, self.grid = score_range, plan.grid
        self.exact = fp.disparity(scores, sensitive_features=groups)
        self.counts = np.zeros((len(plan.silos), 2, self.grid.bins), np.int64)
        np.add.at(self.counts, (silos, groups, self.grid.positions(scores)), 1)

    def released(self):
        """The noisy histograms of one run, by OpenDP: each silo draws for itself."""
        noisy = np.stack([noisy_counts(counts, 1.0) for counts in self.counts])
        return NoisyHistograms(
            silos=tuple(range(len(noisy))),
            groups=("0", "1"),
            counts=noisy,
            grid=self.grid,
            noise=NoiseLaw(1.0),
        )

    def estimates(self):
        """The disparity measured in each of many runs."""
        return np.array(
            [
                fp.theory.estimate(self.released().federation(), METHOD).disparity
                for _ in range(RUNS)
            ]
        )

    def covered(self, seed):
        """Whether the range for the raw data holds their disparity, with noise of a fixed seed."""
        noise = NoiseLaw(1.0).draw(np.random.default_rng(seed), self.counts.shape)
        held = NoisyHistograms(
            silos=tuple(range(len(noise))),
            groups=("0", "1"),
            counts=self.counts + noise,
            grid=self.grid,
            noise=NoiseLaw(1.0),
        )
        found = assess_noisy(
            held,
            held.federation(),
            METHOD,
            score_range=self.score_range,
            redraws=100,
            seed=seed,
        )
        return self.exact in found.disparity.certificate


def beta_pair(first, second, *, size=10_000, seed=0, **options):
    random = np.random.default_rng(seed)
    scores = np.concatenate([random.beta(*first, size), random.beta(*second, size)])
    groups = np.repeat([0, 1], size)
    return Population(scores, groups, random.integers(0, 5, scores.size), (0.0, 1.0), **options)


@pytest.mark.data
def test_compas_with_five_silos_by_age_is_measured_within_3_5_per_cent():
    with (Path(DATA) / "compas-scores-two-years.csv").open(newline="") as file:
        rows = [
            (float(row["decile_score"]), row["race"] == "Caucasian", float(row["age"]))
            for row in csv.DictReader(file)
            if row["race"] in ("African-American", "Caucasian")
        ]
    deciles, groups, ages = map(np.array, zip(*rows, strict=True))
    scores = deciles - np.random.default_rng(0).random(deciles.size)
    silos = np.searchsorted(np.quantile(ages, [0.2, 0.4, 0.6, 0.8]), ages)
    compas = Population(scores, groups.astype(int), silos, (0.0, 10.0))

    errors = np.abs(compas.estimates() / compas.exact - 1)

    assert errors.mean() <= 0.035
    assert np.quantile(errors, 0.95) <= 0.08


def test_a_beta_pair_of_ten_thousand_per_group_is_measured_within_one_per_cent():
    pair = beta_pair((3, 4), (6, 4))

    errors = np.abs(pair.estimates() / pair.exact - 1)

    assert errors.mean() <= 0.01
    assert np.quantile(errors, 0.95) <= 0.035


def test_where_there_is_no_disparity_hardly_any_is_measured():
    """The mean of G₂ stays below 1e-5 of the squared range."""
    assert beta_pair((3, 4), (3, 4)).estimates().mean() < 1e-5


HELD_OUT = {
    "far apart": ((2, 5), (5, 2), 2000),
    "bell-shaped": ((8, 12), (11, 9), 3000),
    "two peaks": ((0.4, 0.6), (0.6, 0.4), 4000),
    "hardly apart": ((3, 4), (3.2, 4), 5000),
    "bunched at zero": ((0.5, 8), (0.5, 4), 5000),
    "uniform against rising": ((1, 1), (2, 1), 1500),
}
"""Laws on which neither the rule of bins nor the projection was chosen."""


def test_the_range_for_the_raw_data_covers_nine_times_in_ten_on_held_out_data():
    covered = [
        beta_pair(first, second, size=size, seed=100 + run).covered(run)
        for first, second, size in HELD_OUT.values()
        for run in range(8)
    ]

    assert np.mean(covered) >= 0.9


def test_without_the_term_for_bins_it_would_not():
    """Few bins, much data: the noise explains little, the bins nearly all."""
    missed = 0
    for run in range(10):
        pair = beta_pair((0.4, 0.6), (0.6, 0.4), size=20_000, seed=run, bins=8)
        noise = NoiseLaw(1.0).draw(np.random.default_rng(run), pair.counts.shape)
        held = NoisyHistograms(
            silos=tuple(range(5)),
            groups=("0", "1"),
            counts=pair.counts + noise,
            grid=pair.grid,
            noise=NoiseLaw(1.0),
        )
        found = assess_noisy(
            held, held.federation(), METHOD, score_range=(0, 1), redraws=100, seed=run
        ).disparity
        alone = (
            found.certificate.lower + found.binning,
            found.certificate.upper - found.binning,
        )
        missed += not alone[0] <= pair.exact <= alone[1]
        assert pair.exact in found.certificate

    assert missed >= 8


def test_halving_the_bins_of_a_grid_gives_the_grid_of_half_as_many():
    """The term for bins compares with what an audit with half as many bins would measure."""
    fine, coarse = (Grid.of((0.0, 10.0), bins=bins) for bins in (32, 16))

    assert fine.coarser().edges == pytest.approx(coarse.edges)


AFRICAN_AMERICAN = [398, 393, 346, 385, 365, 384, 400, 359, 380, 286]
CAUCASIAN = [681, 361, 273, 285, 241, 194, 143, 114, 98, 64]
"""Decile scores of the two largest groups of the COMPAS file: 6,150 records."""


class Deciles:
    """Decile scores of two groups, in five silos, drawn from known shares."""

    def __init__(self, *, strength=1.0, records=6150):
        table = np.array([AFRICAN_AMERICAN, CAUCASIAN], float)
        table /= table.sum()
        alike = table.sum(axis=1, keepdims=True) * table.sum(axis=0)
        self.chances, self.records = alike + strength * (table - alike), records
        self.points = np.arange(1.0, 11.0)
        self.population = self.disparity_of(self.chances)

    def disparity_of(self, masses):
        """The disparity of the raw data, or of the population itself."""
        laws = {str(group): fp.Law(self.points, row) for group, row in enumerate(masses)}
        shares = masses.sum(axis=1)
        return fp.disparity(laws, fp.Weights(dict(zip(laws, shares.tolist(), strict=True))))

    def assessed(self, epsilon, seed):
        """The disparity of the records of one draw, and what an audit of it says."""
        random = np.random.default_rng(seed)
        plan = fp.Plan(
            title="deciles",
            groups=("0", "1"),
            score_range=(1, 10),
            score_step=1,
            silos=list("abcde"),
            privacy={"mode": "dp", "epsilon": epsilon, "records": self.records // 3},
        )
        drawn = random.multinomial(self.records, self.chances.ravel()).reshape(2, 10)
        dealt = np.moveaxis(random.multinomial(drawn, np.full(5, 0.2)), -1, 0)
        noise = NoiseLaw(epsilon)
        held = NoisyHistograms(
            silos=plan.silos,
            groups=plan.groups,
            counts=dealt + noise.draw(random, dealt.shape),
            grid=plan.grid,
            noise=noise,
        )
        found = assess_noisy(
            held,
            held.federation(),
            fp.Method(estimator="exact"),
            score_range=plan.score_range,
            redraws=100,
            seed=seed,
        )
        return self.disparity_of(drawn.astype(float)), found.disparity


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 5.0])
def test_ranges_of_deciles_cover_nine_times_in_ten_and_shrink_with_the_noise(epsilon):
    """Bins that are intervals would take a decile for a stretch of scores: at 5, none covered."""
    deciles = Deciles()
    raw, found = zip(*(deciles.assessed(epsilon, seed) for seed in range(40)), strict=True)

    assert sum(value in each.certificate for value, each in zip(raw, found, strict=True)) >= 36
    inside = [each.interval.lower <= deciles.population <= each.interval.upper for each in found]
    assert sum(inside) >= 36
    assert np.mean([each.certificate.width for each in found]) < 0.1 / epsilon * np.mean(raw)
    assert {each.binning for each in found} == {0.0}


def test_intervals_of_a_weak_disparity_allow_for_its_direction():
    """Noise may cancel what there is; what is left then says nothing of where it was."""
    weak = Deciles(strength=0.05)
    found = [weak.assessed(1.0, seed)[1] for seed in range(60)]

    inside = [each.interval.lower <= weak.population <= each.interval.upper for each in found]
    assert sum(inside) >= 55


def test_p_values_of_deciles_without_disparity_are_small_one_time_in_twenty():
    found = [Deciles(strength=0.0).assessed(1.0, seed)[1].p_value for seed in range(60)]

    assert sum(value <= 0.05 for value in found) <= 7
    assert 0.35 < np.mean(found) < 0.65
