"""Numbers are found again by what decided them, and by nothing else."""

import numpy as np
import pytest

from fedparity.errors import OutputError
from fedparity.experiments.reproduction.folders import claim_folder
from fedparity.experiments.reproduction.keeping import keep
from fedparity.experiments.reproduction.settings import Settings


def counting():
    calls = []

    def compute():
        calls.append(1)
        return {"draws": np.arange(6.0).reshape(2, 3)}

    return compute, calls


def test_equal_settings_compute_once(tmp_path):
    compute, calls = counting()

    first = keep(tmp_path / "a.npz", {"seed": 1}, compute)
    second = keep(tmp_path / "a.npz", {"seed": 1}, compute)

    assert len(calls) == 1
    np.testing.assert_array_equal(first["draws"], second["draws"])


def test_other_settings_compute_again(tmp_path):
    compute, calls = counting()

    for seed in (1, 2):
        keep(tmp_path / "a.npz", {"seed": seed}, compute)

    assert len(calls) == 2


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 broken", b"not a file of numbers"])
def test_a_damaged_file_is_computed_again(tmp_path, damage):
    compute, calls = counting()
    (tmp_path / "a.npz").write_bytes(damage)

    keep(tmp_path / "a.npz", {"seed": 1}, compute)

    assert len(calls) == 1


def test_a_file_cut_in_the_middle_is_computed_again(tmp_path):
    compute, calls = counting()
    path = tmp_path / "a.npz"
    keep(path, {"seed": 1}, compute)
    path.write_bytes(path.read_bytes()[:-40])

    keep(path, {"seed": 1}, compute)

    assert len(calls) == 2


def test_equal_numbers_have_equal_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        keep(tmp_path / name, {"seed": 1}, counting()[0])

    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_folder_of_the_same_settings_is_gone_on_with(tmp_path):
    for _ in range(2):
        claim_folder(tmp_path / "out", Settings.of(quick=True))


def test_a_folder_of_other_settings_is_refused_and_says_which(tmp_path):
    claim_folder(tmp_path, Settings.of(quick=True))

    with pytest.raises(OutputError, match="replicates 10 instead of 200"):
        claim_folder(tmp_path, Settings())


def test_a_folder_of_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")

    with pytest.raises(OutputError, match="was not written by fedparity reproduce"):
        claim_folder(tmp_path, Settings())


def test_force_forgets_kept_numbers_and_nothing_else(tmp_path):
    (tmp_path / "draws").mkdir()
    (tmp_path / "draws" / "a.npz").write_bytes(b"old")
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")

    claim_folder(tmp_path, Settings(), force=True)

    assert not list((tmp_path / "draws").iterdir())
    assert (tmp_path / "thesis.tex").read_text(encoding="utf-8") == "mine"
