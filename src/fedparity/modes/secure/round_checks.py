"""The keys of all silos, and the shares of all silos: complete, and the same for everybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from fedparity.documents.files import Path, read_bounded
from fedparity.documents.json_text import LARGEST, canonical_bytes, decode_object, digest_of
from fedparity.documents.plan import Plan
from fedparity.documents.privacy_terms import PrivacyTerms
from fedparity.documents.signing import check_signature
from fedparity.errors import MessageError, SecureMessageError
from fedparity.errors.release_errors import SEND_AGAIN
from fedparity.modes.secure.masking import agreed_seed, derive, is_public_key
from fedparity.modes.secure.round_messages import (
    MaskedVector,
    RoundMessage,
    SecureConsent,
    SecureKeys,
    SecureShares,
    SiloRoundMessage,
    UnmaskAnswer,
    UnmaskRequest,
)

__all__ = [
    "Inbox",
    "KeySet",
    "ShareSet",
    "by_silo",
    "check_keys",
    "check_round",
    "check_shares",
    "colluders_of",
    "decode_round",
    "masked_vectors",
    "one_request",
    "own_stream",
    "pair_stream",
    "read_round",
    "refuse_missing",
    "roster_of",
    "sealing_context",
    "sealing_key",
    "secure_terms",
    "seed_context",
    "share_context",
    "threshold_of",
]


@dataclass(frozen=True, eq=False)
class KeySet:
    """The public keys of every silo of the roster; complete and distinct once built."""

    plan: Plan
    keys: Mapping[str, SecureKeys]

    @classmethod
    def of(cls, plan: Plan, messages: Iterable[SecureKeys]) -> KeySet:
        """Return the set of these messages.

        Raises
        ------
        MessageError
            If a silo is missing, sent two, is not of the plan, or has another's key or a weak one.
        """
        keys = by_silo(plan, messages, "keys")
        refuse_missing(plan, keys, "keys")
        check_keys(keys.values())
        return cls(plan, keys)

    @cached_property
    def digest(self) -> str:
        """The digest of all keys: two silos that were given different ones differ in it."""
        return _digest(self.keys)

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position at which each silo's shares are computed: 1, 2, … in the order of names."""
        return {silo: place for place, silo in enumerate(self.keys, start=1)}


def check_keys(messages: Iterable[SecureKeys]) -> None:
    """Raise if one of these keys is weak, or two of them are the same.

    Raises
    ------
    SecureMessageError
        With the silos whose keys they are.
    """
    owner: dict[bytes, str] = {}
    for each in messages:
        for key in (each.mask_key, each.share_key):
            if not is_public_key(key):
                raise SecureMessageError.weak_key(each.silo)
            if key in owner:
                raise SecureMessageError(
                    f"silos {owner[key]!r} and {each.silo!r} have published the same key.",
                    fix="ask both to start again with fedparity secure keys, each in its own building.",
                )
            owner[key] = each.silo


@dataclass(frozen=True, eq=False)
class ShareSet:
    """The sealed shares of every silo of the roster; complete, and under one set of keys."""

    keys: KeySet
    shares: Mapping[str, SecureShares]

    @classmethod
    def of(cls, keys: KeySet, messages: Iterable[SecureShares]) -> ShareSet:
        """Return the set of these messages.

        Raises
        ------
        MessageError
            If a silo is missing, sent two, shared for other silos, or was given other keys.
        """
        shares = by_silo(keys.plan, messages, "shares")
        for each in shares.values():
            check_shares(keys, each)
        refuse_missing(keys.plan, shares, "shares")
        return cls(keys, shares)

    @cached_property
    def digest(self) -> str:
        """The digest of all shares."""
        return _digest(self.shares)


def check_shares(keys: KeySet, message: SecureShares) -> None:
    """Raise unless a silo shared its secrets under these keys, and for all their silos.

    Raises
    ------
    SecureMessageError
        If it did not.
    """
    if message.key_set != keys.digest:
        raise SecureMessageError.other_set(message.silo, "keys")
    if message.shares.keys() != keys.keys.keys():
        raise SecureMessageError(
            f"the shares of silo {message.silo!r} are not for the silos of the plan.",
            fix=SEND_AGAIN,
        )


