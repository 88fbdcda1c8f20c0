"""The auditor's side of an exchange: who is there, who answered, and who did not and why."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Protocol, TypeVar

from fedparity.documents.files import FileNames, write_whole
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.engines.remote.requests import Reply, Request
from fedparity.errors import (
    DocumentError,
    MessageError,
    MissingSiloError,
    OptionError,
    OutputError,
)
from fedparity.errors.base import listed
from fedparity.errors.release_errors import reasons_given
from fedparity.modes.mode import SiloMessage, StepName, mode_of
from fedparity.uncertainty.checks import check_confidence
from fedparity.version import SOFTWARE

__all__ = [
    "Answer",
    "Conversation",
    "Exchange",
    "Folder",
    "Loss",
    "Member",
    "Record",
    "Terms",
]


class Loss(StrEnum):
    """Why a silo did not reply, as far as the engine knows."""

    SILENT = "no answer in time"
    NOT_STARTED = "its app could not be started"
    CRASHED = "its process failed"
    UNREACHABLE = "could not be reached"
    GARBLED = "an unreadable answer"


@dataclass(frozen=True)
class Member:
    """A node that is connected."""

    node: str
    """How the engine calls it."""
    name: str | None = None
    """The name under which its key was registered, if the engine knows one."""


@dataclass(frozen=True)
class Answer:
    """The reply of a member, or why there is none."""

    member: Member
    came: Reply | Loss


class Exchange(Protocol):
    """The network of an engine."""

    def members(self) -> Sequence[Member]:
        """Return who is connected now."""
        ...

    def ask(self, requests: Mapping[Member, Request], seconds: float) -> Iterator[Answer | None]:
        """Send a request to several members at once, and yield exactly one answer for each.

        Answers are yielded as they come, and None every now and then while nothing does; after
        ``seconds`` those that did not come are yielded as silent. An answer belongs to the member
        whose request it answers, whatever it says of itself.
        """
        ...


_FEWEST = 20
"""Redraws of the bootstrap, as :func:`fedparity.assess` demands."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How silos are waited for, and how their messages are audited.

    Parameters
    ----------
    quorum : int, optional
        Silos without which there is no result; all of the plan's if absent.
    wait : float
        Seconds in which silos may connect before the first request.
    limit : float
        Seconds in which they have to answer, for each round.
    confidence, seed, redraws
        As in :func:`fedparity.audit`.
    """

    quorum: int | None = None
    wait: float = 60.0
    limit: float = 600.0
    confidence: float = 0.95
    seed: int = 0
    redraws: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("wait", 0.0), ("limit", 1.0)):
            if not least <= getattr(self, name) <= 1e6:
                raise OptionError(
                    f"{name} must be a number of seconds of at least {least:g}.",
                    fix=f"set {name} in the configuration of the run.",
                )
        check_confidence(self.confidence)  # now, and not after silos have answered
        for name, fewest in (("seed", 0), ("redraws", _FEWEST)):
            value = getattr(self, name)
            if value is not None and value < fewest:
                raise OptionError(
                    f"{name} must be a whole number of at least {fewest}.",
                    fix=f"set {name} in the configuration of the run.",
                )

    def quorum_for(self, plan: Plan) -> int:
        """Return how many silos must answer a plan.

        Raises
        ------
        OptionError
            If the plan has no roster, the quorum is more than it lists, or fewer than a secure
            sum needs.
        """
        if plan.silos is None:
            raise OptionError(
                "the plan lists no silos, so nobody can say who is missing.",
                fix="add silos = [...] to the plan.",
            )
        quorum = len(plan.silos) if self.quorum is None else self.quorum
        least = mode_of(plan).fewest_silos
        if not least <= quorum <= len(plan.silos):
            raise OptionError(
                f"the quorum must be between {least} and {len(plan.silos)}, not {quorum}.",
                fix="set quorum in the configuration of the run.",
            )
        return quorum


@dataclass(eq=False)
class Record:
    """The requests to each member, how each ended, and after how many seconds.

    Examples
    --------
    >>> record = Record("sha256:1f", quorum=2)
    >>> record.enter("sketch", "7", "aurora", "answered", 1.234)
    >>> record.to_dict()["asked"][0]["seconds"]
    1.23
    """

    plan: str
    quorum: int
    asked: list[dict[str, Any]] = field(default_factory=list)
    outcome: str = "not finished"

    def enter(self, step: str, node: str, silo: str | None, outcome: str, seconds: float) -> None:
        """Record how one request ended."""
        self.asked.append(
            {
                "step": step,
                "node": node,
                "silo": silo,
                "outcome": outcome,
                "seconds": round(seconds, 2),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON holds it."""
        return {
            "schema": "fedparity/exchange/1",
            "plan": self.plan,
            "quorum": self.quorum,
            "outcome": self.outcome,
            "asked": self.asked,
            "software": SOFTWARE,
        }


