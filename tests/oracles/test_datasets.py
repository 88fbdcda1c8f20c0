"""The real data sets: the counts and the global numbers that the paper prints."""

from pathlib import Path

import numpy as np
import pytest
from tests.tiers import DATA

import fedparity as fp
from fedparity.experiments.datasets import DATASETS, load_dataset
from fedparity.experiments.datasets.upstream import UPSTREAM

pytestmark = pytest.mark.data

PRINTED = {
    # name: counts, then gap, W₂, U₂ and H₂ as the paper prints them; H₂ where it is not divided
    "adult": ((2817, 25933), (0.1338, 0.1821, 0.0029, 0.0021)),
    "law": ((1201, 17493), (0.2175, 0.2453, 0.0036, None)),
}


def measures(data):
    first, second = (fp.Law.from_scores(data.scores[data.codes == code]) for code in (0, 1))
    return (
        abs(first.mean - second.mean),
        fp.wasserstein(first, second),
        fp.disparity(data.scores, sensitive_features=data.groups),
        fp.heterogeneity(data.scores, sensitive_features=data.groups),
    )


@pytest.mark.parametrize("name", PRINTED)
def test_global_rows_are_the_printed_ones_to_one_unit_of_the_last_digit(name):
    data = load_dataset(name)
    counts, printed = PRINTED[name]

    assert tuple(data.counts.values()) == counts
    for ours, theirs in zip(measures(data), printed, strict=True):
        assert theirs is None or abs(round(ours, 4) - theirs) < 0.00011


def test_heterogeneity_of_law_is_printed_divided_by_the_range():
    """By the definition 0.0057; the paper prints 0.0064."""
    data = load_dataset("law")
    low, high = data.score_range

    assert measures(data)[3] / (high - low) == pytest.approx(0.0064, abs=0.00005)


def test_compas_has_the_printed_counts_and_numbers_up_to_the_jitter():
    draws = [load_dataset("compas", seed=seed) for seed in range(40)]
    found = np.array([measures(data) for data in draws])
    printed = np.array([1.6357, 1.7813, 0.7609, 0.077])

    assert tuple(draws[0].counts.values()) == (3696, 2454)
    assert (np.abs(found.mean(axis=0) - printed) < 3.5 * found.std(axis=0, ddof=1)).all()


def test_jittered_scores_come_from_the_deciles():
    jittered, deciles = load_dataset("compas"), load_dataset("compas-deciles")

    assert np.array_equal(np.ceil(jittered.scores), deciles.scores)
    assert set(deciles.scores) == set(range(1, 11))
    assert np.unique(jittered.scores).size == len(jittered)


def test_the_printed_gap_of_adult_is_that_of_observed_incomes():
    """Only a regression with race among its covariates reproduces it; without, it is smaller."""
    rows = [
        [field.strip() for field in line.split(",")]
        for line in (Path(DATA) / "adult.data").read_text(encoding="utf-8").splitlines()
        if line and "?" not in line
    ]
    rates = [
        np.mean([row[14] == ">50K" for row in rows if row[8] == race])
        for race in ("Black", "White")
    ]
    with_race, without = (
        measures(load_dataset(name))[0] for name in ("adult", "adult-without-race")
    )

    assert with_race == pytest.approx(rates[1] - rates[0], abs=1e-8)
    assert round(without, 4) == 0.1247


def test_probabilities_of_law_are_those_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(Path(DATA) / "law-school-admissions.csv")
    frame = frame[frame["race1"].isin(["black", "white"])]
    columns = ["fam_inc", "lsat", "ugpa", "age", "gender", "cluster", "fulltime"]
    texts = frame[columns].astype({"cluster": str, "fulltime": str})
    matrix = pandas.get_dummies(texts, drop_first=True, dtype=float)
    matrix = (matrix - matrix.mean()) / matrix.std()
    peer = linear_model.LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)

    expected = peer.fit(matrix, frame["bar"]).predict_proba(matrix)[:, 1]

    assert load_dataset("law").scores == pytest.approx(expected, abs=1e-5)


def test_law_read_from_a_file_of_r_is_the_same_to_the_last_bit(tmp_path):
    """The published file is R's own; this one is written by librdata from the same table."""
    pandas, pyreadr = pytest.importorskip("pandas"), pytest.importorskip("pyreadr")
    levels = ["gender", "race1", "cluster", "fulltime", "bar"]
    frame = pandas.read_csv(
        Path(DATA) / "law-school-admissions.csv", dtype=dict.fromkeys(levels, str)
    )
    frame[levels] = frame[levels].astype("category")
    path = tmp_path / "law.school.admissions.rda"
    pyreadr.write_rdata(str(path), frame, df_name="law.school.admissions", compress="gzip")

    assert load_dataset("law", data=tmp_path).digest == load_dataset("law").digest


@pytest.mark.parametrize("name", [name for name, file in DATASETS.items() if file])
def test_files_are_known_by_their_digests(name):
    digest = load_dataset(name).provenance.sha256

    assert UPSTREAM[DATASETS[name]].knows(digest)
