"""A process that is killed at any step loses no budget and leaves no message without an entry.

One process imports everything, then forks a child for every call of the system by which a release is made:
the child is killed just before that call, or in the middle of what it writes. Afterwards the same command
is run again.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.samples import plan, table, write_table

import fedparity as fp

ROOT = Path(__file__).parents[2]
PROGRAM = '''
import json, os, signal, sys
from pathlib import Path

import fedparity as fp
import fedparity.cli.secure_commands
import fedparity.cli.sketch_commands
from fedparity.cli.main import cli
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.noise import laplace_mechanism

CALLS = "open write fsync link replace unlink chmod ftruncate mkdir".split()
try:
    laplace_mechanism(1.0)
except fp.FedparityError:
    pass


def killed(words, at, half):
    """Run a command in a child that dies at its call number ``at``; return how it ended."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    out = os.open(os.devnull, os.O_WRONLY)
    os.dup2(out, 1)
    os.dup2(out, 2)
    left = [at]

    def guarded(name, real):
        def call(*arguments, **options):
            left[0] -= 1
            if left[0] == 0:
                if half and name == "write":
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)

        return call

    for name in CALLS:
        setattr(os, name, guarded(name, getattr(os, name)))
    try:
        cli(words, prog_name="fedparity")
    except SystemExit as end:
        os._exit(int(end.code or 0))
    os._exit(0)


def run(words):
    return os.waitstatus_to_exitcode(killed(words, 10**9, False))


command, again, output, ledger, half = json.loads(sys.argv[1])
found = []
for at in range(1, 200):
    status = killed(command, at, half)
    ended = os.WIFEXITED(status)
    visible = Path(output).exists()
    entered = [e.message for e in Ledger(ledger).entries() if e.entry == "release"]
    state = {"at": at, "ended": ended, "visible": visible, "entries": len(entered)}
    if not visible:
        state["again"] = run(command)
        if state["again"] and again:
            state["again"] = run(again)
    data = Path(output).read_bytes() if Path(output).exists() else b""
    entries = [e for e in Ledger(ledger).entries() if e.entry == "release"]
    state["finally"] = [e.message for e in entries]
    state["cost"] = sum(e.epsilon or 0 for e in entries)
    state["file"] = data.decode()
    found.append(state)
    for path in Path(output).parent.glob(".*"):
        path.unlink()
    Path(output).unlink(missing_ok=True)
    Path(ledger).unlink(missing_ok=True)
    for name, kept in json.loads(os.environ.get("KEPT", "{}")).items():
        Path(name).write_text(kept)
    if ended:
        break
print(json.dumps(found))
'''

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork"),
]
MODES = {"plain": None, "noise": {"mode": "dp", "epsilon": 1.0, "bins": 16}}


def outcomes(folder, command, again=None, *, half, kept=None):
    output, ledger = str(folder / "out" / "m.json"), str(folder / "ledger.jsonl")
    (folder / "out").mkdir()
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(Path(fp.__file__).parents[1]), str(ROOT))),
        "FEDPARITY_LEDGER": ledger,
        "KEPT": json.dumps(kept or {}),
    }
    options = ["-o", output]
    given = [[*command, *options], again and [*again, *options], output, ledger, half]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROGRAM, json.dumps(given)],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env=environment,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("half", [False, True], ids=["before", "in the middle"])
@pytest.mark.parametrize("mode", MODES)
def test_a_killed_sketch_is_finished_by_the_same_command(mode, half, tmp_path):
    if mode == "noise":
        pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    plan(privacy=MODES[mode]).write(tmp_path / "plan.toml")
    write_table(tmp_path / "north.csv", table(0))

    found = outcomes(tmp_path, ["sketch", "plan.toml", "north.csv", "--silo", "north"], half=half)

    assert len(found) > 5
    assert found[-1]["ended"]
    for state in found:
        message = fp.SiloSketch.from_bytes(state["file"].encode())
        assert not state["visible"] or state["entries"] == 1  # no message without an entry
        assert state.get("again", 0) == 0
        assert state["finally"] == [message.digest]  # one release, and it is the one on disk
        assert state["cost"] == (0 if MODES[mode] is None else MODES[mode]["epsilon"])
    held_back = [state for state in found if state["entries"] and not state["visible"]]
    assert held_back  # the entry was there, the message not yet


def test_a_killed_mask_is_finished_by_the_same_command_or_sent_again(tmp_path, lenient_law):
    pytest.importorskip("cryptography", reason="fedparity[secure] is not installed")
    from tests.unit.cli.samples import SILOS, run  # noqa: PLC0415

    plan(privacy={"mode": "secure", "bins": 16}).write(tmp_path / "plan.toml")
    write_table(tmp_path / "north.csv", table(0))
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    for step in ("keys", "shares"):
        for silo in SILOS:
            state = ("--state", tmp_path / f"{silo}.state", "-o", inbox / f"{silo}.{step}.json")
            before = () if step == "keys" else (inbox,)
            done = run("secure", step, tmp_path / "plan.toml", *before, "--silo", silo, *state)
            assert done.exit_code == 0, done.stderr
    own = tmp_path / "north.state"
    command = ["secure", "mask", "plan.toml", "north.csv", "inbox", "--silo", "north"]
    command += ["--state", str(own), "--policy", str(lenient_law)]

    found = outcomes(
        tmp_path,
        command,
        [*command, "--resend"],
        half=False,
        kept={str(own): own.read_text()},
    )

    assert found[-1]["ended"]
    for state in found:
        assert not state["visible"] or state["entries"] == 1
        assert state.get("again", 0) == 0
        assert len(state["finally"]) == 1
