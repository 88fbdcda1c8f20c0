"""``fedparity-reproduce``: same bytes, resumed after a kill, clear errors."""

import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import matplotlib as mpl
import pytest
from tests.e2e import running
from tests.e2e.running import files, finish
from tests.tiers import DATA

from fedparity_reproduction.command import main
from fedparity_reproduction.data_files import UPSTREAM
from fedparity_reproduction.runner import SCHEMA

SMALL = ("synthetic", "--replicates", "4")
COMMAND = (sys.executable, "-m", "fedparity_reproduction")
SOURCE = Path(main.__code__.co_filename).parents[1]


def start(*arguments, folder, command=COMMAND):
    """Start the command in a folder, as a new user of this checkout."""
    changes = {
        "PYTHONPATH": os.pathsep.join((str(running.ROOT / "src"), str(SOURCE))),
        "MPLCONFIGDIR": mpl.get_cachedir(),  # looking for fonts takes seconds
    }
    return running.start(*arguments, folder=folder, command=command, **changes)


def run(*arguments, folder):
    """Run the command in a folder to its end."""
    return finish(start(*arguments, folder=folder))


@pytest.fixture
def command(monkeypatch, capsys):
    """The command in this process: a function that returns its code, its output and errors."""

    def called(*arguments):
        monkeypatch.setattr(sys, "argv", ["fedparity-reproduce", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return called


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

    assert said["schema"] == SCHEMA
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


def test_another_size_in_the_same_folder_is_refused(made, command):
    folder, _ = made

    code, out, err = command("synthetic", "--replicates", "5", "--out", folder)

    assert (code, out) == (2, "")
    assert "replicates 4 instead of 5" in err
    assert "fix: " in err


SLOW = """
import sys, time
from fedparity_reproduction import command, experiments

study = experiments.run_study
def slowly(*given):
    open("half", "w").close()
    time.sleep(60)
    return study(*given)
experiments.run_study = slowly

command.main()
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


def test_missing_data_are_named_with_a_fix_before_anything_is_written(tmp_path, command):
    code, out, err = command("all", "--out", tmp_path / "out", "--data", tmp_path)

    assert (code, out) == (3, "")
    assert "compas-scores-two-years.csv" in err
    assert "fedparity-reproduce fetch" in err
    assert "FEDPARITY_DATA" in err
    assert files(tmp_path) == []


@pytest.mark.slow
@pytest.mark.data
def test_a_quick_look_at_everything_gives_every_table_and_figure(tmp_path):
    arguments = ("all", "--quick", "--data", DATA, "--out", "out", "--json")
    code, out, err = finish(start(*arguments, folder=tmp_path), timeout=900)

    assert code == 0, err
    said = json.loads(out)
    assert said["experiments"] == ["synthetic", "compas", "adult", "law"]
    kinds = {"error", "boxes", "reliability", "intensity", "centralized", "budget", "laws"}
    for name in ("compas", "adult", "law"):
        assert {f"figures/{name}-{kind}.svg" for kind in kinds} <= set(said["files"])
        assert {f"tables/{name}-regimes.{end}" for end in ("csv", "md", "tex")} <= set(
            said["files"]
        )
    assert not [name for name in said["files"] if "k95" in name]
    assert said["verdicts"]["matches"] > 2 * said["verdicts"]["differs"]
    assert "because race and sex are among the covariates" in (
        tmp_path / "out" / "tables" / "adult-without-race-regimes.md"
    ).read_text(encoding="utf-8")


# -- the data


def test_a_download_that_fails_ends_with_the_code_of_the_network(tmp_path, command):
    nobody = "http://127.0.0.1:9/"  # nothing listens there

    code, out, err = command("fetch", "adult", "--mirror", nobody, "--data", tmp_path)

    assert (code, out) == (6, "")
    assert err.splitlines()[-1].startswith("fix: ")


@pytest.mark.data
def test_fetch_prints_where_each_file_is_without_asking_for_those_that_are_there(command):
    names = [name for name in UPSTREAM if (Path(DATA) / UPSTREAM[name].file).is_file()]

    code, out, _ = command("fetch", *names, "--data", DATA, "--mirror", "http://127.0.0.1:9/")

    assert code == 0
    assert out.split() == [str(Path(DATA) / UPSTREAM[name].file) for name in names]


def test_check_measures_what_it_reads(command):
    (found,) = json.loads(command("check", "synthetic", "--json")[1])

    assert found["groups"] == {"A": 5000, "B": 5000}
    assert found["known"]
    assert found["disparity"] == pytest.approx(0.25 * found["wasserstein"] ** 2)
    assert f"U2 {found['disparity']:.4f}" in command("check", "synthetic")[1]


def test_check_tells_unknown_bytes(tmp_path, command):
    text = "race,decile_score\nCaucasian,1\nAfrican-American,2\n"
    (tmp_path / "compas-scores-two-years.csv").write_text(text, encoding="utf-8")

    code, out, err = command("check", "compas", "--data", tmp_path)

    assert code == 3
    assert "compas: " in out
    assert "unknown bytes: compas" in err
