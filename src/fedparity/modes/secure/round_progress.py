"""Masked vectors and unmask answers to the sum over the silos, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from fedparity.documents.plan import Plan
from fedparity.errors import MessageError, SecureMessageError
from fedparity.errors.release_errors import SEND_AGAIN
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.masking import Words, opens, pair_masks, public_key, total
from fedparity.modes.secure.round_checks import (
    Inbox,
    KeySet,
    ShareSet,
    by_silo,
    check_round,
    masked_vectors,
    own_stream,
    pair_stream,
    roster_of,
    seed_context,
    share_context,
    threshold_of,
)
from fedparity.modes.secure.round_messages import (
    MaskedVector,
    RoundMessage,
    SecureConsent,
    SecureKeys,
    SecureShares,
    UnmaskAnswer,
    UnmaskRequest,
)
from fedparity.modes.secure.shamir import join
from fedparity.version import SOFTWARE

__all__ = [
    "STEPS",
    "Gathered",
    "SecureSum",
    "Standing",
    "check_answer",
    "gather",
    "open_sum",
    "request_for",
    "standing",
]


class Gathered:
    """The keys, shares and masked vectors of a round, checked against each other."""

    def __init__(self, plan: Plan, inbox: Inbox) -> None:
        self.plan, self.inbox = plan, inbox
        self.keys = KeySet.of(plan, inbox.of_kind(SecureKeys))
        self.shares = ShareSet.of(self.keys, inbox.of_kind(SecureShares))
        self.vectors = masked_vectors(
            self.shares, inbox.of_kind(MaskedVector), Layout.of(plan).length
        )


def gather(plan: Plan, inbox: Inbox) -> Gathered:
    """Return the first three messages of all silos, with the vectors that arrived.

    Raises
    ------
    MessageError
        If a message does not fit, or fewer vectors arrived than the threshold.
    """
    found = Gathered(plan, inbox)
    if len(found.vectors) < threshold_of(plan):
        raise SecureMessageError.too_few("masked vectors", len(found.vectors), threshold_of(plan))
    return found


def request_for(plan: Plan, inbox: Inbox) -> UnmaskRequest:
    """Return the request to unmask the sum of all vectors that arrived.

    There is one request per round: silos do not answer a second one. So wait until no further silo is expected.

    Raises
    ------
    MessageError
        If a message does not fit, or fewer vectors arrived than the threshold.
    """
    found = gather(plan, inbox)
    return UnmaskRequest(
        plan=plan.digest,
        key_set=found.keys.digest,
        share_set=found.shares.digest,
        survivors={silo: each.digest for silo, each in found.vectors.items()},
        software=SOFTWARE,
    )


@dataclass(frozen=True, eq=False)
class SecureSum:
    """The sum of the vectors of some silos."""

    vector: npt.NDArray[np.int64]
    survivors: tuple[str, ...]
    """The silos that are in it."""
    dropped: tuple[str, ...]
    """The silos of the roster that are not."""


def open_sum(plan: Plan, inbox: Inbox) -> SecureSum:
    """Return the sum over all silos that the request names.

    Every share is compared with what its owner committed to, every rebuilt secret with its
    commitment or its public key.

    Raises
    ------
    MessageError
        If a message does not fit the others, a share was changed, or fewer silos answered than
        the threshold: then nothing can be learned.
    """
    found = gather(plan, inbox)
    request = _request(found)
    answers = _answers(found, request)
    survivors = tuple(request.survivors)
    dropped = tuple(silo for silo in found.keys.keys if silo not in request.survivors)
    vector = total(
        (found.vectors[silo].words for silo in survivors),
        own=[_own_stream(found, answers, silo) for silo in survivors],
        left_over=[_left_over(found, answers, silo, survivors) for silo in dropped],
    )
    return SecureSum(vector, survivors, dropped)


def _request(found: Gathered) -> UnmaskRequest:
    requests = found.inbox.of_kind(UnmaskRequest)
    if not requests:
        raise SecureMessageError.nothing_came("unmask request (fedparity secure request)")
    if len(requests) > 1:
        raise SecureMessageError.twice("requests", "the auditor")
    request = requests[0]
    check_round(found.plan, request)
    if request.key_set != found.keys.digest:
        raise SecureMessageError.other_set("the auditor", "keys")
    if request.share_set != found.shares.digest:
        raise SecureMessageError.other_set("the auditor", "shares")
    for silo, digest in request.survivors.items():
        if silo not in found.vectors or found.vectors[silo].digest != digest:
            raise SecureMessageError(
                f"the masked vector of silo {silo!r} is not the one that the request names.",
                fix="audit with the files that were there when the request was written.",
            )
    return request


def _answers(found: Gathered, request: UnmaskRequest) -> Mapping[str, UnmaskAnswer]:
    answers = by_silo(found.plan, found.inbox.of_kind(UnmaskAnswer), "unmask answers")
    threshold = threshold_of(found.plan)
    for answer in answers.values():
        check_answer(found, request, answer)
    if len(answers) < threshold:
        raise SecureMessageError.too_few("unmask answers", len(answers), threshold)
    return answers


def check_answer(found: Gathered, request: UnmaskRequest, answer: UnmaskAnswer) -> None:
    """Raise unless an answer is about the request, and each of its shares is what its owner sealed.

    Raises
    ------
    SecureMessageError
        If it is not.
    """
    if answer.request != request.digest:
        raise SecureMessageError(
            f"silo {answer.silo!r} answered another request than the one given.",
            fix="audit with the request that was answered: there is one per round.",
        )
    asked = answer.seeds.keys() == request.survivors.keys()
    if not asked or answer.seeds.keys() | answer.keys.keys() != found.keys.keys.keys():
        raise SecureMessageError(
            f"the answer of silo {answer.silo!r} is not about the silos of the request.",
            fix=SEND_AGAIN,
        )
    _check_shares(found, answer)


def _check_shares(found: Gathered, answer: UnmaskAnswer) -> None:
    """Raise unless every share is the one that its owner sealed for the silo that answers."""
    for owner, share in answer.seeds.items():
        stated = found.shares.shares[owner].shares[answer.silo].seed
        if not opens(share, stated, *share_context(found.keys, "seed", owner, answer.silo)):
            raise SecureMessageError.tampered_share(answer.silo, owner)
    for owner, share in answer.keys.items():
        stated = found.shares.shares[owner].shares[answer.silo].key
        if not opens(share, stated, *share_context(found.keys, "key", owner, answer.silo)):
            raise SecureMessageError.tampered_share(answer.silo, owner)


def _own_stream(found: Gathered, answers: Mapping[str, UnmaskAnswer], silo: str) -> bytes:
    seed = _rebuilt(found, answers, silo, "seeds")
    stated = found.shares.shares[silo].commitment
    if seed is None or not opens(seed, stated, *seed_context(found.keys, silo)):
        raise SecureMessageError.wrong_secret(silo)
    return own_stream(found.keys, seed, silo)


def _left_over(
    found: Gathered,
    answers: Mapping[str, UnmaskAnswer],
    silo: str,
    survivors: tuple[str, ...],
) -> Words:
    """What a silo that dropped out would have added of the masks shared with the survivors."""
    secret = _rebuilt(found, answers, silo, "keys")
    if secret is None or public_key(secret) != found.keys.keys[silo].mask_key:
        raise SecureMessageError.wrong_secret(silo)
    streams = {other: pair_stream(found.keys, secret, silo, other) for other in survivors}
    return pair_masks(silo, streams, found.vectors[survivors[0]].words.size)


def _rebuilt(
    found: Gathered,
    answers: Mapping[str, UnmaskAnswer],
    silo: str,
    which: Literal["seeds", "keys"],
) -> bytes | None:
    """A silo's secret, from the shares of enough silos."""
    some = list(answers.values())[: threshold_of(found.plan)]
    return join({found.keys.positions[each.silo]: getattr(each, which)[silo] for each in some})


