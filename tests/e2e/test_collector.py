"""A collector in a process of its own: what it acknowledged survives being killed."""

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.request import urlopen

import pytest
import sqlalchemy
from tests import databases
from tests.tiers import count
from tests.unit.service.samples import message, plan

from fedparity.errors import CollectorUnreachableError
from fedparity.service.sender import send
from fedparity.service.store import Store
from fedparity.service.studies import Studies

pytest.importorskip("uvicorn")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Service:
    """The command, started on a folder."""

    def __init__(self, where, port):
        self.url = f"http://127.0.0.1:{port}"
        place = ["--database", where] if isinstance(where, str) else ["--data", str(where)]
        self.process = subprocess.Popen(  # noqa: S603 -- our own code
            [sys.executable, "-m", "fedparity", "serve", *place, "--port", str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.link = self.process.stdout.readline().strip()
        for _ in range(200):
            with contextlib.suppress(OSError), urlopen(f"{self.url}/healthz") as reply:  # noqa: S310
                if reply.status == 200:
                    return
            time.sleep(0.05)
        raise AssertionError("the collector does not answer")

    def stop(self, how=signal.SIGTERM):
        """End the process by a signal."""
        self.process.send_signal(how)
        self.process.wait(20)
        self.process.stdout.close()


@pytest.fixture
def place(tmp_path):
    store = Store.in_folder(str(tmp_path / "data"))
    studies = Studies(store)
    study = studies.create(plan().to_toml(), deadline=None)
    yield tmp_path, studies, study
    store.close()


def fedparity(*words, **options):
    command = [sys.executable, "-m", "fedparity", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # noqa: S603


def test_send_ends_as_its_help_says(place):
    folder, studies, study = place
    port = free_port()
    service = Service(folder / "data", port)
    token, file = folder / "token.txt", folder / "aurora.json"
    token.write_text(studies.token(study, "aurora"))
    token.chmod(0o600)
    file.write_bytes(message("aurora"))

    def codes(name):
        return fedparity("send", name, "--to", service.url, "--token-file", token).returncode

    try:
        assert re.fullmatch(rf"{service.url}/enter/[\w-]{{43}}", service.link)
        assert codes(file) == codes(file) == 0
        other = folder / "other.json"
        other.write_bytes(message("aurora", seed=1))
        assert codes(other) == 3
        token.write_text("x" * 43)
        assert codes(file) == 4
    finally:
        service.stop()
    assert codes(file) == 6


def test_a_sender_that_never_finishes_is_sent_away(place):
    folder, _, _ = place
    service = Service(folder / "data", free_port())
    try:
        with socket.create_connection(("127.0.0.1", int(service.url.rpartition(":")[2]))) as slow:
            slow.settimeout(40)
            slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            started = time.monotonic()
            assert slow.recv(1) == b""
            assert time.monotonic() - started < 30
    finally:
        service.stop()


@pytest.fixture
def postgres_url():
    """Return the address of an empty schema of a PostgreSQL server."""
    made, name = databases.postgres(), f"collector_{os.getpid()}"
    with made.begin() as connection:
        connection.execute(sqlalchemy.text(f"CREATE SCHEMA {name}"))
    yield f"{databases.driver(databases.POSTGRES, 'psycopg')}?options=-csearch_path%3D{name}"
    with made.begin() as connection:
        connection.execute(sqlalchemy.text(f"DROP SCHEMA {name} CASCADE"))


@pytest.mark.sampled
@pytest.mark.parametrize(
    "kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.database)]
)
def test_nothing_acknowledged_is_lost_or_doubled_when_the_service_is_killed(
    kind, tmp_path, request
):
    """Senders go on while the service is killed and started again; every acknowledgement is kept."""
    if kind == "sqlite":
        where, store = tmp_path / "data", Store.in_folder(str(tmp_path / "data"))
    else:
        where = request.getfixturevalue("postgres_url")
        store = Store(where)
    studies = Studies(store)
    names = tuple(f"silo {n}" for n in range(40))
    agreed = plan(silos=names)
    study = studies.create(agreed.to_toml(), deadline=None)
    messages = {name: message(name, agreed=agreed) for name in names}
    tokens = {name: studies.token(study, name) for name in names}
    port, acknowledged, stop = free_port(), {}, threading.Event()

    def sender(name):
        while not stop.is_set() and name not in acknowledged:
            try:
                sent = send(messages[name], f"http://127.0.0.1:{port}", tokens[name])
            except CollectorUnreachableError:
                time.sleep(0.02)
            else:
                acknowledged[name] = sent.digest

    seeded = random.Random(1)  # noqa: S311 -- when, not what
    threads = [threading.Thread(target=sender, args=[name]) for name in names]
    service = Service(where, port)
    for thread in threads:
        thread.start()
    for _ in range(count(quick=2, all=6, soak=1000)):
        time.sleep(seeded.random() * 0.3)
        service.stop(signal.SIGKILL)
        service = Service(where, port)
    for thread in threads:
        thread.join(60)
    stop.set()
    service.stop()

    kept = {each.silo: each.digest for each in studies.messages(study)}
    assert acknowledged == kept
    assert set(kept) == set(names)
    store.check_log()
    store.close()
