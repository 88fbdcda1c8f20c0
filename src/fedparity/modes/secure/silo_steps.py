"""The steps of a silo in a secure sum: from a state and the received messages to a message and a new state.

Nothing is read or written here, so that files, a service or a simulation can carry the messages.
The new state must be stored before the message is sent. A step that was made is refused a second
time: two different masked vectors, or two unmask answers, could together show this silo's numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from fedparity.documents.plan import Plan
from fedparity.documents.signing import sign
from fedparity.errors import MessageError, RoundError, SecureMessageError
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.masking import commitment, masked, opens, public_key, seal, unseal
from fedparity.modes.secure.round_checks import (
    Inbox,
    KeySet,
    ShareSet,
    by_silo,
    check_round,
    own_stream,
    pair_stream,
    sealing_context,
    sealing_key,
    secure_terms,
    seed_context,
    share_context,
    threshold_of,
)
from fedparity.modes.secure.round_messages import (
    MaskedVector,
    SealedShares,
    SecureConsent,
    SecureKeys,
    SecureShares,
    SiloRoundMessage,
    UnmaskAnswer,
    UnmaskRequest,
)
from fedparity.modes.secure.shamir import SHARE_BYTES, split
from fedparity.modes.secure.silo_state import HeldShares, RoundState
from fedparity.version import SOFTWARE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = [
    "Ready",
    "Step",
    "answer_request",
    "consent",
    "finish_step",
    "make_ready",
    "mask",
    "open_shares",
    "publish_keys",
    "seal_shares",
    "share_secrets",
]

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


def seal_shares(keys: KeySet, state: RoundState) -> dict[str, SealedShares]:
    """Return the shares of a silo's seed and mask key, sealed for each silo, itself included."""
    counts = {"holders": len(keys.keys), "threshold": threshold_of(keys.plan)}
    seeds, secrets = split(state.seed, **counts), split(state.mask_secret, **counts)
    return {
        holder: _sealed(keys, state, holder, HeldShares(seeds[place - 1], secrets[place - 1]))
        for holder, place in keys.positions.items()
    }


def open_shares(shares: ShareSet, state: RoundState) -> dict[str, HeldShares]:
    """Return the shares that all silos made for this one.

    Raises
    ------
    SecureMessageError
        If one was changed, sealed for somebody else, or is not the one committed to.
    """
    return {
        sender: _opened(shares.keys, state, sender, each.shares[state.silo])
        for sender, each in shares.shares.items()
    }


def _sealed(keys: KeySet, state: RoundState, holder: str, held: HeldShares) -> SealedShares:
    sender = state.silo
    key = sealing_key(keys, state.share_secret, sender, holder, own=sender)
    return SealedShares(
        sealed=seal(key, held.seed + held.key, *sealing_context(keys, sender, holder)),
        seed=commitment(held.seed, *share_context(keys, "seed", sender, holder)),
        key=commitment(held.key, *share_context(keys, "key", sender, holder)),
    )


def _opened(keys: KeySet, state: RoundState, sender: str, sealed: SealedShares) -> HeldShares:
    me = state.silo
    key = sealing_key(keys, state.share_secret, sender, me, own=me)
    content = unseal(key, sealed.sealed, *sealing_context(keys, sender, me))
    if content is None:
        raise SecureMessageError.unreadable_share(sender, me)
    held = HeldShares(content[:SHARE_BYTES], content[SHARE_BYTES:])
    fits = opens(held.seed, sealed.seed, *share_context(keys, "seed", sender, me)) and opens(
        held.key, sealed.key, *share_context(keys, "key", sender, me)
    )
    if not fits:
        raise SecureMessageError.unreadable_share(sender, me)
    return held


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
        raise RoundError(
            f"the request would open the sum of {len(request.survivors):,} silos; the plan's threshold is "
            f"{threshold_of(plan):,}.",
            fix="do not answer; the auditor has to wait for more silos, or start again.",
        )
    if state.silo not in request.survivors:
        raise RoundError.left_out(state.silo)
    if request.survivors[state.silo] != own.digest:
        raise RoundError(
            f"the request names another masked vector of silo {state.silo!r} than the one it sent.",
            fix="do not answer; compare the digest of the file with the auditor's by another channel.",
        )


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
        raise RoundError(
            f"{len(agreed):,} silos have signed this very list of survivors; {threshold_of(plan):,} are needed "
            "before anyone answers.",
            fix="collect the other silos' consents (fedparity secure consent) and try again.",
        )


