"""Start the collector: its folder, its address, its first link."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from fedparity.errors import OptionError
from fedparity.errors.base import extra
from fedparity.service import access
from fedparity.service.chores import Chores
from fedparity.service.store import Store
from fedparity.service.web import collector

__all__ = ["Address", "auditor_link", "run"]

_PATIENCE = 12.0
"""Seconds for the head of a request."""
_NAME_ALONE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_NAME = re.compile(rf"{_NAME_ALONE.pattern}(:[0-9]{{1,5}})?")
"""A proxy may have another port than the usual one."""
_WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 -- to be refused without a name
_LOCAL = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where the collector listens, and under which name people reach it."""

    host: str = "127.0.0.1"
    port: int = 8765
    name: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    behind_proxy: bool = False

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise OptionError(
                "TLS needs a certificate and its key.", fix="give --tls-cert and --tls-key."
            )
        name = _NAME if self.behind_proxy else _NAME_ALONE
        if self.name is not None and not name.fullmatch(self.name):
            raise OptionError(
                "the name under which people reach the collector is not the name of a host.",
                fix="write it as audit.example.org, without https:// and without a path.",
            )
        if self.name is None and (self.behind_proxy or self.host in _WILDCARDS):
            raise OptionError(
                "links need the name under which people reach the collector.",
                fix="give --name audit.example.org.",
            )
        if self.host not in _LOCAL and not (self.tls_cert or self.behind_proxy):
            raise OptionError(
                f"the collector would listen on {self.host} without TLS, so that others could read what "
                "silos send.",
                fix="give --tls-cert and --tls-key, or --behind-proxy if a proxy adds TLS.",
            )

    @property
    def secure(self) -> bool:
        """Return whether browsers reach it over TLS."""
        return self.tls_cert is not None or self.behind_proxy

    @property
    def url(self) -> str:
        """Return the address as people type it."""
        if self.behind_proxy:
            return f"https://{self.name or self.host}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{self.name or host}:{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the names under which it may be asked for; another one is a sign of an attack."""
        return tuple({self.host.lower(), (self.name or self.host).lower(), *_LOCAL[:2], "[::1]"})

    def open(self) -> socket.socket:
        """Return the socket that requests come to, once it is known that all is there that it needs.

        Raises
        ------
        OptionError
            If the address is not free, or the certificate cannot be used.
        """
        if self.tls_cert is not None:
            _check_certificate(self.tls_cert, self.tls_key)
        try:
            opened = socket.create_server(
                (self.host, self.port),
                family=socket.AF_INET6 if ":" in self.host else socket.AF_INET,
                backlog=2048,
            )
        except OSError as problem:
            unknown = isinstance(problem, socket.gaierror)
            reason = "no such address" if unknown else os.strerror(problem.errno or 0).lower()
            raise OptionError(
                f"the collector cannot listen on {self.host}, port {self.port}: {reason}.",
                fix="choose another --port or --host, or stop the program that is there.",
            ) from None
        # All connections behind a proxy are of its address.
        return opened if self.behind_proxy else _Door(fileno=opened.detach())


class _Door(socket.socket):
    """A socket that lets each address in by some connections at once, so that nobody can take them all."""

    _MOST = 100
    _MOST_ADDRESSES = 1000

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection, or close it if its address has too many already.

        It is counted here, since what has not finished the handshake of TLS is nobody else's yet.
        """
        self._opened: dict[bytes, list[socket.socket]] = getattr(self, "_opened", {})
        connection, address = super().accept()
        # Of IPv6 one has 2**64 addresses, which begin with the same eight bytes.
        network = ip_address(address[0].partition("%")[0]).packed[:8]
        own = [each for each in self._opened.get(network, ()) if each.fileno() >= 0]
        if len(own) >= self._MOST:
            connection.close()
            raise ConnectionAbortedError  # asyncio goes on with the next
        self._opened[network] = [*own, connection]
        if len(self._opened) > self._MOST_ADDRESSES:
            self._opened = {
                key: held
                for key, held in self._opened.items()
                if any(each.fileno() >= 0 for each in held)
            }
        return connection, address


def _check_certificate(certificate: str, key: str | None) -> None:
    def no_passphrase() -> str:
        raise ValueError

    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key, password=no_passphrase)
    except ValueError:  # those of ssl are of OSError
        raise OptionError(
            "the private key of the certificate needs a passphrase.",
            fix="give --tls-key a key without one, in a file that only this account can read.",
        ) from None
    except OSError as problem:
        reason = problem.strerror if not isinstance(problem, ssl.SSLError) else "they do not fit"
        raise OptionError(
            f"the certificate {certificate} with its key {key} cannot be used: {reason}.".replace(
                "No such", "no such"
            ),
            fix="check both paths, and that both files are in PEM and belong together.",
        ) from None


def auditor_link(store: Store, address: Address, *, sign_out: bool = False) -> str:
    """Return a link that lets an auditor in once; earlier ones that were not used are void.

    With ``sign_out``, so are the sessions of all auditors, one of which somebody may have stolen.
    """
    kinds: tuple[access.Kind, ...] = ("link", "session") if sign_out else ("link",)
    with store.change() as change:
        access.revoke(change, kinds=kinds)
        link = access.issue(change, "link", "auditor")
        said = "signed all auditors out, and made a link" if sign_out else "made a link"
        change.log("operator", f"{said} for the auditor")
    return f"{address.url}/enter/{link}"


def _impatient() -> type:
    """A connection that is closed if it does not send the head of a request in time.

    uvicorn waits for it without end, so that a few hundred slow senders would keep everybody else out.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: PLC0415 -- an extra

    class Impatient(H11Protocol):
        _since = 0.0

        def connection_made(self, transport: Any) -> None:  # noqa: ANN401 -- of asyncio
            super().connection_made(transport)
            self._watch()

        def _watch(self) -> None:
            if self.transport.is_closing():
                return
            at = self.loop.time()
            cycle = getattr(self, "cycle", None)  # None before the first request
            if cycle is not None and not cycle.response_complete:
                self._since = 0.0
            elif not self._since:
                self._since = at
            elif at - self._since > _PATIENCE:
                self.transport.close()
                return
            self.loop.call_later(_PATIENCE / 4, self._watch)

    return Impatient


def _print_request(facts: Mapping[str, object]) -> None:
    sys.stderr.write(f"{json.dumps(facts)}\n")


def run(
    store: Store,
    address: Address,
    door: socket.socket,
    *,
    chores: Chores | None = None,
    log_requests: bool = False,
) -> None:
    """Answer the requests that come to a socket until the process is told to stop."""
    uvicorn = extra("uvicorn", "the collector", "serve")
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # it logs bytes of forms
    application = collector(
        store,
        address=address.url,
        hosts=address.hosts,
        secure=address.secure,
        chores=chores or Chores(),
        log=_print_request if log_requests else None,
    )
    configured = uvicorn.Config(
        application,
        ssl_certfile=address.tls_cert,
        ssl_keyfile=address.tls_key,
        proxy_headers=address.behind_proxy,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1"),
        http=_impatient(),
        loop="asyncio",  # uvloop would not use the accept of the door
        server_header=False,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=5,
        limit_concurrency=500,
        timeout_graceful_shutdown=5,
    )
    uvicorn.Server(configured).run(sockets=[door])
