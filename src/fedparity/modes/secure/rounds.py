"""A secure sum, step by step: one side for a silo, one for the auditor, independent of the transport of messages.

Files, engines and simulations differ in how messages travel and where a silo's state is stored, and in
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.documents.plan import Plan
from fedparity.errors import MessageError, RoundStateError, SignatureError
from fedparity.errors.document_errors import RESEND
from fedparity.modes.mode import Exchange, StepName
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import (
    Inbox,
    KeySet,
    ShareSet,
    check_round,
    decode_round,
    masked_vectors,
    one_request,
    threshold_of,
)
from fedparity.modes.secure.round_messages import (
    MaskedVector,
    RoundMessage,
    SecureKeys,
    SecureShares,
    SiloRoundMessage,
)
from fedparity.modes.secure.round_progress import STEPS, request_for
from fedparity.modes.secure.silo_state import RoundState
from fedparity.modes.secure.silo_steps import (
    Step,
    answer_request,
    consent,
    make_ready,
    mask,
    publish_keys,
    share_secrets,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["LocalSilos", "MemoryState", "StateStore", "collect_rounds", "run_rounds", "silo_step"]

Vector: TypeAlias = npt.NDArray[np.int64]


class StateStore(Protocol):
    """Where a silo's state is between its steps."""

    path: Any
    """What it is called in an error."""

    def create(self, state: RoundState) -> None:
        """Store the state of a new round; raise if there is one already."""
        ...

    def held(self) -> AbstractContextManager[RoundState]:
        """Give the state to nobody else meanwhile."""
        ...

    def replace(self, state: RoundState) -> None:
        """Replace the state, durably; only while it is held."""
        ...


class MemoryState:
    """The state of a silo whose round begins and ends in this process."""

    path = "memory"

    def __init__(self) -> None:
        self._state: RoundState | None = None

    @contextmanager
    def held(self) -> Iterator[RoundState]:
        """Return the state."""
        if self._state is None:
            raise RoundStateError.missing(self.path)
        yield self._state

    def replace(self, state: RoundState) -> None:
        """Replace the state."""
        self._state = state

    create = replace


@contextmanager
def silo_step(
    plan: Plan,
    silo: str,
    step: StepName,
    store: StateStore,
    *,
    inbox: Callable[[], Inbox] = lambda: Inbox(()),
    count: Callable[[], Vector] | None = None,
    key: Callable[[], Ed25519PrivateKey | None] = lambda: None,
    resend: Callable[[bool], bool] = lambda _: False,
) -> Iterator[SiloRoundMessage]:
    """Make a step of a silo, store its state, and yield its message while the state is locked.

    Parameters
    ----------
    step : one of STEPS
    inbox : callable
        Returns the messages of others.
    count : callable
        Returns the vector to mask, for the step ``mask``; called once every key and share was found
        to be right, so that no table is read in a round that somebody disturbs.
    key : callable
        Returns the key to sign with; read only where something is signed.
    resend : callable
        Given whether the step was made before, returns whether to yield the same message again;
        nothing is computed then. It may refuse by raising.

    Raises
    ------
    RoundStateError
        If the state is of another round, or of another silo.
    RoundError, MessageError
        As the steps raise them.
    """
    if step == "keys" and not resend(False):
        made = publish_keys(plan, silo, key=key())
        store.create(made.state)
        yield made.message
        return
    with store.held() as state:
        if (state.plan, state.silo) != (plan.digest, silo):
            raise RoundStateError.other_plan(store.path)
        if resend(step in state.sent):
            yield state.sent_again(step)
            return
        made = _made(plan, state, step, count=count, key=key(), inbox=inbox())
        store.replace(made.state)
        yield made.message


def _made(
    plan: Plan,
    state: RoundState,
    step: StepName,
    *,
    count: Callable[[], Vector] | None,
    key: Ed25519PrivateKey | None,
    inbox: Inbox,
) -> Step:
    if step == "shares":
        return share_secrets(plan, state, inbox, key=key)
    if step == "mask" and count is not None:
        ready = make_ready(plan, state, inbox)
        return mask(plan, state, ready, count(), key=key)
    if step == "consent":
        if key is None:
            raise SignatureError.unsigned(state.silo)
        return consent(plan, state, one_request(inbox), key=key)
    return answer_request(plan, state, one_request(inbox), inbox, key=key)