def masked_vectors(
    shares: ShareSet, messages: Iterable[MaskedVector], length: int
) -> dict[str, MaskedVector]:
    """Return the masked vectors by silo, each under these keys and shares, and as long.

    Raises
    ------
    MessageError
        If one is of another round, of another length, or a silo sent two.
    """
    found = by_silo(shares.keys.plan, messages, "masked vectors")
    for silo, each in found.items():
        if each.key_set != shares.keys.digest:
            raise SecureMessageError.other_set(silo, "keys")
        if each.share_set != shares.digest:
            raise SecureMessageError.other_set(silo, "shares")
        if each.words.size != length:
            raise SecureMessageError.wrong_size(silo, each.words.size, length)
    return found


def _digest(messages: Mapping[str, SiloRoundMessage]) -> str:
    return digest_of(canonical_bytes({silo: each.digest for silo, each in messages.items()}))


# What each secret of a round is bound to: its plan, its keys, its owner; the same for everybody.
#
# A secret that is derived, sealed or committed to in one round fits no other: the digest of all
# keys, which are fresh for every round, is part of each of them.


def own_stream(keys: KeySet, seed: bytes, silo: str) -> bytes:
    """Return the seed of the stream that hides a silo's vector by itself."""
    return derive(seed, "own mask", keys.plan.digest, keys.digest, silo)


def pair_stream(keys: KeySet, secret: bytes, silo: str, other: str) -> bytes:
    """Return the seed of the stream that two silos share, from the private mask key of one.

    Raises
    ------
    SecureMessageError
        If no secret can be agreed on with the other's key.
    """
    first, second = sorted((silo, other))
    context = (keys.plan.digest, keys.digest, first, second)
    return _agreed(secret, keys.keys[other].mask_key, other, "pair mask", *context)


def sealing_key(keys: KeySet, secret: bytes, sender: str, recipient: str, *, own: str) -> bytes:
    """Return the key that seals a sender's shares for a recipient.

    ``own`` is the one of the two whose private share key is ``secret``.
    """
    other = recipient if own == sender else sender
    context = (keys.plan.digest, keys.digest, sender, recipient)
    return _agreed(secret, keys.keys[other].share_key, other, "shares", *context)


def sealing_context(keys: KeySet, sender: str, recipient: str) -> tuple[str, ...]:
    """Return what sealed shares are authenticated with."""
    return ("shares", keys.plan.digest, keys.digest, sender, recipient)


def seed_context(keys: KeySet, silo: str) -> tuple[str, ...]:
    """Return what the commitment to a silo's seed is bound to."""
    return ("seed", keys.plan.digest, keys.digest, silo)


def share_context(keys: KeySet, what: str, owner: str, holder: str) -> tuple[str, ...]:
    """Return what the commitment to one share is bound to."""
    return (f"share of {what}", keys.plan.digest, keys.digest, owner, holder)


def _agreed(secret: bytes, public: bytes, owner: str, purpose: str, *context: str) -> bytes:
    seed = agreed_seed(secret, public, purpose, *context)
    if seed is None:
        raise SecureMessageError.weak_key(owner)
    return seed


Message = TypeVar("Message", bound=SiloRoundMessage)


def secure_terms(plan: Plan) -> PrivacyTerms:
    """Return the terms of a plan that requests a secure sum.

    Raises
    ------
    SecureMessageError
        If it does not.
    """
    if plan.privacy is None or not plan.privacy.secure:
        raise SecureMessageError.not_secure()
    return plan.privacy


def threshold_of(plan: Plan) -> int:
    """Return how many silos it takes to open the sum."""
    return int(secure_terms(plan).threshold or 0)


def colluders_of(plan: Plan) -> int:
    """Return how many silos an auditor needs to see the numbers of another: 2t - d, at most d - 1.

    With them the silos can be shown two lists that t silos each sign: a silo of one list has dropped out
    in the other, and both of its secrets are rebuilt. With fewer there is one list at most, and so one
    sum. All others together find the last silo's numbers by subtraction.
    """
    silos = len(roster_of(plan))
    return min(2 * threshold_of(plan) - silos, silos - 1)


