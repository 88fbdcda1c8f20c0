"""The real data sets: the counts and the global numbers that the paper prints."""

from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadr
import pytest
from tests.tiers import DATA

import fedparity as fp
from fedparity_reproduction.data_files import UPSTREAM, find_file
from fedparity_reproduction.datasets import fitted_probabilities, load_dataset

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
        fp.disparity(data.scores, sensitive_features=data.codes),
        fp.heterogeneity(data.scores, sensitive_features=data.codes),
    )


@pytest.mark.data
@pytest.mark.parametrize("name", PRINTED)
def test_global_rows_are_the_printed_ones_to_one_unit_of_the_last_digit(name):
    data = load_dataset(name)
    counts, printed = PRINTED[name]

    assert tuple(data.counts.values()) == counts
    for ours, theirs in zip(measures(data), printed, strict=True):
        assert theirs is None or abs(round(ours, 4) - theirs) < 0.00011


@pytest.mark.data
def test_heterogeneity_of_law_is_printed_divided_by_the_range():
    """By the definition 0.0057; the paper prints 0.0064."""
    data = load_dataset("law")
    low, high = data.scores.min(), data.scores.max()

    assert measures(data)[3] / (high - low) == pytest.approx(0.0064, abs=0.00005)


@pytest.mark.data
def test_compas_has_the_printed_counts_and_numbers_up_to_the_jitter():
    draws = [load_dataset("compas", seed=seed) for seed in range(40)]
    found = np.array([measures(data) for data in draws])
    printed = np.array([1.6357, 1.7813, 0.7609, 0.077])

    assert tuple(draws[0].counts.values()) == (3696, 2454)
    assert (np.abs(found.mean(axis=0) - printed) < 3.5 * found.std(axis=0, ddof=1)).all()


@pytest.mark.data
def test_jittered_scores_come_from_the_deciles():
    jittered, deciles = load_dataset("compas"), load_dataset("compas-deciles")

    assert np.array_equal(np.ceil(jittered.scores), deciles.scores)
    assert set(deciles.scores) == set(range(1, 11))
    assert np.unique(jittered.scores).size == len(jittered)


@pytest.mark.data
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


@pytest.mark.data
def test_law_read_from_a_file_of_r_is_the_same(tmp_path):
    """The published file is R's own; this one is written by librdata from the same table."""
    levels = ["gender", "race1", "cluster", "fulltime", "bar"]
    types = dict.fromkeys(levels, str)
    frame = pd.read_csv(Path(DATA) / "law-school-admissions.csv", dtype=types)
    frame[levels] = frame[levels].astype("category")
    path = tmp_path / "law.school.admissions.rda"
    pyreadr.write_rdata(str(path), frame, df_name="law.school.admissions", compress="gzip")

    read, expected = load_dataset("law", data=tmp_path), load_dataset("law", data=Path(DATA))

    assert read.scores == pytest.approx(expected.scores, abs=1e-12)
    assert read.codes.tolist() == expected.codes.tolist()


@pytest.mark.data
@pytest.mark.parametrize("name", UPSTREAM)
def test_files_are_known_by_their_digests(name):
    content = find_file(UPSTREAM[name], Path(DATA)).read_bytes()

    assert UPSTREAM[name].matches(sha256(content).hexdigest())


# -- small files

COMPAS = """id,name,race,decile_score,priors,decile_score
1,"Doe, J",Other,9,0,9
2,Roe,Caucasian,3,1,3
3,Poe,African-American,7,2,7
4,Moe,Caucasian,1,0,1
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a small file like ProPublica's, which has one column twice."""
    (tmp_path / "compas-scores-two-years.csv").write_text(COMPAS, encoding="utf-8")
    return tmp_path


def test_deciles_are_read_by_name_from_the_file_as_published(folder):
    data = load_dataset("compas-deciles", data=folder)

    assert data.scores.tolist() == [3, 7, 1]
    assert data.group_names == ("African-American", "Caucasian")
    assert data.codes.tolist() == [1, 0, 1]
    assert (data.rows_read, len(data)) == (4, 3)
    assert data.sha256 == sha256(COMPAS.encode()).hexdigest()


def test_jitter_stays_in_the_bin_and_is_that_of_the_seed(folder):
    plain = load_dataset("compas-deciles", data=folder).scores
    first, again, other = (
        load_dataset("compas", data=folder, seed=seed).scores for seed in (1, 1, 2)
    )

    assert ((plain - 1 < first) & (first <= plain)).all()
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


BROKEN = {
    "a row too short": "race,decile_score\nCaucasian\nAfrican-American,1\n",
    "an open quote": 'race,decile_score\n"Caucasian,1\n',
    "no row": "race,decile_score\n",
    "nothing": "",
    "no such column": "race,score\nCaucasian,1\n",
    "a text for a number": "race,decile_score\nCaucasian,high\nAfrican-American,1\n",
    "no number": "race,decile_score\nCaucasian,nan\nAfrican-American,1\n",
    "one group alone": "race,decile_score\nCaucasian,1\nCaucasian,2\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_damaged_file_is_refused_without_a_word_of_its_content(text, tmp_path):
    (tmp_path / "compas-scores-two-years.csv").write_text(text, encoding="utf-8")

    with pytest.raises(fp.errors.TableError, match="another content") as caught:
        load_dataset("compas-deciles", data=tmp_path)

    assert "high" not in str(caught.value)


@pytest.mark.parametrize("file", ["adult.data", "law.school.admissions.rda"])
def test_a_file_of_other_bytes_is_refused(file, tmp_path):
    (tmp_path / file).write_bytes(b"\xff\xfe\x00")

    with pytest.raises(fp.errors.TableError, match="another content"):
        load_dataset("adult" if file == "adult.data" else "law", data=tmp_path)


# -- the logistic regression


def table(size=800, seed=0):
    random = np.random.default_rng(seed)
    numbers = random.normal(50, 20, size)
    texts = random.choice(["red", "green", "blue"], size)
    chance = 1 / (1 + np.exp(-(numbers - 50) / 15 + (texts == "red")))
    return pd.DataFrame({"number": numbers, "text": texts}), random.random(size) < chance


def test_fitted_and_observed_shares_agree_in_every_level():
    """The score equations: for each indicator, fitted probabilities add up to the outcomes."""
    columns, outcomes = table()

    fitted = fitted_probabilities(columns, outcomes)

    for level in columns["text"].unique():
        own = (columns["text"] == level).to_numpy()
        assert fitted[own].mean() == pytest.approx(outcomes[own].mean(), abs=1e-9)
    weighted = np.sum(fitted * columns["number"])
    assert weighted == pytest.approx(np.sum(outcomes * columns["number"]), rel=1e-9)


def test_equal_records_have_equal_bits_in_any_place():
    """Ties must stay ties: allocations break them at random."""
    columns, outcomes = table(37)
    many = pd.concat([columns.round()] * 101, ignore_index=True)[:-5]

    fitted = fitted_probabilities(many, np.tile(outcomes, 101)[:-5])

    for place in range(37):
        assert len(set(fitted[place::37].tolist())) == 1