class Folder:
    """A folder of one run: ``messages/``, ``plan.toml``, ``result.json``, ``exchange.json``.

    ``fedparity audit plan.toml messages`` in it gives the same result.
    """

    def __init__(self, path: str | os.PathLike[str], plan: Plan) -> None:
        self.path = Path(path).absolute()
        self._plan = plan
        self._names = FileNames()

    def open(self) -> None:
        """Make the folder, and write the plan to it.

        Raises
        ------
        OutputError
            If it holds an earlier run, or cannot be made.
        """
        for name in ("result.json", "exchange.json", "messages", "plan.toml"):
            if (self.path / name).exists():
                raise OutputError.exists(str(self.path / name))
        try:
            self._messages.mkdir(parents=True)
        except OSError as problem:
            raise OutputError.unwritable(str(self.path), _reason(problem)) from None
        self._plan.write(self.path / "plan.toml")

    def keep_message(self, silo: str, ending: str, data: bytes) -> None:
        """Write a message of a silo, byte for byte as received.

        It is not synchronized to the disk: a run that ends in a crash of the machine is repeated, and
        synchronizing thousands of files would take longer than the audit.
        """
        path = self._messages / f"{self._names.of(silo)}.{ending}.json"
        try:
            with path.open("xb") as file:
                file.write(data)
        except FileExistsError:
            raise OutputError.exists(str(path)) from None
        except OSError as problem:
            raise OutputError.unwritable(str(path), _reason(problem)) from None

    def keep_result(self, result: AuditResult) -> Path:
        """Write the result, and return its file."""
        result.write(self.path / "result.json")
        return self.path / "result.json"

    def keep_record(self, record: Record) -> None:
        """Write what happened."""
        text = json.dumps(record.to_dict(), indent=2, ensure_ascii=False)
        write_whole(self.path / "exchange.json", f"{text}\n".encode(), force=True)

    @property
    def _messages(self) -> Path:
        return self.path / "messages"


def _reason(problem: OSError) -> str:
    return problem.strerror or type(problem).__name__


Message = TypeVar("Message", bound=SiloMessage)

_LOOK_AGAIN = 0.2
_TELL_EVERY = 15.0
_FEW = 20
"""Up to this number, silos are reported one by one."""
_NOT_VALID = "a message that is not valid"
_NOT_HEARD = "not heard of"


