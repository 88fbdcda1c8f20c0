"""The tables of an audit with noise: sums of the noisy histograms of a plan's atoms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedparity.auditing.table_results import Seen, Table
from fedparity.documents.outcome_parts import GivenOutcome, OutcomeResult, RateTests
from fedparity.documents.plan_fields import OUTCOMES
from fedparity.documents.table_parts import CategoryStatus
from fedparity.errors import PlanError
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group
from fedparity.modes.atom_histograms import AtomHistograms, chosen_groups, too_few
from fedparity.modes.histogram_audit import MeasuredHistograms
from fedparity.modes.mode import MissingRecords
from fedparity.outcomes.given_outcome import given_outcome
from fedparity.outcomes.histogram_outcomes import HistogramOutcomes, flagged_counts, together
from fedparity.outcomes.rate_tests import rate_tests
from fedparity.uncertainty.noisy_histograms import NoisyHistograms

__all__ = ["HistogramTable"]


@dataclass(frozen=True, eq=False)
class HistogramTable(Table):
    """One table, whose rows are sums of noisy histograms.

    A row of fewer records than noise could make is printed and compared with nobody.
    """

    @cached_property
    def atoms(self) -> AtomHistograms:
        """What was released."""
        if self.found.atoms is None:
            raise PlanError.no_histograms()
        return self.found.atoms

    @cached_property
    def rows(self) -> NoisyHistograms:
        """The histograms of all rows."""
        return self.atoms.rows(self.table)

    @cached_property
    def unseen(self) -> Mapping[Group, float]:
        """At most how many records of each row are missing: those of silos that sent nothing."""
        return dict.fromkeys(self.table.groups, self.found.missing.total)

    @cached_property
    def counts(self) -> Mapping[Group, int | float]:
        """Records of each row, with noise; where that is negative, none."""
        return self.atoms.totals(self.rows)

    def status(self, group: Group) -> CategoryStatus:
        """Return whether a row is compared, or why not."""
        large = self.atoms.enough(self.rows).rows[self.table.groups.index(group)]
        return super().status(group) if large else "set aside"

    def _known(self, group: Group) -> str:
        enough = self.atoms.enough(self.rows)
        if enough.rows[self.table.groups.index(group)]:
            return super()._known(group)
        return too_few(enough.fewest)

    def _chosen(self, rows: NoisyHistograms, groups: Sequence[Group]) -> NoisyHistograms:
        return chosen_groups(rows, np.array([group in groups for group in rows.groups]))

    def _missing(self, groups: Sequence[Group]) -> MissingRecords:
        total = self.found.missing.total
        return MissingRecords(
            silos_missing=self.found.missing.silos_missing,
            withheld=0,
            most=dict.fromkeys(groups, total),
            total=total,
        )

    def _measure(self, rows: NoisyHistograms) -> MeasuredHistograms:
        return MeasuredHistograms.from_counts(
            self.plan, rows, self._missing(rows.groups), self.options
        )

    def federation(self, groups: Sequence[Group]) -> Federation:
        """Return the laws of some rows, with what noise and bins may have moved."""
        return MeasuredHistograms.bound(self._chosen(self.rows, groups), self.plan, self.options)

    def seen(self, unseen: Mapping[Group, float]) -> Seen:  # noqa: ARG002 -- those of missing silos
        """Measure the rows that are compared."""
        found = self._measure(self._chosen(self.rows, self.compared))
        return Seen(
            federation=found.bounded(self.plan, self.options),
            measures=found.measures,
            assessment=found.assessment,
            by_silo=found.measures if self._apart else None,
        )

    @property
    def _apart(self) -> bool:
        """Whether silos were seen one by one."""
        return bool(self.found.messages)

    @property
    def _tail(self) -> float:
        return (1 - self.options.confidence) / 2

    def tests(self, federation: Federation, threshold: float) -> RateTests:
        """Return the tests of the rows that are compared."""
        rows = together(self._chosen(self.rows, self.compared))
        first = self.plan.grid.first_from(threshold) or 0
        return rate_tests(
            federation,
            threshold,
            favorable=self.plan.favorable,
            score_range=self.plan.score_range,
            confidence=self.options.confidence,
            noisy=flagged_counts(rows, first, tail=self._tail),
        )

    def outcome(self) -> OutcomeResult | None:
        """Return what both outcomes tell of the rows that are compared and have records of each."""
        both = [self.atoms.rows(self.table, outcome) for outcome in OUTCOMES]
        large = np.logical_and(*(self.atoms.enough(rows).rows for rows in both))
        large &= np.array([group in self.compared for group in self.table.groups])
        if large.sum() < 2:
            return None
        positives, negatives = (chosen_groups(rows, large) for rows in both)
        more = dict.fromkeys(positives.groups, self.found.missing.total)
        found = HistogramOutcomes(
            both=(positives, negatives),
            unseen=(more, more),
            bounds=self.plan.score_range,
            confidence=self.options.confidence,
            summed=not self._apart,
            seed=self.options.seed,
        )
        given = self._given((positives, negatives))
        thresholds = [
            each for each in self.plan.thresholds if _meets(self.plan.grid.first_from(each))
        ]
        return found.result(thresholds, self.calibration_edges, given)

    def _given(self, both: Sequence[NoisyHistograms]) -> list[GivenOutcome]:
        """The disparity among positives, and among negatives."""
        records = [max(float(rows.counts.sum()), 0.0) for rows in both]
        given = []
        for outcome, rows, own in zip(OUTCOMES, both, records, strict=True):
            found = self._measure(rows)
            share = own / math.fsum(records)
            given.append(
                given_outcome(
                    found.measures, found.assessment, outcome, share=share, apart=self._apart
                )
            )
        return given


def _meets(first: int | None) -> bool:
    """Whether bins meet at a threshold; they do not at the highest score of a continuous range."""
    return first is not None
