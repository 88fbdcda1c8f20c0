"""The ledger lets out one release per plan and silo, whatever happens around it."""

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import fedparity as fp
from fedparity.privacy import ledger as ledger_file
from fedparity.privacy import ledger as locking
from fedparity.privacy.ledger import Entry, Ledger, default_ledger_path, line_digest, now
from fedparity.privacy.policy import Policy, allowed

START = """
import sys
from fedparity.privacy import ledger as locking
from fedparity.privacy.ledger import Ledger
from tests.unit.privacy.test_ledger import committed
path, silo, digest, kernel = sys.argv[1:]
locking._KERNEL_LOCKS = kernel == "True"
"""
COMMIT = (
    START
    + """
try:
    with committed(Ledger(path), "plan", silo, digest):
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
with committed(Ledger(path), "plan", silo, digest):
    os._exit(9)
"""
)
VIEW = {
    "title": "Q4",
    "mode": "none",
    "sketch": "mean",
    "groups": ["A", "B"],
    "levels": 10,
    "thresholds": [],
    "grid": [0.0, 1.0, None, 0.005],
    "period": None,
}
DAMAGED = {
    "not JSON": b"hello\n",
    "not UTF-8": b'{"plan": "\xff"}\n',
    "not an object": b"[]\n",
    "an empty line": b"\n",
    "zeros after a power cut": b"\0" * 64 + b"\n",
    "deep nesting": b"[" * 100_000 + b"\n",
}


def entry(plan="plan", silo="north", release="one", **more):
    stated = {"time": now(), "message": f"message of {release}", "view": VIEW} | more
    return Entry(entry="release", plan=plan, silo=silo, release=release, **stated)


@contextmanager
def committed(ledger, *names, policy=None, **more):
    """Enter a release, as a permit does."""
    new = entry(*names, **more)
    law = policy or Policy()
    with ledger.commit(new, lambda entries: allowed(entries, new, law, ledger.path)):
        yield


def record(ledger, *names, **more):
    with committed(ledger, *names, **more):
        pass


def releases(ledger):
    return [each for each in ledger.entries() if each.entry == "release"]


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
    paths = (Path(fp.__file__).parents[1], Path(__file__).parents[3])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    return subprocess.Popen(  # noqa: S603 -- our own program
        arguments, stdout=subprocess.PIPE, text=True, env=environment
    )


def outcomes(processes):
    return sorted(process.communicate(timeout=60)[0].strip() for process in processes)


@pytest.mark.usefixtures("kernel")
def test_a_first_release_is_recorded_without_values_or_counts(ledger):
    record(ledger, "sha256:plan", "north", "sha256:one")

    begin, line = map(json.loads, ledger.path.read_text().splitlines())
    assert begin.keys() == {"entry", "time"}
    assert line.keys() == {
        *("entry", "time", "previous", "plan", "silo", "release", "message", "view")
    }
    assert line["time"].endswith("+00:00")


@pytest.mark.usefixtures("kernel")
def test_the_same_release_may_be_made_again_and_is_recorded_once(ledger):
    record(ledger)
    record(ledger)

    assert len(releases(ledger)) == 1


@pytest.mark.usefixtures("kernel")
def test_another_release_under_the_same_plan_is_refused_with_a_way_out(ledger):
    record(ledger)
    with pytest.raises(fp.errors.LedgerError, match="north") as caught:
        record(ledger, "plan", "north", "two", because="no reason is good enough")

    assert str(ledger.path) in caught.value.fix
    assert "delete" not in caught.value.fix
    assert isinstance(caught.value, fp.errors.DisclosureError)
    assert not isinstance(caught.value, fp.InputError)
    assert [each.release for each in releases(ledger)] == ["one"]


def test_other_silos_do_not_stand_in_the_way(ledger):
    record(ledger, "plan", "north", "one")
    record(ledger, "plan", "south", "two")

    assert len(releases(ledger)) == 2


def test_the_same_table_under_another_silo_s_name_does(ledger):
    record(ledger, "plan", "north", "one", table="/data/visits.csv")

    with pytest.raises(fp.errors.LedgerError, match="same records left before"):
        record(ledger, "plan", "south", "two", table="/data/visits.csv")


def test_names_of_silos_may_hold_anything(ledger):
    name = 'a "north"\n\u2028é\\'
    record(ledger, "plan", name, "one")

    assert releases(ledger)[0].silo == name
    assert ledger.path.read_bytes().count(b"\n") == 2


def test_the_entry_is_there_before_the_file_becomes_visible(ledger):
    with committed(ledger):
        written = ledger.path.read_bytes().splitlines()[-1]

    assert json.loads(written)["release"] == "one"


