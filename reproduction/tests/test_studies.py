"""Studies: the numbers of the public interface, however they are run, resumed or interrupted."""

from dataclasses import replace

import numpy as np
import pytest
from reproduction.tests.samples import dataset, runner, study

import fedparity as fp
from fedparity_reproduction.datasets import load_dataset
from fedparity_reproduction.studies import Study, StudyResult, run_intensity, run_study

SMALL = Study(dataset=dataset(300, decimals=2), silos=(2, 7), levels=(5, 12), replicates=5)
LEVELS = (1, 2, 5, 10, 30, 200)


def bits(result):
    return result.estimates.tobytes(), result.centralized.tobytes()


# -- against a plain loop over the public interface


def plain_loop(data, silos, levels):
    """What anybody would write: one federation for each k, and each kind of sketch.

    The study integrates between the laws of the bin means themselves, without reconstruction.
    """
    found = np.empty((3, len(levels)))
    columns = {"groups": data.codes, "silos": silos}
    for column, k in enumerate(levels):
        quantiles = fp.Federation.from_scores(data.scores, levels=k, kind="quantile", **columns)
        means = fp.Federation.from_scores(data.scores, levels=k, kind="mean", **columns)
        exact = fp.Method(estimator="exact")
        found[0, column] = fp.theory.estimate(quantiles, fp.Method(estimator="grid")).disparity
        found[1, column] = fp.theory.estimate(quantiles, exact).disparity
        found[2, column] = fp.disparity(
            fp.theory.mixtures(means, reconstruct=False), means.weights
        )
    return found


def assert_equals_the_plain_loop(study):
    result = run_study(study, runner(workers=2))
    for i, regime in enumerate(study.regimes):
        for j, silos in enumerate(study.silos):
            for replicate in range(study.replicates):
                allocation = fp.theory.allocate(
                    study.dataset.scores,
                    silos=silos,
                    regime=regime,
                    rho=study.rho,
                    groups=study.dataset.codes,
                    seed=study.seed_of(silos, replicate),
                )
                expected = plain_loop(study.dataset, allocation.silos, study.levels)

                assert result.estimates[i, j, replicate] == pytest.approx(
                    expected, rel=1e-12, abs=1e-15
                )


TABLES = {
    "few records: most cells are empty, and k exceeds every count": {"size": 30},
    "ties": {"size": 400, "decimals": 1},
    "one score": {"size": 40, "decimals": 0},
    "three groups": {"size": 300, "groups": 3, "decimals": 2},
    "no ties": {"size": 500},
}


@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)
def test_estimates_are_those_of_the_public_interface(options):
    made = dataset(**options)

    assert_equals_the_plain_loop(
        Study(dataset=made, silos=(1, 3, 50), levels=LEVELS, replicates=1)
    )


@pytest.mark.data
@pytest.mark.parametrize("name", ["compas", "compas-deciles", "adult", "law"])
def test_estimates_of_real_data_are_those_of_the_public_interface(name):
    """D = 50 leaves cells of one group empty or below k; deciles are all ties."""
    data = load_dataset(name)

    assert_equals_the_plain_loop(
        Study(dataset=data, silos=(5, 50), levels=(5, 20, 200), replicates=1, seed=3)
    )


def test_truth_and_centralized_values_are_those_of_the_pooled_data():
    data = dataset(500, decimals=2)
    result = run_study(Study(dataset=data, silos=(2,), levels=LEVELS, replicates=1), runner())
    laws = {code: fp.Law.from_scores(data.scores[data.codes == code]) for code in (0, 1)}
    weights = fp.Weights(dict(enumerate(data.counts.values())))
    for column, k in enumerate(LEVELS):
        values = {code: fp.theory.quantile_values(law, k) for code, law in laws.items()}
        grid = fp.theory.riemann_disparity(values, weights)
        bins = fp.theory.bin_averaged_disparity(laws, weights, k)

        assert result.centralized[:, column] == pytest.approx([grid, grid, bins], rel=1e-12)
    assert result.truth == fp.disparity(data.scores, sensitive_features=data.codes)


# -- the same numbers however it is run


def test_workers_do_not_change_a_bit():
    assert bits(run_study(SMALL, runner(workers=3))) == bits(run_study(SMALL, runner()))


