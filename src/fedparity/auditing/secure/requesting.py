"""The auditor's one request: whose vectors came, and so which sum is to be opened."""

from __future__ import annotations

from fedparity.errors import SecureMessageError
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import threshold_of
from fedparity.protocol.secure.layout import Layout
from fedparity.protocol.secure.messages import (
    MaskedVector,
    SecureKeys,
    SecureShares,
    UnmaskRequest,
)
from fedparity.protocol.secure.reading import Inbox
from fedparity.protocol.secure.sets import KeySet, ShareSet, masked_vectors
from fedparity.version import SOFTWARE

__all__ = ["Gathered", "gather", "request_for"]


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
    """Return the first three messages of all silos, or as many vectors as came.

    Raises
    ------
    MessageError
        If a message does not fit, or fewer vectors came than the threshold.
    """
    found = Gathered(plan, inbox)
    if len(found.vectors) < threshold_of(plan):
        raise SecureMessageError.too_few("masked vectors", len(found.vectors), threshold_of(plan))
    return found


def request_for(plan: Plan, inbox: Inbox) -> UnmaskRequest:
    """Return the request to unmask the sum of all vectors that came.

    There is one per round: silos answer no second one. So wait until no further silo is expected.

    Raises
    ------
    MessageError
        If a message does not fit, or fewer vectors came than the threshold.
    """
    found = gather(plan, inbox)
    return UnmaskRequest(
        plan=plan.digest,
        key_set=found.keys.digest,
        share_set=found.shares.digest,
        survivors={silo: each.digest for silo, each in found.vectors.items()},
        software=SOFTWARE,
    )
