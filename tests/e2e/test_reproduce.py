"""``fedparity reproduce`` in real processes: same bytes, resumed after a kill, clear errors."""

import hashlib
import json
import os
import signal
import sys
import time

import pytest
from tests.e2e.running import files, finish, run, start
from tests.tiers import DATA

SMALL = ("reproduce", "synthetic", "--replicates", "4")


def digests(folder):
    """The digest of every file of a folder."""
    return {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files(folder)
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    code, out, err = run(*SMALL, "--out", "out", "--workers", "1", "--json", folder=folder)
    assert code == 0, err
    return folder / "out", json.loads(out)


def test_a_page_tables_and_figures_are_written(made):
    folder, said = made

    assert said["schema"] == "fedparity/reproduction/1"
    assert set(said["files"]) <= set(files(folder))
    assert {"index.html", "figures/synthetic-coarse.svg", "figures/synthetic-coarse.pdf"} <= set(
        said["files"]
    )


@pytest.mark.slow
def test_the_number_of_workers_changes_no_byte(made, tmp_path):
    code, _, err = run(*SMALL, "--out", "out", "--workers", "2", folder=tmp_path)

    assert code == 0, err
    assert digests(tmp_path / "out") == digests(made[0])


@pytest.mark.slow
def test_another_seed_changes_the_numbers(made, tmp_path):
    code, _, err = run(*SMALL, "--out", "out", "--seed", "1", folder=tmp_path)

    assert code == 0, err
    name = "figures/synthetic-convergence.svg"
    assert (tmp_path / "out" / name).read_bytes() != (made[0] / name).read_bytes()


def test_nothing_tells_where_it_was_made(made):
    folder, _ = made

    for name in files(folder):
        content = (folder / name).read_bytes()
        assert str(folder).encode() not in content
        assert os.uname().nodename.encode() not in content or len(os.uname().nodename) < 4


def test_another_size_in_the_same_folder_is_refused(made, tmp_path):
    folder, _ = made

    code, out, err = run(
        "reproduce", "synthetic", "--replicates", "5", "--out", folder, folder=tmp_path
    )

    assert (code, out) == (2, "")
    assert "replicates 4 instead of 5" in err
    assert "fix: " in err


SLOW = """
import sys, time
from fedparity.experiments.reproduction import bench

study = bench.Bench.study
def slowly(self, *given, **options):
    open("half", "w").close()
    time.sleep(60)
    return study(self, *given, **options)
bench.Bench.study = slowly

from fedparity.cli.main import main
main()
"""
"""The real command, which stops half-way until it is interrupted."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_resumes_and_ends_with_the_same_bytes(made, tmp_path, stop):
    arguments = (*SMALL, "--out", "out", "--workers", "1")
    process = start(*arguments, folder=tmp_path, command=(sys.executable, "-c", SLOW))
    deadline = time.monotonic() + 90
    while not (tmp_path / "half").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(stop)
    code, _, err = finish(process)
    kept = {
        path: (path.stat().st_mtime_ns, path.stat().st_ino)
        for path in (tmp_path / "out" / "draws").iterdir()
    }

    again, _, said = run(*arguments, folder=tmp_path)

    assert code == (130 if stop == signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in err
    assert kept
    assert again == 0, said
    assert all((p.stat().st_mtime_ns, p.stat().st_ino) == was for p, was in kept.items())
    assert digests(tmp_path / "out") == digests(made[0])


def test_missing_data_are_named_with_a_fix_before_anything_is_written(tmp_path):
    code, out, err = run("reproduce", "all", "--out", "out", folder=tmp_path)

    assert (code, out) == (3, "")
    assert "compas-scores-two-years.csv" in err
    assert "fedparity datasets fetch" in err
    assert "FEDPARITY_DATA" in err
    assert files(tmp_path) == []


@pytest.mark.slow
@pytest.mark.data
def test_a_quick_look_at_everything_gives_every_table_and_figure(tmp_path):
    arguments = ("reproduce", "all", "--quick", "--data", DATA, "--out", "out", "--json")
    code, out, err = finish(start(*arguments, folder=tmp_path), timeout=900)

    assert code == 0, err
    said = json.loads(out)
    assert said["experiments"] == ["synthetic", "compas", "adult", "law"]
    kinds = {"error", "boxes", "reliability", "k95", "intensity", "centralised", "budget", "laws"}
    for name in ("compas", "adult", "law"):
        assert {f"figures/{name}-{kind}.svg" for kind in kinds} <= set(said["files"])
        assert {f"tables/{name}-regimes.{end}" for end in ("csv", "md", "tex")} <= set(
            said["files"]
        )
    assert said["verdicts"]["matches"] > 2 * said["verdicts"]["differs"]
    assert "because race and sex are among the covariates" in (
        tmp_path / "out" / "tables" / "adult-without-race-regimes.md"
    ).read_text(encoding="utf-8")