def collect_rounds(plan: Plan, exchange: Exchange[Any]) -> list[RoundMessage]:
    """Lead silos through the rounds, and return all messages; silos that answer one round get the request of the next.

    Keys and shares must come from every silo; after that, silos may drop out.

    Raises
    ------
    MessageError
        If keys or shares do not fit each other, or fewer vectors arrived than the threshold.
    """
    everybody, enough = len(plan.silos or ()), threshold_of(plan)
    keys = exchange.ask("keys", _reader(plan, "keys"), needed=everybody)
    key_set = KeySet.of(plan, _of(SecureKeys, keys))
    shares = exchange.ask(
        "shares",
        _reader(plan, "shares"),
        members=keys,
        messages=list(keys.values()),
        needed=everybody,
    )
    share_set = ShareSet.of(key_set, _of(SecureShares, shares))

    def fits(message: SiloRoundMessage) -> None:
        """A silo whose vector does not fit has dropped out, and spoils the sum for nobody."""
        if isinstance(message, MaskedVector):
            masked_vectors(share_set, [message], Layout.of(plan).length)

    before = [*keys.values(), *shares.values()]
    vectors = exchange.ask("mask", _reader(plan, "mask", fits), members=shares, messages=before)
    request = request_for(plan, Inbox((*before, *vectors.values())))
    exchange.publish("request", request)
    consents: Mapping[Any, SiloRoundMessage] = {}
    if plan.keys:
        consents = exchange.ask(
            "consent",
            _reader(plan, "consent"),
            members=vectors,
            messages=[request],
            needed=enough,
        )
    answers = exchange.ask(
        "unmask",
        _reader(plan, "unmask"),
        members=consents or vectors,
        messages=[request, *consents.values()],
        needed=enough,
    )
    return [*before, *vectors.values(), request, *consents.values(), *answers.values()]


def _of(kind: type[Any], found: Mapping[Any, SiloRoundMessage]) -> list[Any]:
    return Inbox(tuple(found.values())).of_kind(kind)


def _reader(
    plan: Plan, step: StepName, fits: Callable[[SiloRoundMessage], None] = lambda _: None
) -> Callable[[bytes], SiloRoundMessage]:
    """What decodes a message of a step, and raises if it does not fit those of earlier ones."""

    def read(data: bytes) -> SiloRoundMessage:
        message = decode_round(data)
        check_round(plan, message)
        if not (isinstance(message, STEPS[step]) and isinstance(message, SiloRoundMessage)):
            silo = getattr(message, "silo", "?")
            raise MessageError(
                f"silo {silo!r} was asked for its {step} and sent something else.", fix=RESEND
            )
        fits(message)
        return message

    return read


def run_rounds(plan: Plan, vectors: Mapping[str, Vector]) -> list[RoundMessage]:
    """Return every message of rounds in which these silos take part, all in this process.

    Silos of the roster that have no vector drop out after they shared their secrets. The plan has
    no keys: nothing leaves, so nothing is signed.

    Raises
    ------
    SecureMessageError
        If fewer silos than the threshold have a vector.
    """
    return collect_rounds(plan, LocalSilos(plan, vectors, vectors.__getitem__))


class LocalSilos:
    """All silos of a roster in one process.

    Parameters
    ----------
    plan : Plan
    silos : collection of str
        Those that have records; the others drop out after they shared their secrets.
    vector : callable
        Returns the vector of a silo.
    """

    def __init__(
        self, plan: Plan, silos: Collection[str], vector: Callable[[str], Vector]
    ) -> None:
        self.plan, self._silos, self._vector = plan, silos, vector
        self._states = {silo: MemoryState() for silo in plan.silos or ()}

    def ask(
        self,
        step: StepName,
        read: Callable[[bytes], Any],  # noqa: ARG002 -- nothing was encoded
        *,
        members: Iterable[str] | None = None,
        messages: Iterable[Any] = (),
        needed: int | None = None,  # noqa: ARG002 -- all of them answer
    ) -> dict[str, Any]:
        """Let every silo make a step, from what all had sent before it."""
        silos: Iterable[str] = self._states if members is None else members
        inbox = Inbox(tuple(messages))
        found = {}
        for silo in self._silos if step == "mask" else silos:
            with silo_step(
                self.plan,
                silo,
                step,
                self._states[silo],
                inbox=lambda: inbox,
                count=partial(self._vector, silo),
            ) as message:
                found[silo] = message
        return found

    def publish(self, step: str, message: RoundMessage) -> None:
        """Do nothing: the message is among those that are returned."""
