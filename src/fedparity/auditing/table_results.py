"""The tables of an audit: each axis, and the groups of the plan, measured as federations of their own."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fedparity.auditing.audit import heterogeneity_result, pair_results
from fedparity.auditing.comparison import compare
from fedparity.documents.outcome_parts import OutcomeResult, RateTests
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import OUTCOMES, PlanTable
from fedparity.documents.result_parts import Sampled, SetAside, unseen_records
from fedparity.documents.table_parts import (
    CategoryStatus,
    TableAttribution,
    TableGroup,
    TableResult,
    TableSilo,
)
from fedparity.documents.tabular import Parts
from fedparity.federated.estimate import Method, mixtures
from fedparity.federated.federation import Federation
from fedparity.federated.local_audits import Measures
from fedparity.laws.labels import Group, Silo
from fedparity.laws.law import Law
from fedparity.modes.mode import AuditOptions, Measured
from fedparity.modes.table_cells import (
    category_status,
    gathered_cells,
    merged_silos,
    row_counts,
    silo_of,
    table_unseen,
)
from fedparity.outcomes.measure_outcomes import measure_outcomes
from fedparity.outcomes.rate_tests import rate_tests
from fedparity.sketches.cell import Cell
from fedparity.thresholds.rates import at_threshold, threshold_results
from fedparity.uncertainty.assessment import Assessment, assess

__all__ = ["Seen", "Table", "table_results"]


def table_results(plan: Plan, found: Measured, options: AuditOptions) -> Parts[TableResult]:
    """Return every table of the plan; none if it asks for its groups alone."""
    kind: type[Table] = CellTable
    if found.atoms is not None:
        from fedparity.auditing.histogram_tables import HistogramTable  # noqa: PLC0415 -- with noise

        kind = HistogramTable
    return Parts(kind(plan, table, found, options).result() for table in plan.tables)


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """The rows that are compared, measured."""

    federation: Federation
    measures: Measures
    assessment: Assessment
    by_silo: Measures | None
    """One cell for each silo and row, for what depends on silos; None where they were not seen apart."""


@dataclass(frozen=True, eq=False)
class Table(ABC):
    """One table of an audit."""

    plan: Plan
    table: PlanTable
    found: Measured
    options: AuditOptions

    @property
    @abstractmethod
    def unseen(self) -> Mapping[Group, float]:
        """At most how many records of each row are missing."""

    @property
    @abstractmethod
    def counts(self) -> Mapping[Group, int | float]:
        """Records released of each row."""

    @abstractmethod
    def federation(self, groups: Sequence[Group]) -> Federation:
        """Return the cells of some rows."""

    @abstractmethod
    def seen(self, unseen: Mapping[Group, float]) -> Seen:
        """Measure the rows that are compared."""

    @abstractmethod
    def tests(self, federation: Federation, threshold: float) -> RateTests:
        """Return the tests of the rows that are compared."""

    @abstractmethod
    def outcome(self) -> OutcomeResult | None:
        """Return what both outcomes tell of the rows that are compared and have cells of each."""

    @property
    def method(self) -> Method:
        """How its disparity is computed."""
        plan = self.plan
        return Method(
            order=plan.order, estimator=plan.estimator, levels=plan.levels, trim=plan.trim
        )

    @property
    def calibration_edges(self) -> list[float]:
        """Where bins of calibration meet; none without bins."""
        bins = () if self.plan.outcome is None else self.plan.outcome.bins
        return sorted({*bins, *self.plan.thresholds}) if bins else []

    def status(self, group: Group) -> CategoryStatus:
        """Return whether a row is compared, or why not."""
        return category_status(self.plan, self.counts, group)

    @cached_property
    def compared(self) -> tuple[Group, ...]:
        """The rows that are compared."""
        return tuple(group for group in self.table.groups if self.status(group) == "compared")

    def result(self) -> TableResult:
        """Return all numbers of the table; only its rows if fewer than two can be compared."""
        total = sum(self.counts.values())
        empty: dict[str, Any] = {
            "disparity": None,
            "magnitudes": None,
            "heterogeneity": None,
            "pairs": Parts(),
            "thresholds": Parts(),
            "attribution": None,
            "silos": Parts(),
            "tests": (),
            "outcome": None,
        }
        few = len(self.compared) < 2
        note = "fewer than two rows can be compared" if few else ""
        return TableResult(
            by=self.table.by,
            n=total,
            groups=Parts(self._row(group, total) for group in self.table.groups),
            note=note,
            tails=Parts(),
            **(empty if few else self._measured()),
        )

    def _row(self, group: Group, total: float) -> TableGroup:
        n = self.counts[group]
        law = self._laws.get(group)  # a row that is alone has none: laws are of two or more
        return TableGroup(
            group=group,
            n=n,
            share=n / total if total else 0.0,
            mean=None if law is None else float(law.mean),
            status=self.status(group),
            known=self._known(group),
            rates=tuple(rates.get(group) for rates in self._rates),
        )

    @cached_property
    def _everyone(self) -> Federation | None:
        """The cells of all rows that have any, compared or not; None if fewer than two have."""
        groups = [group for group in self.table.groups if self.counts[group]]
        return self.federation(groups) if len(groups) > 1 else None

    @cached_property
    def _laws(self) -> Mapping[Group, Law]:
        return {} if self._everyone is None else mixtures(self._everyone)

    @cached_property
    def _rates(self) -> list[dict[Group, Sampled]]:
        """The rate of each row at each threshold of the plan."""
        if self._everyone is None:
            return [{} for _ in self.plan.thresholds]
        found = [
            at_threshold(
                self._everyone,
                threshold,
                favorable=self.plan.favorable,
                confidence=self.options.confidence,
                score_range=self.plan.score_range,
            )
            for threshold in self.plan.thresholds
        ]
        return [{each.group: each.rate for each in report.groups} for report in found]

    def _known(self, group: Group) -> str:
        """Why a row is not compared, and what is known of it."""
        match self.status(group):
            case "compared":
                return ""
            case "unknown":
                return "the plan calls this label unknown"
            case "set aside":
                return f"less than {self.plan.set_aside:.3g} of the records whose label is known"
        most = self.unseen[group]
        bound = (
            f"at most {most:,.12g} records" if math.isfinite(most) else "nothing bounds its number"
        )
        return f"no silo released it; {bound}"

    def _measured(self) -> dict[str, Any]:
        plan = self.plan
        unseen = {group: most for group in self.compared if (most := self.unseen[group])}
        seen, aside = self.seen(unseen), self._aside()
        unseen_others = unseen_records(aside)
        federation, measures = seen.federation, seen.measures
        compared = compare(
            plan,
            federation,
            measures.method,
            seen.assessment,
            unseen=unseen,
            unseen_total=math.fsum(unseen.values()),
            aside=aside,
        )
        by_silo = seen.by_silo
        return {
            "disparity": compared.disparity(),
            "magnitudes": compared.magnitudes(),
            "heterogeneity": heterogeneity_result(compared.assessment),
            "pairs": pair_results(measures.pairs, compared.assessment.pairs, compared.seen.pairs),
            "thresholds": Parts(
                threshold_results(
                    federation,
                    plan.thresholds,
                    favorable=plan.favorable,
                    confidence=self.options.confidence,
                    score_range=plan.score_range,
                    unseen=unseen,
                    unseen_others=unseen_others,
                )
            ),
            "attribution": None
            if by_silo is None
            else TableAttribution(
                selection=by_silo.attribution.selection, within=by_silo.attribution.within
            ),
            "silos": Parts(
                TableSilo(
                    silo=each.silo,
                    n=sum(each.counts.values()),
                    disparity=each.disparity,
                    mean_gap=each.mean_gap,
                )
                for each in (() if by_silo is None else by_silo.local)
            ),
            "tests": tuple(self.tests(federation, threshold) for threshold in plan.thresholds),
            "outcome": None if plan.outcome is None else self.outcome(),
            "federation": federation,
            "unseen": unseen,
            "unseen_others": unseen_others,
        }

    def _aside(self) -> list[SetAside]:
        """The rows of which nothing is measured."""
        return [
            SetAside(
                group=group,
                withheld=len(self.found.messages),
                most=most if math.isfinite(most := self.unseen[group]) else None,
                known=self._known(group),
            )
            for group in self.table.groups
            if self.status(group) == "withheld"
        ]


@dataclass(frozen=True, eq=False)
class CellTable(Table):
    """One table, from the cells of the silos' messages."""

    @cached_property
    def cells(self) -> dict[tuple[Silo, Group], Cell]:
        """The released cells of all rows."""
        return gathered_cells(self.plan, self.found.messages, self.table, None)

    @cached_property
    def unseen(self) -> Mapping[Group, float]:
        """At most how many records of each row are missing."""
        missing = len(self.found.missing.silos_missing)
        return table_unseen(
            self.plan, self.found.messages, self.table, None, silos_missing=missing
        )

    @cached_property
    def counts(self) -> dict[Group, int | float]:
        """Records released of each row."""
        return row_counts(self.table, self.cells)

    def federation(self, groups: Sequence[Group]) -> Federation:
        """Return the cells of some rows."""
        cells = {key: cell for key, cell in self.cells.items() if key[1] in groups}
        return Federation.from_cells(cells, groups=groups, score_range=self.plan.score_range)

    def seen(self, unseen: Mapping[Group, float]) -> Seen:
        """Measure the rows that are compared."""
        federation, method = self.federation(self.compared), self.method
        measures = Measures(federation, method)
        assessment = assess(
            federation,
            method,
            score_range=self.plan.score_range,
            unseen=unseen,
            unseen_total=math.fsum(unseen.values()),
            local=[],
            measures=measures,
            **self.options.assessment(),
        )
        return Seen(
            federation=federation,
            measures=measures,
            assessment=assessment,
            by_silo=Measures(merged_silos(federation), method),
        )

    def tests(self, federation: Federation, threshold: float) -> RateTests:
        """Return the tests of the rows that are compared."""
        return rate_tests(
            federation,
            threshold,
            favorable=self.plan.favorable,
            score_range=self.plan.score_range,
            confidence=self.options.confidence,
            silo_of=silo_of,
        )

    def outcome(self) -> OutcomeResult | None:
        """Return what both outcomes tell of the rows that are compared and have cells of each."""
        plan, sketches = self.plan, self.found.messages
        missing = len(self.found.missing.silos_missing)
        cells = [gathered_cells(plan, sketches, self.table, each) for each in OUTCOMES]
        groups = [
            group
            for group in self.compared
            if all(any(own == group for _, own in each) for each in cells)
        ]
        if len(groups) < 2:
            return None
        positives, negatives = (
            Federation.from_cells(
                {key: cell for key, cell in each.items() if key[1] in groups},
                groups=groups,
                score_range=plan.score_range,
            )
            for each in cells
        )
        unseen = [
            table_unseen(plan, sketches, self.table, each, silos_missing=missing)
            for each in OUTCOMES
        ]
        return measure_outcomes(
            positives,
            negatives,
            thresholds=plan.thresholds,
            score_range=plan.score_range,
            bins=self.calibration_edges,
            unseen_positive={group: unseen[0][group] for group in groups},
            unseen_negative={group: unseen[1][group] for group in groups},
            method=self.method,
            confidence=self.options.confidence,
            seed=self.options.seed,
            redraws=self.options.redraws,
            silo_of=silo_of,
        )
