"""The rounds of a secure sum through a collector: it carries documents, and learns what the auditor does.

A silo gets what all silos see with files: keys, shares, the request and consents. Masked numbers and
answers to the request go to the auditor alone. Every document is checked when it arrives; each silo makes
each step once, and there is one request, of all masked numbers that came: never a second one without a
silo that has uploaded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from fedparity.documents.plan import Plan
from fedparity.errors import ConflictError, FedparityError, MessageError
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import (
    Inbox,
    KeySet,
    ShareSet,
    check_keys,
    check_round,
    check_shares,
    decode_round,
    masked_vectors,
    threshold_of,
)
from fedparity.modes.secure.round_messages import (
    MaskedVector,
    RoundMessage,
    SecureConsent,
    SecureKeys,
    SecureShares,
    SiloRoundMessage,
    UnmaskAnswer,
    UnmaskRequest,
)
from fedparity.modes.secure.round_progress import STEPS, Gathered, check_answer, request_for
from fedparity.service import store
from fedparity.service.access import check_sender, no_such_study
from fedparity.service.store import Change, Receipt, Store, now

__all__ = ["PUBLIC_STEPS", "RoundPhase", "SecureRelay"]

PUBLIC_STEPS = ("keys", "shares", "request", "consent")
"""What silos get of each other and of the auditor."""
_SILO_STEPS = tuple(step for step in STEPS if step != "request")
_MOST_CACHED = 4
Kind = TypeVar("Kind")


@dataclass(frozen=True, kw_only=True)
class RoundPhase:
    """How far the round of a study has come."""

    name: str
    """The step that silos make now; "done" once the sum can be opened."""
    came: int
    """Documents of this step."""
    needed: int
    """How many of them it takes to go on; all silos may still send theirs."""
    request: UnmaskRequest | None
    total: int
    """Silos of the plan."""
    uploaded: int
    """Masked numbers that came."""
    threshold: int

    def reached(self, step: str) -> bool:
        """Return whether silos can make a step now."""
        order = (*_SILO_STEPS, "done")
        return order.index(step) <= order.index(self.name)

    @property
    def can_request(self) -> bool:
        """Return whether the auditor can close the list of those whose numbers came."""
        return self.request is None and self.uploaded >= self.threshold

    def dropped(self, silo: str) -> bool:
        """Return whether the round went on without a silo."""
        return self.request is not None and silo not in self.request.survivors


class SecureRelay:
    """The rounds of all studies of a collector.

    Parameters
    ----------
    database : Store
    plan : callable
        Returns the plan of a study.
    """

    def __init__(self, database: Store, plan: Callable[[str], Plan]) -> None:
        self.store, self._plan = database, plan
        # Keys, shares and the vectors of a request never change once they are complete.
        self._complete: OrderedDict[tuple[str, type], Any] = OrderedDict()

    def phase(self, study_id: str) -> RoundPhase:
        """Return how far a round has come."""
        plan, table = self._plan(study_id), store.round_message
        query = (
            sa.select(table.c.step, sa.func.count())
            .where(table.c.study == study_id)
            .group_by(table.c.step)
        )
        with self.store.read() as connection:
            came: dict[str, int] = {row[0]: row[1] for row in connection.execute(query)}
            request = _stored_request(connection, study_id)
        return _phase(plan, came, request)

    def receive(self, study_id: str, silo: str, data: bytes) -> Receipt:
        """Take a document of a silo; once this returns, it is on the disk.

        Raises
        ------
        MessageError
            If it is not valid, does not fit the round, or is of another silo.
        ConflictError
            If the silo has made this step with another document, or the round has gone on without it.
        """
        message = decode_round(data)
        check_round(self._plan(study_id), message)
        if not isinstance(message, SiloRoundMessage):
            raise MessageError(
                "the request of a round is the auditor's.", fix="send what fedparity secure wrote."
            )
        check_sender(message.silo, silo)
        step = next(step for step, kind in STEPS.items() if isinstance(message, kind))
        phase = self.phase(study_id)
        if not phase.reached(step):
            raise MessageError(
                f"the round waits for the {phase.name} of other silos, before any {step}.",
                fix="wait for them: fedparity secure run does.",
            )
        self._check(study_id, message, phase.request)
        kept = self.store.together(lambda change: _keep(change, study_id, step, message))
        if isinstance(kept, FedparityError):
            raise kept
        self.advance(study_id)
        return kept

    def _check(
        self, study_id: str, message: SiloRoundMessage, request: UnmaskRequest | None
    ) -> None:
        """Raise unless a document fits those of earlier steps."""
        if isinstance(message, SecureKeys):
            others = self._decoded(study_id, "keys")
            check_keys([each for each in others if each.silo != message.silo] + [message])
        elif isinstance(message, SecureShares):
            check_shares(self._key_set(study_id), message)
        elif isinstance(message, MaskedVector):
            length = Layout.of(self._plan(study_id)).length
            masked_vectors(self._share_set(study_id), [message], length)
        elif isinstance(message, SecureConsent | UnmaskAnswer) and request is not None:
            _check_asked(message, request)
            if isinstance(message, UnmaskAnswer):
                check_answer(self._gathered(study_id), request, message)

    def advance(self, study_id: str) -> None:
        """Close the list once the numbers of all silos are there: nobody is waited for then."""
        phase = self.phase(study_id)
        if phase.name == "mask" and phase.uploaded == phase.total:
            self.close_list(study_id, actor="collector")

    def close_list(self, study_id: str, *, actor: str = "auditor") -> None:
        """Ask for the sum of all masked numbers that came, once and for all.

        Raises
        ------
        MessageError
            If fewer came than the plan's threshold.
        """
        for _ in range(20):
            made = request_for(self._plan(study_id), Inbox(tuple(self.documents(study_id))))
            with self.store.change() as change:
                if _stored_request(change.connection, study_id) is not None:
                    return  # somebody else was faster; silos answer one request
                if _uploads(change.connection, study_id) == dict(made.survivors):
                    row = {"study": study_id, "content": made.to_bytes(), "created": now()}
                    change.connection.execute(sa.insert(store.round_request).values(**row))
                    count = f"{len(made.survivors)} silos, {made.digest}"
                    change.log(actor, "closed the list", study=study_id, detail=count)
                    return
        raise ConflictError("silos keep sending.", fix="try again.")  # pragma: no cover

    def contents(self, study_id: str, step: str) -> list[bytes]:
        """Return the documents of a step, each on one line, in the order of the silos."""
        with self.store.read() as connection:
            if step == "request":
                request = _stored_request(connection, study_id)
                return [] if request is None else [request.to_bytes()]
            table = store.round_message
            query = (
                sa.select(table.c.content)
                .where(table.c.study == study_id, table.c.step == step)
                .order_by(table.c.silo)
            )
            return [bytes(row.content) for row in connection.execute(query)]

    def documents(self, study_id: str) -> list[RoundMessage]:
        """Return all documents of a round, as ``fedparity audit`` reads them from a folder."""
        return [decode_round(data) for step in STEPS for data in self.contents(study_id, step)]

    def files(self, study_id: str, digests: set[str]) -> list[tuple[str, str, bytes]]:
        """Return silo, step and content of the documents with these digests."""
        table = store.round_message
        query = sa.select(table).where(table.c.study == study_id).order_by(table.c.silo)
        with self.store.read() as connection:
            rows = [
                (str(row.silo), str(row.step), bytes(row.content))
                for row in connection.execute(query)
                if row.digest in digests
            ]
        return [*rows, *(("", "request", each) for each in self.contents(study_id, "request"))]

    def steps(self, study_id: str, only: str | None = None) -> dict[str, tuple[str, str, str]]:
        """Return the last step of every silo that made one, with its time and digest."""
        table = store.round_message
        query = sa.select(table.c.silo, table.c.step, table.c.received, table.c.digest).where(
            table.c.study == study_id
        )
        if only is not None:
            query = query.where(table.c.silo == only)
        with self.store.read() as connection:
            rows = sorted(connection.execute(query), key=lambda row: _SILO_STEPS.index(row.step))
        return {row.silo: (row.step, row.received, row.digest) for row in rows}

    def forget(self, study_id: str) -> None:
        """Remove a study from what is cached."""
        for key in [key for key in self._complete if key[0] == study_id]:
            del self._complete[key]

    def _decoded(self, study_id: str, step: str) -> list[Any]:
        return [decode_round(data) for data in self.contents(study_id, step)]

    def _key_set(self, study_id: str) -> KeySet:
        return self._cached(
            study_id,
            KeySet,
            lambda: KeySet.of(self._plan(study_id), self._decoded(study_id, "keys")),
        )

    def _share_set(self, study_id: str) -> ShareSet:
        return self._cached(
            study_id,
            ShareSet,
            lambda: ShareSet.of(self._key_set(study_id), self._decoded(study_id, "shares")),
        )

    def _gathered(self, study_id: str) -> Gathered:
        """What a request is about; only read once there is one."""
        return self._cached(
            study_id,
            Gathered,
            lambda: Gathered(self._plan(study_id), Inbox(tuple(self.documents(study_id)))),
        )

    def _cached(self, study_id: str, kind: type[Kind], make: Callable[[], Kind]) -> Kind:
        key = (study_id, kind)
        found: Kind | None = self._complete.pop(key, None)
        self._complete[key] = found = make() if found is None else found
        while len(self._complete) > 3 * _MOST_CACHED:
            self._complete.popitem(last=False)
        return found


def _phase(plan: Plan, came: Mapping[str, int], request: UnmaskRequest | None) -> RoundPhase:
    everybody, enough = len(plan.silos or ()), threshold_of(plan)
    needed = {"keys": everybody, "shares": everybody, "mask": enough, "unmask": enough}
    if plan.keys:
        needed["consent"] = enough
    name = "done"
    for step in _SILO_STEPS:
        waits_for_list = step == "mask" and request is None
        if waits_for_list or came.get(step, 0) < needed.get(step, 0):
            name = step
            break
    return RoundPhase(
        name=name,
        came=came.get(name, 0),
        needed=needed.get(name, 0),
        request=request,
        total=everybody,
        uploaded=came.get("mask", 0),
        threshold=enough,
    )


def _check_asked(message: SecureConsent | UnmaskAnswer, request: UnmaskRequest) -> None:
    if message.silo not in request.survivors:
        raise _gone_on()
    if message.request != request.digest:
        raise MessageError(
            "the document is about another request than the one of this round.",
            fix="run fedparity secure run again; it reads the request from the collector.",
        )


def _gone_on() -> ConflictError:
    return ConflictError(
        "the list of silos is closed, and the round goes on without this one.",
        fix="ask the auditor for the next study; a round is never repeated without a silo.",
    )


def _stored_request(connection: sa.Connection, study_id: str) -> UnmaskRequest | None:
    table = store.round_request
    found = connection.execute(
        sa.select(table.c.content).where(table.c.study == study_id)
    ).scalar()
    message = None if found is None else decode_round(bytes(found))
    return message if isinstance(message, UnmaskRequest) else None


def _uploads(connection: sa.Connection, study_id: str) -> dict[str, str]:
    table = store.round_message
    query = sa.select(table.c.silo, table.c.digest).where(
        table.c.study == study_id, table.c.step == "mask"
    )
    return {row.silo: row.digest for row in connection.execute(query)}


def _keep(
    change: Change, study_id: str, step: str, message: SiloRoundMessage
) -> Receipt | FedparityError:
    """Keep a document; the error instead if another one is in its place, or the round has gone on."""
    table, silos = store.round_message, store.silo
    asked = (silos.c.study == study_id, silos.c.name == message.silo)
    if change.connection.execute(sa.select(silos.c.name).where(*asked)).first() is None:
        return no_such_study()
    place = (table.c.study == study_id, table.c.silo == message.silo, table.c.step == step)
    found = change.connection.execute(sa.select(table.c.digest).where(*place)).scalar()
    if found == message.digest:
        return Receipt(message.digest, new=False)
    if found is not None:
        return ConflictError(
            f"this silo has already sent another document as its {step}.",
            fix="a silo makes each step of a round once; ask the auditor for a new study.",
        )
    if step == "mask" and _stored_request(change.connection, study_id) is not None:
        return _gone_on()
    row = {
        "study": study_id,
        "silo": message.silo,
        "step": step,
        "digest": message.digest,
        "content": message.to_bytes(),  # canonical: one line
        "received": now(),
    }
    change.connection.execute(sa.insert(table).values(**row))
    change.connection.execute(sa.update(silos).where(*asked).values(refused=None))
    change.log(
        f"silo {message.silo}",
        f"sent its {step}",
        study=study_id,
        silo=message.silo,
        detail=message.digest,
    )
    return Receipt(message.digest, new=True)
