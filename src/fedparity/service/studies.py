"""A study: a plan, the silos that were asked, their messages, and the audits that were run."""

from __future__ import annotations

import io
import json
import secrets
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import sqlalchemy as sa

from fedparity.auditing.audit import audit_messages
from fedparity.documents.fields import group_words
from fedparity.documents.files import FileNames
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_message
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.errors import ConflictError, FedparityError, MessageError, OptionError
from fedparity.modes.mode import AuditOptions, mode_of
from fedparity.report.formats import FORMATS
from fedparity.service import access, store
from fedparity.service.store import Change, Store, now
from fedparity.version import SOFTWARE

__all__ = ["Receipt", "SiloStanding", "Studies", "Study"]

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


@dataclass(frozen=True)
class Receipt:
    """What became of a message that was accepted."""

    digest: str
    new: bool
    """Whether it was not there before."""


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
        self._plans: dict[str, Plan] = {}

    def create(self, plan_text: str, *, deadline: str | None, silos: Sequence[str] = ()) -> str:
        """Begin a study, and return its id.

        Raises
        ------
        PlanError
            If the plan is not valid.
        OptionError
            If nobody is named who is asked, or the plan wants several rounds of messages.
        """
        plan = Plan.from_toml(plan_text)
        if deadline is not None:
            _check_day(deadline)
        names = list(dict.fromkeys(plan.silos or silos))
        if not names:
            raise OptionError(
                "the plan names no silos, so nobody can be asked.",
                fix="add silos to the plan, or name them here.",
            )
        if mode_of(plan).in_rounds:
            raise OptionError(
                "the plan asks for a secure sum, whose rounds the collector does not carry yet.",
                fix="exchange the files of fedparity secure by another way, or plan without it.",
            )
        study_id = secrets.token_hex(8)
        with self.store.change() as change:
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

    def summaries(self) -> list[tuple[str, str, str, int, int]]:
        """Return id, title, creation, silos and answers of every study, the newest first."""
        query = sa.select(
            store.study.c.id,
            store.study.c.title,
            store.study.c.created,
            sa.select(sa.func.count())
            .where(store.silo.c.study == store.study.c.id)
            .scalar_subquery(),
            sa.select(sa.func.count())
            .where(store.message.c.study == store.study.c.id, store.message.c.current)
            .scalar_subquery(),
        ).order_by(store.study.c.created.desc(), store.study.c.id)
        with self.store.read() as connection:
            return [tuple(row) for row in connection.execute(query)]

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
        return Study(
            id=row.id,
            plan=self.plan(study_id),
            deadline=row.deadline,
            created=row.created,
            silos=tuple(_standing(each, late=late) for each in found),
            runs=tuple((each.number, each.created) for each in runs),
        )

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
                raise OptionError("there is no such study.", fix="begin one with its plan.")
            self._plans[study_id] = Plan.from_toml(text)
        return self._plans[study_id]

    def invite(self, study_id: str, silo: str) -> str:
        """Return a link for a silo's people; the links and tokens that it had are void."""
        with self.store.change() as change:
            access.revoke(change, study=study_id, silo=silo, kinds=("link", "session", "token"))
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
            sketch = SiloSketch.from_bytes(data)
            check_message(plan, sketch)
            if sketch.silo != silo:
                raise MessageError(
                    "the message is of another silo than the one that sends it.",
                    fix="send it with the link or the token of its own silo.",
                )
        except FedparityError as error:
            self._refuse(study_id, silo, error.message)
            raise
        receipt = self.store.together(lambda change: self._keep(change, study_id, sketch, data))
        if receipt is None:
            conflict = ConflictError(
                "another message of this silo is already here.",
                fix="ask the auditor to reopen the silo if the first one was wrong.",
            )
            self._refuse(study_id, silo, conflict.message)
            raise conflict
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
    ) -> Receipt | None:
        """Keep a message; None if another one is in its place."""
        messages, silos = store.message, store.silo
        here = {"study_id": study_id, "silo_name": sketch.silo}
        found = change.connection.execute(_STANDING, here).one()
        if found.digest == sketch.digest:
            return Receipt(sketch.digest, new=False)
        if found.digest is not None:
            if not found.reopened:
                return None
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
        """Let a silo replace the message that it sent."""
        table = store.silo
        with self.store.change() as change:
            change.connection.execute(
                sa.update(table)
                .where(table.c.study == study_id, table.c.name == silo)
                .values(reopened=True)
            )
            change.log("auditor", "reopened", study=study_id, silo=silo)

    def messages(self, study_id: str) -> list[SiloSketch]:
        """Return the messages that count, in the order of the silos."""
        table = store.message
        query = (
            sa.select(table.c.content)
            .where(table.c.study == study_id, table.c.current)
            .order_by(table.c.silo)
        )
        with self.store.read() as connection:
            return [SiloSketch.from_bytes(bytes(row.content)) for row in connection.execute(query)]

    def measure(self, study_id: str) -> AuditResult:
        """Return what the messages that are here tell, without keeping it."""
        return audit_messages(self.plan(study_id), self.messages(study_id), AuditOptions())

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

    def evidence(self, study_id: str, number: int) -> bytes | None:
        """Return an archive from which ``fedparity audit`` makes the same result again, byte for byte."""
        table = store.run
        with self.store.read() as connection:
            row = connection.execute(
                sa.select(table).where(table.c.study == study_id, table.c.number == number)
            ).one_or_none()
            if row is None:
                return None
            contents = connection.execute(
                sa.select(store.message.c.silo, store.message.c.content)
                .where(
                    store.message.c.study == study_id,
                    store.message.c.digest.in_(json.loads(row.digests)),
                )
                .order_by(store.message.c.silo)
            ).all()
        result = AuditResult.from_dict(json.loads(bytes(row.result)))
        events = [vars(line) for line in self.store.events(study_id)]
        names = FileNames()
        files: dict[str, bytes] = {
            "plan.toml": (self.plan_text(study_id) or "").encode(),
            **{f"inbox/{names.of(each.silo)}.json": bytes(each.content) for each in contents},
            "result.json": bytes(row.result),
            "report.html": FORMATS["html"].render(result),
            "log.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in events),
            "README.txt": _EVIDENCE.format(software=SOFTWARE).encode(),
        }
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
        return buffer.getvalue()

    def delete(self, study_id: str) -> None:
        """Delete a study with everything in it; the log keeps that there was one."""
        with self.store.change() as change:
            change.connection.execute(sa.delete(store.study).where(store.study.c.id == study_id))
            change.log("auditor", "deleted", study=study_id)
        self._plans.pop(study_id, None)


_EVIDENCE = """What is in this archive was made by {software}.

plan.toml     the plan, as the silos agreed to it
inbox/        the message of every silo that is in the result, as it was sent
result.json   the result
report.html   the same for people
log.jsonl     who did what, each line with the digest of the one before it

The same result again, byte for byte:

  fedparity audit plan.toml inbox -o again.json
"""


def _check_day(text: str) -> None:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise OptionError(
            "the deadline is not a day.", fix="write it as 2026-12-31, or leave it out."
        ) from None


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