@pytest.mark.usefixtures("kernel")
def test_a_release_that_fails_stays_on_record_and_can_be_repeated(ledger):
    with pytest.raises(OSError, match="disk"), committed(ledger):
        raise OSError("disk full")

    record(ledger)
    with pytest.raises(fp.errors.LedgerError):
        record(ledger, "plan", "north", "two")


def test_a_crash_before_the_file_is_visible_leaves_the_entry_and_no_lock(ledger):
    with started(CRASH, ledger.path, "north", "one", kernel=True) as process:
        process.communicate(timeout=60)

    assert process.returncode == 9
    record(ledger)
    with pytest.raises(fp.errors.LedgerError, match="another release"):
        record(ledger, "plan", "north", "two")


def test_one_of_several_processes_that_release_at_once_wins(ledger, kernel):
    released = [f"digest-{i}" for i in range(5)]
    found = outcomes(
        [started(COMMIT, ledger.path, "north", digest, kernel=kernel) for digest in released]
    )
    visible = [digest for digest in released if Path(f"{ledger.path}.{digest}").exists()]

    assert found == ["LedgerError"] * 4 + ["released"]
    assert [each.release for each in releases(ledger)] == visible


def test_no_entry_of_several_processes_is_lost(ledger, kernel):
    silos = [f"silo-{i}" for i in range(5)]
    found = outcomes([started(COMMIT, ledger.path, silo, silo, kernel=kernel) for silo in silos])

    assert found == ["released"] * 5
    assert sorted(each.silo for each in releases(ledger)) == silos


@pytest.mark.usefixtures("kernel")
def test_the_lock_is_held_while_the_file_is_written(ledger, monkeypatch):
    monkeypatch.setattr(locking, "_PATIENCE", 0.05)
    caught = []

    def intrude():
        try:
            record(ledger, "plan", "south", "two")
        except fp.errors.LedgerError as error:
            caught.append(error)

    with committed(ledger):
        intruder = threading.Thread(target=intrude)
        intruder.start()
        intruder.join()

    assert "another process" in caught[0].message
    assert len(releases(ledger)) == 1


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_ledger_that_is_not_understood_is_refused_not_ignored(content, ledger):
    record(ledger)
    with ledger.path.open("ab") as file:
        file.write(content)
    with pytest.raises(fp.errors.LedgerError, match="line 3"):
        record(ledger, "plan", "south", "two")
    with pytest.raises(fp.errors.LedgerError, match="line 3"):
        ledger.entries()

    assert ledger.path.read_bytes().endswith(content)


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": 1.0},
        {"budget": 1.0},
        {"epsilon": -5.0, "budget": 1.0},
        {"epsilon": "1", "budget": 1.0},
        {"epsilon": True, "budget": 1.0},
        {"epsilon": 1.0, "budget": 0},
        {"dataset": 3},
        {"release": 3},
        {"count": 3},
        {"plan": None},
        {"time": "yesterday"},
        {"time": "2026-11-16T08:00:00"},
        {"view": {}},
        {"view": VIEW | {"period": ["2026-02-30", "2026-03-01"]}},
        {"view": VIEW | {"grid": [float("nan")]}},
        {"weaker": "levels"},
    ],
    ids=str,
)
def test_an_entry_that_says_what_it_may_not_is_refused(changes, ledger):
    """One that could give budget back, say."""
    record(ledger)
    first, second = ledger.path.read_text().splitlines()
    made = {k: v for k, v in (json.loads(second) | changes).items() if v is not None}
    ledger.path.write_text(f"{first}\n{json.dumps(made)}\n")

    with pytest.raises(fp.errors.LedgerError, match=r"line 2 of the ledger .* is not an entry"):
        ledger.entries()


@pytest.mark.parametrize("line", [0, 1, 2])
@pytest.mark.parametrize("change", ["altered", "taken out"])
def test_a_line_that_is_changed_or_taken_out_is_noticed(line, change, ledger):
    for silo in ("north", "south", "west"):
        record(ledger, "plan", silo, silo)
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    if change == "altered":
        lines[line] = lines[line].replace(b"2", b"3", 1)
    else:
        del lines[line]
    ledger.path.write_bytes(b"".join(lines))

    with pytest.raises(fp.errors.LedgerError, match="does not continue the line before it"):
        ledger.entries()


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_line_that_is_changed_after_it_was_validated_is_noticed(line, ledger):
    """The cache of validated lines stands for the same bytes only, and a refusal leaves nothing in it."""
    for silo in ("north", "south", "west"):
        record(ledger, "plan", silo, silo)
    whole, entries = ledger.path.read_bytes(), ledger.entries()
    lines = whole.splitlines(keepends=True)
    lines[line] = lines[line].replace(b"2", b"3", 1)
    ledger.path.write_bytes(b"".join(lines))

    for _ in range(2):
        with pytest.raises(fp.errors.LedgerError, match="does not continue the line before it"):
            record(ledger, "plan", "east", "east")
    ledger.path.write_bytes(whole)
    assert entries == ledger.entries()
    ledger.path.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    assert entries[:2] == ledger.entries()


