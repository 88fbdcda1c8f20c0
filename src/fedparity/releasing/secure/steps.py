"""The steps of a silo in a secure sum: from a state and what came to a message and a new state.

Nothing is read or written here, so that files, a service or a simulation can carry the messages.
The new state must be stored before the message is sent. A step that was made is refused a second
time: two different masked vectors, or two unmask answers, could together show this silo's numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.errors import MessageError, SecureMessageError
from fedparity.privacy.masking.agreement import public_key
from fedparity.privacy.masking.commitments import commitment
from fedparity.privacy.masking.masks import masked
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.bindings import own_stream, pair_stream, seed_context
from fedparity.protocol.secure.checks import secure_terms
from fedparity.protocol.secure.layout import Layout
from fedparity.protocol.secure.messages import MaskedVector, SecureKeys, SecureShares
from fedparity.protocol.secure.reading import Inbox
from fedparity.protocol.secure.sets import KeySet, ShareSet
from fedparity.releasing.secure.sharing import open_shares, seal_shares
from fedparity.releasing.secure.state import HeldShares, RoundState
from fedparity.releasing.secure.step import Step, finish_step
from fedparity.version import SOFTWARE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["Ready", "make_ready", "mask", "publish_keys", "share_secrets"]


class Ready(NamedTuple):
    """The round as a silo finds it before it masks: complete, and its own shares opened."""

    shares: ShareSet
    held: Mapping[str, HeldShares]


def publish_keys(plan: Plan, silo: str, *, key: Ed25519PrivateKey | None = None) -> Step:
    """Start a round: return fresh secrets, and the public keys of them.

    Raises
    ------
    MessageError
        If the plan asks for no secure sum, or the silo is not of its roster.
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
