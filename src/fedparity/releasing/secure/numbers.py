r"""The numbers of a silo that are summed: counts of its records on the plan's grid, and nothing else.

**Theorem.** Let a plan have keys, d silos and threshold t, and let the auditor and :math:`c < 2t - d`
silos collude. Whatever they do, all that they see of the other silos can be simulated from the *sum* of
the vectors of those that are in the one list that can be opened, at least :math:`t - c` of them; from
nothing at all if none is. This holds for parties that compute in feasible time, as long as X25519, HKDF-SHA256, AES-256
in counter mode, ChaCha20-Poly1305 and Ed25519 do what is expected of them.

*Proof.* A secret of a silo is rebuilt from t of its d shares. An honest silo reveals, of each other silo,
its share of the seed or its share of the key, once, under the one list that it signed, and only after t
silos signed the same list. Two lists with t signatures each need 2t signatures; honest silos give one each,
colluding ones two at most: :math:`2t \le (d - c) + 2c`. With :math:`c < 2t - d` there is at most one such list,
and no honest silo has both secrets rebuilt. So of every honest vector in the list at least
the pair masks between honest silos are unknown, of every other one its own mask: replaced by uniform
words, the former are uniform but for their sum (Bonawitz et al. 2017, Theorem 6.3). That sum is the only thing about
honest tables that is needed to draw the whole view. ∎

So the sum is all that is seen, and it is **additive**: every entry is a number of records, and the
vector of two disjoint tables together is the sum of theirs. Two federations with the same
sums cannot be told apart. That would be a weaker promise if the sum held anything else:
:mod:`fedparity.protocol.secure.layout` says why. With a plan without keys nothing of this holds against
whoever carries the messages: they can put keys of their own in between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedparity.privacy.discrete_laplace import noisy_counts
from fedparity.privacy.histograms import Counts, grid_counts
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import secure_terms
from fedparity.protocol.secure.layout import Layout
from fedparity.releasing.measuring import Effort
from fedparity.releasing.noisy import check_unweighted
from fedparity.sketches.records import Faults, Records

__all__ = ["SiloNumbers", "count_records", "protected", "silo_vector"]


@dataclass(frozen=True, eq=False)
class SiloNumbers:
    """A silo's exact counts; they stay in the building."""

    counts: Counts
    dropped: int
    """Rows without a score that were left out."""

    def __repr__(self) -> str:
        return f"SiloNumbers({self.counts.shape[0]} groups, {self.counts.shape[1]} bins)"


def count_records(plan: Plan, records: Records, effort: Effort | None = None) -> SiloNumbers:
    """Count the records of a silo on the plan's grid, in one pass.

    Raises
    ------
    PrivacyError
        If the records have weights.
    """
    effort = effort or Effort()
    check_unweighted(plan, weighted=records.weighted)
    listening = _Listening(records)
    counts = grid_counts(
        listening,
        plan.grid,
        plan.groups,
        threads=effort.threads,
        progress=effort.progress,
    )
    return SiloNumbers(counts, listening.dropped)


def silo_vector(plan: Plan, numbers: SiloNumbers) -> npt.NDArray[np.int64]:
    """Return the vector that a silo masks, with fresh noise where the plan asks for it."""
    counts = protected(plan, numbers.counts)
    return Layout.of(plan).pack({"counts": counts, "dropped": np.array([numbers.dropped])})


def protected(plan: Plan, counts: Counts) -> Counts:
    """Return the counts with the plan's noise: none, a full dose, or this silo's part of one."""
    terms = secure_terms(plan)
    if terms.epsilon is None:
        return counts
    if terms.dose == "split":
        from fedparity.privacy.polya import polya_differences  # noqa: PLC0415 -- not at start

        return counts + polya_differences(counts.shape, terms.epsilon, int(terms.honest or 1))
    return noisy_counts(counts, terms.epsilon)


class _Listening:
    """Records that remember how many rows their owner accepted to drop."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.dropped = 0
        self.groups, self.weighted = records.groups, records.weighted
        self.rescannable, self.rows = records.rescannable, records.rows
        self.resident, self.worth_holding = records.resident, records.worth_holding
        self.batches = records.batches

    def accept(self, faults: Faults) -> int:
        """Ask whoever is to be asked."""
        self.dropped = self._records.accept(faults)
        return self.dropped
