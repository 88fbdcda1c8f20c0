"""Studies: what they accept, what they say of themselves, what results make of estimates."""

import numpy as np
import pytest
from tests.unit.experiments.tables import dataset

import fedparity as fp
from fedparity.experiments.montecarlo import ESTIMATORS, Study, StudyResult, run_study

DATA = dataset(200)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"silos": ()}, "silos must name"),
        ({"silos": (2, 2)}, "silos must name"),
        ({"silos": (0,)}, "silos must be"),
        ({"levels": (5, 0)}, "levels"),
        ({"levels": ()}, "levels must name"),
        ({"regimes": ("sideways",)}, "regime must be"),
        ({"rho": 1.0}, "rho must be"),
        ({"cut": "middle"}, "cut must be"),
        ({"replicates": 0}, "replicates must be"),
        ({"replicates": True}, "replicates must be"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 0.5}, "seed must be"),
    ],
)
def test_options_out_of_range_are_refused_by_name(options, words):
    with pytest.raises(fp.OptionError, match=words):
        Study(dataset=DATA, **options)


def test_every_allocation_has_a_seed_of_its_own():
    study = Study(dataset=DATA)
    seeds = {
        (each.seed_of(d, r)) for each in (study, Study(dataset=DATA, seed=1))
        for d in study.silos for r in range(5)
    }  # fmt: skip
    other = Study(dataset=dataset(200, name="other"))

    assert len(seeds) == 2 * len(study.silos) * 5
    assert other.seed_of(2, 0) not in seeds


def test_the_digest_changes_with_every_setting():
    changes = [
        {},
        {"dataset": dataset(200, seed=1)},
        {"silos": (2,)},
        {"levels": (5,)},
        {"regimes": ("random",)},
        {"rho": 0.7},
        {"cut": "margins"},
        {"replicates": 3},
        {"seed": 1},
    ]
    digests = {Study(**({"dataset": DATA} | change)).digest for change in changes}

    assert len(digests) == len(changes)
    assert Study(dataset=DATA).digest == Study(dataset=DATA, silos=[2, 5, 10, 20, 50]).digest


@pytest.fixture
def result():
    """Two regimes, one d, four replicates, k of 10, 5 and 20; the truth is 1."""
    study = Study(
        dataset=DATA, silos=(3,), levels=(10, 5, 20), regimes=("random", "positive"), replicates=4
    )
    errors = np.zeros((2, 1, 4, 3, 3))
    errors[0, 0, :, 0] = [[0.02, 0.5, 0], [0.005, 0.5, 0], [0, 0, 0], [-0.009, 0.5, 0]]
    errors[1, 0, :, 0] = 0.5
    nothing = np.zeros((2, 1, 4))
    return StudyResult(
        study=study,
        estimates=1 + errors,
        truth=1.0,
        centralised=np.ones((3, 3)),
        pearson=nothing,
        spearman=nothing,
    )


def test_errors_are_means_over_replicates(result):
    assert result.mae().shape == (2, 1, 3, 3)
    assert result.mae()[0, 0, 0] == pytest.approx([0.034 / 4, 0.375, 0])
    assert result.mean_relative_error() == pytest.approx(result.mae())


def test_reliability_counts_errors_within_tolerance(result):
    assert result.reliability()[0, 0, 0].tolist() == [0.75, 0.25, 1]
    assert result.reliability(0.001)[0, 0, 0].tolist() == [0.25, 0.25, 1]


def test_k95_is_the_smallest_level_that_suffices_and_0_where_none_does(result):
    assert result.k95()[0, 0].tolist() == [20, 5, 5]
    assert result.k95(share=0.75)[0, 0].tolist() == [10, 5, 5]
    assert result.k95(share=0.2)[0, 0].tolist() == [5, 5, 5]
    assert result.k95()[1, 0].tolist() == [0, 5, 5]


def test_budget_counts_values_and_counts_of_all_cells(result):
    """2d(k + 1) for two groups."""
    assert result.budget().tolist() == [[66, 36, 126]]


def test_no_disparity_at_all_is_no_error_but_any_estimate_is_infinitely_far():
    study = Study(dataset=DATA, silos=(2,), levels=(5,), regimes=("random",), replicates=2)
    estimates = np.zeros((1, 1, 2, 3, 1))
    estimates[0, 0, 1] = 0.1
    empty = np.zeros((1, 1, 2))
    found = StudyResult(
        study=study,
        estimates=estimates,
        truth=0.0,
        centralised=np.zeros((3, 1)),
        pearson=empty,
        spearman=empty,
    )

    assert found.reliability().ravel().tolist() == [0.5] * 3


def test_a_saved_result_comes_back_whole_for_its_own_study_only(tmp_path):
    study = Study(dataset=DATA, silos=(2,), levels=(5, 9), replicates=2)
    made = run_study(study, kernel="numpy")
    path = tmp_path / "made.npz"

    made.save(path)
    back = StudyResult.load(path, study)

    for name in ("estimates", "truth", "centralised", "pearson", "spearman"):
        assert np.array_equal(getattr(back, name), getattr(made, name))
    assert type(back.truth) is float
    assert back.estimators == ESTIMATORS
    with pytest.raises(fp.OutputError):
        made.save(path)
    with pytest.raises(fp.ResultError, match="does not hold"):
        StudyResult.load(path, Study(dataset=DATA, silos=(2,), levels=(5, 9), replicates=3))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(fp.ResultError, match="does not hold"):
        StudyResult.load(path, study)
