"""Numbers are found again by what decided them, and by nothing else."""

import numpy as np
import pytest

from fedparity.errors import OutputError
from fedparity_reproduction.runner import Runner, Settings, claim_folder


def counting():
    calls = []

    def compute():
        calls.append(1)
        return {"draws": np.arange(6.0).reshape(2, 3)}

    return compute, calls


def cached(folder, decides, compute):
    return Runner(settings=Settings(), folder=folder).cached("a", decides, compute)


def test_equal_settings_compute_once(tmp_path):
    compute, calls = counting()

    first = cached(tmp_path, {"seed": 1}, compute)
    second = cached(tmp_path, {"seed": 1}, compute)

    assert len(calls) == 1
    np.testing.assert_array_equal(first["draws"], second["draws"])


def test_other_settings_compute_again(tmp_path):
    compute, calls = counting()

    for seed in (1, 2):
        cached(tmp_path, {"seed": seed}, compute)

    assert len(calls) == 2


@pytest.mark.parametrize("damage", [lambda _: b"", lambda content: content[:-40]])
def test_a_damaged_file_is_computed_again(tmp_path, damage):
    compute, calls = counting()
    cached(tmp_path, {"seed": 1}, compute)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))

    cached(tmp_path, {"seed": 1}, compute)

    assert len(calls) == 2


def test_equal_numbers_have_equal_bytes(tmp_path):
    for name in ("a", "b"):
        cached(tmp_path / name, {"seed": 1}, counting()[0])

    first, second = (path.read_bytes() for path in tmp_path.glob("*/*"))
    assert first == second


def test_an_error_in_a_thread_is_raised_and_stops_the_others():
    started = []

    def fail(replicate):
        started.append(replicate)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Runner(settings=Settings(), workers=2).map(fail, 10_000, "")

    assert len(started) < 10_000


def test_progress_counts_every_step():
    told = []

    runner = Runner(settings=Settings(), workers=3, progress=lambda *words: told.append(words))
    runner.map(lambda replicate: replicate, 4, "steps")

    assert told == [(done, 4, "steps") for done in range(1, 5)]


def test_a_folder_of_the_same_settings_is_gone_on_with(tmp_path):
    for _ in range(2):
        claim_folder(tmp_path / "out", Settings.of_size(quick=True))


def test_a_folder_of_other_settings_is_refused_and_says_which(tmp_path):
    claim_folder(tmp_path, Settings.of_size(quick=True))

    with pytest.raises(
        OutputError, match=f"replicates {Settings.of_size(quick=True).replicates} instead of 200"
    ):
        claim_folder(tmp_path, Settings())


def test_a_folder_of_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")

    with pytest.raises(OutputError, match="was not written by fedparity-reproduce"):
        claim_folder(tmp_path, Settings())


def test_force_forgets_kept_numbers_and_nothing_else(tmp_path):
    (tmp_path / "draws").mkdir()
    (tmp_path / "draws" / "a.npz").write_bytes(b"old")
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")

    claim_folder(tmp_path, Settings(), force=True)

    assert not list((tmp_path / "draws").iterdir())
    assert (tmp_path / "thesis.tex").read_text(encoding="utf-8") == "mine"


def test_a_quick_look_is_smaller_everywhere_and_knows_it():
    quick, full = Settings.of_size(quick=True), Settings.of_size()

    for name in ("replicates", "draws", "strengths"):
        assert getattr(quick, name) < getattr(full, name)
    assert quick.is_quick
    assert not full.is_quick
