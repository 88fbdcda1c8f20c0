"""A study: a plan, the silos that were asked, their messages, and the audits that were run."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal, NamedTuple

import sqlalchemy as sa

from fedparity.auditing.audit import audit_messages
from fedparity.documents.fields import group_words, is_name
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_message
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.documents.signing import check_plan_signature
from fedparity.errors import ConflictError, FedparityError, OptionError
from fedparity.modes.mode import AuditOptions, mode_of
from fedparity.modes.secure.round_messages import RoundMessage
from fedparity.service import access, store
from fedparity.service.secure_relay import RoundPhase, SecureRelay
from fedparity.service.store import Change, Receipt, Store, now

__all__ = ["SiloStanding", "Studies", "Study", "Summary"]

State = Literal["asked", "seen", "approved", "refused", "received"]


@dataclass(frozen=True, kw_only=True)
class SiloStanding:
    """How far a silo is."""

    name: str
    state: State
    at: str | None
    """When it got there."""
    late: bool
    reopened: bool
    digest: str | None
    counts: str
    """The records of each group, as the message states them."""
    refused: str | None
    """Why the last message was refused, if none was accepted since."""
    step: str | None = None
    """The last step that it made in a secure sum."""
    dropped: bool = False
    """Whether a secure sum goes on without it."""


class Summary(NamedTuple):
    """A study in a list of them."""

    id: str
    title: str
    created: str
    silos: int
    received: int
    run: int | None
    """The number of its last audit."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study as its pages show it."""

    id: str
    plan: Plan
    deadline: str | None
    created: str
    silos: tuple[SiloStanding, ...]
    runs: tuple[tuple[int, str], ...]
    """Number and time of every audit that was run."""
    round: RoundPhase | None = None
    """How far a secure sum has come; None for other plans."""

    @property
    def received(self) -> int:
        """Return how many silos have answered."""
        return sum(silo.state == "received" for silo in self.silos)

    @property
    def late(self) -> bool:
        """Return whether the deadline is over."""
        return self.deadline is not None and self.deadline < now()[:10]

    def silo(self, name: str) -> SiloStanding:
        """Return one silo."""
        return next(silo for silo in self.silos if silo.name == name)


_OF_SILO = sa.and_(
    store.message.c.study == store.silo.c.study,
    store.message.c.silo == store.silo.c.name,
    store.message.c.current,
)
_STANDING = (
    sa.select(store.silo.c.reopened, store.silo.c.refused, store.message.c.digest)
    .outerjoin(store.message, _OF_SILO)
    .where(
        store.silo.c.study == sa.bindparam("study_id"),
        store.silo.c.name == sa.bindparam("silo_name"),
    )
)
_NEW_MESSAGE = sa.insert(store.message)


