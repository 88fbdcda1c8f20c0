"""Shares of a silo's secrets: made for all, and those of all others opened."""

from __future__ import annotations

from fedparity.errors import SecureMessageError
from fedparity.privacy.masking.commitments import commitment, opens
from fedparity.privacy.masking.sealing import seal, unseal
from fedparity.privacy.masking.shamir import SHARE_BYTES, split
from fedparity.protocol.secure.bindings import sealing_context, sealing_key, share_context
from fedparity.protocol.secure.checks import threshold_of
from fedparity.protocol.secure.messages import SealedShares
from fedparity.protocol.secure.sets import KeySet, ShareSet
from fedparity.releasing.secure.state import HeldShares, RoundState

__all__ = ["open_shares", "seal_shares"]


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
