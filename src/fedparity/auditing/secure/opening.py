"""Masked vectors and unmask answers to the sum over the silos, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from fedparity.auditing.secure.requesting import Gathered, gather
from fedparity.errors import SecureMessageError
from fedparity.privacy.masking.agreement import public_key
from fedparity.privacy.masking.commitments import opens
from fedparity.privacy.masking.masks import pair_masks, total
from fedparity.privacy.masking.shamir import join
from fedparity.privacy.masking.streams import Words
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.bindings import (
    own_stream,
    pair_stream,
    seed_context,
    share_context,
)
from fedparity.protocol.secure.checks import by_silo, check_round, threshold_of
from fedparity.protocol.secure.messages import UnmaskAnswer, UnmaskRequest
from fedparity.protocol.secure.reading import Inbox

__all__ = ["SecureSum", "open_sum"]


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
            raise SecureMessageError.other_upload(silo)
    return request


def _answers(found: Gathered, request: UnmaskRequest) -> Mapping[str, UnmaskAnswer]:
    answers = by_silo(found.plan, found.inbox.of_kind(UnmaskAnswer), "unmask answers")
    threshold = threshold_of(found.plan)
    for silo, answer in answers.items():
        if answer.request != request.digest:
            raise SecureMessageError.other_request(silo)
        asked = answer.seeds.keys() == request.survivors.keys()
        if not asked or answer.seeds.keys() | answer.keys.keys() != found.keys.keys.keys():
            raise SecureMessageError.other_lists(silo)
        _check_shares(found, answer)
    if len(answers) < threshold:
        raise SecureMessageError.too_few("unmask answers", len(answers), threshold)
    return answers


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
    """A silo's secret from the shares of as many silos as are needed."""
    some = list(answers.values())[: threshold_of(found.plan)]
    return join({found.keys.positions[each.silo]: getattr(each, which)[silo] for each in some})
