"""What a step of a silo leaves: a new state to store, then a message to send."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import check_round
from fedparity.protocol.secure.round_message import SiloRoundMessage
from fedparity.protocol.signature import sign
from fedparity.releasing.secure.state import RoundState

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["Step", "finish_step"]

Message = TypeVar("Message", bound=SiloRoundMessage)


class Step(NamedTuple):
    """What a step leaves: store the state, then send the message."""

    state: RoundState
    message: SiloRoundMessage


def finish_step(
    plan: Plan,
    state: RoundState,
    step: str,
    message: Message,
    key: Ed25519PrivateKey | None,
) -> Step:
    """Sign a message, check it as others will, and enter it into the state.

    Raises
    ------
    SignatureError
        If the plan has keys, and the message is not signed with this silo's.
    """
    signed = message if key is None else sign(message, key)
    check_round(plan, signed)  # a wrong or missing key is found here, not by the others
    return Step(state.after(step, signed), signed)