@dataclass(eq=False)
class Conversation:
    """All requests and replies of one run.

    Every silo of the roster is in the end either one that answered or one with a reason.
    """

    plan: Plan
    exchange: Exchange
    terms: Terms
    folder: Folder
    tell: Callable[[str], None]
    silos: dict[Member, str] = field(default_factory=dict)
    """Which silo a member is: by its registered name, or by its first valid message."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Why a silo of the roster, or a node that never said who it is, is not in the result."""
    record: Record = field(init=False)
    _nodes: dict[str, Member] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.quorum = self.terms.quorum_for(self.plan)
        self.record = Record(self.plan.digest, self.quorum)

    def gather(self, needed: int | None = None) -> list[Member]:
        """Wait until all silos of the plan are connected, or the time is up.

        ``needed`` is the quorum if absent.

        Raises
        ------
        MessageError
            If two nodes are registered under one silo's name.
        MissingSiloError
            If fewer are connected than are needed; no request was sent.
        """
        roster, began = len(self.plan.silos or ()), monotonic()
        while True:
            members = self._eligible()
            if len(members) >= roster or monotonic() - began >= self.terms.wait:
                break
            sleep(_LOOK_AGAIN)
        self.tell(f"{len(members)} nodes are connected; the plan has {roster} silos.")
        named = {m.name for m in self.exchange.members() if m.name}
        strangers = sorted(named - self.plan.silo_set)
        if strangers:
            self.tell(f"not asked, because the plan does not list them: {listed(strangers)}.")
        for member in members:
            if member.name is not None:
                self._know(member, member.name)
        needed = self.quorum if needed is None else needed
        if len(members) < needed:
            unnamed = any(member.name is None for member in members)
            absent = () if unnamed else self._absent()
            names = f" Not heard of: {listed(absent)}." if absent else ""
            raise MissingSiloError(
                f"{len(members):,} of the {roster:,} silos of the plan are connected, and {needed:,} are "
                f"needed, so no request was sent.{names}",
                fix="start the nodes that are missing and run the audit again, with a longer wait if "
                "they need it; or lower quorum.",
            )
        return members

    def ask(
        self, requests: Mapping[Member, Request], read: Callable[[bytes], Message]
    ) -> dict[Member, Message]:
        """Request the same step of several members, and return the valid replies.

        ``read`` decodes and checks a message, and raises a DocumentError if it is not valid.

        Raises
        ------
        MessageError
            If two nodes answer as the same silo.
        """
        step = next(iter(requests.values())).step
        began = told = monotonic()
        found: dict[Member, Message] = {}
        waiting = dict.fromkeys(requests)
        for answer in self.exchange.ask(requests, self.terms.limit):
            now = monotonic()
            if answer is None:
                if now - told >= _TELL_EVERY:
                    told = now
                    self._tell_progress(step, requests, found, waiting, began)
                continue
            waiting.pop(answer.member, None)
            outcome = self._take(step, answer, read, found)
            silo = self.silos.get(answer.member)
            self.record.enter(step, answer.member.node, silo, outcome, now - began)
            if not waiting or len(requests) <= _FEW or now - told >= 1.0:
                told = now
                self._tell_progress(step, requests, found, waiting, began)
        return found

    def require(self, answered: Mapping[Member, object], needed: int) -> None:
        """Raise if fewer silos answered than are needed.

        Raises
        ------
        MissingSiloError
            With the reason of each one that did not.
        """
        if len(answered) < needed:
            raise self._missing(len(answered), needed)

    def _eligible(self) -> list[Member]:
        """Members that may be silos of the plan: others get no request."""
        roster = self.plan.silo_set
        return [m for m in self.exchange.members() if m.name is None or m.name in roster]

    def _know(self, member: Member, silo: str) -> None:
        if self._nodes.setdefault(silo, member) != member:
            raise MessageError(
                f"two nodes answer as silo {silo!r}, so neither can be believed.",
                fix="find out which of them is the silo, stop the other, and start again with a new plan.",
            )
        self.silos[member] = silo

    def _take(
        self,
        step: StepName,
        answer: Answer,
        read: Callable[[bytes], Message],
        found: dict[Member, Message],
    ) -> str:
        """Store a valid message, or the reason why there is none; return the line of the record."""
        member, came = answer.member, answer.came
        if isinstance(came, Loss) or came.message is None:
            reason = str(came if isinstance(came, Loss) else came.refused)
            self._explain(member, came, reason)
            return reason
        try:
            message = self._valid(member, read(came.message))
        except DocumentError as error:
            self._refuse(member, error)
            return _NOT_VALID
        self._know(member, message.silo)
        self.reasons.pop(message.silo, None)
        self.folder.keep_message(message.silo, step, came.message)
        found[member] = message
        return "answered"

    def _valid(self, member: Member, message: Message) -> Message:
        known = self.silos.get(member)
        if known is not None and message.silo != known:
            raise MessageError.not_the_silo(message.silo, known)
        return message

    def _explain(self, member: Member, came: Reply | Loss, reason: str) -> None:
        said = came.silo if isinstance(came, Reply) else ""
        believed = said in self.plan.silo_set and said not in self._nodes
        own = self.silos.get(member) or (said if believed else "")
        self.reasons[own or f"node {member.node}"] = reason

    def _refuse(self, member: Member, error: DocumentError) -> None:
        name = self.silos.get(member) or f"node {member.node}"
        self.reasons[name] = _NOT_VALID
        self.tell(f"{name}: {error.message}")

    def _tell_progress(
        self,
        step: StepName,
        requests: Mapping[Member, Request],
        found: Mapping[Member, object],
        waiting: Mapping[Member, None],
        began: float,
    ) -> None:
        lost = len(requests) - len(waiting) - len(found)
        left = max(0.0, self.terms.limit - (monotonic() - began))
        names = sorted(self.silos.get(member, f"node {member.node}") for member in waiting)
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        rest = f"; waiting for {', '.join(names[:3])}{more}, {left:.0f} s left" if names else ""
        without = f", {lost} did not" if lost else ""
        self.tell(f"{step}: {len(found)} of {len(requests)} silos answered{without}{rest}.")

    def _missing(self, came: int, needed: int) -> MissingSiloError:
        named = {who: why for who, why in self.reasons.items() if who in self.plan.silo_set}
        nodes = {who: why for who, why in self.reasons.items() if who not in named}
        if len(nodes) > _FEW:
            numbers = Counter(nodes.values()).items()
            nodes = {"other nodes": ", ".join(f"{number:,} × {why}" for why, number in numbers)}
        reasons = {**nodes, **named, **dict.fromkeys(self._absent(), _NOT_HEARD)}
        return MissingSiloError(
            f"{came:,} of the {len(self.plan.silos or ()):,} silos of the plan answered, and the quorum is {needed:,}: "
            f"{reasons_given(reasons)}.",
            fix="see what each of them says in its own log, then run the audit again with a new "
            "plan or with again = true in the settings of those that answered; or lower quorum.",
        )

    def _absent(self) -> list[str]:
        """Silos of the roster of which nothing is known."""
        heard = {*self.silos.values(), *self.reasons}
        return [silo for silo in self.plan.silos or () if silo not in heard]
