"""The end of a round for a silo: the list of survivors is signed, and one request answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedparity.errors import MessageError, RoundError
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import by_silo, check_round, threshold_of
from fedparity.protocol.secure.messages import (
    MaskedVector,
    SecureConsent,
    UnmaskAnswer,
    UnmaskRequest,
)
from fedparity.protocol.secure.reading import Inbox
from fedparity.releasing.secure.state import RoundState
from fedparity.releasing.secure.step import Step, finish_step
from fedparity.version import SOFTWARE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["answer_request", "consent"]


def consent(
    plan: Plan, state: RoundState, request: UnmaskRequest, *, key: Ed25519PrivateKey
) -> Step:
    """Sign the list of survivors that this silo was given; one list per round.

    Raises
    ------
    RoundError
        If the request may not be answered, or another one was signed.
    """
    state.refuse_again("consent")
    _check_request(plan, state, request)
    message = SecureConsent(
        plan=plan.digest, silo=state.silo, request=request.digest, software=SOFTWARE
    )
    return finish_step(plan, state, "consent", message, key)


def answer_request(
    plan: Plan,
    state: RoundState,
    request: UnmaskRequest,
    inbox: Inbox,
    *,
    key: Ed25519PrivateKey | None = None,
) -> Step:
    """Answer the one request of a round: of each survivor the seed's share, else the key's.

    The new state holds no secret any more.

    With a plan that has keys, a threshold t of silos must have signed the very same list before: an
    auditor who shows different lists to different silos needs 2t - d of the d silos to sign both.

    Raises
    ------
    RoundError
        If another request was answered, the list is too short, leaves this silo out, names another
        upload, or too few silos have signed it.
    """
    answered = state.sent.get("unmask")
    if isinstance(answered, UnmaskAnswer) and answered.request != request.digest:
        raise RoundError.second_request(state.silo)
    state.refuse_again("unmask")
    _check_request(plan, state, request)
    if plan.keys:
        _check_consents(plan, state, request, inbox)
    message = UnmaskAnswer(
        plan=plan.digest,
        silo=state.silo,
        request=request.digest,
        seeds={s: h.seed for s, h in state.held.items() if s in request.survivors},
        keys={s: h.key for s, h in state.held.items() if s not in request.survivors},
        software=SOFTWARE,
    )
    step = finish_step(plan, state, "unmask", message, key)
    return step._replace(state=step.state.without_secrets())


def _check_request(plan: Plan, state: RoundState, request: UnmaskRequest) -> None:
    """Raise unless the request is about this round and reveals no more than a sum of enough.

    The threshold is more than two thirds of the roster, and so of any list of survivors.
    """
    own = state.need("unmask", "mask")
    check_round(plan, request)
    if not isinstance(own, MaskedVector):  # pragma: no cover -- the state says which step it is
        raise RoundError.not_yet("unmask", "mask")
    if request.key_set != own.key_set:
        raise RoundError.not_in_round("set of keys")
    if request.share_set != own.share_set:
        raise RoundError.not_in_round("set of shares")
    for silo in request.survivors:
        if silo not in plan.silo_set:
            raise MessageError.not_in_roster(silo, plan.silos or ())
    if len(request.survivors) < threshold_of(plan):
        raise RoundError.too_few_survivors(len(request.survivors), threshold_of(plan))
    if state.silo not in request.survivors:
        raise RoundError.left_out(state.silo)
    if request.survivors[state.silo] != own.digest:
        raise RoundError.not_my_upload(state.silo)


def _check_consents(plan: Plan, state: RoundState, request: UnmaskRequest, inbox: Inbox) -> None:
    own = state.need("unmask", "consent")
    if isinstance(own, SecureConsent) and own.request != request.digest:
        raise RoundError.second_request(state.silo)
    same = [
        each
        for each in inbox.of_kind(SecureConsent)
        if each.request == request.digest and each.silo in request.survivors
    ]
    agreed = by_silo(plan, same, "consents").keys() | {state.silo}
    if len(agreed) < threshold_of(plan):
        raise RoundError.too_few_consents(len(agreed), threshold_of(plan))
