"""Who may do what: links for people, sessions of browsers, and tokens of programs.

Each is a secret of 256 bits that is shown once. The store keeps its hash, its role and when it expires; a
secret that is lost is replaced, not looked up.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

import sqlalchemy as sa

from fedparity.service import store
from fedparity.service.store import Change, Store, now

__all__ = ["Credential", "Kind", "Role", "find", "forget", "issue", "redeem", "revoke"]

Role: TypeAlias = Literal["auditor", "reader", "silo"]
Kind: TypeAlias = Literal["link", "session", "token"]

_LIFETIME: Final = {
    "link": timedelta(days=14),
    "session": timedelta(hours=12),
    "token": timedelta(days=90),
}


@dataclass(frozen=True, kw_only=True)
class Credential:
    """A right that somebody has shown."""

    hash: str
    kind: Kind
    role: Role
    study: str | None
    """The only study that it is good for; None: all of them."""
    silo: str | None
    csrf: str
    """What forms of this session must send back."""

    @property
    def actor(self) -> str:
        """Return the name that the log has for its owner."""
        return f"silo {self.silo}" if self.role == "silo" else self.role


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def issue(
    change: Change,
    kind: Kind,
    role: Role,
    *,
    study: str | None = None,
    silo: str | None = None,
) -> str:
    """Return a new secret, of which the store keeps the hash."""
    secret = secrets.token_urlsafe(32)
    expires = datetime.now(UTC) + _LIFETIME[kind]
    change.connection.execute(
        sa.insert(store.credential).values(
            hash=_hash(secret),
            kind=kind,
            role=role,
            study=study,
            silo=silo,
            secret=secrets.token_urlsafe(32),
            expires=expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
    )
    return secret


def find(database: Store, kind: Kind, secret: str | None) -> Credential | None:
    """Return the right that a secret gives, or None if it gives none any more."""
    if not secret or len(secret) > 100:
        return None
    with database.read() as connection:
        return _valid(connection, kind, _hash(secret))


def _valid(connection: sa.Connection, kind: Kind, digest: str) -> Credential | None:
    table = store.credential
    row = connection.execute(sa.select(table).where(table.c.hash == digest)).one_or_none()
    # The hash of a guess says nothing of a secret near it, so that looking it up tells nothing by its time.
    if row is None or not hmac.compare_digest(row.kind, kind) or row.expires <= now():
        return None
    return Credential(
        hash=row.hash, kind=kind, role=row.role, study=row.study, silo=row.silo, csrf=row.secret
    )


def redeem(change: Change, link: str) -> str | None:
    """Return the secret of a new session for a link, which is then used up; None if it is not valid."""
    found = _valid(change.connection, "link", _hash(link))
    if found is None:
        return None
    table = store.credential
    change.connection.execute(sa.delete(table).where(table.c.hash == found.hash))
    session = issue(change, "session", found.role, study=found.study, silo=found.silo)
    change.log(found.actor, "entered", study=found.study, silo=found.silo)
    return session


def revoke(
    change: Change, *, study: str | None, silo: str | None, kinds: tuple[Kind, ...] = ("link",)
) -> None:
    """Take back what was given to a silo, or to an auditor or a reader if there is no silo."""
    table = store.credential
    change.connection.execute(
        sa.delete(table).where(
            table.c.study.is_(None) if study is None else table.c.study == study,
            table.c.silo.is_(None) if silo is None else table.c.silo == silo,
            table.c.kind.in_(kinds),
        )
    )


def forget(change: Change, credential: Credential) -> None:
    """End a session."""
    table = store.credential
    change.connection.execute(sa.delete(table).where(table.c.hash == credential.hash))