def test_each_line_is_validated_once_in_a_process(ledger, monkeypatch):
    """A session of many releases does not take the square of their number."""
    read, validate = [], ledger_file._entry  # noqa: SLF001 -- counted
    monkeypatch.setattr(ledger_file, "_entry", lambda line: read.append(line) or validate(line))
    for silo in range(20):
        record(ledger, "plan", f"silo {silo}", f"release {silo}")

    assert ledger.path.read_bytes().splitlines()[:-1] == read


def test_the_head_stands_for_the_whole_file(ledger):
    assert ledger.head is None
    record(ledger)
    before = ledger.head
    record(ledger, "plan", "south", "two")

    assert before == ledger.entries()[-1].previous
    assert ledger.head == line_digest(ledger.path.read_bytes().splitlines()[-1])


def test_a_last_line_that_was_torn_becomes_an_entry_that_says_so(ledger):
    """Its message never left, since a message gets its name after its line is complete."""
    record(ledger)
    record(ledger, "plan", "south", "two")
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole[:-7])
    assert [each.silo for each in releases(ledger)] == ["north"]

    record(ledger, "plan", "south", "two")

    torn = next(each for each in ledger.entries() if each.entry == "torn")
    assert whole.splitlines()[-1].decode().startswith(torn.text)
    assert [each.silo for each in releases(ledger)] == ["north", "south"]


@pytest.mark.parametrize("size", [0, 1, 20])
def test_a_first_line_that_was_torn_loses_nothing(size, ledger):
    ledger.begin()
    ledger.path.write_bytes(ledger.path.read_bytes()[:size])

    record(ledger)

    kinds = [each.entry for each in ledger.entries()]
    assert kinds == ["begin", *["torn"] * (size > 0), "release"]


def test_a_full_disk_leaves_no_part_of_a_line_and_lets_nothing_out(ledger, monkeypatch):
    record(ledger)
    before = ledger.path.read_bytes()
    write = os.write

    def half(descriptor, line):
        if len(line) < 60:
            raise OSError(28, "No space left on device")
        return write(descriptor, line[:50])

    monkeypatch.setattr(os, "write", half)
    with (
        pytest.raises(fp.errors.LedgerError, match="No space left"),
        committed(ledger, "p", "s", "r"),
    ):
        pytest.fail("nothing may be released")

    assert ledger.path.read_bytes() == before


def test_a_ledger_out_of_reach_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "ledger.jsonl"):
        with pytest.raises(fp.errors.LedgerError, match="cannot be opened"):
            record(Ledger(path))


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_what_keeps_nothing_is_no_ledger(make, tmp_path):
    """A release that is entered there would be forgotten."""
    make(tmp_path / "ledger.jsonl")

    with pytest.raises(fp.errors.LedgerError, match="not a file that keeps"):
        record(Ledger(tmp_path / "ledger.jsonl"))
    with pytest.raises(fp.errors.LedgerError, match="not a file that keeps"):
        Ledger(tmp_path / "ledger.jsonl").entries()


def test_the_ledger_is_its_owners_alone_or_shared_with_a_group(ledger, tmp_path):
    record(ledger)
    shared = Ledger(tmp_path / "shared.jsonl")
    shared.begin(shared=True)

    assert ledger.path.stat().st_mode & 0o777 == 0o600
    assert ledger.path.parent.stat().st_mode & 0o777 == 0o700
    assert shared.path.stat().st_mode & 0o777 == 0o660


def test_a_new_ledger_is_begun_with_a_notice_and_only_where_it_may(ledger, capsys):
    strict = replace(ledger, must_exist=True)
    for attempt in (lambda: record(strict), strict.entries):
        with pytest.raises(fp.errors.LedgerError, match="no ledger") as caught:
            attempt()
        assert "fedparity ledger init" in caught.value.fix
    assert not ledger.path.exists()

    record(ledger)
    assert str(ledger.path) in capsys.readouterr().err
    record(strict)
    assert not capsys.readouterr().err


def test_a_ledger_is_begun_once(ledger):
    ledger.begin(because="the disk broke")

    with pytest.raises(fp.errors.LedgerError, match="already"):
        ledger.begin()
    assert [each.because for each in ledger.entries()] == ["the disk broke"]


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

    with pytest.raises(fp.errors.LedgerError, match="no home"):
        default_ledger_path()
