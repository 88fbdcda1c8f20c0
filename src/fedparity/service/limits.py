"""What every request must keep to before any page sees it: the host, the size, the time, the rate."""

from __future__ import annotations

import asyncio
import sys
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePath

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["LARGEST", "Guard", "RateLimit", "RequestLog"]

LARGEST = 8 << 20
"""Bytes of a request; a message of a hundred groups of a thousand values is a fifth of it."""
_PATIENCE = 30.0
"""Seconds in which the whole body of a request must have come."""

_SAFE = ("GET", "HEAD")
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    # With no-referrer, browsers send forms with the origin null, as they do for pages of others.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class RateLimit:
    """At most ``rate`` events a second on average for each key, and ``burst`` at once.

    Examples
    --------
    >>> limit = RateLimit(rate=1, burst=2, clock=lambda: 0.0)
    >>> [limit.allows("aurora") for _ in range(3)], limit.allows("bayside")
    ([True, True, False], True)
    """

    def __init__(
        self, *, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, key: str, *, cost: int = 1) -> bool:
        """Return whether one more event of this key is allowed, and count it; cost 0 only looks."""
        at = self._clock()
        left, before = self._left.pop(key, (float(self._burst), at))
        left = min(self._burst, left + (at - before) * self._rate)
        allowed = left >= 1
        self._left[key] = (left - cost if allowed else left, at)
        while len(self._left) > 10_000:  # an attacker with many addresses must not fill the memory
            self._left.popitem(last=False)
        return allowed


class Guard:
    """Middleware that refuses what no page should have to think of, and sets the headers of security."""

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str]) -> None:
        self._app, self._hosts = app, frozenset(hosts)
        # Many silos may share an address, so that only requests that found nothing count against it.
        self._failures = RateLimit(rate=1, burst=60)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        started = False

        async def noticed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if message["status"] in (401, 403, 404):
                    self._failures.allows(_client(scope))
            await _with_headers(send)(message)

        try:
            await self._app(scope, _until_read(_bounded(receive), receive), noticed)
        except ClientDisconnect:
            return
        except Exception as problem:  # noqa: BLE001 -- the words of an error may be somebody's data
            answer = _answer_to(problem)
            if not started:
                await answer(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        found = _from_elsewhere(scope, headers, self._hosts) or _malformed(headers)
        if found is None and not self._failures.allows(_client(scope), cost=0):
            found = 429, "too many requests; try again in a minute"
        return None if found is None else PlainTextResponse(f"{found[1]}\n", found[0])


def _from_elsewhere(
    scope: Scope, headers: Headers, hosts: Collection[str]
) -> tuple[int, str] | None:
    """Status and words for a request for another host, or of a page of others."""
    host = headers.get("host", "").lower()
    if not {host, host.rpartition(":")[0]} & set(hosts):
        return 421, "this is not the collector's address"
    origin = headers.get("origin")
    foreign = origin is not None and origin.partition("://")[2].lower() != host
    # A link in a mail leads here; an image or a form of another page may not: what it guesses would count
    # against the address of the person who looks at that page. Older browsers do not say.
    elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    is_link = scope["method"] in _SAFE and headers.get("sec-fetch-dest") == "document"
    if foreign or (elsewhere and not is_link):
        return 403, "this request comes from another page"
    return None


def _malformed(headers: Headers) -> tuple[int, str] | None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:12]) > LARGEST:
        return 413, "the request is too large"
    charset = headers.get("content-type", "").lower().partition("charset")[2]
    if charset.strip(" =\"';") not in ("", "utf-8", "utf8"):
        # Some codecs of Python make text of bytes that nothing else can encode again.
        return 415, "forms are in UTF-8"
    if "transfer-encoding" in headers and "content-length" in headers:
        # A proxy may believe one, and this program the other: a second request could hide there.
        return 400, "the request states two lengths"
    return None


def _answer_to(problem: Exception) -> PlainTextResponse:
    if isinstance(problem, _TooLargeError):
        status, words = 413, "the request is too large"
    elif isinstance(problem, TimeoutError):
        status, words = 408, "the request took too long"
    else:
        last = traceback.extract_tb(problem.__traceback__)[-1]
        place = f"{PurePath(last.filename).name}, line {last.lineno}"
        sys.stderr.write(f"fedparity: a request failed: {type(problem).__name__} in {place}\n")
        status, words = 500, "the collector made a mistake; its log has a line about it"
    return PlainTextResponse(f"{words}\n", status, {"connection": "close"})


class RequestLog:
    """Middleware that reports every request: its route and not its path, which may hold a secret."""

    def __init__(self, app: ASGIApp, *, log: Callable[[Mapping[str, object]], None]) -> None:
        self._app, self._log = app, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and report it when the answer begins."""
        started = time.monotonic()

        async def reported(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._log(
                    {
                        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                        "method": scope["method"],
                        "route": _route(scope),
                        "status": message["status"],
                        "milliseconds": round(1000 * (time.monotonic() - started), 1),
                        "client": _client(scope),
                    }
                )
            await send(message)

        await self._app(scope, receive, reported if scope["type"] == "http" else send)


def _route(scope: Scope) -> str | None:
    """The path with the names of its parameters; None if there is no such page."""
    endpoint = scope.get("endpoint")
    routes = scope["app"].routes if endpoint is not None else ()
    ends = ((route.path, getattr(route, "endpoint", route.app)) for route in routes)
    return next((str(path) for path, end in ends if end is endpoint), None)


def _client(scope: Scope) -> str:
    client = scope.get("client") or ("?", 0)
    return str(client[0])


class _TooLargeError(Exception):
    """A body that is larger than any message."""


def _bounded(receive: Receive) -> Receive:
    """The channel of a body that is neither too large nor too slow."""
    deadline = asyncio.get_running_loop().time() + _PATIENCE
    size = 0

    async def bounded() -> Message:
        nonlocal size
        async with asyncio.timeout_at(deadline):
            message = await receive()
        size += len(message.get("body", b""))
        if size > LARGEST:
            raise _TooLargeError
        return message

    return bounded


def _until_read(bounded: Receive, plain: Receive) -> Receive:
    """The bounded channel until the body is there; then waiting for the end of the connection is free."""
    finished = False

    async def receive() -> Message:
        nonlocal finished
        if finished:
            return await plain()
        message = await bounded()
        finished = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    return receive


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
