"""Files of data sets: where they are looked for, and what is read from them."""

import bz2
import gzip
import lzma
from hashlib import sha256

import numpy as np
import pytest

import fedparity as fp
from fedparity.experiments.datasets import DATASETS, Dataset, load_dataset
from fedparity.experiments.datasets.finding import data_folder, find_file
from fedparity.experiments.datasets.r_data import read_r_data
from fedparity.experiments.datasets.table import read_csv
from fedparity.experiments.datasets.upstream import UPSTREAM

COMPAS = """id,name,race,decile_score,priors,decile_score
1,"Doe, J",Other,9,0,9
2,Roe,Caucasian,3,1,3
3,Poe,African-American,7,2,7
4,Moe,Caucasian,1,0,1
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a small file like ProPublica's, which has one column twice."""
    monkeypatch.delenv("FEDPARITY_DATA", raising=False)
    (tmp_path / "compas-scores-two-years.csv").write_text(COMPAS, encoding="utf-8")
    return tmp_path


def test_deciles_are_read_by_name_from_the_file_as_published(folder):
    data = load_dataset("compas-deciles", data=folder)

    assert data.scores.tolist() == [3, 7, 1]
    assert data.groups.tolist() == ["Caucasian", "African-American", "Caucasian"]
    assert data.group_names == ("African-American", "Caucasian")
    assert data.flipped == "Caucasian"
    assert (data.provenance.rows_read, data.provenance.rows_dropped) == (4, 1)
    assert data.provenance.sha256 == sha256(COMPAS.encode()).hexdigest()


def test_jitter_stays_in_the_bin_and_is_that_of_the_seed(folder):
    plain = load_dataset("compas-deciles", data=folder).scores
    first, again, other = (
        load_dataset("compas", data=folder, seed=seed).scores for seed in (1, 1, 2)
    )

    assert ((plain - 1 < first) & (first <= plain)).all()
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_the_variable_names_the_folder_and_an_option_overrules_it(folder, monkeypatch):
    monkeypatch.setenv("FEDPARITY_DATA", str(folder))
    assert len(load_dataset("compas")) == 3

    with pytest.raises(fp.TableError, match="elsewhere"):
        load_dataset("compas", data=folder / "elsewhere")


@pytest.mark.parametrize("name", [name for name, file in DATASETS.items() if file])
def test_a_missing_file_is_named_with_the_command_that_fetches_it(name, tmp_path):
    with pytest.raises(fp.TableError) as caught:
        load_dataset(name, data=tmp_path)

    assert UPSTREAM[DATASETS[name]].file in caught.value.message
    assert "fedparity datasets fetch" in caught.value.fix
    assert "FEDPARITY_DATA" in caught.value.fix


def test_files_of_the_user_are_in_a_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert data_folder() == tmp_path / "fedparity" / "datasets"

    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("LOCALAPPDATA", "relative")
    assert data_folder().is_absolute()


def test_a_copy_is_found_by_its_own_name(tmp_path):
    (tmp_path / "law-school-admissions.csv").touch()

    assert find_file(UPSTREAM["law"], tmp_path).name == "law-school-admissions.csv"


def test_an_unknown_data_set_is_refused_with_the_names():
    with pytest.raises(fp.OptionError, match="'compas', 'compas-deciles'"):
        load_dataset("german")


BROKEN = {
    "a row too short": "race,decile_score\nCaucasian\n",
    "a row too long": "race,decile_score\nCaucasian,1,2\n",
    "an open quote": 'race,decile_score\n"Caucasian,1\n',
    "no row": "race,decile_score\n",
    "nothing": "",
    "no such column": "race,score\nCaucasian,1\n",
    "a text for a number": "race,decile_score\nCaucasian,high\nAfrican-American,1\n",
    "no number": "race,decile_score\nCaucasian,nan\nAfrican-American,1\n",
    "twice, and not the same": "race,decile_score,decile_score\nCaucasian,1,2\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_damaged_file_is_refused_whole(text, tmp_path):
    (tmp_path / "compas-scores-two-years.csv").write_text(text, encoding="utf-8")

    with pytest.raises(fp.TableError) as caught:
        load_dataset("compas-deciles", data=tmp_path)

    assert "high" not in str(caught.value)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "adult.data").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(fp.TableError, match="UTF-8"):
        load_dataset("adult", data=tmp_path)


