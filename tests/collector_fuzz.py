"""Random requests to a collector, with a model that knows which of them may succeed."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from starlette.routing import Route
from tests.unit.service.samples import message, plan

from fedparity.service import access
from fedparity.service.openapi_page import COMMON, STATUSES
from fedparity.service.readers import invite_reader
from fedparity.service.store import Store
from fedparity.service.studies import Studies
from fedparity.service.web import collector

SILOS = tuple(f"silo {number}" for number in range(200))
_SLOW = ("/audit", "/provisional", "/report.html", "/evidence.zip", "/news")
_ODD = (
    "\\ud800",
    "",
    "%00",
    "\x00",
    "9" * 30,
    "-1",
    "..%2f..",
    "%2e%2e/",
    "a" * 3000,
    "'; DROP TABLE study; --",
    "ü%ff",
    "{study}",
    "0",
)
_NOISE = (b"", b"{}", b"[]", b"null", b"\x00\xff\xfe", b"{" * 5000, b'{"schema":1}', b"x" * 70_000)


@dataclass
class Reply:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


async def ask(app: Any, scope: dict[str, Any], body: bytes) -> Reply:
    """Send one request through the interface of ASGI; then the client is gone."""
    parts = [{"type": "http.request", "body": body, "more_body": False}]
    reply = Reply()

    async def receive() -> dict[str, Any]:
        return parts.pop() if parts else {"type": "http.disconnect"}

    async def send(event: dict[str, Any]) -> None:
        if event["type"] == "http.response.start":
            reply.status = event["status"]
            reply.headers = {k.decode().lower(): v.decode("latin-1") for k, v in event["headers"]}
        else:
            reply.body += event.get("body", b"")

    await app(scope, receive, send)
    return reply


def in_a_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run some work in an event loop of its own; the one of a browser may run in this thread."""
    with ThreadPoolExecutor(1) as other:
        other.submit(asyncio.run, work).result()


