"""A real deployment of Flower: a SuperLink and three SuperNodes as processes, with TLS and keys.

The first half is the how-to, command by command; the second goes on with its processes.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.e2e.running import ROOT, environment

pytest.importorskip("flwr")

PAGE = ROOT / "docs" / "how-to" / "audit-with-flower.md"
SILOS = ("aurora", "bayside", "cedar")
MISSING = [name for name in ("bash", "openssl", "ssh-keygen") if shutil.which(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.flower,
    pytest.mark.skipif(bool(MISSING), reason=f"a deployment of Flower needs {', '.join(MISSING)}"),
]


def free_ports(number):
    """Ports that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def blocks(page):
    """The commands of a page, block by block."""
    return re.findall(
        r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


class Deployment:
    """The shell in which the page is followed, and whatever is started beside it."""

    def __init__(self, folder):
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir()
        program = folder / "bin" / "fedparity"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fedparity "$@"\n')
        program.chmod(0o755)
        env = environment(folder / "home", FLWR_HOME=str(self.work / "flower"))
        own = os.pathsep.join([str(program.parent), str(Path(sys.executable).parent)])
        self.env = {**env, "PATH": f"{own}{os.pathsep}{env['PATH']}"}
        self.port, self.unused, *nodes = free_ports(6)
        *steps, last = blocks(PAGE)
        script = "\n".join(["set -e", *steps, "jobs -p > pids", "touch ready", "read -r _", last])
        script = script.replace("8000", str(self.port)).replace("port=9094", f"port={nodes[0]}")
        self.shell = self.start("bash", "-c", script, log="shell.log", stdin=subprocess.PIPE)
        self.others = []

    def start(self, *command, log, **options):
        """Start a process of its own group."""
        with (self.folder / log).open("w") as output:
            return subprocess.Popen(  # noqa: S603
                command,
                cwd=self.work,
                env=self.env,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **options,
            )

    def run(self, *command, code=0):
        """Run a command to its end, and return what it printed."""
        done = subprocess.run(  # noqa: S603
            command,
            cwd=self.work,
            env=self.env,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def flower(self, *command):
        """How a command of Flower is started."""
        return ("fedparity", "engine", "flower", "start", *command)

    def node(self, key, settings, port, log):
        """Start a SuperNode with a key and settings."""
        arguments = [
            *("--superlink", f"127.0.0.1:{self.port}", "--root-certificates", "certs/ca.crt"),
            *("--auth-supernode-private-key", f"keys/{key}", "--host", "127.0.0.1"),
            *("--port", str(port), "--max-retries", "1", "--node-config", settings),
        ]
        started = self.start(*self.flower("flower-supernode", *arguments), log=log)
        self.others.append(started)
        return started

    def wait_for(self, what, condition, seconds=120):
        """Wait until something is so."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited for {what}\n{self.said()}"
            assert self.shell.poll() is None, self.said()
            time.sleep(0.1)

    def log(self, name):
        """What a process has said."""
        file = self.folder / name
        return file.read_text(errors="replace") if file.exists() else ""

    def said(self):
        """What all have said, for a test that fails."""
        logs = [*self.folder.glob("*.log"), *self.work.rglob("*.log")]
        return "\n".join(
            f"== {log.name}\n{log.read_text(errors='replace')[-3000:]}" for log in logs
        )

    def stop(self):
        """Stop whatever is left."""
        for each in (*self.others, self.shell):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            each.wait(timeout=20)
        with contextlib.suppress(BrokenPipeError):
            self.shell.stdin.close()


@pytest.fixture
def deployment(tmp_path):
    """The page followed to the end of its run; its processes still there."""
    deployed = Deployment(tmp_path)
    try:
        deployed.wait_for("the page", (deployed.work / "ready").exists)
        yield deployed
    finally:
        deployed.stop()


def by_files(deployment, plan, silos, name):
    """The result of the same silos by files."""
    for silo in silos:
        deployment.run(
            *("fedparity", "sketch", plan, f"practice/{silo}/patients.csv", "--silo", silo),
            *("--score", "risk", "--no-ledger", "-o", f"{name}-{silo}.json"),
        )
    files = [f"{name}-{silo}.json" for silo in silos]
    return deployment.run("fedparity", "audit", plan, *files, "--json")


def test_a_deployment_from_its_page_to_a_killed_silo(deployment):
    the_page_gives_the_result_of_files(deployment)
    a_key_that_was_not_registered_is_refused(deployment)
    a_silo_that_is_killed_midway_is_missing(deployment)
    the_page_stops_what_it_started(deployment)


def the_page_gives_the_result_of_files(deployment):
    """The three silos of the page."""
    expected = by_files(deployment, "plan.toml", SILOS, "all")

    assert (deployment.work / "result" / "result.json").read_text() == expected
    record = json.loads((deployment.work / "result" / "exchange.json").read_text())
    assert {each["silo"]: each["outcome"] for each in record["asked"]} == dict.fromkeys(
        SILOS, "answered"
    )
    assert "3 of 3 silos answered" in deployment.log("shell.log")


def a_key_that_was_not_registered_is_refused(deployment):
    """A fourth node, with a key of its own."""
    deployment.run(
        *("ssh-keygen", "-q", "-t", "ecdsa", "-b", "384", "-N", "", "-f", "keys/mallory")
    )

    stranger = deployment.node("mallory", "aurora/settings.toml", deployment.unused, "mallory.log")

    assert stranger.wait(timeout=60) != 0
    assert "Failed to activate SuperNode" in deployment.log("mallory.log")


def a_silo_that_is_killed_midway_is_missing(deployment):
    """The three silos again, under a second plan, on the same SuperLink."""
    pids = [int(line) for line in (deployment.work / "pids").read_text().split()]
    for pid in pids[1:]:  # the first is the SuperLink
        os.kill(pid, signal.SIGTERM)
    plan = deployment.work / "plan.toml"
    again = plan.read_text().replace("three hospitals", "three hospitals, again")
    (deployment.work / "again.toml").write_text(again)
    deployment.run(
        *("fedparity", "engine", "flower", "new", "second", "--plan", "again.toml"),
        *("--quorum", "2", "--time-limit", "25"),
    )
    os.mkfifo(deployment.work / "cedar" / "stuck.csv")  # whoever reads it waits for ever
    nodes = {}
    for silo, port in zip(SILOS, free_ports(3), strict=True):
        settings = (deployment.work / silo / "settings.toml").read_text()
        digest = re.search(r'plan = "([^"]*)"', settings)[1]
        settings = settings.replace(digest, "again.toml")
        settings = f'again-because = "a second run of the page"\n{settings}'
        if silo == "cedar":
            settings = settings.replace("practice/cedar/patients.csv", "cedar/stuck.csv")
        (deployment.work / silo / "second.toml").write_text(settings)
        nodes[silo] = deployment.node(silo, f"{silo}/second.toml", port, f"{silo}-2.log")

    run = deployment.start(
        *deployment.flower("flwr", "run", "second", "consortium", "--stream"),
        *("--run-config", f"output='{deployment.work}/second-result'"),
        log="run.log",
    )
    deployment.others.append(run)
    deployment.wait_for(
        "cedar to be asked", lambda: "Start `flwr-clientapp`" in deployment.log("cedar-2.log")
    )
    os.killpg(nodes["cedar"].pid, signal.SIGKILL)
    expected = by_files(deployment, "again.toml", SILOS[:2], "two")
    deployment.wait_for("the run", lambda: run.poll() is not None)

    found = deployment.work / "second-result"
    assert (found / "result.json").exists(), deployment.said()
    assert (found / "result.json").read_text() == expected
    assert json.loads(expected)["silos_missing"] == ["cedar"]
    record = json.loads((found / "exchange.json").read_text())
    outcomes = {each["silo"]: each["outcome"] for each in record["asked"]}
    assert outcomes == {
        "aurora": "answered",
        "bayside": "answered",
        "cedar": "no answer in time",
    }


def the_page_stops_what_it_started(deployment):
    """Its last block."""
    with deployment.shell.stdin as typed:
        typed.write(b"\n")

    deployment.shell.wait(timeout=60)

    pids = [int(line) for line in (deployment.work / "pids").read_text().split()]
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