class Studies:
    """The studies of a collector; every method that changes something is one transaction."""

    def __init__(self, database: Store) -> None:
        self.store = database
        self.rounds = SecureRelay(database, self.plan)
        self._plans: dict[str, Plan] = {}
        self._measuring = threading.Lock()
        self._measured: dict[str, tuple[tuple[str, ...], AuditResult]] = {}

    def create(self, plan_text: str, *, deadline: str | None, silos: Sequence[str] = ()) -> str:
        """Begin a study, and return its id.

        Raises
        ------
        PlanError
            If the plan is not valid, or was changed after it was signed.
        OptionError
            If nobody is named who is asked, or a secure sum under this very plan was begun before.
        """
        plan = Plan.from_toml(plan_text)
        check_plan_signature(plan)
        if deadline is not None:
            _check_day(deadline)
        if plan.silos and silos:
            raise OptionError(
                "the plan names its silos, and silos were named beside it.",
                fix="leave the names out, or begin the study with a plan that has them all.",
            )
        names = list(dict.fromkeys(plan.silos or silos))
        if not all(map(is_name, names)):
            raise OptionError(
                "a silo's name has 1 to 200 characters, all of which can be seen.",
                fix="type the names again, one on each line.",
            )
        if not names:
            raise OptionError(
                "the plan names no silos, so nobody can be asked.",
                fix="add silos to the plan, or name them here.",
            )
        study_id = secrets.token_hex(8)
        with self.store.change() as change:
            if mode_of(plan).in_rounds:
                _refuse_second_round(change, plan)
            change.connection.execute(
                sa.insert(store.study).values(
                    id=study_id,
                    plan=plan_text.encode(),
                    digest=plan.digest,
                    title=plan.title,
                    deadline=deadline,
                    created=now(),
                )
            )
            change.connection.execute(
                sa.insert(store.silo),
                [
                    {"study": study_id, "name": name, "position": place, "reopened": False}
                    for place, name in enumerate(names)
                ],
            )
            change.log("auditor", "created", study=study_id, detail=plan.digest)
        return study_id

    def summaries(self, only: Sequence[str] | None = None) -> list[Summary]:
        """Return every study, or only those with these ids, the newest first."""
        query = sa.select(
            store.study.c.id,
            store.study.c.title,
            store.study.c.created,
            sa.select(sa.func.count())
            .where(store.silo.c.study == store.study.c.id)
            .scalar_subquery(),
            sa.select(sa.func.count())
            .where(store.message.c.study == store.study.c.id, store.message.c.current)
            .scalar_subquery()
            + sa.select(sa.func.count())
            .where(
                store.round_message.c.study == store.study.c.id,
                store.round_message.c.step == "mask",
            )
            .scalar_subquery(),
            sa.select(sa.func.max(store.run.c.number))
            .where(store.run.c.study == store.study.c.id)
            .scalar_subquery(),
        ).order_by(store.study.c.created.desc(), store.study.c.id)
        if only is not None:
            query = query.where(store.study.c.id.in_(only))
        with self.store.read() as connection:
            return [Summary(*row) for row in connection.execute(query)]

    def get(self, study_id: str, *, only: str | None = None) -> Study | None:
        """Return a study, with all of its silos or with one; None if there is none of this id."""
        with self.store.read() as connection:
            row = connection.execute(
                sa.select(store.study).where(store.study.c.id == study_id)
            ).one_or_none()
            if row is None:
                return None
            silos, messages = store.silo, store.message
            query = (
                sa.select(silos, messages.c.digest, messages.c.received, messages.c.records)
                .outerjoin(messages, _OF_SILO)
                .where(silos.c.study == study_id)
                .order_by(silos.c.position)
            )
            if only is not None:
                query = query.where(silos.c.name == only)
            found = connection.execute(query).all()
            runs = connection.execute(
                sa.select(store.run.c.number, store.run.c.created)
                .where(store.run.c.study == study_id)
                .order_by(store.run.c.number.desc())
            ).all()
        late = row.deadline is not None and row.deadline < now()[:10]
        plan = self.plan(study_id)
        silos_found = tuple(_standing(each, late=late) for each in found)
        phase = self.rounds.phase(study_id) if mode_of(plan).in_rounds else None
        if phase is not None:
            steps = self.rounds.steps(study_id, only)
            silos_found = tuple(
                _in_round(each, steps.get(each.name), phase) for each in silos_found
            )
        return Study(
            id=row.id,
            plan=plan,
            deadline=row.deadline,
            created=row.created,
            silos=silos_found,
            runs=tuple((each.number, each.created) for each in runs),
            round=phase,
        )

    def before(self, study: Study, *, most: int = 5) -> list[Summary]:
        """Return the last studies that were begun before one, of its groups and with one of its silos."""
        mine, theirs, table = store.silo.alias(), store.silo.alias(), store.study
        # By the primary key, study and name, on both sides: rosters may be long.
        shared = sa.exists().where(
            theirs.c.study == table.c.id,
            mine.c.study == study.id,
            mine.c.name == theirs.c.name,
        )
        query = (
            sa.select(table.c.id)
            .where(table.c.id != study.id, shared)
            .where(table.c.created <= study.created)
            .order_by(table.c.created.desc(), table.c.id)
            .limit(10 * most)
        )
        with self.store.read() as connection:
            ids = [row.id for row in connection.execute(query)]
        same = [each for each in ids if set(self.plan(each).groups) == set(study.plan.groups)]
        return self.summaries(same[:most])

    def exists(self, study_id: str) -> bool:
        """Return whether there is a study of this id."""
        with self.store.read() as connection:
            query = sa.select(store.study.c.id).where(store.study.c.id == study_id)
            return connection.execute(query).first() is not None

    def plan_text(self, study_id: str) -> str | None:
        """Return the plan as it was given, with its comments."""
        with self.store.read() as connection:
            found = connection.execute(
                sa.select(store.study.c.plan).where(store.study.c.id == study_id)
            ).scalar()
        return None if found is None else bytes(found).decode()

    def plan(self, study_id: str) -> Plan:
        """Return the plan of a study; it never changes, and reading it takes longer than a message."""
        if study_id not in self._plans:
            text = self.plan_text(study_id)
            if text is None:
                raise access.no_such_study()
            self._plans[study_id] = Plan.from_toml(text)
        return self._plans[study_id]

    def invite(self, study_id: str, silo: str) -> str:
        """Return a link for a silo's people; the links and tokens that it had are void."""
        with self.store.change() as change:
            access.revoke(change, study=study_id, silo=silo)
            link = access.issue(change, "link", "silo", study=study_id, silo=silo)
            self._mark(change, study_id, silo, "invited")
            change.log("auditor", "invited", study=study_id, silo=silo)
        return link

    def token(self, study_id: str, silo: str) -> str:
        """Return a token with which a silo's program sends; the one before it is void."""
        with self.store.change() as change:
            access.revoke(change, study=study_id, silo=silo, kinds=("token",))
            token = access.issue(change, "token", "silo", study=study_id, silo=silo)
            change.log(f"silo {silo}", "made a token", study=study_id, silo=silo)
        return token

    def mark(self, study_id: str, silo: str, what: Literal["seen", "approved"]) -> None:
        """Record once that a silo has opened its page, or agreed to the plan."""
        with self.store.change() as change:
            if self._mark(change, study_id, silo, what):
                change.log(f"silo {silo}", what, study=study_id, silo=silo)

    def _mark(self, change: Change, study_id: str, silo: str, what: str) -> bool:
        table = store.silo
        done = change.connection.execute(
            sa.update(table)
            .where(table.c.study == study_id, table.c.name == silo, table.c[what].is_(None))
            .values({what: now()})
        )
        return done.rowcount > 0

    def receive(self, study_id: str, silo: str, data: bytes) -> Receipt:
        """Take a silo's message; once this returns, it is on the disk.

        The same message again is accepted, and kept once. Another one is refused unless the auditor
        has reopened the silo.

        Raises
        ------
        MessageError
            If the message is not valid or does not answer the plan, or is of another silo.
        ConflictError
            If another message of the silo is already here.
        """
        plan = self.plan(study_id)
        try:
            if mode_of(plan).in_rounds:
                return self.rounds.receive(study_id, silo, data)
            sketch = SiloSketch.from_bytes(data)
            check_message(plan, sketch)
            access.check_sender(sketch.silo, silo)
            receipt = self.store.together(
                lambda change: self._keep(change, study_id, sketch, data)
            )
            if isinstance(receipt, FedparityError):
                raise receipt
        except OptionError:
            raise  # the study was deleted meanwhile: nobody has sent anything wrong
        except FedparityError as error:
            self._refuse(study_id, silo, error.message)
            raise
        return receipt

    def _refuse(self, study_id: str, silo: str, reason: str) -> None:
        table = store.silo
        with self.store.change() as change:
            change.connection.execute(
                sa.update(table)
                .where(table.c.study == study_id, table.c.name == silo)
                .values(refused=reason)
            )
            change.log(f"silo {silo}", "was refused", study=study_id, silo=silo, detail=reason)

    def _keep(
        self, change: Change, study_id: str, sketch: SiloSketch, data: bytes
    ) -> Receipt | FedparityError:
        """Keep a message; the error instead if another one is in its place, since others share the transaction."""
        messages, silos = store.message, store.silo
        here = {"study_id": study_id, "silo_name": sketch.silo}
        found = change.connection.execute(_STANDING, here).one_or_none()
        if found is None:
            return access.no_such_study()
        if found.digest == sketch.digest:
            return Receipt(sketch.digest, new=False)
        if found.digest is not None:
            if not found.reopened:
                return ConflictError(
                    "another message of this silo is already here.",
                    fix="ask the auditor to reopen the silo if the first one was wrong.",
                )
            own = sa.and_(messages.c.study == study_id, messages.c.silo == sketch.silo)
            change.connection.execute(sa.update(messages).where(own).values(current=False))
            same = sa.and_(own, messages.c.digest == sketch.digest)
            change.connection.execute(sa.delete(messages).where(same))
        new = {
            "study": study_id,
            "silo": sketch.silo,
            "digest": sketch.digest,
            "content": data,
            "received": now(),
            "records": _records(sketch),
            "current": True,
        }
        change.connection.execute(_NEW_MESSAGE, new)
        if found.reopened or found.refused is not None:
            place = sa.and_(silos.c.study == study_id, silos.c.name == sketch.silo)
            change.connection.execute(
                sa.update(silos).where(place).values(reopened=False, refused=None)
            )
        change.log(
            f"silo {sketch.silo}", "sent", study=study_id, silo=sketch.silo, detail=sketch.digest
        )
        return Receipt(sketch.digest, new=True)

    def reopen(self, study_id: str, silo: str) -> None:
        """Let a silo replace the message that it sent.

        Raises
        ------
        ConflictError
            If the study is a secure sum, in which nothing is replaced.
        """
        if mode_of(self.plan(study_id)).in_rounds:
            raise ConflictError(
                "a silo makes each step of a secure sum once.",
                fix="begin a study with a new plan.",
            )
        table = store.silo
        with self.store.change() as change:
            change.connection.execute(
                sa.update(table)
                .where(table.c.study == study_id, table.c.name == silo)
                .values(reopened=True)
            )
            change.log("auditor", "reopened", study=study_id, silo=silo)

    def messages(self, study_id: str) -> Sequence[SiloSketch | RoundMessage]:
        """Return the messages that count, in the order of the silos."""
        if mode_of(self.plan(study_id)).in_rounds:
            return self.rounds.documents(study_id)
        table = store.message
        query = (
            sa.select(table.c.content)
            .where(table.c.study == study_id, table.c.current)
            .order_by(table.c.silo)
        )
        with self.store.read() as connection:
            return [SiloSketch.from_bytes(bytes(row.content)) for row in connection.execute(query)]

    def measure(self, study_id: str) -> AuditResult | None:
        """Return what the messages that are here tell, without keeping it in the store.

        It is computed once for the same messages, and once at a time, so that many readers of a large
        study do not use up the service; None while another thread is at it.
        """
        if not self._measuring.acquire(blocking=False):
            return None
        try:
            digests = self._digests(study_id)
            found = self._measured.get(study_id)
            if found is None or found[0] != digests:
                result = audit_messages(
                    self.plan(study_id), self.messages(study_id), AuditOptions()
                )
                found = digests, result
                self._measured = {study_id: found}  # the study that is looked at
            return found[1]
        finally:
            self._measuring.release()

    def _digests(self, study_id: str) -> tuple[str, ...]:
        """The digests of the messages that count, whatever the kind of the study."""
        plain, rounds = store.message, store.round_message
        queries = (
            sa.select(plain.c.digest).where(plain.c.study == study_id, plain.c.current),
            sa.select(rounds.c.digest).where(rounds.c.study == study_id),
        )
        with self.store.read() as connection:
            return tuple(sorted(row[0] for each in queries for row in connection.execute(each)))

    def audit(self, study_id: str) -> int:
        """Run the audit on the messages that are here, keep the result, and return its number."""
        messages = self.messages(study_id)  # once: another may come while the audit runs
        result = audit_messages(self.plan(study_id), messages, AuditOptions())
        digests = [message.digest for message in messages]
        with self.store.change() as change:
            last = change.connection.execute(
                sa.select(sa.func.max(store.run.c.number)).where(store.run.c.study == study_id)
            ).scalar()
            number = (last or 0) + 1
            change.connection.execute(
                sa.insert(store.run).values(
                    study=study_id,
                    number=number,
                    created=now(),
                    digests=json.dumps(digests),
                    result=result.file_bytes(),
                )
            )
            change.log("auditor", "audited", study=study_id, detail=result.digest)
        return number

    def result(self, study_id: str, number: int) -> AuditResult | None:
        """Return the result of an audit; None if there is none of this number."""
        table = store.run
        with self.store.read() as connection:
            found = connection.execute(
                sa.select(table.c.result).where(
                    table.c.study == study_id, table.c.number == number
                )
            ).scalar()
        return None if found is None else AuditResult.from_dict(json.loads(bytes(found)))

    def forget(self, study_id: str) -> None:
        """Remove a study from what is cached."""
        self._plans.pop(study_id, None)
        self._measured.pop(study_id, None)
        self.rounds.forget(study_id)


