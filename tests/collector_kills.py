"""Kill a collector at random moments under many senders, and compare what they were told with what is kept.

A nursery, a process that has imported everything, forks the service anew after each kill, so that a start
takes a fraction of a second. The service is the real one, killed by SIGKILL.

    python -m tests.collector_kills --kills 1000 [--database postgresql+psycopg://…] [--data DIR]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field

import sqlalchemy as sa
from tests.unit.service.samples import message, plan

from fedparity.errors import CollectorUnreachableError
from fedparity.service import access
from fedparity.service import store as schema
from fedparity.service.sender import Door
from fedparity.service.store import Store
from fedparity.service.studies import Studies

SILOS = tuple(f"silo {number}" for number in range(100))


def nursery(where: str, port: int) -> None:
    """Fork the service on each line of the input, and kill it on the next one."""
    from fedparity.service import web  # noqa: F401, PLC0415 -- before the first fork
    from fedparity.service.server import Address, run  # noqa: PLC0415

    __import__("uvicorn.protocols.http.h11_impl")
    Store(where).close()  # imports the driver of the database
    while sys.stdin.readline():
        child = os.fork()
        if child == 0:
            try:
                address = Address(port=port)
                run(Store(where), address, address.open())
            finally:
                os._exit(1)
        sys.stdin.readline()
        os.kill(child, signal.SIGKILL)
        _, how = os.waitpid(child, 0)
        sys.stdout.write(f"{os.WTERMSIG(how) if os.WIFSIGNALED(how) else -1}\n")
        sys.stdout.flush()


@dataclass
class Tally:
    """What happened."""

    kills: int = 0
    at_work: int = 0
    """Kills of a service that had acknowledged something since it started."""
    sent: dict[tuple[str, str], str] = field(default_factory=dict)
    again: int = 0
    """Messages that were sent once more after they had been acknowledged."""


class Trial:
    """Senders of one collector that is killed again and again."""

    def __init__(self, where: str, port: int, senders: int) -> None:
        self.store = Store(where)
        self.studies = Studies(self.store)
        self._plan = plan(silos=SILOS).to_toml()
        self._messages = {name: message(name, agreed=plan(silos=SILOS)) for name in SILOS}
        self._work: queue.Queue[tuple[str, str, Door]] = queue.Queue()
        self._url, self._senders, self._stop = (
            f"http://127.0.0.1:{port}",
            senders,
            threading.Event(),
        )
        self._where, self._port = where, port
        self.tally = Tally()

    def refill(self) -> None:
        """Begin a study, whose silos all have something to send."""
        study = self.studies.create(self._plan, deadline=None)
        with self.store.change() as change:
            for name in SILOS:
                token = access.issue(change, "token", "silo", study=study, silo=name)
                self._work.put((study, name, Door(self._url, token)))

    def _send(self, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 -- when, not what
        while not self._stop.is_set() or not self._work.empty():
            try:
                study, name, door = self._work.get(timeout=0.1)
            except queue.Empty:
                continue
            self._until_acknowledged(study, name, door)
            if chance.random() < 0.1:
                self.tally.again += 1
                self._until_acknowledged(study, name, door)

    def _until_acknowledged(self, study: str, name: str, door: Door) -> None:
        while True:
            try:
                digest = door.send(self._messages[name]).digest
            except CollectorUnreachableError:
                time.sleep(0.1)
            else:
                assert self.tally.sent.setdefault((study, name), digest) == digest
                return

    def endure(self, kills: int, *, spread: float = 0.4, seed: int = 1) -> Tally:
        """Kill the service so often, within a time after it opened; then let the senders finish."""
        chance = random.Random(seed)  # noqa: S311
        words = [sys.executable, "-m", "tests.collector_kills", "--nursery", self._where]
        started = subprocess.Popen(  # noqa: S603 -- our own code
            [*words, "--port", str(self._port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        threads = [threading.Thread(target=self._send, args=[n]) for n in range(self._senders)]
        for thread in threads:
            thread.start()
        with started as process:
            for number in range(kills):
                if self._work.qsize() < 2 * self._senders:
                    self.refill()
                before = len(self.tally.sent)
                self._tell(process)
                if chance.random() < 0.9:  # the others may be killed while they start
                    self._wait_for_door()
                    if (
                        chance.random() < 0.7
                    ):  # PostgreSQL opens a connection for each sender first
                        self._wait_for_work(before)
                time.sleep(chance.random() * spread)
                self._kill(process)
                self.tally.kills += 1
                self.tally.at_work += len(self.tally.sent) > before
                if number % 50 == 49:
                    sys.stderr.write(f"{self.summary()}\n")
            self._stop.set()
            self._tell(process)
            for thread in threads:
                thread.join(600)
                assert not thread.is_alive()
            self._kill(process)
            process.stdin.close()
        return self.tally

    def _wait_for_door(self) -> None:
        for _ in range(2000):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port)):
                return
            time.sleep(0.01)

    def _wait_for_work(self, before: int) -> None:
        for _ in range(1000):
            if len(self.tally.sent) > before:
                return
            time.sleep(0.01)

    def _tell(self, process: subprocess.Popen[str]) -> None:
        process.stdin.write("\n")
        process.stdin.flush()

    def _kill(self, process: subprocess.Popen[str]) -> None:
        self._tell(process)
        assert int(process.stdout.readline()) == signal.SIGKILL

    def check(self) -> None:
        """Raise unless every acknowledgement is kept, exactly once, in a log that is whole."""
        table, lines = schema.message, schema.event
        with self.store.read() as connection:
            kept = connection.execute(sa.select(table.c.study, table.c.silo, table.c.digest)).all()
            logged = connection.execute(
                sa.select(lines.c.study, lines.c.silo, lines.c.detail).where(
                    lines.c.action == "sent"
                )
            ).all()
        expected = sorted((*place, digest) for place, digest in self.tally.sent.items())
        assert sorted(map(tuple, kept)) == expected
        assert sorted(map(tuple, logged)) == expected
        self.store.check_log()

    def summary(self) -> str:
        """Return the numbers."""
        tally = self.tally
        return (
            f"{tally.kills} kills, {tally.at_work} of a service at work; {len(tally.sent)} messages "
            f"acknowledged, {tally.again} of them sent again"
        )


def main() -> None:
    """Run a long trial, or the nursery of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--senders", type=int, default=50)
    parser.add_argument("--port", type=int, default=18765)
    parser.add_argument("--spread", type=float, default=0.4)
    parser.add_argument("--database")
    parser.add_argument("--nursery")
    options = parser.parse_args()
    if options.nursery:
        nursery(options.nursery, options.port)
        return
    with tempfile.TemporaryDirectory() as folder:
        where = options.database or f"sqlite:///{folder}/collector.sqlite"
        trial = Trial(where, options.port, options.senders)
        trial.refill()
        trial.endure(options.kills, spread=options.spread)
        trial.check()
        sys.stdout.write(f"{trial.summary()}; all kept once, and the log is whole\n")
        trial.store.close()


if __name__ == "__main__":
    main()
