"""All rounds of a secure sum in one process: the silos' own steps, and the auditor's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from fedparity.auditing.secure.requesting import request_for
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.reading import Inbox
from fedparity.protocol.secure.round_message import RoundMessage
from fedparity.releasing.secure.answering import answer_request
from fedparity.releasing.secure.state import RoundState
from fedparity.releasing.secure.step import Step
from fedparity.releasing.secure.steps import make_ready, mask, publish_keys, share_secrets

__all__ = ["run_rounds"]


def run_rounds(
    plan: Plan, vectors: Mapping[str, npt.NDArray[np.int64]]
) -> tuple[RoundMessage, ...]:
    """Return every message of a round in which these silos take part.

    Silos of the roster that have no vector drop out after they shared their secrets. The plan has
    no keys: nothing leaves, so nothing is signed.

    Raises
    ------
    SecureMessageError
        If fewer silos than the threshold have a vector.
    """
    round_ = _Round(plan)
    round_.all_do("keys", lambda silo: publish_keys(plan, silo))
    round_.all_do("shares", lambda silo: share_secrets(plan, round_.states[silo], round_.inbox))
    opened = round_.inbox
    for silo, vector in vectors.items():
        state = round_.states[silo]
        round_.take(mask(plan, state, make_ready(plan, state, opened), vector))
    request = request_for(plan, round_.inbox)
    for silo in request.survivors:
        round_.take(answer_request(plan, round_.states[silo], request, opened))
    return (*round_.messages, request)


class _Round:
    """The states of all silos, and what they have sent."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.states: dict[str, RoundState] = {}
        self.messages: list[RoundMessage] = []

    @property
    def inbox(self) -> Inbox:
        return Inbox(tuple(self.messages))

    def take(self, step: Step) -> None:
        self.states[step.state.silo] = step.state
        self.messages.append(step.message)

    def all_do(self, _: str, step: Callable[[str], Step]) -> None:
        """Let every silo of the roster make a step, from what all had sent before it."""
        made = [step(silo) for silo in self.plan.silos or ()]
        for each in made:
            self.take(each)
