r"""Secure sums: silos add up counts of their records on the plan's grid, and nothing else is seen.

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
sums cannot be distinguished. That would be a weaker promise if the sum contained anything else:
:mod:`fedparity.modes.secure.layout` says why. With a plan without keys nothing of this holds against
the carrier of the messages, who can substitute other keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from fedparity.documents.files import Path
from fedparity.documents.plan import Plan
from fedparity.errors import MessageError, PrivacyError
from fedparity.modes.mode import AuditOptions, Exchange, Measured, Release
from fedparity.modes.noisy import HistogramMode
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import colluders_of, secure_terms, threshold_of
from fedparity.modes.secure.round_messages import RoundMessage
from fedparity.modes.secure.rounds import collect_rounds
from fedparity.privacy.histograms import Counts
from fedparity.privacy.noise import noisy_counts
from fedparity.sketches.records import Faults, Records, RowCounts
from fedparity.sketches.select import ComputeOptions
from fedparity.text import counted

__all__ = ["MaskedPreview", "SecureMode", "SiloNumbers", "protected", "silo_vector", "unprotected"]

_SUM_LIMITS = (
    "an auditor together with {opening} of {silos} silos could see a silo's own {numbers}, with fewer "
    "of them the sum of the others; whatever the sum itself reveals; a second sum without a silo "
    "reveals that silo"
)
_UNSIGNED = (
    "nobody signed, so that whoever carried the messages could put keys in between and read a silo's "
    "own numbers"
)


@dataclass(frozen=True, eq=False)
class SiloNumbers:
    """A silo's exact counts; they stay in the building."""

    counts: Counts
    dropped: int
    """Rows without a score that were left out."""

    def __repr__(self) -> str:
        return f"SiloNumbers({self.counts.shape[0]} groups, {self.counts.shape[1]} bins)"


@dataclass(frozen=True)
class MaskedPreview:
    """What would leave a silo: random numbers, whose sum over the silos alone means anything."""

    plan: Plan
    silo: str


@dataclass(frozen=True)
class SecureMode(HistogramMode):
    """Sums over the silos, of exact or of noisy counts."""

    in_rounds = True

    @property
    def fewest_silos(self) -> int:
        """How many silos it takes to open the sum."""
        return threshold_of(self.plan)

    def check(self, silo: str, *, weighted: bool) -> NoReturn:  # noqa: ARG002 -- whatever they are
        """Raise: no silo sends a message of its own that means anything."""
        if silo not in self.plan.silo_set:
            raise MessageError.not_in_roster(silo, self.plan.silos or ())
        raise PrivacyError.sketch_in_secure_mode(self.name)

    def release(
        self,
        records: Records,
        silo: str,
        options: ComputeOptions | None = None,  # noqa: ARG002 -- refused
    ) -> Release:
        """Raise: see :mod:`fedparity.modes.secure.rounds` for the steps of a silo."""
        self.check(silo, weighted=records.weighted)

    def preview(
        self, records: Records, silo: str, options: ComputeOptions | None = None
    ) -> MaskedPreview:
        """Count the records, so that a mistake in them is found, and forget the counts."""
        self.numbers(records, options)
        return MaskedPreview(self.plan, silo)

    def stream(self, *, weighted: bool, resolution: int) -> NoReturn:  # noqa: ARG002 -- refused
        """Raise: the steps of a silo read a table."""
        raise PrivacyError.sketch_in_secure_mode(self.name)

    def finish(
        self,
        stream: object,  # noqa: ARG002 -- there is none
        silo: str,
        accept: Callable[[Faults], RowCounts],  # noqa: ARG002
        *,
        weighted: bool,
    ) -> NoReturn:
        """Raise, because a secure sum has no streams."""
        self.check(silo, weighted=weighted)

    def numbers(self, records: Records, options: ComputeOptions | None = None) -> SiloNumbers:
        """Count the records of a silo on the plan's grid, in one pass.

        Raises
        ------
        PrivacyError
            If the records have weights.
        """
        listening = _Listening(records)
        return SiloNumbers(self.count(listening, options), listening.dropped)

    def vector(
        self, records: Records, options: ComputeOptions | None = None
    ) -> npt.NDArray[np.int64]:
        """Count the records, and return the vector that a silo masks."""
        return silo_vector(self.plan, self.numbers(records, options))

    def collect(self, exchange: Exchange[Any]) -> list[RoundMessage]:
        """Lead the silos through the rounds."""
        return collect_rounds(self.plan, exchange)

    def measure(self, messages: Iterable[RoundMessage | Path], options: AuditOptions) -> Measured:
        """Open the sum of the rounds, and measure it."""
        from fedparity.modes.secure.sum_audit import measure_sum  # noqa: PLC0415 -- not in a silo

        return measure_sum(self, messages, options)

    def _held_back(self) -> list[str]:
        plan = self.plan
        return [
            (
                f"its own histogram: the auditor sees sums over silos, opened by {self.terms.threshold} of "
                f"{counted(len(plan.silos or ()), 'silo')}. {unprotected(plan).rstrip('.')};"
            ),
            *super()._held_back(),
        ]

    @property
    def _protection(self) -> str:
        masked, terms = "masked so that only sums over silos can be read", self.terms
        if terms.dose == "split":
            return f"with a share of noise ({terms.honest} silos make one dose), {masked}"
        return f"with noise added, {masked}" if terms.noisy else masked

    @property
    def _sources(self) -> str:
        return "but neither what it comes from nor anything of a single silo"

    def guarantee(self) -> dict[str, Any]:
        """Return the terms, and what they do not protect."""
        plan, terms = self.plan, self.terms
        numbers = "noisy numbers" if terms.noisy else "numbers"
        silos = len(plan.silos or ())
        limits = [_SUM_LIMITS.format(opening=colluders_of(plan), silos=silos, numbers=numbers)]
        limits += [] if plan.keys else [_UNSIGNED]
        if terms.dose == "split":
            limits.append(f"epsilon holds if {terms.honest} silos of the sum add their noise")
        return self.stated(f"{numbers} of records, added up over the silos", *limits)


def unprotected(plan: Plan) -> str:
    """Return who could see more than the sum."""
    terms, opening = secure_terms(plan), colluders_of(plan)
    own = "own numbers, with their noise" if terms.dose == "full" else "own numbers"
    words = (
        f"Not protected: {opening} or more of the other silos together with the auditor could see "
        f"this silo's {own}; fewer of them, the sum of the silos that do not join in."
    )
    if plan.keys:
        return words
    return (
        f"{words} The plan has no [keys]: those who carry the messages could put keys in between and "
        f"see this silo's {own}, without any other silo."
    )


def silo_vector(plan: Plan, numbers: SiloNumbers) -> npt.NDArray[np.int64]:
    """Return the vector that a silo masks, with fresh noise if the plan requests it."""
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

    def accept(self, faults: Faults) -> RowCounts:
        """Let the owner decide."""
        rows = self._records.accept(faults)
        self.dropped = rows.without_score
        return rows
