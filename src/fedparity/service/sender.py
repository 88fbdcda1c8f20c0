"""Send a message to a collector."""

from __future__ import annotations

import json
import re
import ssl
from http.client import HTTPException, IncompleteRead
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit
from urllib.request import (
    BaseHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    Request,
    build_opener,
)

from fedparity.errors import (
    CollectorUnreachableError,
    FedparityError,
    MessageError,
    NotAllowedError,
    OptionError,
)
from fedparity.errors.base import printable

__all__ = ["Door", "Sent", "send"]

_PATIENCE = 60
_LONGEST_REPLY = 1 << 16


class Sent(NamedTuple):
    """What the collector said of a message that it took."""

    digest: str
    new: bool
    """False: it had the same message already."""


class Door:
    """The way of a silo's programs to a collector.

    Parameters
    ----------
    url : str
    token : str
    ca_file : str, optional
        Certificates to trust, if not those of the system.

    Raises
    ------
    OptionError
        If the address would send the token in the clear.
    """

    def __init__(self, url: str, token: str, *, ca_file: str | None = None) -> None:
        parts = _split(url)
        local = parts.hostname in ("127.0.0.1", "localhost", "::1")
        if parts.scheme != "https" and not (parts.scheme == "http" and local):
            raise OptionError(
                "the address of a collector starts with https://.",
                fix="ask the auditor for it; http:// is for this machine alone.",
            )
        if not re.fullmatch(r"[\w-]{1,100}", token, re.ASCII):
            raise OptionError(
                "the token file does not hold a token.",
                fix="make one on the silo's page, and write it alone to the file.",
            )
        self._base, self._name, self._token = url.rstrip("/"), parts.netloc, token
        handlers: list[BaseHandler] = [_NoRedirect()]
        if parts.scheme == "https":
            handlers.append(HTTPSHandler(context=_trusting(ca_file)))
        self._opener = build_opener(*handlers)

    def call(
        self, method: str, path: str, data: bytes | None = None, *, longest: int = _LONGEST_REPLY
    ) -> tuple[int, bytes]:
        """Return the status and the body of a reply.

        Raises
        ------
        MessageError
            If the collector refuses what was sent.
        NotAllowedError
            If the token is not valid.
        CollectorUnreachableError
            If the collector does not answer, or not now.
        """
        request = Request(  # noqa: S310 -- the scheme was checked
            f"{self._base}{path}",
            data=data,
            method=method,
            headers={
                "authorization": f"Bearer {self._token}",
                "content-type": "application/json",
            },
        )
        try:
            with self._opener.open(request, timeout=_PATIENCE) as reply:
                body = reply.read(longest + 1)
                if len(body) > longest or reply.headers.get(
                    "content-length", str(len(body))
                ) != str(len(body)):
                    raise IncompleteRead(body)  # a read with a limit does not notice it
                return reply.status, body
        except HTTPError as problem:
            raise _error(problem) from None
        except (URLError, OSError, HTTPException) as problem:
            reason = getattr(problem, "reason", problem)
            raise CollectorUnreachableError(
                f"the collector at {self._name} cannot be reached: {type(reason).__name__}.",
                fix="check the address and the network; nothing is lost, run the same command again.",
            ) from None

    def send(self, data: bytes) -> Sent:
        """Send the bytes of a message, and return once the collector has it on its disk."""
        status, body = self.call("PUT", "/api/message", data)
        return Sent(_field(body, "digest"), new=status == 201)


def send(data: bytes, url: str, token: str, *, ca_file: str | None = None) -> Sent:
    """Send the bytes of a message, as :class:`Door` does."""
    return Door(url, token, ca_file=ca_file).send(data)


class _NoRedirect(HTTPRedirectHandler):
    """Follows nothing: the token goes to the address that was typed, and nowhere else."""

    def redirect_request(self, *_: object) -> None:
        """Return nothing, so that the answer is the error that it is."""
        return


def _split(url: str) -> SplitResult:
    """The parts of an address that is the collector's and no page of it."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 -- it is checked when it is read
    except ValueError:
        parts = urlsplit("")
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment or "@" in url:
        raise OptionError(
            "this is not the address of a collector.",
            fix="give it as https://audit.example.org, without a path: a link for people is none.",
        )
    return parts


def _trusting(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as problem:  # those of ssl are of OSError
        reason = "it holds none" if isinstance(problem, ssl.SSLError) else problem.strerror
        raise OptionError(
            f"the certificates in {ca_file} cannot be read: {reason}.",
            fix="give --ca-file a file of certificates in PEM.",
        ) from None


def _error(problem: HTTPError) -> FedparityError:
    try:
        body = problem.read(_LONGEST_REPLY)
    except (OSError, HTTPException):
        body = b""
    message = _field(body, "error") or f"the collector answered with status {problem.code}."
    fix = _field(body, "fix") or (
        "check the address with the auditor: it leads to another one, or to no collector."
        if problem.code < 500
        else "ask the auditor whether the collector runs well."
    )
    if problem.code in (401, 403):
        return NotAllowedError(message, fix=fix)
    if problem.code in (409, 413, 422):
        return MessageError(message, fix=fix)
    return CollectorUnreachableError(message, fix=fix)


def _field(body: bytes, name: str) -> str:
    """A text of the reply; nothing if it is not what a collector says."""
    try:
        value = json.loads(body)[name]
    except (ValueError, TypeError, KeyError):
        return ""
    return printable(value)[:2000].replace("\n", " ")