def _refuse_second_round(change: Change, plan: Plan) -> None:
    """Raise if the plan was used before: two sums that differ by a silo show that silo's numbers.

    The log remembers studies that were deleted, too.
    """
    table = store.event
    query = sa.select(table.c.sequence).where(
        table.c.action == "created", table.c.detail == plan.digest
    )
    if change.connection.execute(query).first() is not None:
        raise OptionError(
            "a secure sum under this very plan was begun before.",
            fix="go on with that study; a new round needs a plan of its own, with another title.",
        )


def _check_day(text: str) -> None:
    try:
        is_day = date.fromisoformat(text).isoformat() == text  # days are compared as texts
    except ValueError:
        is_day = False
    if not is_day:
        raise OptionError(
            "the deadline is not a day.", fix="write it as 2026-12-31, or leave it out."
        )


def _records(sketch: SiloSketch) -> str:
    """The records of each group, for people."""
    return " · ".join(
        f"{group_words(cell.group)} {'withheld' if cell.count is None else format(cell.count, ',')}"
        for cell in sketch.cells
    )


def _standing(row: sa.Row[tuple[object, ...]], *, late: bool) -> SiloStanding:
    state: State = "asked"
    at = row.invited
    for name in ("seen", "approved"):
        if getattr(row, name) is not None:
            state, at = name, getattr(row, name)
    counts = ""
    if row.digest is not None:
        state, at = "received", row.received
        counts = row.records
    elif row.refused is not None:
        state = "refused"
    return SiloStanding(
        name=row.name,
        state=state,
        at=at,
        late=late and row.digest is None,
        reopened=bool(row.reopened),
        digest=row.digest,
        counts=counts,
        refused=row.refused,
    )


def _in_round(
    silo: SiloStanding, made: tuple[str, str, str] | None, phase: RoundPhase
) -> SiloStanding:
    """The same silo, with how far it is in a secure sum."""
    dropped = phase.dropped(silo.name)
    if made is None:
        return replace(silo, dropped=dropped)
    step, at, digest = made
    uploaded = step in ("mask", "consent", "unmask")
    state: State = "received" if uploaded else "refused" if silo.refused else "approved"
    late = silo.late and not uploaded
    return replace(silo, step=step, at=at, digest=digest, state=state, late=late, dropped=dropped)
