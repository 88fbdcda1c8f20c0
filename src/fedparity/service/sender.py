"""Send a message to a collector."""

from __future__ import annotations

import json
import ssl
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from fedparity.errors import (
    CollectorUnreachableError,
    MessageError,
    NotAllowedError,
    OptionError,
)

__all__ = ["Sent", "send"]

_PATIENCE = 60
_LONGEST_REPLY = 1 << 16


class Sent(NamedTuple):
    """What the collector said of a message that it took."""

    digest: str
    new: bool
    """False: it had the same message already."""


def send(data: bytes, url: str, token: str, *, ca_file: str | None = None) -> Sent:
    """Send the bytes of a message, and return once the collector has it on its disk.

    Raises
    ------
    MessageError
        If the collector refuses the message.
    NotAllowedError
        If the token is not valid.
    CollectorUnreachableError
        If the collector does not answer.
    OptionError
        If the address would send the token in the clear.
    """
    parts = urlsplit(url)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.scheme != "https" and not (parts.scheme == "http" and local):
        raise OptionError(
            "the address of a collector starts with https://.",
            fix="ask the auditor for it; http:// is for this machine alone.",
        )
    request = Request(  # noqa: S310 -- the scheme was checked
        f"{url.rstrip('/')}/api/message",
        data=data,
        method="PUT",
        headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    context = ssl.create_default_context(cafile=ca_file) if parts.scheme == "https" else None
    try:
        with urlopen(request, timeout=_PATIENCE, context=context) as reply:  # noqa: S310
            return Sent(_field(reply.read(_LONGEST_REPLY), "digest"), new=reply.status == 201)
    except HTTPError as problem:
        body = problem.read(_LONGEST_REPLY)
        message = _field(body, "error") or f"the collector answered with status {problem.code}."
        fix = _field(body, "fix") or "ask the auditor whether the collector runs well."
        if problem.code in (401, 403):
            raise NotAllowedError(message, fix=fix) from None
        if problem.code in (409, 422):
            raise MessageError(message, fix=fix) from None
        raise CollectorUnreachableError(message, fix=fix) from None
    except (URLError, OSError) as problem:
        reason = getattr(problem, "reason", problem)
        raise CollectorUnreachableError(
            f"the collector at {parts.netloc} cannot be reached: {type(reason).__name__}.",
            fix="check the address and the network; nothing is lost, send the same file again.",
        ) from None


def _field(body: bytes, name: str) -> str:
    """A text of the reply; nothing if it is not what a collector says."""
    try:
        value = json.loads(body)[name]
    except (ValueError, TypeError, KeyError):
        return ""
    return str(value)[:2000]
