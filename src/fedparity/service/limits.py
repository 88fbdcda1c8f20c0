"""What every request must keep to before any page sees it: the host, the size, the time, the rate."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "RateLimit"]

_LARGEST = 8 << 20
"""Bytes of a request; a message of a hundred groups of a thousand values is a fifth of it."""
_PATIENCE = 30.0
"""Seconds in which the whole body of a request must have come."""

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
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
        deadline = asyncio.get_running_loop().time() + _PATIENCE
        size = 0

        async def bounded() -> Message:
            nonlocal size
            async with asyncio.timeout_at(deadline):
                message = await receive()
            size += len(message.get("body", b""))
            if size > _LARGEST:
                raise _TooLargeError
            return message

        started = False

        async def noticed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if message["status"] in (401, 403, 404):
                    self._failures.allows(_client(scope))
            await _with_headers(send)(message)

        try:
            await self._app(scope, _until_read(bounded, receive), noticed)
        except (TimeoutError, _TooLargeError) as problem:
            if started:
                return
            too_large = isinstance(problem, _TooLargeError)
            words = "the request is too large" if too_large else "the request took too long"
            response = PlainTextResponse(f"{words}\n", status_code=413 if too_large else 408)
            response.headers["connection"] = "close"
            await response(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "").lower()
        if not {host, host.rpartition(":")[0]} & self._hosts:
            return PlainTextResponse("this is not the collector's address\n", status_code=421)
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host:
            return PlainTextResponse("this request comes from another page\n", status_code=403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > _LARGEST:
            return PlainTextResponse("the request is too large\n", status_code=413)
        if not self._failures.allows(_client(scope), cost=0):
            return PlainTextResponse("too many requests; try again in a minute\n", status_code=429)
        return None


def _client(scope: Scope) -> str:
    client = scope.get("client") or ("?", 0)
    return str(client[0])


class _TooLargeError(Exception):
    """A body that is larger than any message."""


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
