"""The ledger lets out one release per plan and silo, whatever happens around it."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import fedparity as fp
from fedparity.privacy import locking
from fedparity.privacy.ledger import Ledger, default_ledger_path

START = """
import sys
from fedparity.privacy import locking
from fedparity.privacy.ledger import Ledger
path, silo, digest, kernel = sys.argv[1:]
locking._KERNEL_LOCKS = kernel == "True"
"""
COMMIT = (
    START
    + """
try:
    with Ledger(path).commit("plan", silo, digest):
        open(path + "." + digest, "w").close()
except Exception as error:
    print(type(error).__name__)
else:
    print("released")
"""
)
CRASH = (
    START
    + """
import os
with Ledger(path).commit("plan", silo, digest):
    os._exit(9)
"""
)
ENTRY = {"plan": "p", "silo": "s", "release": "r", "time": "2026-11-16T08:00:00+00:00"}
DAMAGED = {
    "not JSON": b"hello\n",
    "not UTF-8": b'{"plan": "\xff"}\n',
    "not an object": b"[]\n",
    "a field missing": b'{"plan": "p", "silo": "s", "release": "r"}\n',
    "a field too many": json.dumps(ENTRY | {"count": "3"}).encode() + b"\n",
    "a number for a digest": json.dumps(ENTRY | {"release": 3}).encode() + b"\n",
    "an empty line": b"\n",
    "zeros after a power cut": b"\0" * 64 + b"\n",
    "deep nesting": b"[" * 100_000 + b"\n",
}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "state" / "ledger.jsonl")


@pytest.fixture(params=[True, False], ids=["kernel lock", "lock file"])
def kernel(request, monkeypatch):
    """Whether the system has locks of its own."""
    monkeypatch.setattr(locking, "_KERNEL_LOCKS", request.param)
    return request.param


def started(program, path, silo, digest, *, kernel):
    arguments = [sys.executable, "-c", program, str(path), silo, digest, str(kernel)]
    environment = os.environ | {"PYTHONPATH": str(Path(fp.__file__).parents[1])}
    return subprocess.Popen(  # noqa: S603 -- our own program
        arguments, stdout=subprocess.PIPE, text=True, env=environment
    )


def outcomes(processes):
    return sorted(process.communicate(timeout=60)[0].strip() for process in processes)


@pytest.mark.usefixtures("kernel")
def test_a_first_release_is_recorded_without_values_or_counts(ledger):
    ledger.record("sha256:plan", "north", "sha256:one")

    line = json.loads(ledger.path.read_text())
    assert line.keys() == {"plan", "silo", "release", "time"}
    assert line["time"].endswith("+00:00")


@pytest.mark.usefixtures("kernel")
def test_the_same_release_may_be_made_again_and_is_recorded_once(ledger):
    ledger.record("plan", "north", "one")
    ledger.record("plan", "north", "one")
    ledger.check("plan", "north", "one")

    assert len(ledger.entries()) == 1


@pytest.mark.usefixtures("kernel")
def test_another_release_under_the_same_plan_is_refused_with_a_way_out(ledger):
    ledger.record("plan", "north", "one")
    for attempt in (ledger.check, ledger.record):
        with pytest.raises(fp.LedgerError, match="north") as caught:
            attempt("plan", "north", "two")

        assert str(ledger.path) in caught.value.fix
        assert isinstance(caught.value, fp.DisclosureError)
        assert not isinstance(caught.value, fp.InputError)
    assert [entry.release for entry in ledger.entries()] == ["one"]


def test_other_plans_and_silos_do_not_stand_in_the_way(ledger):
    ledger.record("plan", "north", "one")
    ledger.record("plan", "south", "two")
    ledger.record("next", "north", "three")

    assert len(ledger.entries()) == 3


def test_checking_writes_nothing(ledger):
    ledger.check("plan", "north", "one")

    assert not ledger.path.parent.exists()


def test_names_of_silos_may_hold_anything(ledger):
    name = 'a "north"\n\u2028é\\'
    ledger.record("plan", name, "one")

    assert ledger.entries()[0].silo == name
    assert ledger.path.read_bytes().count(b"\n") == 1


def test_the_entry_is_there_before_the_file_becomes_visible(ledger):
    with ledger.commit("plan", "north", "one"):
        written = ledger.path.read_bytes()

    assert json.loads(written)["release"] == "one"


@pytest.mark.usefixtures("kernel")
def test_a_release_that_fails_stays_on_record_and_can_be_repeated(ledger):
    with pytest.raises(OSError, match="disk"), ledger.commit("plan", "north", "one"):
        raise OSError("disk full")

    ledger.record("plan", "north", "one")
    with pytest.raises(fp.LedgerError):
        ledger.record("plan", "north", "two")


def test_a_crash_before_the_file_is_visible_leaves_the_entry_and_no_lock(ledger):
    with started(CRASH, ledger.path, "north", "one", kernel=True) as process:
        process.communicate(timeout=60)

    assert process.returncode == 9
    ledger.record("plan", "north", "one")
    with pytest.raises(fp.LedgerError, match="another release"):
        ledger.record("plan", "north", "two")


def test_one_of_several_processes_that_release_at_once_wins(ledger, kernel):
    released = [f"digest-{i}" for i in range(5)]
    found = outcomes(
        [started(COMMIT, ledger.path, "north", digest, kernel=kernel) for digest in released]
    )
    visible = [digest for digest in released if Path(f"{ledger.path}.{digest}").exists()]

    assert found == ["LedgerError"] * 4 + ["released"]
    assert [entry.release for entry in ledger.entries()] == visible


def test_no_entry_of_several_processes_is_lost(ledger, kernel):
    silos = [f"silo-{i}" for i in range(5)]
    found = outcomes([started(COMMIT, ledger.path, silo, silo, kernel=kernel) for silo in silos])

    assert found == ["released"] * 5
    assert sorted(entry.silo for entry in ledger.entries()) == silos


@pytest.mark.usefixtures("kernel")
def test_the_lock_is_held_while_the_file_is_written(ledger, monkeypatch):
    monkeypatch.setattr(locking, "_PATIENCE", 0.05)
    caught = []

    def intrude():
        try:
            ledger.record("plan", "south", "two")
        except fp.LedgerError as error:
            caught.append(error)

    with ledger.commit("plan", "north", "one"):
        intruder = threading.Thread(target=intrude)
        intruder.start()
        intruder.join()

    assert "another process" in caught[0].message
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_ledger_that_is_not_understood_is_refused_not_ignored(content, ledger):
    ledger.record("plan", "north", "one")
    with ledger.path.open("ab") as file:
        file.write(content)
    for attempt in (ledger.check, ledger.record):
        with pytest.raises(fp.LedgerError, match="line 2"):
            attempt("plan", "south", "two")

    assert ledger.path.read_bytes().endswith(content)


def test_a_last_line_that_was_torn_is_reported(ledger):
    ledger.record("plan", "north", "one")
    ledger.record("plan", "south", "two")
    ledger.path.write_bytes(ledger.path.read_bytes()[:-7])

    with pytest.raises(fp.LedgerError, match="line 2, was not written to its end"):
        ledger.record("plan", "north", "one")


def test_a_full_disk_leaves_no_part_of_a_line_and_lets_nothing_out(ledger, monkeypatch):
    ledger.record("plan", "north", "one")
    before = ledger.path.read_bytes()
    write = os.write

    def half(descriptor, line):
        if len(line) < 60:
            raise OSError(28, "No space left on device")
        return write(descriptor, line[:50])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(fp.LedgerError, match="No space left"), ledger.commit("p", "s", "r"):
        pytest.fail("nothing may be released")

    assert ledger.path.read_bytes() == before


def test_a_ledger_out_of_reach_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "ledger.jsonl"):
        for attempt in (Ledger(path).record, Ledger(path).check):
            with pytest.raises(fp.LedgerError, match="cannot be opened"):
                attempt("plan", "north", "one")


def test_the_ledger_is_its_owners_alone(ledger):
    ledger.record("plan", "north", "one")

    assert ledger.path.stat().st_mode & 0o777 == 0o600
    assert ledger.path.parent.stat().st_mode & 0o777 == 0o700


def test_the_default_place_is_chosen_named_or_the_folder_for_state(monkeypatch):
    monkeypatch.delenv("FEDPARITY_LEDGER", raising=False)
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    at_home = default_ledger_path()
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    in_state = default_ledger_path()
    monkeypatch.setenv("FEDPARITY_LEDGER", "/srv/ledger.jsonl")

    assert at_home == Path("/home/someone/.local/state/fedparity/ledger.jsonl")
    assert in_state == Path("/var/state/fedparity/ledger.jsonl")
    assert default_ledger_path() == Path("/srv/ledger.jsonl")


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch):
    def no_home():
        raise RuntimeError

    for variable in ("FEDPARITY_LEDGER", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", no_home)

    with pytest.raises(fp.LedgerError, match="no home"):
        default_ledger_path()
