"""Who is missed, who is wrongly flagged: all that the cells of both outcomes tell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from fedparity.documents.outcome_parts import (
    CalibrationResult,
    GivenOutcome,
    OutcomeGap,
    OutcomeGroup,
    OutcomeMeasure,
    OutcomeRates,
    OutcomeResult,
    OutcomeThreshold,
    RateTests,
)
from fedparity.documents.result_parts import Sampled
from fedparity.errors import FederationError
from fedparity.federated.estimate import Method
from fedparity.federated.federation import Federation, takes_federation
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group, Silo, canonical_order
from fedparity.outcomes.calibration import (
    InBins,
    are_probabilities,
    bin_rates,
    brier_score,
    calibration,
    edges_of,
)
from fedparity.outcomes.discrimination import Discrimination, auc_results, compare_areas, roc_curve
from fedparity.outcomes.error_rates import (
    MEASURES,
    Flagged,
    RateTable,
    Side,
    limited,
    rate_table,
    share_of,
)
from fedparity.outcomes.given_outcome import disparity_given
from fedparity.outcomes.local_gaps import SiloOf, SiloShare, gap_of, own_silos
from fedparity.outcomes.outcome_laws import discriminations
from fedparity.outcomes.rate_tests import rate_tests
from fedparity.thresholds.rates import Records, effective_sizes, records_above
from fedparity.uncertainty.assessment import LOCAL_SILOS
from fedparity.uncertainty.checks import check_confidence, checked_range

__all__ = ["Outcomes", "measure_outcomes"]

SUMMED = (
    "Only sums over silos were seen, so what each silo sees alone, Mantel-Haenszel, Breslow-Day, and "
    "selection against within are not given."
)
_Unseen = Mapping[Group, float] | None


@takes_federation
def measure_outcomes(
    positives: Federation,
    negatives: Federation,
    *,
    thresholds: Sequence[float],
    score_range: tuple[float, float],
    bins: Sequence[float] = (),
    unseen_positive: Mapping[Group, float] | None = None,
    unseen_negative: Mapping[Group, float] | None = None,
    method: Method | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    redraws: int | None = None,
    silo_of: SiloOf | None = None,
    summed: bool = False,
) -> OutcomeResult:
    """Return error rates, areas, calibration and disparities given the outcome, by group.

    A predicted positive has a score at or above the threshold.

    Parameters
    ----------
    positives, negatives : Federation
        The records of each outcome, of the same groups in the same order.
    thresholds : sequence of numbers
        Scores from which a record is predicted positive.
    score_range : pair of numbers
        Public bounds of the scores.
    bins : sequence of numbers, optional
        Inner edges of public bins of the score; without them there is no calibration.
    unseen_positive, unseen_negative : mapping of group to number, optional
        Upper bounds of the further records that exist.
    method, confidence, seed, redraws
        As in :func:`fedparity.assess`.
    silo_of : callable, optional
        The silo of a label, where a silo has several cells of a group; the label itself if absent.
    summed : bool, default False
        Whether silos were not seen apart, as in a secure mode.

    Raises
    ------
    FederationError
        If the two are not of the same groups.

    Examples
    --------
    >>> scores, groups = [0.2, 0.6, 0.7, 0.9] * 20, list("aabb") * 20
    >>> build = lambda values: Federation.from_scores(
    ...     values, groups=groups, silos=[1] * 80, kind="counts"
    ... )
    >>> found = measure_outcomes(
    ...     build(scores), build([0.1, 0.6, 0.3, 0.5] * 20), thresholds=[0.5], score_range=(0, 1)
    ... )
    >>> [(row.group, row.auc.value) for row in found.groups]
    [('a', 0.625), ('b', 1.0)]
    >>> [(rates.measure, rates.gap.value) for rates in found.thresholds[0].rates[:2]]
    [('tpr', 0.5), ('fpr', 0.0)]
    """
    if positives.groups != negatives.groups:
        raise FederationError(
            "positives and negatives must be of the same groups, in the same order.",
            fix="leave out the groups of which one outcome was not released.",
        )
    found = _CellOutcomes(
        both=(positives, negatives),
        unseen=(unseen_positive, unseen_negative),
        bounds=checked_range(positives, checked_range(negatives, score_range)),
        confidence=check_confidence(confidence),
        silo_of=silo_of,
        summed=summed,
    )
    given = found.given(method or Method(), seed=seed, redraws=redraws)
    return found.result(thresholds, bins, given)


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcomes(ABC):
    """What was counted of both outcomes, and what every number of them needs; options are checked."""

    unseen: tuple[_Unseen, _Unseen]
    bounds: tuple[float, float]
    confidence: float
    summed: bool

    @property
    def tail(self) -> float:
        """How often one limit may miss."""
        return (1 - self.confidence) / 2

    @property
    @abstractmethod
    def laws(self) -> dict[Group, Discrimination]:
        """What is known of each group's positives and negatives."""

    @property
    @abstractmethod
    def silos(self) -> list[Silo]:
        """The silos that are looked at alone; none where they were not seen apart."""

    @abstractmethod
    def outer_laws(self) -> dict[Group, Discrimination]:
        """Return what is known of all records, those that nobody described included."""

    @abstractmethod
    def everyone(self) -> list[tuple[Side, Side]]:
        """Return the positives and the negatives of each group."""

    @abstractmethod
    def local_areas(self, silo: Silo) -> dict[Group, SiloShare]:
        """Return the areas of the groups of which a silo has both outcomes; none if fewer than two."""

    @abstractmethod
    def flagged(self, threshold: float) -> list[Flagged]:
        """Return the positives and the negatives at or above a threshold."""

    @abstractmethod
    def flagged_in(self, threshold: float) -> dict[Silo, list[Flagged]]:
        """Return the same of each silo alone."""

    @abstractmethod
    def tests(self, threshold: float, whole: Sequence[Flagged]) -> list[RateTests]:
        """Return the tests of equal rates among positives, and among negatives."""

    @abstractmethod
    def calibrations(self, edges: Sequence[float]) -> tuple[CalibrationResult, ...]:
        """Return the outcomes of each group by bin."""

    @property
    def not_given(self) -> str:
        """What the privacy mode does not let anybody compute."""
        return SUMMED if self.summed else ""

    def result(
        self, thresholds: Sequence[float], bins: Sequence[float], given: Sequence[GivenOutcome]
    ) -> OutcomeResult:
        """Return all numbers."""
        edges = edges_of(bins, self.bounds)
        return OutcomeResult(
            confidence=self.confidence,
            groups=self.groups(),
            auc_gap=self.auc_gap(),
            thresholds=tuple(self.at_threshold(float(threshold)) for threshold in thresholds),
            edges=edges,
            calibration=self.calibrations(edges) if edges else (),
            calibration_gaps=self.calibration_gaps(edges) if edges else (),
            given=tuple(given),
            separation=Bracket(
                value=sum(each.share * each.disparity for each in given),
                lower=sum(each.share * each.certificate.lower for each in given),
                upper=sum(each.share * each.certificate.upper for each in given),
            ),
            not_given=self.not_given,
        )

    def groups(self) -> tuple[OutcomeGroup, ...]:
        """Return the numbers of each group that need no threshold."""
        areas = auc_results(self.laws, self.outer_laws(), self.confidence)
        found = []
        for group, sides in zip(self.laws, self.everyone(), strict=True):
            records = sides[0].value, sides[1].value
            found.append(
                OutcomeGroup(
                    group=group,
                    positives=records[0],
                    negatives=records[1],
                    base_rate=limited(share_of(*sides), self.tail),
                    auc=areas[group],
                    roc=roc_curve(self.laws[group]),
                    brier=brier_score(
                        self.laws[group],
                        records,
                        (sides[0].unseen, sides[1].unseen),
                        self.confidence,
                    )
                    if are_probabilities(self.bounds)
                    else None,
                )
            )
        return tuple(found)

    def auc_gap(self) -> OutcomeGap:
        """Return the largest difference of two groups' areas, next to that in each silo."""
        gap = compare_areas(self.laws, self.confidence).widest_gap
        values = {group: each.bracket.value for group, each in self.laws.items()}
        silos = {silo: self.local_areas(silo) for silo in self.silos}
        return gap_of(gap, values, None if self.summed else silos)

    def at_threshold(self, threshold: float) -> OutcomeThreshold:
        """Return the errors at one threshold."""
        whole, local = self.flagged(threshold), self.flagged_in(threshold)
        among_positives, among_negatives = self.tests(threshold, whole)
        return OutcomeThreshold(
            score=threshold,
            rates=tuple(self._rates(measure, whole, local) for measure in MEASURES),
            equalized_odds=self._equalized_odds(whole),
            among_positives=among_positives,
            among_negatives=among_negatives,
        )

    def _rates(
        self,
        measure: OutcomeMeasure,
        whole: Sequence[Flagged],
        local: Mapping[Silo, Sequence[Flagged]],
    ) -> OutcomeRates:
        table = rate_table(measure, *whole)
        gap = self._gap(table, {silo: rate_table(measure, *own) for silo, own in local.items()})
        return OutcomeRates(
            measure=measure, groups=table.rows(self.confidence), gap=gap.gap, local=gap.local
        )

    def _gap(self, table: RateTable, local: Mapping[Silo, RateTable]) -> OutcomeGap:
        """The largest difference of a rate between two groups, next to that in each silo."""
        found = table.compared(self.confidence)
        if found is None:
            return OutcomeGap(gap=None, local=None)
        silos = {
            silo: {
                group: SiloShare(share.bracket, share.limits(self.tail), share.n)
                for group, share in own.shares.items()
                if share is not None
            }
            for silo, own in local.items()
        }
        values = {row.group: row.rate.value for row in found.groups}
        return gap_of(found.widest_gap, values, None if self.summed else silos)

    def calibration_gaps(self, edges: Sequence[float]) -> tuple[OutcomeGap, ...]:
        """Return the largest difference of observed rates in each bin, next to that in each silo."""
        whole = [self.flagged(edge) for edge in edges[1:-1]]
        local = [self.flagged_in(edge) for edge in edges[1:-1]]

        def rates(flagged: Iterable[Sequence[Flagged]], number: int) -> RateTable:
            positives, negatives = zip(*flagged, strict=True)
            return bin_rates(InBins(positives), InBins(negatives), number)

        return tuple(
            self._gap(
                rates(whole, number),
                {silo: rates((each[silo] for each in local), number) for silo in self.silos},
            )
            for number in range(len(edges) - 1)
        )

    def _equalized_odds(self, whole: Sequence[Flagged]) -> Sampled | None:
        """The larger of two gaps: lower limits must hold for both, so each gets half of the error."""
        measures: tuple[OutcomeMeasure, ...] = ("tpr", "fpr")

        def gaps(confidence: float) -> list[Sampled]:
            found = [rate_table(each, *whole).compared(confidence) for each in measures]
            return [each.widest_gap for each in found if each is not None]

        alone, together = gaps(self.confidence), gaps((1 + self.confidence) / 2)
        if len(alone) < len(measures):
            return None
        lower, value, upper = (
            max(getattr(each, name) for each in alone) for name in ("lower", "value", "upper")
        )
        return Sampled(
            value=value,
            lower=lower,
            upper=upper,
            interval=Bounds(
                min(lower, max(each.interval.lower for each in together)),
                max(each.interval.upper for each in alone),
            ),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _CellOutcomes(Outcomes):
    """The cells of both outcomes."""

    both: tuple[Federation, Federation]
    silo_of: SiloOf | None

    @cached_property
    def laws(self) -> dict[Group, Discrimination]:
        """What is known of each group's positives and negatives."""
        return discriminations(*self.both, self.bounds)

    @cached_property
    def places(self) -> tuple[dict[Silo, list[int]], ...]:
        """The positions of each silo's labels among positives, and among negatives."""
        return tuple(own_silos(each.silos, self.silo_of) for each in self.both)

    @property
    def silos(self) -> list[Silo]:
        """The silos that are looked at alone, in canonical order; none where they were not seen apart."""
        if self.summed:
            return []
        return list(canonical_order({*self.places[0], *self.places[1]}))[:LOCAL_SILOS]

    def given(self, method: Method, *, seed: int, redraws: int | None) -> tuple[GivenOutcome, ...]:
        """Return the disparity among positives, and among negatives."""
        apart = not self.summed and all(
            len(places) == len(each.silos)
            for places, each in zip(self.places, self.both, strict=True)
        )
        records = [float(each.counts.sum()) for each in self.both]
        outcomes: tuple[Literal["positive", "negative"], ...] = ("positive", "negative")
        return tuple(
            disparity_given(
                federation,
                outcome,
                method,
                share=own / sum(records),
                score_range=self.bounds,
                confidence=self.confidence,
                seed=seed,
                redraws=redraws,
                unseen=more,
                apart=apart,
            )
            for federation, outcome, own, more in zip(
                self.both, outcomes, records, self.unseen, strict=True
            )
        )

    def outer_laws(self) -> dict[Group, Discrimination]:
        """Return what is known of all records, those that nobody described included."""
        missing = any(value for each in self.unseen for value in (each or {}).values())
        return discriminations(*self.both, self.bounds, self.unseen) if missing else self.laws

    def everyone(self) -> list[tuple[Side, Side]]:
        """Return the positives and the negatives of each group."""
        sides = []
        for federation, unseen in zip(self.both, self.unseen, strict=True):
            totals = federation.count_table.sum(axis=0).tolist()
            sizes = effective_sizes(federation).tolist()
            more = [float((unseen or {}).get(group, 0.0)) for group in federation.groups]
            sides.append(
                [
                    Side(n, n, n, size / n, extra)
                    for n, size, extra in zip(totals, sizes, more, strict=True)
                ]
            )
        return list(zip(*sides, strict=True))

    def local_areas(self, silo: Silo) -> dict[Group, SiloShare]:
        """Return the areas of the groups of which a silo has both outcomes."""
        own = []
        for federation, places in zip(self.both, self.places, strict=True):
            labels = {federation.silos[position] for position in places.get(silo, ())}
            own.append({at: cell for at, cell in federation.cells.items() if at[0] in labels})
        present = [{group for _, group in cells} for cells in own]
        groups = [group for group in self.both[0].groups if all(group in has for has in present)]
        if len(groups) < 2:
            return {}
        sides = [
            Federation.from_cells(
                {at: cell for at, cell in cells.items() if at[1] in groups},
                groups=groups,
                score_range=self.bounds,
            )
            for cells in own
        ]
        found = {}
        for group, each in discriminations(sides[0], sides[1], self.bounds).items():
            value = each.bracket.value
            point = Bracket(value=value, lower=value, upper=value)
            found[group] = SiloShare(point, each.limits(point, self.tail), sum(each.sizes))
        return found

    def _above(self, threshold: float) -> list[Records]:
        return [records_above(each, threshold, self.bounds) for each in self.both]

    def flagged(self, threshold: float) -> list[Flagged]:
        """Return the positives and the negatives at or above a threshold."""
        return [
            Flagged.from_cells(each, records, more)
            for each, records, more in zip(
                self.both, self._above(threshold), self.unseen, strict=True
            )
        ]

    def flagged_in(self, threshold: float) -> dict[Silo, list[Flagged]]:
        """Return the same of each silo alone."""
        above = self._above(threshold)
        return {
            silo: [
                Flagged.from_cells(each, records, chosen=np.isin(each.silo_of, own.get(silo, ())))
                for each, records, own in zip(self.both, above, self.places, strict=True)
            ]
            for silo in self.silos
        }

    def tests(self, threshold: float, whole: Sequence[Flagged]) -> list[RateTests]:  # noqa: ARG002
        """Return the tests of equal rates among positives, and among negatives."""
        return [
            rate_tests(
                each,
                threshold,
                favorable="above",
                score_range=self.bounds,
                confidence=self.confidence,
                silo_of=self.silo_of,
                summed=self.summed,
                standardized=False,
            )
            for each in self.both
        ]

    def calibrations(self, edges: Sequence[float]) -> tuple[CalibrationResult, ...]:
        """Return the outcomes of each group by bin."""
        return calibration(
            *self.both,
            self.laws,
            edges=edges,
            score_range=self.bounds,
            unseen=self.unseen,
            confidence=self.confidence,
        )
