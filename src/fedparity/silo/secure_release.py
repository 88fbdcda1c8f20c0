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
:mod:`fedparity.modes.secure.layout` says why. With a plan without keys nothing of this holds against
whoever carries the messages: they can put keys of their own in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedparity.documents.files import Path
from fedparity.documents.plan import Plan
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import secure_terms
from fedparity.modes.secure.round_messages import SiloRoundMessage
from fedparity.privacy.histograms import Counts, grid_counts
from fedparity.privacy.noise import noisy_counts
from fedparity.silo.measurement import Effort
from fedparity.silo.noisy_release import check_unweighted
from fedparity.silo.permit import Permit
from fedparity.sketches.records import Faults, Records

__all__ = [
    "SiloNumbers",
    "committed_mask",
    "count_records",
    "protected",
    "silo_vector",
    "write_masked",
]


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
        from fedparity.privacy.noise import polya_differences  # noqa: PLC0415 -- not at start

        return counts + polya_differences(counts.shape, terms.epsilon, int(terms.honest or 1))
    return noisy_counts(counts, terms.epsilon)


class _Listening:
    """Records that remember how many rows their owner accepted to drop."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.dropped = 0
        self.groups, self.weighted = records.groups, records.weighted
        self.rescannable, self.rows = records.rescannable, records.rows
        self.resident, self.worth_caching = records.resident, records.worth_caching
        self.batches = records.batches

    def accept(self, faults: Faults) -> int:
        """Ask whoever is to be asked."""
        self.dropped = self._records.accept(faults)
        return self.dropped


# How a masked vector leaves: the ledger first, so that no data set is summed twice by mistake.
#
# Two secure sums over the same records, one with a silo and one without, differ by that silo's data. So a
# silo takes part in one sum per data set, unless its operator says why another is acceptable; with noise the
# budget of the data set counts as well.


def write_masked(
    message: SiloRoundMessage, path: Path, *, permit: Permit, force: bool = False
) -> None:
    """Enter a masked vector into the ledger and write it, whole or not at all.

    The state of the round must be on disk before.

    Raises
    ------
    RuleError, LedgerError, BudgetError
        If the silo may not take part; the same vector may be written again.
    OutputError
        If the file exists and ``force`` is not set, or cannot be written; nothing is entered.
    """
    digest = message.digest
    permit.write(path, message.to_bytes(), release=digest, message=digest, force=force)


@contextmanager
def committed_mask(message: SiloRoundMessage, permit: Permit) -> Iterator[None]:
    """Enter a masked vector into the ledger, then let the caller send it, under one lock.

    Raises
    ------
    RuleError, LedgerError, BudgetError
        As :func:`write_masked`, before the body runs.
    """
    with permit.commit(message.digest, message.digest):
        yield
