"""A collector in a process of its own: what it acknowledged survives being killed."""

import contextlib
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from http.client import HTTPConnection
from urllib.request import Request, urlopen

import pytest
from tests import databases
from tests.collector_kills import Trial
from tests.tiers import count
from tests.unit.service.samples import message, plan
from tests.unit.service.test_starting import certificate

from fedparity.errors import CollectorUnreachableError
from fedparity.service.sender import Door
from fedparity.service.store import Store
from fedparity.service.studies import Studies

pytest.importorskip("uvicorn")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Service:
    """The command, started on a folder."""

    def __init__(self, where, port, *options, trust=None):
        self.url = f"{'https' if trust else 'http'}://127.0.0.1:{port}"
        context = ssl.create_default_context(cafile=trust) if trust else None
        place = ["--database", where] if isinstance(where, str) else ["--data", str(where)]
        self.process = subprocess.Popen(  # noqa: S603 -- our own code
            [sys.executable, "-m", "fedparity", "serve", *place, "--port", str(port), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.link = self.process.stdout.readline().strip()
        for _ in range(1200):
            with (
                contextlib.suppress(OSError),
                urlopen(f"{self.url}/healthz", context=context) as reply,  # noqa: S310
            ):
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


def test_over_tls_a_silo_trusts_the_certificate_that_it_was_given(place):
    folder, studies, study = place
    cert, key = certificate(folder)
    other, _ = certificate(folder, "other")
    service = Service(
        folder / "data", free_port(), "--tls-cert", cert, "--tls-key", key, trust=cert
    )
    token = studies.token(study, "aurora")
    try:
        assert service.link.startswith("https://")
        assert Door(service.url, token, ca_file=cert).send(message("aurora")).new
        for trust in (other, None):
            with pytest.raises(CollectorUnreachableError, match="SSLCertVerificationError"):
                Door(service.url, token, ca_file=trust).send(message("aurora"))
    finally:
        service.stop()


def test_a_second_service_on_a_port_says_so_and_leaves_the_first_ones_link(place):
    folder, _, _ = place
    port = free_port()
    service = Service(folder / "data", port)
    try:
        second = fedparity("serve", "--data", folder / "data", "--port", port)
        assert (second.returncode, second.stdout) == (2, "")
        assert "address already in use" in second.stderr
        with urlopen(Request(service.link, method="POST")) as entered:  # noqa: S310
            assert entered.url == f"{service.url}/"
    finally:
        service.stop(signal.SIGINT)
    assert service.process.returncode == 0


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


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of this machine")
def test_one_who_takes_all_connections_keeps_nobody_out(place):
    folder, _, _ = place
    service = Service(folder / "data", free_port())
    port = int(service.url.rpartition(":")[2])
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(600):
                with contextlib.suppress(OSError):
                    slow = socket.create_connection(("127.0.0.1", port), timeout=5)
                    stack.enter_context(slow).sendall(b"GET / HTTP/1.1\r\n")
            other = HTTPConnection("127.0.0.1", port, source_address=("127.0.0.2", 0), timeout=60)
            stack.callback(other.close)
            other.request("GET", "/healthz")
            assert other.getresponse().status == 200
    finally:
        service.stop()


@pytest.fixture
def postgres_url():
    with databases.empty_schema(f"collector_{os.getpid()}") as url:
        yield url


@pytest.mark.sampled
@pytest.mark.parametrize(
    "kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.database)]
)
def test_nothing_acknowledged_is_lost_or_doubled_when_the_service_is_killed(
    kind, tmp_path, request
):
    """Fifty senders go on while the service is killed and started again; every acknowledgement is kept."""
    sqlite = f"sqlite:///{tmp_path}/collector.sqlite"
    where = sqlite if kind == "sqlite" else request.getfixturevalue("postgres_url")
    trial = Trial(where, free_port(), senders=50)
    trial.refill()
    tally = trial.endure(count(quick=2, all=6, soak=1000))

    assert tally.sent
    trial.check()
    trial.store.close()
