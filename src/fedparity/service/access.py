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

from fedparity.errors import MessageError, OptionError
from fedparity.service import store
from fedparity.service.store import Change, Store, now

__all__ = [
    "Credential",
    "Kind",
    "Role",
    "check_sender",
    "find",
    "forget",
    "forget_expired",
    "is_valid",
    "issue",
    "no_such_study",
    "redeem",
    "revoke",
]

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
    reader: str | None
    csrf: str
    """What forms of this session must send back."""

    @property
    def actor(self) -> str:
        """Return the name that the log has for its owner."""
        names = {"silo": self.silo, "reader": self.reader}
        return f"{self.role} {names[self.role]}" if names.get(self.role) else self.role


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def issue(
    change: Change,
    kind: Kind,
    role: Role,
    *,
    study: str | None = None,
    silo: str | None = None,
    reader: str | None = None,
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
            reader=reader,
            secret=secrets.token_urlsafe(32),
            expires=expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
    )
    return secret


def is_valid(database: Store, credential: Credential) -> bool:
    """Return whether a right is still what it was when it was shown."""
    with database.read() as connection:
        return _valid(connection, credential.kind, credential.hash) is not None


def find(database: Store, kind: Kind, secret: str | None) -> Credential | None:
    """Return the right that a secret gives, or None if it gives none any more."""
    if not secret or len(secret) > 100:
        return None
    with database.read() as connection:
        return _valid(connection, kind, _hash(secret))


# Built once: every request asks it.
_BY_HASH = sa.select(store.credential).where(store.credential.c.hash == sa.bindparam("digest"))


def _valid(connection: sa.Connection, kind: Kind, digest: str) -> Credential | None:
    row = connection.execute(_BY_HASH, {"digest": digest}).one_or_none()
    # The hash of a guess says nothing of a secret near it, so that looking it up tells nothing by its time.
    if row is None or not hmac.compare_digest(row.kind, kind) or row.expires <= now():
        return None
    return Credential(
        hash=row.hash,
        kind=kind,
        role=row.role,
        study=row.study,
        silo=row.silo,
        reader=row.reader,
        csrf=row.secret,
    )


def redeem(change: Change, link: str) -> str | None:
    """Return the secret of a new session for a link, which is then used up; None if it is not valid."""
    found = _valid(change.connection, "link", _hash(link))
    if found is None:
        return None
    table = store.credential
    change.connection.execute(sa.delete(table).where(table.c.hash == found.hash))
    session = issue(
        change,
        "session",
        found.role,
        study=found.study,
        silo=found.silo,
        reader=found.reader,
    )
    change.log(found.actor, "entered", study=found.study, silo=found.silo)
    return session


def revoke(
    change: Change,
    *,
    study: str | None = None,
    silo: str | None = None,
    reader: str | None = None,
    kinds: tuple[Kind, ...] = ("link", "session", "token"),
) -> None:
    """Take back what was given to a silo or a reader; to auditors if neither is named."""
    table = store.credential
    owner = {"study": study, "silo": silo, "reader": reader}
    change.connection.execute(
        sa.delete(table).where(
            *(table.c[name].is_not_distinct_from(value) for name, value in owner.items()),
            table.c.kind.in_(kinds),
        )
    )


def forget(change: Change, credential: Credential) -> None:
    """End a session."""
    table = store.credential
    change.connection.execute(sa.delete(table).where(table.c.hash == credential.hash))


def forget_expired(change: Change) -> int:
    """Remove the links, sessions and tokens that are expired, and return how many there were."""
    table = store.credential
    done = change.connection.execute(sa.delete(table).where(table.c.expires <= now()))
    return done.rowcount


def no_such_study() -> OptionError:
    """Return the error of a study that is not there, or no longer."""
    return OptionError("there is no such study.", fix="ask the auditor; it may have been deleted.")


def check_sender(sender: str, silo: str) -> None:
    """Raise if a message is of another silo than the one that sends it.

    Raises
    ------
    MessageError
        If it is.
    """
    if sender != silo:
        raise MessageError(
            "the message is of another silo than the one that sends it.",
            fix="send it with the link or the token of its own silo.",
        )