class Ready(NamedTuple):
    """The round as a silo finds it before it masks: complete, and its own shares opened."""

    shares: ShareSet
    held: Mapping[str, HeldShares]


def publish_keys(plan: Plan, silo: str, *, key: Ed25519PrivateKey | None = None) -> Step:
    """Start a round: return fresh secrets, and the public keys of them.

    Raises
    ------
    MessageError
        If the plan requests no secure sum, or the silo is not on its roster.
    """
    secure_terms(plan)
    if silo not in plan.silo_set:
        raise MessageError.not_in_roster(silo, plan.silos or ())
    state = RoundState.fresh(plan.digest, silo)
    message = SecureKeys(
        plan=plan.digest,
        silo=silo,
        mask_key=public_key(state.mask_secret),
        share_key=public_key(state.share_secret),
        software=SOFTWARE,
    )
    return finish_step(plan, state, "keys", message, key)


def share_secrets(
    plan: Plan, state: RoundState, inbox: Inbox, *, key: Ed25519PrivateKey | None = None
) -> Step:
    """Split this silo's secrets for all silos, whose keys must all be there.

    Raises
    ------
    MessageError
        If a silo's keys are missing, wrong, or not those that this silo published.
    RoundError
        If it was done before.
    """
    state.refuse_again("shares")
    keys = _keys(plan, state, inbox)
    message = SecureShares(
        plan=plan.digest,
        silo=state.silo,
        key_set=keys.digest,
        commitment=commitment(state.seed, *seed_context(keys, state.silo)),
        shares=seal_shares(keys, state),
        software=SOFTWARE,
    )
    return finish_step(plan, state, "shares", message, key)


def make_ready(plan: Plan, state: RoundState, inbox: Inbox) -> Ready:
    """Return all that masking needs but the numbers: every key and share, found to be right.

    Do it before a table is read, so that nothing is computed in a round that somebody disturbs.

    Raises
    ------
    MessageError
        If a silo's keys or shares are missing, changed, or not of this round.
    RoundError
        If a vector was masked before.
    """
    state.refuse_again("mask")
    own = state.need("mask", "shares")
    shares = ShareSet.of(_keys(plan, state, inbox), inbox.of_kind(SecureShares))
    if shares.shares[state.silo].digest != own.digest:
        raise SecureMessageError.own_keys_changed(state.silo)
    return Ready(shares, open_shares(shares, state))


def mask(
    plan: Plan,
    state: RoundState,
    ready: Ready,
    vector: npt.NDArray[np.int64],
    *,
    key: Ed25519PrivateKey | None = None,
) -> Step:
    """Hide a silo's vector, laid out as the plan's layout says, with its masks.

    Raises
    ------
    RoundError
        If it was done before.
    SecureMessageError
        If the vector has another length than the layout.
    """
    state.refuse_again("mask")
    if vector.size != Layout.of(plan).length:
        raise SecureMessageError.wrong_size(state.silo, vector.size, Layout.of(plan).length)
    silo, keys = state.silo, ready.shares.keys
    words = masked(
        vector,
        silo,
        own_stream(keys, state.seed, silo),
        {
            other: pair_stream(keys, state.mask_secret, silo, other)
            for other in keys.keys
            if other != silo
        },
    )
    message = MaskedVector(
        plan=plan.digest,
        silo=silo,
        key_set=keys.digest,
        share_set=ready.shares.digest,
        vector=words.astype("<u8").tobytes(),
        software=SOFTWARE,
    )
    return finish_step(plan, replace(state, held=ready.held), "mask", message, key)


def _keys(plan: Plan, state: RoundState, inbox: Inbox) -> KeySet:
    keys = KeySet.of(plan, inbox.of_kind(SecureKeys))
    if keys.keys[state.silo].digest != state.need("shares", "keys").digest:
        raise SecureMessageError.own_keys_changed(state.silo)
    return keys