def test_one_group_alone_is_no_data_set(tmp_path):
    text = "race,decile_score\nCaucasian,1\nCaucasian,2\n"
    (tmp_path / "compas-scores-two-years.csv").write_text(text, encoding="utf-8")

    with pytest.raises(fp.GroupError):
        load_dataset("compas", data=tmp_path)


def test_a_file_without_header_is_read_by_the_names_given(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("1, a\n2, b\n\n", encoding="utf-8")

    table = read_csv(path, wanted=("y",), header=("x", "y"))

    assert table["y"].tolist() == ["a", "b"]
    assert len(table) == 2


# -- data frames of R


@pytest.fixture(scope="module")
def frame():
    """A frame of every kind of column that the file of Law has."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(
        {
            "age": [62.0, 17.5, -3.0],
            "gender": pandas.Categorical(["male", "female", "male"]),
            "cluster": pandas.Categorical(["1", "10", "2"], categories=["1", "2", "10"]),
            "text": ["é", "b", "c"],
            "whole": np.array([1, 2, 3], dtype="int32"),
            "yes": [True, False, True],
        }
    )


PACKED = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_a_frame_of_r_has_the_columns_that_were_written(frame, pack, tmp_path):
    """Written by another program, librdata."""
    pyreadr = pytest.importorskip("pyreadr")
    path = tmp_path / "frame.rda"
    pyreadr.write_rdata(str(path), frame, df_name="frame")
    path.write_bytes(pack(path.read_bytes()))

    table = read_r_data(path, wanted=list(frame.columns))

    for name in ("age", "gender", "cluster", "text", "whole"):
        assert table[name].tolist() == frame[name].tolist()
    assert table["yes"].tolist() == ["TRUE", "FALSE", "TRUE"]
    assert table.sha256 == sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("kept", [0, 3, 40, 200, -1])
def test_a_frame_of_r_that_is_cut_short_is_refused(frame, kept, tmp_path):
    pyreadr = pytest.importorskip("pyreadr")
    path = tmp_path / "frame.rda"
    pyreadr.write_rdata(str(path), frame, df_name="frame")
    path.write_bytes(path.read_bytes()[:kept])

    with pytest.raises(fp.TableError, match="RData"):
        read_r_data(path, wanted=["age"])


def test_a_frame_of_r_without_the_column_is_refused(frame, tmp_path):
    pyreadr = pytest.importorskip("pyreadr")
    path = tmp_path / "frame.rda"
    pyreadr.write_rdata(str(path), frame, df_name="frame")

    with pytest.raises(fp.TableError, match="no column 'lsat'"):
        read_r_data(path, wanted=["lsat"])


# -- the data set itself


def made(**changes):
    options = {"scores": [0.1, -0.0, 0.3], "codes": [0, 1, 0], "group_names": ("a", "b")}
    provenance = load_dataset("synthetic").provenance
    return Dataset(name="x", title="X", provenance=provenance, **(options | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"codes": [0, 1]},
        {"codes": [0, 0, 0]},
        {"codes": [0, 1, 2]},
        {"group_names": ("a",), "codes": [0, 0, 0]},
        {"scores": [0.1, np.nan, 0.2]},
        {"scores": [0.1, 1e200, 0.2]},
    ],
)
def test_a_data_set_that_is_not_whole_is_refused(changes):
    with pytest.raises(fp.InputError):
        made(**changes)


def test_a_data_set_cannot_change():
    data = made()

    with pytest.raises(ValueError, match="read-only"):
        data.scores[0] = 1.0


def test_equal_data_have_equal_digests_and_others_do_not():
    assert made().digest == made(scores=[0.1, 0.0, 0.3]).digest
    others = [
        made(scores=[0.1, 0.0, 0.4]),
        made(codes=[0, 1, 1]),
        made(group_names=("a", "c")),
    ]
    assert len({each.digest for each in (made(), *others)}) == 4


def test_the_synthetic_pair_is_balanced_and_near_the_papers_disparity():
    """U₂ = 0.0076; over samples of 10,000 its standard deviation is about 0.0003."""
    draws = [load_dataset("synthetic", seed=seed) for seed in range(30)]
    found = [fp.disparity(each.scores, sensitive_features=each.codes) for each in draws]

    assert draws[0].counts == {"A": 5000, "B": 5000}
    assert np.mean(found) == pytest.approx(0.0076, abs=0.0002)
    assert 0.0001 < np.std(found) < 0.0006
