"""How fast the collector takes messages, next to a bare handler that stores the same bytes with the same sync.

Both run under uvicorn in a process of their own, on SQLite with ``synchronous=FULL``; the same client sends
the same messages over kept connections, in turns. The bare handler checks nothing, keeps no log and
commits every message by itself. Both run on asyncio's own loop and parse requests with h11, which limits
the size of headers; with ``--http httptools`` the bare handler parses them in C.

    python benchmarks/collector.py [--silos 2000] [--senders 50]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

import numpy as np

import fedparity as fp
from fedparity.modes.mode import mode_of
from fedparity.service.server import Address, auditor_link
from fedparity.service.store import Store
from fedparity.service.studies import Studies
from fedparity.sketches.records import ArrayRecords

BARE = """
import sqlite3, sys, threading
import uvicorn
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
local = threading.local()
def keep(key, data):
    if not hasattr(local, "base"):
        local.base = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
        local.base.execute("PRAGMA journal_mode=WAL"); local.base.execute("PRAGMA synchronous=FULL")
        local.base.execute("CREATE TABLE IF NOT EXISTS message (key TEXT PRIMARY KEY, content BLOB)")
    local.base.execute("BEGIN IMMEDIATE")
    local.base.execute("INSERT OR REPLACE INTO message VALUES (?, ?)", (key, data))
    local.base.execute("COMMIT")
async def take(request):
    await run_sync(keep, request.headers["authorization"], await request.body())
    return JSONResponse({}, 201)
async def health(request):
    return JSONResponse({})
routes = [Route("/api/message", take, methods=["PUT"]), Route("/healthz", health)]
uvicorn.run(
    Starlette(routes=routes), port=int(sys.argv[2]), log_level="warning", http=sys.argv[3], loop="asyncio"
)
"""


def main() -> None:
    """Print the rates and their ratio, and how long the auditor's page takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--silos", type=int, default=2000)
    parser.add_argument("--senders", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--http", default="h11", help="parser of the bare handler: h11, httptools")
    options = parser.parse_args()
    ratios = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            requests, study = _prepared(Path(folder), options.silos)
            ours = _rate(_collector(folder), requests, options.senders)
            bare = _rate(_bare(folder, options.http), requests, options.senders)
            page, size = _page(Path(folder), study)
        ratios.append(ours / bare)
        print(
            f"collector {ours:,.0f} messages/s, bare handler {bare:,.0f}, ratio {ours / bare:.2f}; "
            f"the page of {options.silos:,} silos {page * 1000:,.0f} ms, {size / 1024:,.0f} KiB",
            flush=True,
        )
    print(f"median ratio {statistics.median(ratios):.2f}")


def _prepared(folder: Path, silos: int) -> tuple[list[tuple[str, bytes]], str]:
    """A study, and the token and the message of every silo."""
    names = tuple(f"silo {number}" for number in range(silos))
    earlier, plan = (
        fp.Plan(title=title, groups=("A", "B"), score_range=(0, 1), silos=names)
        for title in ("An earlier round", "Speed")
    )
    store = Store.in_folder(str(folder))
    studies = Studies(store)
    studies.create(earlier.to_toml(), deadline=None)  # the page shows it, too
    study = studies.create(plan.to_toml(), deadline=None)
    random = np.random.default_rng(0)
    records = ArrayRecords(
        tuple(plan.groups),
        random.random(2000),
        random.integers(0, 2, 2000).astype(np.uint32),
        None,
    )
    mode = mode_of(plan)
    requests = [
        (studies.token(study, name), mode.release(records, name).sketch.to_bytes())
        for name in names
    ]
    store.close()
    return requests, study


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _collector(folder: str) -> tuple[subprocess.Popen[bytes], int]:
    port = _free_port()
    words = ["-m", "fedparity", "serve", "--data", folder, "--port", str(port)]
    return _started([sys.executable, *words], port), port


def _bare(folder: str, http: str) -> tuple[subprocess.Popen[bytes], int]:
    port = _free_port()
    command = [sys.executable, "-c", BARE, f"{folder}/bare.sqlite", str(port), http]
    return _started(command, port), port


def _started(command: list[str], port: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    for _ in range(600):
        with contextlib.suppress(OSError), urlopen(f"http://127.0.0.1:{port}/healthz"):
            return process
        time.sleep(0.05)
    raise SystemExit("the service did not start")


def _rate(
    service: tuple[subprocess.Popen[bytes], int], requests: list[tuple[str, bytes]], senders: int
) -> float:
    process, port = service
    started = time.perf_counter()
    asyncio.run(_send_all(port, requests, senders))
    seconds = time.perf_counter() - started
    process.terminate()
    process.wait()
    return len(requests) / seconds


async def _send_all(port: int, requests: list[tuple[str, bytes]], senders: int) -> None:
    waiting = iter(requests)

    async def sender() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for token, data in waiting:
            head = (
                f"PUT /api/message HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
                f"Content-Length: {len(data)}\r\n\r\n"
            )
            writer.write(head.encode() + data)
            status = await reader.readline()
            if b" 201 " not in status:
                raise SystemExit(f"not taken: {status!r}")
            length = 0
            while (line := await reader.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            await reader.readexactly(length)
        writer.close()

    await asyncio.gather(*(sender() for _ in range(senders)))


def _page(folder: Path, study: str) -> tuple[float, int]:
    """Seconds and bytes of the auditor's page, made in this process."""
    from starlette.testclient import TestClient  # noqa: PLC0415

    from fedparity.service.web import collector  # noqa: PLC0415

    store = Store.in_folder(str(folder))
    address = "http://127.0.0.1:8765"
    app = collector(store, address=address, hosts=("127.0.0.1",), secure=False)
    client = TestClient(app, base_url=address)
    client.post(auditor_link(store, Address()).removeprefix(address))
    client.get(f"/studies/{study}")
    started = time.perf_counter()
    page = client.get(f"/studies/{study}")
    seconds = time.perf_counter() - started
    store.close()
    return seconds, len(page.content)


if __name__ == "__main__":
    main()
