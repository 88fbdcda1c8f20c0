"""What an audit of noisy histograms did not see, and how much it can be."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fedparity.auditing.unseen import Unseen
from fedparity.privacy.noise_law import NoiseLaw
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan

__all__ = ["find_noisy_unseen", "most_withheld"]

_DEVIATIONS = 4.0
"""How much larger than its noisy count a withheld cell is taken to be, at most."""


def find_noisy_unseen(plan: Plan, messages: Sequence[SiloSketch], noise: NoiseLaw) -> Unseen:
    """Return the silos that sent nothing and the cells withheld, with bounds on their records.

    A withheld cell has a noisy count below ``minimum_cell``; its true count may be larger by what
    the noise of a whole histogram takes away, here at most four standard deviations. A silo that
    sent nothing has at most as many records of each group as its public total.
    """
    received = {message.silo for message in messages}
    named = dict.fromkeys((*(plan.silos or ()), *plan.totals))
    missing = tuple(sorted(silo for silo in named if silo not in received))
    absent = math.fsum(plan.totals.get(silo, math.inf) for silo in missing)
    most = most_withheld(plan, noise)
    withheld = [
        sum(message.cells[position].withheld is not None for message in messages)
        for position in range(len(plan.groups))
    ]
    return Unseen(
        silos_missing=missing,
        withheld=sum(withheld),
        total=absent + sum(withheld) * most,
        most={
            group: absent + number * most
            for group, number in zip(plan.groups, withheld, strict=True)
        },
        contradicted=(),
    )


def most_withheld(plan: Plan, noise: NoiseLaw) -> int:
    """Return how many records a group can have whose noisy counts add up to fewer than the rule."""
    whole = NoiseLaw(noise.epsilon, noise.doses * plan.grid.bins)
    least = max(1, plan.disclosure.minimum_cell)
    return least - 1 + math.ceil(_DEVIATIONS * whole.deviation)
