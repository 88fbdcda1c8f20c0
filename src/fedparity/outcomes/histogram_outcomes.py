r"""Error rates, areas and calibration from noisy histograms of both outcomes.

Counts are added up over silos before anything is computed, and negative ones are kept: a sum of noisy
counts is right on average. Every rate is the share of one sum of bins in two disjoint ones, with
the limits of :func:`~fedparity.thresholds.proportions.noisy_limits`. The area is

.. math:: \hat A = \frac1{n_1 n_0} \sum_i x_i \Bigl(\sum_{j < i} y_j + \tfrac12 y_i\Bigr)

with noisy positives x and negatives y in the bins. A positive in bin i moves it by
:math:`(w_i - A) / n_1`, where :math:`w_i` is the share of negatives below i, ties by half; so noise of
variance v in each bin adds :math:`v \sum_i (w_i - A)^2 / n_1^2`, the same for negatives, and
a product of both, which is bounded by :math:`v^2 B^2 / (2 n_1^2 n_0^2)`. Records of one bin may be in any
order unless it is a point: the bracket allows for :math:`\frac1{2 n_1 n_0} \sum_i x_i y_i`.

Brackets are what the raw data could be, and intervals what the population could be: both at the
confidence stated, since noise can be anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

import numpy as np

from fedparity.documents.outcome_parts import CalibrationResult, RateTests
from fedparity.documents.result_parts import Sampled
from fedparity.federated.federation import Federation
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group, Silo
from fedparity.laws.law import FloatArray, IntArray, Law
from fedparity.outcomes.calibration import InBins, calibrated
from fedparity.outcomes.discrimination import Discrimination, area_limits, placement_variance
from fedparity.outcomes.error_rates import Flagged, Side, is_there
from fedparity.outcomes.local_gaps import SiloShare
from fedparity.outcomes.measure_outcomes import Outcomes
from fedparity.outcomes.outcome_laws import discriminations
from fedparity.outcomes.rate_tests import rate_tests
from fedparity.privacy.histograms import Grid
from fedparity.privacy.noise import NoiseLaw, monotone_masses
from fedparity.thresholds.rates import Records
from fedparity.uncertainty.assessment import LOCAL_SILOS
from fedparity.uncertainty.checks import Known
from fedparity.uncertainty.envelopes import Envelope
from fedparity.uncertainty.noisy_assessment import noise_rank_errors
from fedparity.uncertainty.noisy_histograms import NoisyHistograms

__all__ = ["HistogramOutcomes", "NoisyDiscrimination", "flagged_counts", "together"]


def together(histograms: NoisyHistograms) -> NoisyHistograms:
    """Return the sum over silos, with the noise of all of them."""
    noise = histograms.noise
    silos = len(histograms.silos)
    return replace(
        histograms,
        silos=("all silos",),
        counts=histograms.counts.sum(axis=0, keepdims=True),
        noise=noise if silos == 1 else NoiseLaw(noise.epsilon, noise.doses * silos),
    )


def flagged_counts(
    histograms: NoisyHistograms,
    first: int,
    *,
    tail: float,
    unseen: Mapping[Group, float] | None = None,
    silo: int = 0,
) -> Flagged:
    """Return the records of one silo from bin ``first`` on, and those below it, by group."""
    counts = histograms.counts[silo].astype(np.float64)
    above, totals = counts[:, first:].sum(axis=1), counts.sum(axis=1)
    variance, bins = histograms.noise.variance, histograms.grid.bins
    return Flagged(
        groups=histograms.groups,
        totals=totals,
        effective=totals,
        above=Records(above, above, above),
        unseen=np.array([float((unseen or {}).get(group, 0.0)) for group in histograms.groups]),
        noise=(variance * (bins - first), variance * first),
        tail=tail,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyDiscrimination(Discrimination):
    """What noisy histograms say of the positives and the negatives of one group."""

    found: float
    """The area of the noisy counts."""
    variance: float
    """What noise adds to its variance."""
    ties: float
    """How far the order of records inside bins may move it."""
    laws: tuple[Law, Law]
    """Of positives and negatives, a bin being a point."""
    tail: float
    """How often each end of the bracket may be wrong, for noise."""

    @classmethod
    def from_counts(
        cls,
        positives: IntArray,
        negatives: IntArray,
        grid: Grid,
        noise: NoiseLaw,
        *,
        tail: float,
        known: Discrimination | None = None,
    ) -> NoisyDiscrimination:
        """Return the area of counts in bins; ``known`` holds the laws that curves are drawn from."""
        both = [each.astype(np.float64) for each in (positives, negatives)]
        sizes = float(both[0].sum()), float(both[1].sum())
        x, y = (each / size for each, size in zip(both, sizes, strict=True))
        below, above = np.cumsum(y) - y / 2, 1 - (np.cumsum(x) - x / 2)
        found = float(np.sum(x * below))
        spread = [float(np.sum((each - found) ** 2)) for each in (below, above)]
        v = noise.variance
        middles = (grid.lowest + grid.highest) / 2
        masses = [monotone_masses(each) / size for each, size in zip(both, sizes, strict=True)]
        laws = [Law(middles, each) for each in masses]
        points = [Known(law, Envelope(law, law)) for law in laws]
        return cls(
            positives=points[0] if known is None else known.positives,
            negatives=points[1] if known is None else known.negatives,
            sizes=sizes,
            rough=min(max(found, 0.0), 1.0) if known is None else known.rough,
            found=min(max(found, 0.0), 1.0),
            variance=v * spread[0] / sizes[0] ** 2
            + v * spread[1] / sizes[1] ** 2
            + (v * grid.bins) ** 2 / (2 * (sizes[0] * sizes[1]) ** 2),
            ties=0.0 if grid.pointwise else float(np.sum(masses[0] * masses[1])) / 2,
            laws=(laws[0], laws[1]),
            tail=tail,
        )

    @property
    def bracket(self) -> Bracket:
        """The area, and what that of the raw data could be."""
        reach = self.ties + NormalDist().inv_cdf(1 - self.tail) * math.sqrt(self.variance)
        return Bracket(
            value=self.found,
            lower=max(0.0, self.found - reach),
            upper=min(1.0, self.found + reach),
        )

    def limits(self, bracket: Bracket, tail: float) -> Bounds:
        """Return what the population's area could be, a limit missing with probability ``tail``.

        Of a bracket that is a point, the order inside bins is taken for known.
        """
        ties = self.ties if bracket.lower < bracket.upper else 0.0
        excess = placement_variance(*self.laws, self.sizes)
        ends = [
            area_limits(
                min(max(self.found + off, 0.0), 1.0),
                self.sizes,
                excess,
                tail,
                about=self.found,
                noise=self.variance,
            )
            for off in (-ties, ties)
        ]
        return Bounds(min(ends[0].lower, bracket.lower), max(ends[1].upper, bracket.upper))


@dataclass(frozen=True, kw_only=True, eq=False)
class HistogramOutcomes(Outcomes):
    """Noisy histograms of positives and of negatives, of the same silos and groups."""

    both: tuple[NoisyHistograms, NoisyHistograms]
    seed: int = 0

    @property
    def grid(self) -> Grid:
        """The bins."""
        return self.both[0].grid

    @cached_property
    def whole(self) -> tuple[NoisyHistograms, NoisyHistograms]:
        """All silos together."""
        return together(self.both[0]), together(self.both[1])

    @cached_property
    def federations(self) -> tuple[Federation, Federation]:
        """The laws of all silos together, with what noise and bins may have moved.

        The errors of both hold at once, at the confidence stated.
        """
        found = [
            each.federation(
                rank_errors=noise_rank_errors(
                    each, confidence=(1 + self.confidence) / 2, seed=self.seed
                ),
                value_error=self.grid.widest,
            )
            for each in self.whole
        ]
        return found[0], found[1]

    @cached_property
    def laws(self) -> dict[Group, Discrimination]:
        """What is known of each group's positives and negatives."""
        return self._areas(discriminations(*self.federations, self.bounds))

    def _areas(self, known: Mapping[Group, Discrimination]) -> dict[Group, Discrimination]:
        positives, negatives = self.whole
        return {
            group: NoisyDiscrimination.from_counts(
                positives.counts[0, place],
                negatives.counts[0, place],
                self.grid,
                positives.noise,
                tail=self.tail,
                known=known[group],
            )
            for place, group in enumerate(positives.groups)
        }

    def outer_laws(self) -> dict[Group, Discrimination]:
        """Return what is known of all records, those that nobody described included."""
        if any(value for each in self.unseen for value in (each or {}).values()):
            return discriminations(*self.federations, self.bounds, self.unseen)
        return self.laws

    @property
    def silos(self) -> list[Silo]:
        """The silos that are looked at alone; none where they were not seen apart."""
        return [] if self.summed else list(self.both[0].silos)[:LOCAL_SILOS]

    def everyone(self) -> list[tuple[Side, Side]]:
        """Return the positives and the negatives of each group."""
        return [
            (pair[0].side(place, above=True), pair[1].side(place, above=True))
            for place in range(len(self.both[0].groups))
            for pair in [self._flagged(0)]
        ]

    def _flagged(self, first: int) -> list[Flagged]:
        return [
            flagged_counts(each, first, tail=self.tail, unseen=more)
            for each, more in zip(self.whole, self.unseen, strict=True)
        ]

    def flagged(self, threshold: float) -> list[Flagged]:
        """Return the positives and the negatives at or above a threshold."""
        return self._flagged(self.grid.first_from(threshold) or 0)

    def flagged_in(self, threshold: float) -> dict[Silo, list[Flagged]]:
        """Return the same of each silo alone."""
        first = self.grid.first_from(threshold) or 0
        return {
            silo: [flagged_counts(each, first, tail=self.tail, silo=place) for each in self.both]
            for place, silo in enumerate(self.silos)
        }

    def local_areas(self, silo: Silo) -> dict[Group, SiloShare]:
        """Return the areas of the groups of which a silo surely has both outcomes."""
        positives, negatives = self.both
        row = positives.silos.index(silo)
        sides = [flagged_counts(each, 0, tail=self.tail, silo=row) for each in self.both]
        found = {}
        for place, group in enumerate(positives.groups):
            pairs = [[each.side(place, above=above) for above in (True, False)] for each in sides]
            if not all(is_there(*pair) for pair in pairs):
                continue
            area = NoisyDiscrimination.from_counts(
                positives.counts[row, place],
                negatives.counts[row, place],
                self.grid,
                positives.noise,
                tail=self.tail,
            )
            point = Bracket(value=area.found, lower=area.found, upper=area.found)
            found[group] = SiloShare(point, area.limits(point, self.tail), sum(area.sizes))
        return found if len(found) > 1 else {}

    def tests(self, threshold: float, whole: Sequence[Flagged]) -> list[RateTests]:
        """Return the tests of equal rates among positives, and among negatives."""
        return [
            rate_tests(
                federation,
                threshold,
                favorable="above",
                score_range=self.bounds,
                confidence=self.confidence,
                standardized=False,
                noisy=found,
            )
            for federation, found in zip(self.federations, whole, strict=True)
        ]

    def calibrations(self, edges: Sequence[float]) -> tuple[CalibrationResult, ...]:
        """Return the outcomes of each group by bin."""
        inner = [self.grid.first_from(edge) or 0 for edge in edges[1:-1]]
        firsts = [0, *inner, self.grid.bins]
        both = [InBins(each) for each in zip(*map(self._flagged, inner), strict=True)]
        found = []
        for place, group in enumerate(self.both[0].groups):
            pairs = [
                [each.side(place, number) for each in both] for number in range(len(firsts) - 1)
            ]
            means = [
                self._mean_score(place, slice(*firsts[number : number + 2]))
                if is_there(*pair)
                else None
                for number, pair in enumerate(pairs)
            ]
            found.append(
                calibrated(
                    group, pairs, means, score_range=self.bounds, confidence=self.confidence
                )
            )
        return tuple(found)

    def _mean_score(self, place: int, part: slice) -> Sampled:
        """The mean score of a group's records in a run of bins, which has some."""
        counts: FloatArray = sum(  # type: ignore[assignment]
            each.counts[0, place, part].astype(np.float64) for each in self.whole
        )
        low, high = self.grid.lowest[part], self.grid.highest[part]
        middles, n = (low + high) / 2, float(counts.sum())
        value = float(np.sum(counts * middles)) / n
        inside = float(np.sum(np.maximum(counts, 0.0) * (high - low))) / (2 * n)
        noise = 2 * self.whole[0].noise.variance * float(np.sum((middles - value) ** 2))
        reach = inside + NormalDist().inv_cdf(1 - self.tail) * math.sqrt(noise) / n
        ends = float(low[0]), float(high[-1])
        value = min(max(value, ends[0]), ends[1])
        lower, upper = max(ends[0], value - reach), min(ends[1], value + reach)
        return Sampled(value=value, lower=lower, upper=upper, interval=Bounds(lower, upper))
