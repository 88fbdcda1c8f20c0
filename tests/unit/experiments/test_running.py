"""Running a study: the same numbers however it is run, resumed or interrupted."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.experiments.tables import dataset

import fedparity as fp
from fedparity.experiments.montecarlo import Study, run_intensity, run_study
from fedparity.experiments.montecarlo.kernels import choose_kernel
from fedparity.experiments.montecarlo.numpy_kernel import NumpyKernel
from fedparity.experiments.montecarlo.ranking import Ranking

STUDY = Study(dataset=dataset(300, decimals=2), silos=(2, 7), levels=(5, 12), replicates=5)


def bits(result):
    arrays = (result.estimates, result.centralised, result.pearson, result.spearman)
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_workers_and_kernels_do_not_change_a_bit(workers, kernel):
    expected = bits(run_study(STUDY, workers=1, kernel="numpy"))

    assert bits(run_study(STUDY, workers=workers, kernel=kernel)) == expected


def test_a_part_of_a_study_has_the_numbers_of_the_whole():
    """Each allocation has its own seed: fewer replicates, silos or regimes are a cut-out."""
    whole = run_study(STUDY)
    part = run_study(replace(STUDY, silos=(7,), regimes=("negative",), replicates=3))

    assert np.array_equal(part.estimates[0, 0], whole.estimates[2, 1, :3])


def test_regimes_differ_and_seeds_differ():
    first, other = run_study(STUDY), run_study(replace(STUDY, seed=1))

    assert len({each.tobytes() for each in first.estimates}) == 3
    assert not (first.estimates == other.estimates).all(axis=(-1, -2)).any()


def test_progress_ends_with_all_allocations():
    told = []

    run_study(STUDY, workers=2, progress=lambda *words: told.append(words))

    assert [done for done, _, _ in told] == list(range(1, 31))
    assert {words[1:] for words in told} == {(30, "Made")}


def test_a_kept_chunk_is_read_and_not_computed(tmp_path, monkeypatch):
    expected = bits(run_study(STUDY, folder=tmp_path))
    assert len(list(tmp_path.iterdir())) == 6

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr("fedparity.experiments.montecarlo.dealing.Dealer.deal", refuse)

    assert bits(run_study(STUDY, folder=tmp_path)) == expected


def test_kept_files_have_the_same_bytes_whatever_the_workers(tmp_path):
    contents = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        run_study(STUDY, workers=workers, folder=folder)
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})

    assert contents[0] == contents[1]


def test_an_interrupted_run_resumes_where_it_was(tmp_path):
    """The chunks that were whole stay; the one under way is computed again."""
    expected = bits(run_study(STUDY))

    def interrupt(done, *_):
        if done == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(STUDY, workers=2, folder=tmp_path, progress=interrupt)
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(kept) == 2

    assert bits(run_study(STUDY, folder=tmp_path)) == expected
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in kept} == kept


def test_ctrl_c_in_the_main_thread_stops_the_workers(monkeypatch):
    """Nobody starts another allocation, and the call ends."""
    done = []

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fedparity.experiments.montecarlo.running.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_study(replace(STUDY, replicates=5000), progress=lambda *words: done.append(words))

    assert len(done) < 5000


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"rho": 0.5}, {"levels": (5, 13)}, {"dataset": dataset(300, seed=9)}]
)
def test_chunks_of_other_settings_are_not_taken(tmp_path, change):
    run_study(STUDY, folder=tmp_path)
    other = replace(STUDY, **change)

    assert bits(run_study(other, folder=tmp_path)) == bits(run_study(other))


def test_a_damaged_chunk_is_computed_again(tmp_path):
    expected = bits(run_study(STUDY, folder=tmp_path))
    first, second, *_ = sorted(tmp_path.iterdir())
    first.write_bytes(first.read_bytes()[:-100])
    second.write_bytes(b"")

    assert bits(run_study(STUDY, folder=tmp_path)) == expected


def test_an_error_in_a_worker_is_raised(monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("fedparity.experiments.montecarlo.dealing.Dealer.deal", fail)

    with pytest.raises(ZeroDivisionError):
        run_study(STUDY, workers=2)


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_workers_out_of_range_are_refused(workers):
    with pytest.raises(fp.OptionError, match="workers must be"):
        run_study(STUDY, workers=workers)


def test_an_unknown_kernel_is_refused():
    with pytest.raises(fp.OptionError, match="kernel must be"):
        run_study(STUDY, kernel="fortran")


def test_without_numba_studies_of_any_size_run_in_numpy(monkeypatch):
    monkeypatch.setattr("fedparity.experiments.montecarlo.kernels.find_spec", lambda _: None)
    monkeypatch.delitem(
        sys.modules, "fedparity.experiments.montecarlo.numba_kernel", raising=False
    )
    large = replace(STUDY, replicates=10**9)

    assert isinstance(choose_kernel("auto", large, Ranking.of(large.dataset)), NumpyKernel)
    with pytest.raises(fp.MissingExtraError, match=r"fedparity\[fast\]"):
        run_study(STUDY, kernel="numba")


def test_small_studies_do_not_wait_for_numba(monkeypatch):
    monkeypatch.delitem(
        sys.modules, "fedparity.experiments.montecarlo.numba_kernel", raising=False
    )
    large = replace(STUDY, replicates=10**6)
    ranking = Ranking.of(STUDY.dataset)

    assert choose_kernel("auto", STUDY, ranking).name == "numpy"
    assert choose_kernel("auto", large, ranking).name == "numba"


def test_intensity_is_a_study_for_each_strength():
    found = run_intensity(
        STUDY.dataset, (0.0, 0.9), (7,), levels=(5, 12), regimes=("negative",), replicates=5
    )
    strong = run_study(replace(STUDY, rho=0.9))

    assert np.array_equal(found.estimates[1, 0, 0], strong.estimates[2, 1])
    assert np.array_equal(found.spearman[1, 0, 0], strong.spearman[2, 1])
    assert found.relative_errors == pytest.approx(np.abs(found.estimates / found.truth - 1))


def test_stronger_selection_is_seen_in_the_correlation():
    found = run_intensity(STUDY.dataset, (0.0, 0.5, 0.9), (7,), regimes=("positive",))

    assert (np.diff(found.spearman.mean(axis=(1, 2, 3))) > 0.2).all()


def test_progress_of_intensity_counts_all_strengths():
    told = []

    run_intensity(
        STUDY.dataset, (0.0, 0.5), (2,), replicates=2, progress=lambda *words: told.append(words)
    )

    assert [done for done, _, _ in told] == list(range(1, 9))
    assert {total for _, total, _ in told} == {8}