STEPS: dict[str, type[RoundMessage]] = {
    "keys": SecureKeys,
    "shares": SecureShares,
    "mask": MaskedVector,
    "request": UnmaskRequest,
    "consent": SecureConsent,
    "unmask": UnmaskAnswer,
}
"""The messages of a round by the name of their step, in order."""


@dataclass(frozen=True)
class Standing:
    """How far a round has come."""

    came: dict[str, int]
    """Messages of each step."""
    missing: tuple[str, ...]
    """Silos of the roster whose vector did not come."""
    waiting: str
    """What the round is waiting for: a name of :data:`STEPS`, or "" if the sum can be opened."""
    problem: MessageError | None
    """Why it cannot continue, if messages that arrived do not fit."""


def standing(plan: Plan, inbox: Inbox) -> Standing:
    """Return the state of a round, from messages that are each valid."""
    came = {step: len(inbox.of_kind(kind)) for step, kind in STEPS.items()}
    uploaded = {each.silo for each in inbox.of_kind(MaskedVector)}
    missing = tuple(silo for silo in roster_of(plan) if silo not in uploaded)
    waiting, problem = "", None
    for step, check in _CHECKS:
        try:
            check(plan, inbox)
        except MessageError as error:
            waiting, problem = step, error
            break
    complete = not waiting or came[waiting] >= _expected(plan, waiting)
    return Standing(came, missing, waiting, problem if complete else None)


def _expected(plan: Plan, step: str) -> int:
    """From how many messages of a step on nothing is missing, so that an error is a real one."""
    if step == "request":
        return 1
    silos = len(roster_of(plan))
    return silos if step in ("keys", "shares") else int(getattr(plan.privacy, "threshold", silos))


def _shared(plan: Plan, inbox: Inbox) -> None:
    ShareSet.of(KeySet.of(plan, inbox.of_kind(SecureKeys)), inbox.of_kind(SecureShares))


def _keyed(plan: Plan, inbox: Inbox) -> None:
    KeySet.of(plan, inbox.of_kind(SecureKeys))


def _asked(plan: Plan, inbox: Inbox) -> None:
    gather(plan, inbox)
    if not inbox.of_kind(UnmaskRequest):
        raise MessageError("there is no request yet.", fix="run fedparity secure request.")


_CHECKS: tuple[tuple[str, Callable[[Plan, Inbox], object]], ...] = (
    ("keys", _keyed),
    ("shares", _shared),
    ("mask", gather),
    ("request", _asked),
    ("unmask", open_sum),
)
