"""``flwr run`` with Flower's own simulation: the same two apps on one table of all silos."""

import csv
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.e2e.running import environment, finish, run, start

pytest.importorskip("flwr")
pytest.importorskip("ray", reason="needs flwr[simulation]")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.flower,
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="finds leftover processes by /proc"
    ),
]

SILOS = ("aurora", "bayside", "cedar")


@pytest.fixture
def home(tmp_path):
    """Flower's folder; whatever it leaves running is stopped."""
    folder = tmp_path / "flower"
    folder.mkdir()
    yield folder
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid() and started_in(entry, folder):
            os.kill(int(entry.name), signal.SIGKILL)


def started_in(entry, folder):
    """Whether a process has this folder in its environment."""
    try:
        return f"FLWR_HOME={folder}".encode() in (entry / "environ").read_bytes()
    except OSError:
        return False


def test_a_simulation_gives_the_result_of_simulate(tmp_path, home):
    run("demo", "--out", "practice", "--json", folder=tmp_path)
    with (tmp_path / "all.csv").open("w") as file:
        file.write("silo,group,risk\n")
        for silo in SILOS:
            with (tmp_path / "practice" / silo / "patients.csv").open() as own:
                for row in csv.DictReader(own):
                    file.write(f"{silo},{row['group']},{row['risk']}\n")
    roster = [part for silo in SILOS for part in ("--silo", silo)]
    groups = ("--group", "A", "--group", "B", "--range", "0", "10")
    run("plan", "new", "plan.toml", "--title", "Rehearsal", *groups, *roster, folder=tmp_path)
    run("engine", "flower", "new", "app", folder=tmp_path)

    simulated = start(
        *("engine", "flower", "start", "flwr", "run", "app", "local", "--stream"),
        *("--federation-config", "num-supernodes=3 client-resources-num-cpus=1"),
        "--run-config",
        f"output='{tmp_path}/out' simulated-data='{tmp_path}/all.csv' simulated-score='risk'",
        folder=tmp_path,
        FLWR_HOME=str(home),
        PATH=f"{Path(sys.executable).parent}{os.pathsep}{environment(tmp_path)['PATH']}",
    )
    _, out, err = finish(simulated, timeout=240)

    assert (tmp_path / "out" / "result.json").exists(), out + err
    columns = ("--silo", "silo", "--score", "risk", "--group", "group", "--plan", "plan.toml")
    _, expected, _ = run("simulate", "all.csv", *columns, "--json", folder=tmp_path)
    assert (tmp_path / "out" / "result.json").read_text() == expected
