"""Rounds of a secure sum for tests: every silo makes its own steps, one may be disturbed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedparity.documents.plan import Plan
from fedparity.documents.signing import generate_key, public_text
from fedparity.modes.secure import silo_steps as steps
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import Inbox
from fedparity.modes.secure.round_progress import request_for
from fedparity.modes.secure.silo_steps import Step, answer_request, consent

SILOS = ("aurora", "bayside", "cedar", "dune", "elm")


def secure_plan(silos: int = 4, *, keys: Any = None, **options: Any) -> Plan:
    """A plan of a small secure sum: two groups, two bins, two levels."""
    names = SILOS[:silos]
    publics = {} if keys is None else {name: public_text(keys[name]) for name in names}
    privacy = {"mode": "secure", "bins": 2, **options.pop("privacy", {})}
    return Plan(
        title="Q4",
        groups=("A", "B"),
        score_range=(0.0, 1.0),
        levels=2,
        silos=names,
        keys=publics,
        privacy=privacy,
        **options,
    )


def signing_keys(silos: int = 4) -> dict[str, Any]:
    """One key for each silo."""
    return {name: generate_key() for name in SILOS[:silos]}


@dataclass
class Rounds:
    """The states of all silos, and every message that was sent."""

    plan: Plan
    keys: dict[str, Any] = field(default_factory=dict)
    states: dict[str, Any] = field(default_factory=dict)
    sent: list[Any] = field(default_factory=list)

    @property
    def inbox(self) -> Inbox:
        """All that was sent."""
        return Inbox(tuple(self.sent))

    def of(self, kind: type) -> list[Any]:
        """The messages of one kind."""
        return self.inbox.of_kind(kind)

    def take(self, step: Step) -> Any:
        """Keep a step's state, and send its message."""
        self.states[step.state.silo] = step.state
        self.sent.append(step.message)
        return step.message

    def share(self) -> Rounds:
        """Publish keys and shares of all silos."""
        for silo in self.plan.silos:
            self.take(steps.publish_keys(self.plan, silo, key=self.keys.get(silo)))
        inbox = self.inbox
        for silo in self.plan.silos:
            state = self.states[silo]
            self.take(steps.share_secrets(self.plan, state, inbox, key=self.keys.get(silo)))
        return self

    def mask(self, silo: str, vector: Any) -> Any:
        """Send a silo's masked vector."""
        state = self.states[silo]
        ready = steps.make_ready(self.plan, state, self.inbox)
        return self.take(steps.mask(self.plan, state, ready, vector, key=self.keys.get(silo)))

    def mask_all(self, vectors: dict[str, Any]) -> Rounds:
        """Send the masked vectors of these silos."""
        for silo, vector in vectors.items():
            self.mask(silo, vector)
        return self

    def request(self) -> Any:
        """Send the auditor's request."""
        request = request_for(self.plan, self.inbox)
        self.sent.append(request)
        return request

    def consent(self, silo: str, request: Any) -> Any:
        """Send a silo's signature under the request."""
        state = self.states[silo]
        return self.take(consent(self.plan, state, request, key=self.keys[silo]))

    def answer(self, silo: str, request: Any) -> Any:
        """Send a silo's answer."""
        state = self.states[silo]
        step = answer_request(self.plan, state, request, self.inbox, key=self.keys.get(silo))
        return self.take(step)


def some_vectors(plan: Plan, seed: int = 0, size: int = 2**40) -> dict[str, Any]:
    """A vector for each silo, of whole numbers of both signs."""
    random = np.random.default_rng(seed)
    length = Layout.of(plan).length
    return {silo: random.integers(-size, size, length) for silo in plan.silos}


def answered(plan: Plan, vectors: dict[str, Any], answering: Any = None) -> Rounds:
    """A whole round: these silos upload, and of them those ``answering`` answer."""
    rounds = Rounds(plan).share().mask_all(vectors)
    request = rounds.request()
    for silo in vectors if answering is None else answering:
        rounds.answer(silo, request)
    return rounds
