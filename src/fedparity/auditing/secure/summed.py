"""The numbers of a secure sum: what the auditor sees, and all of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fedparity.auditing.noisy_unseen import most_withheld
from fedparity.auditing.parts import SetAside
from fedparity.auditing.secure.opening import SecureSum
from fedparity.errors import GroupError
from fedparity.laws.labels import Group
from fedparity.privacy.histograms import Counts
from fedparity.privacy.noise_law import NoiseLaw
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import secure_terms
from fedparity.protocol.secure.layout import Layout

__all__ = ["Summed"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Summed:
    """Counts over all silos together, of the groups that are large enough to be measured."""

    groups: tuple[Group, ...]
    counts: Counts
    """Groups by bins; noisy ones may be negative."""
    aside: tuple[SetAside, ...]
    """The groups of fewer records in all silos together than the plan's smallest cell."""
    dropped: int
    """Rows without a score that silos left out."""
    noise: NoiseLaw | None
    """Of each count."""
    unseen: float
    """At most so many records of each group are in silos that dropped out."""

    @classmethod
    def of(cls, plan: Plan, opened: SecureSum) -> Summed:
        """Return the numbers of a sum that was opened.

        Raises
        ------
        GroupError
            If fewer than two groups are large enough to be compared.
        """
        parts = Layout.of(plan).unpack(opened.vector)
        noise = _noise(plan, len(opened.survivors))
        unseen = math.fsum(plan.totals.get(silo, math.inf) for silo in opened.dropped)
        least = max(1, plan.disclosure.minimum_cell)
        large = np.sum(parts["counts"], axis=1) >= least
        named = list(zip(plan.groups, large, strict=True))
        small = [group for group, enough in named if not enough]
        if large.sum() < 2:
            raise GroupError(
                f"all silos together have fewer than {least:,} records of group {small[0]!r}; fewer "
                "than two groups remain to be compared.",
                fix="write a plan whose groups are large enough: join this group with another, or "
                "leave it out.",
            )
        most = unseen + (least - 1 if noise is None else most_withheld(plan, noise))
        known = f"fewer than {least:,} records in all silos together"
        return cls(
            groups=tuple(group for group, enough in named if enough),
            counts=parts["counts"][large],
            aside=tuple(
                SetAside(
                    group=group,
                    withheld=0,
                    most=most if math.isfinite(most) else None,
                    known=known if noise is None else f"{known}, once noise was added",
                )
                for group in small
            ),
            dropped=int(parts["dropped"][0]) if "dropped" in parts else 0,
            noise=noise,
            unseen=unseen,
        )


def _noise(plan: Plan, survivors: int) -> NoiseLaw | None:
    """The noise of one count of the sum: a dose of each silo, or their parts of one."""
    terms = secure_terms(plan)
    if terms.epsilon is None:
        return None
    doses = survivors if terms.dose == "full" else survivors / int(terms.honest or 1)
    return NoiseLaw(terms.epsilon, doses=float(doses))
