"""The auditor's side of an exchange: who is there, who answered, and who did not and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import TypeVar

from fedparity.engines.remote.exchange import Answer, Exchange, Loss, Member
from fedparity.engines.remote.keeping import Folder
from fedparity.engines.remote.record import Record
from fedparity.engines.remote.terms import Terms
from fedparity.engines.remote.wording import Reply, Request, Step
from fedparity.errors import DocumentError, MessageError, MissingSiloError
from fedparity.errors.base import listed
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.round_message import SiloRoundMessage

__all__ = ["Conversation"]

Message = TypeVar("Message", SiloSketch, SiloRoundMessage)

_LOOK_AGAIN = 0.2
_TELL_EVERY = 15.0
_FEW = 20
"""So few silos are told of one by one."""
_NOT_VALID = "a message that is not valid"
_NOT_HEARD = "not heard of"


@dataclass(eq=False)
class Conversation:
    """All that is asked and answered in one run.

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
        """Wait until as many members are there as the plan has silos, or the time is up.

        ``needed`` is the quorum if absent.

        Raises
        ------
        MessageError
            If two nodes are registered under one silo's name.
        MissingSiloError
            If fewer are there than are needed; nobody was asked.
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
            raise MissingSiloError.not_connected(len(members), needed, roster, absent)
        return members

    def ask(
        self, requests: Mapping[Member, Request], read: Callable[[bytes], Message]
    ) -> dict[Member, Message]:
        """Ask members for the same step, and return what came and is valid.

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
        """Members that may be silos of the plan: those of another name are not asked."""
        roster = self.plan.silo_set
        return [m for m in self.exchange.members() if m.name is None or m.name in roster]

    def _know(self, member: Member, silo: str) -> None:
        if self._nodes.setdefault(silo, member) != member:
            raise MessageError.two_nodes(silo)
        self.silos[member] = silo

    def _take(
        self,
        step: Step,
        answer: Answer,
        read: Callable[[bytes], Message],
        found: dict[Member, Message],
    ) -> str:
        """Keep a valid message, or the reason why there is none; return what is to be recorded."""
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
        step: Step,
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
        return MissingSiloError.below_quorum(came, needed, len(self.plan.silos or ()), reasons)

    def _absent(self) -> list[str]:
        """Silos of the roster of which nothing is known."""
        heard = {*self.silos.values(), *self.reasons}
        return [silo for silo in self.plan.silos or () if silo not in heard]