def roster_of(plan: Plan) -> tuple[str, ...]:
    """Return the silos of the plan in the order of their names, which all of them can compute."""
    return tuple(sorted(plan.silos or ()))


def check_round(plan: Plan, message: RoundMessage) -> None:
    """Raise unless a message belongs to the plan: its digest, its silo, its signature.

    Raises
    ------
    MessageError
        If it does not; a SignatureError if it is not signed as the plan requires.
    """
    secure_terms(plan)
    name = message.silo if isinstance(message, SiloRoundMessage) else "the auditor"
    if message.plan != plan.digest:
        raise MessageError.other_plan(name, message.plan, plan.digest)
    if isinstance(message, SiloRoundMessage):
        if message.silo not in plan.silo_set:
            raise MessageError.not_in_roster(message.silo, plan.silos or ())
        if plan.keys:
            check_signature(message, plan.keys)


def by_silo(plan: Plan, messages: Iterable[Message], what: str) -> dict[str, Message]:
    """Return checked messages by silo, in the order of their names.

    Raises
    ------
    MessageError
        If one does not fit the plan, or a silo sent two different ones.
    """
    found: dict[str, Message] = {}
    for message in messages:
        check_round(plan, message)
        if message.silo in found and found[message.silo].digest != message.digest:
            raise SecureMessageError.twice(what, message.silo)
        found[message.silo] = message
    return {silo: found[silo] for silo in sorted(found)}


def refuse_missing(plan: Plan, present: Iterable[str], what: str) -> None:
    """Raise if a silo of the roster has not sent what all must send."""
    there = set(present)
    missing: Sequence[str] = [silo for silo in roster_of(plan) if silo not in there]
    if missing:
        raise SecureMessageError.missing(what, missing)


_KINDS: dict[str, type[RoundMessage]] = {
    kind.schema: kind
    for kind in (
        SecureKeys,
        SecureShares,
        MaskedVector,
        UnmaskRequest,
        SecureConsent,
        UnmaskAnswer,
    )
}
Kind = TypeVar("Kind", bound=RoundMessage)


def decode_round(data: bytes) -> RoundMessage:
    """Return the message that these bytes hold.

    Raises
    ------
    SecureMessageError
        If they are not a valid message of a secure sum.
    """
    document = decode_object(data, error=SecureMessageError)
    kind = _KINDS.get(str(document.get("schema")))
    if kind is None:
        schema = str(document.get("schema"))[:60]
        raise SecureMessageError(
            f"a message of a secure sum was expected, but the schema is {schema!r}.",
            fix=f"give files whose schema is one of {', '.join(_KINDS)}.",
        )
    return kind.from_dict(document)


def read_round(path: Path) -> RoundMessage:
    """Return the message of a file.

    Raises
    ------
    SecureMessageError
        If it cannot be read, or is not valid; the file is named.
    """
    data = read_bounded(path, limit=LARGEST, error=SecureMessageError)
    try:
        return decode_round(data)
    except MessageError as error:
        raise error.within(str(path)) from None


@dataclass(frozen=True)
class Inbox:
    """Messages of a round, in any order; the same one may come more than once."""

    messages: tuple[RoundMessage, ...]

    @classmethod
    def of(cls, messages: Iterable[RoundMessage | Path]) -> Inbox:
        """Return the inbox of messages and of files of them."""
        return cls(
            tuple(
                message if isinstance(message, RoundMessage) else read_round(message)
                for message in messages
            )
        )

    def of_kind(self, kind: type[Kind]) -> list[Kind]:
        """Return the messages of one kind, each once, by silo."""
        found = {each.digest: each for each in self.messages if isinstance(each, kind)}
        return sorted(found.values(), key=_name)


def one_request(inbox: Inbox) -> UnmaskRequest:
    """Return the request of an inbox.

    Raises
    ------
    SecureMessageError
        If there is none, or more than one.
    """
    requests = inbox.of_kind(UnmaskRequest)
    if not requests:
        raise SecureMessageError.nothing_came("unmask request")
    if len(requests) > 1:
        raise SecureMessageError.twice("requests", "the auditor")
    return requests[0]


def _name(message: RoundMessage) -> str:
    return message.silo if isinstance(message, SiloRoundMessage) else message.digest