class Fuzzer:
    """A collector, people with and without rights, and a model of what it must have accepted."""

    def __init__(self, store: Store, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 -- reproducible on purpose
        self.store, self.studies = store, Studies(store)
        agreed = plan(silos=SILOS)
        self.app = collector(store, address="http://h", hosts=("h",), secure=False)
        self.study = self.studies.create(agreed.to_toml(), deadline=None)
        self.other = self.studies.create(plan(title="Other").to_toml(), deadline=None)
        self.messages = {name: message(name, agreed=agreed) for name in SILOS}
        self.tokens = {self.studies.token(self.study, name): name for name in SILOS}
        self.sessions = self._sessions()
        self.kept: dict[str, str] = {}
        self.statuses: Counter[tuple[str, str, int]] = Counter()
        self.routes = [route for route in self.app.routes if isinstance(route, Route)]

    def _sessions(self) -> dict[str, access.Credential]:
        with self.store.change() as change:
            links = [
                access.issue(change, "link", "auditor"),
                access.issue(change, "link", "silo", study=self.study, silo="silo 0"),
                access.issue(change, "link", "reader", study=self.other, reader="Eve"),
            ]
        links.append(invite_reader(self.store, self.study, "Ada"))
        found = {}
        for link in links:
            with self.store.change() as change:
                session = access.redeem(change, link)
            found[session] = access.find(self.store, "session", session)
        return found

    def run(self, count: int) -> None:
        """Send requests, and check each reply."""

        async def all_of_them() -> None:
            sent = 0
            while sent < count:
                sent += await self._one()

        in_a_loop(all_of_them())

    async def _one(self) -> bool:
        """Send a request; False if it would be one more of the slow ones."""
        pick = self.chance
        route = pick.choice(self.routes)
        method = pick.choice(
            [*route.methods, *route.methods, "GET", "POST", "PUT", "DELETE", "FOO"]
        )
        session = pick.choice([None, "x" * 43, *self.sessions])
        person = self.sessions.get(session)
        path = re.sub(r"\{(\w+)(:int)?\}", lambda found: self._value(found[1]), route.path)
        if person and path.endswith(_SLOW) and pick.random() < 0.98:
            return False
        token = pick.choice([None, "y" * 43, "\xfc", *self.tokens])
        silo = self.tokens.get(token)
        csrf = pick.choice(["", "z" * 43, None, *(3 * [person.csrf] if person else [])])
        body, kind = self._body(route.path, silo, csrf)
        headers, honest = self._headers(session, token, kind, len(body))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": quote(path).encode(),
            "root_path": "",
            "query_string": urlencode(
                {"show": pick.choice(_ODD), "from": pick.choice(_ODD)}
            ).encode(),
            "headers": headers,
            "client": (f"10.{pick.randrange(256)}.{pick.randrange(256)}.{pick.randrange(256)}", 1),
            "server": ("h", 80),
        }
        reply = await ask(self.app, scope, body)
        self._check_status(route, method, path, reply)
        if reply.status < 400:
            self._check_right(route, method, path, person, csrf)
            self._check_taken(route, method, reply, silo, body)
        if reply.status < 400:
            assert honest, "an answer to a forged host or origin"
        return True

    def _value(self, name: str) -> str:
        pick, known = self.chance, {"study": [self.study, self.other], "number": ["1"]}
        known["step"] = ["keys", "mask", "request"]
        return pick.choice([*known.get(name, ()), *known.get(name, ()), pick.choice(_ODD)])

    def _headers(
        self, session: str | None, token: str | None, kind: str, length: int
    ) -> tuple[list[tuple[bytes, bytes]], bool]:
        pick = self.chance
        host = pick.choice(["h"] * 20 + ["evil.example", "", "h.evil", "h@evil"])
        origin = pick.choice([None] * 10 + ["http://h", "http://evil", "null"])
        size = pick.choice([str(length)] * 30 + ["-1", "9" * 30, "x"])
        found = {"host": host, "content-type": kind, "content-length": size}
        found |= {} if origin is None else {"origin": origin}
        found |= {} if session is None else {"cookie": f"fedparity_session={session}"}
        found |= {} if token is None else {"authorization": f"Bearer {token}"}
        honest = host == "h" and origin in (None, "http://h") and size == str(length)
        return [(k.encode(), v.encode("latin-1")) for k, v in found.items()], honest

    def _body(self, path: str, silo: str | None, csrf: str | None) -> tuple[bytes, str]:
        pick = self.chance
        if path == "/api/message":
            return self._message(silo), "application/json"
        fields = {"silo": pick.choice([*SILOS[:3], *_ODD]), "name": pick.choice(["Ada", *_ODD])}
        fields |= {"title": pick.choice(_ODD), "deadline": pick.choice(["2026-12-01", *_ODD])}
        fields |= {} if csrf is None else {"csrf": csrf}
        if pick.random() < 0.6:
            return urlencode(fields).encode(), "application/x-www-form-urlencoded"
        if pick.random() < 0.2:
            return pick.choice(_NOISE), pick.choice(
                ["multipart/form-data", "multipart/form-data; boundary=b", "x"]
            )
        parts = [
            f'--b\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'
            for k, v in fields.items()
        ]
        codec = pick.choice(
            [""] * 5 + ["; charset=utf-8", "; charset=unicode_escape", "; charset=idna"]
        )
        file = self._message("silo 0") if "message" in path else pick.choice(_NOISE)
        name = "message" if "message" in path else "plan"
        head = f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="f"\r\n\r\n'
        return (
            "".join(parts).encode() + head.encode() + file + b"\r\n--b--\r\n",
            f"multipart/form-data; boundary=b{codec}",
        )

    def _message(self, silo: str | None) -> bytes:
        """A silo's message, another silo's, one with some bytes changed, or noise."""
        pick = self.chance
        data = bytearray(self.messages[silo or pick.choice(SILOS)])
        what = pick.random()
        if what < 0.3:
            return bytes(data)
        if what < 0.5:
            return self.messages[pick.choice(SILOS)]
        if what < 0.6:
            return pick.choice(_NOISE)
        for _ in range(pick.randrange(1, 4)):
            place = pick.randrange(len(data))
            data[place : place + pick.randrange(3)] = bytes([pick.randrange(256)])
        return bytes(data)

    def _check_status(self, route: Route, method: str, path: str, reply: Reply) -> None:
        shown = route.path.replace(":int}", "}")
        self.statuses[method, shown, reply.status] += 1
        asked = "GET" if method == "HEAD" else method
        documented = {*STATUSES.get((asked, shown), ()), *COMMON}
        assert reply.status in documented, (method, path, reply.status)
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert b"Traceback" not in reply.body

    def _check_right(
        self,
        route: Route,
        method: str,
        path: str,
        person: access.Credential | None,
        csrf: str | None,
    ) -> None:
        """Somebody got what they asked for: they must have the right to it."""
        roles = getattr(route.endpoint, "roles", None)
        if roles is None:
            return
        assert person is not None, (method, path)
        assert person.role in roles
        assert "{study}" not in route.path or person.study is None or person.study in path
        assert method in ("GET", "HEAD") or csrf == person.csrf

    def _check_taken(
        self, route: Route, method: str, reply: Reply, silo: str | None, body: bytes
    ) -> None:
        if route.path == "/api/message" and method == "PUT":
            self._accepted(reply, silo, body)
        if route.path == "/silo/message" and method == "POST":
            self._accepted(reply, "silo 0", None)

    def _accepted(self, reply: Reply, silo: str | None, body: bytes | None) -> None:
        """A message was taken: it must be that silo's own, and the first or an equal one."""
        assert silo is not None
        if body is None:
            digest = re.search(rb"sha256:[0-9a-f]{64}", reply.body.partition(b"Digest")[2])[
                0
            ].decode()
        else:
            assert json.loads(body)["silo"] == silo
            digest = json.loads(reply.body)["digest"]
        assert (silo in self.kept) == (
            reply.status == 200 if body is not None else silo in self.kept
        )
        assert self.kept.setdefault(silo, digest) == digest

    def check_store(self) -> None:
        """Raise unless the store holds what was accepted, and nothing else."""
        kept = {each.silo: each.digest for each in self.studies.messages(self.study)}
        assert kept == self.kept
        assert self.studies.messages(self.other) == []
        assert {each[0] for each in self.studies.summaries()} == {self.study, self.other}
        self.store.check_log()
