"""Start the collector: its folder, its address, its first link."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from fedparity.errors import OptionError
from fedparity.errors.extras import extra
from fedparity.service import access
from fedparity.service.store import Store
from fedparity.service.web import collector

__all__ = ["Address", "auditor_link", "run"]

_PATIENCE = 12.0
"""Seconds for the head of a request."""
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
        return f"{'https' if self.secure else 'http'}://{self.name or self.host}:{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the names under which it may be asked for; another one is a sign of an attack."""
        return tuple({self.host.lower(), (self.name or self.host).lower(), *_LOCAL[:2], "[::1]"})


def auditor_link(store: Store, address: Address) -> str:
    """Return a link that lets an auditor in once; earlier ones that were not used are void."""
    with store.change() as change:
        access.revoke(change, study=None, silo=None)
        link = access.issue(change, "link", "auditor")
        change.log("operator", "made a link for the auditor")
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


def run(store: Store, address: Address) -> None:
    """Answer requests until the process is told to stop."""
    uvicorn = extra("uvicorn", "the collector", "serve")
    application = collector(store, address=address.url, hosts=address.hosts, secure=address.secure)
    uvicorn.run(
        application,
        host=address.host,
        port=address.port,
        ssl_certfile=address.tls_cert,
        ssl_keyfile=address.tls_key,
        proxy_headers=address.behind_proxy,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1"),
        http=_impatient(),
        server_header=False,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=5,
        limit_concurrency=500,
        timeout_graceful_shutdown=5,
    )