def test_a_part_of_a_study_has_the_numbers_of_the_whole():
    """Each allocation has its own seed: fewer replicates, silos or regimes are a cut-out."""
    whole = run_study(SMALL, runner())
    part = run_study(replace(SMALL, silos=(7,), regimes=("negative",), replicates=3), runner())

    assert np.array_equal(part.estimates[0, 0], whole.estimates[2, 1, :3])


def test_regimes_differ_and_seeds_differ():
    first = run_study(SMALL, runner())
    other = run_study(replace(SMALL, seed=1), runner())

    assert len({each.tobytes() for each in first.estimates}) == 3
    assert not (first.estimates == other.estimates).all(axis=(-1, -2)).any()


def test_every_allocation_has_a_seed_of_its_own():
    studies = [SMALL, replace(SMALL, seed=1), replace(SMALL, dataset=dataset(name="other"))]
    seeds = {each.seed_of(d, r) for each in studies for d in SMALL.silos for r in range(5)}

    assert len(seeds) == len(studies) * len(SMALL.silos) * 5


def test_an_interrupted_run_resumes_where_it_was(tmp_path):
    """What was finished is read from the cache; the regime under way is computed again."""
    expected = bits(run_study(SMALL, runner()))
    labels = []

    def interrupt(*words):
        labels.append(words[-1])
        if len(set(labels)) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(SMALL, runner(workers=2, folder=tmp_path, progress=interrupt))
    cached = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(cached) == 2

    assert bits(run_study(SMALL, runner(folder=tmp_path))) == expected
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in cached} == cached
    assert len(list(tmp_path.iterdir())) == 6


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"rho": 0.5},
        {"levels": (5, 13)},
        {"dataset": dataset(300, seed=9)},
        {"dataset": replace(SMALL.dataset, name="other")},
        {"replicates": 4},
    ],
)
def test_cached_numbers_of_other_settings_are_not_taken(tmp_path, change):
    run_study(SMALL, runner(folder=tmp_path))
    other = replace(SMALL, **change)

    assert bits(run_study(other, runner(folder=tmp_path))) == bits(run_study(other, runner()))


def test_intensity_is_a_study_for_each_strength():
    chosen = replace(SMALL, silos=(7,), regimes=("negative",))
    found = run_intensity(chosen, runner(), (0.0, 0.9))
    strong = run_study(replace(SMALL, rho=0.9), runner())

    assert np.array_equal(found.estimates[1, 0, 0], strong.estimates[2, 1])


def test_stronger_selection_is_seen_in_the_correlation():
    chosen = replace(SMALL, silos=(7,), regimes=("positive",), replicates=20)
    found = run_intensity(chosen, runner(), (0.0, 0.5, 0.9))

    assert (np.diff(found.spearman.mean(axis=(1, 2, 3))) > 0.2).all()


# -- what a result makes of estimates


@pytest.fixture
def result():
    """Two regimes, one d, four replicates, k of 10, 5 and 20; the truth is 1."""
    made = study(
        [[0, 0, 0]] * 3,
        silos=(3,),
        levels=(10, 5, 20),
        regimes=("random", "positive"),
        replicates=4,
    )
    errors = np.zeros(made.estimates.shape)
    errors[0, 0, :, 0] = [[0.02, 0.5, 0], [0.005, 0.5, 0], [0, 0, 0], [-0.009, 0.5, 0]]
    errors[1, 0, :, 0] = 0.5
    return StudyResult(
        study=made.study, estimates=1 + errors, truth=1.0, centralized=made.centralized
    )


def test_errors_are_means_over_replicates(result):
    assert result.mean_absolute_error()[0, 0, 0] == pytest.approx([0.034 / 4, 0.375, 0])


def test_reliability_counts_errors_within_tolerance(result):
    assert result.reliability()[0, 0, 0].tolist() == [0.75, 0.25, 1]
    assert result.reliability(0.001)[0, 0, 0].tolist() == [0.25, 0.25, 1]


def test_k95_is_the_smallest_level_that_suffices_and_0_where_none_does(result):
    assert result.k95()[0, 0].tolist() == [20, 5, 5]
    assert result.k95(share=0.75)[0, 0].tolist() == [10, 5, 5]
    assert result.k95()[1, 0].tolist() == [0, 5, 5]


def test_budget_counts_values_and_counts_of_all_cells(result):
    """2d(k + 1) for two groups."""
    assert result.budget().tolist() == [[2 * 3 * (k + 1) for k in result.study.levels]]
