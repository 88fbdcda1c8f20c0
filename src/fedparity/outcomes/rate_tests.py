r"""Tests of equal selection rates that people file, from the counts at a threshold.

The reference is the group with the highest rate, as the four-fifths rule has it. Since the data choose
it, Holm's correction counts every pair of groups, whichever was the reference.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fedparity.documents.outcome_parts import PairTest, RateTests
from fedparity.documents.plan_fields import Favorable
from fedparity.federated.federation import Federation, takes_federation
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.law import FloatArray
from fedparity.outcomes.error_rates import Flagged
from fedparity.outcomes.local_gaps import SiloOf, own_silos
from fedparity.outcomes.stratified_tables import breslow_day, mantel_haenszel, z_test
from fedparity.outcomes.tail_probabilities import fisher_exact, holm
from fedparity.thresholds.rates import records_above
from fedparity.uncertainty.checks import check_confidence, checked_range
from fedparity.uncertainty.magnitudes import magnitudes

__all__ = ["rate_tests"]

ASSUMPTIONS = (
    "Fisher's exact test: records are independent, and both margins are taken as given. z test: the "
    "same in large samples. Holm: nothing about how the tests depend on each other; it counts all "
    "pairs of groups. Mantel-Haenszel: one odds ratio in all silos, which Breslow and Day's test "
    "(with Tarone's correction) examines. Shortfall: the expected number at the rate of both groups "
    "together. Standardized mean difference: the standard deviation within the two groups."
)
ESTIMATED = (
    "Not every cell states how many of its records lie at this threshold, so the counts are estimates "
    "from the sketches, and the tests are those of the estimates: their own error is not in the p-values."
)
SUMMED = "Mantel-Haenszel and Breslow-Day compare groups inside silos, and only sums over silos were seen."
WEIGHTED = "Counts are weights, so Fisher's exact test is not given, and the others take them for records."
NOISY = (
    "Noise was added to the counts. Fisher's exact test, Mantel-Haenszel and Breslow-Day take counts for "
    "exact, so they are not given; the z test counts the noise."
)
_MOST = 5_000_000
"""Records of a table beyond which Fisher's exact test is left to the z test, which then agrees."""


class _Counts(NamedTuple):
    """Records selected, and all records, by silo (rows) and group (columns)."""

    selected: FloatArray
    totals: FloatArray
    whole: bool
    noise: tuple[float, float] = (0.0, 0.0)
    """The variances of the noise of those selected of a group, and of the others."""

    @classmethod
    def noisy(cls, found: Flagged, favorable: Favorable) -> _Counts:
        """Return noisy counts over all silos together; noise below 0 is taken for no record."""
        above = np.clip(found.above.value, 0.0, found.totals)
        over, under = found.noise
        if favorable == "below":
            above, over, under = found.totals - above, under, over
        return cls(
            np.rint(above)[None], np.rint(found.totals)[None], whole=True, noise=(over, under)
        )

    def noise_of(self, one: int, other: int) -> float:
        """Return the variance that noise adds to the difference of two rates."""
        selected, totals = self.selected.sum(axis=0), self.totals.sum(axis=0)
        rate = (selected[one] + selected[other]) / (totals[one] + totals[other])
        each = (1 - rate) ** 2 * self.noise[0] + rate**2 * self.noise[1]
        return float(sum(each / totals[place] ** 2 for place in (one, other)))

    def pair(self, one: int, other: int) -> FloatArray:
        """Return a two by two table per silo: selected or not, of one group and of the other."""
        return np.stack(
            [
                self.selected[:, one],
                self.totals[:, one] - self.selected[:, one],
                self.selected[:, other],
                self.totals[:, other] - self.selected[:, other],
            ],
            axis=1,
        )


@takes_federation
def rate_tests(
    federation: Federation,
    threshold: float,
    *,
    favorable: Favorable,
    score_range: tuple[float, float],
    confidence: float = 0.95,
    silo_of: SiloOf | None = None,
    summed: bool = False,
    standardized: bool = True,
    noisy: Flagged | None = None,
) -> RateTests:
    """Return the tests of all groups against the one with the highest selection rate.

    Parameters
    ----------
    threshold : float
        The score from which, or below which, a record is selected.
    favorable : "above" or "below"
        Who is selected: those at or above the threshold, or those strictly below it.
    score_range : pair of numbers
        Public bounds of the scores.
    confidence : float in (0, 1), default 0.95
        Of the interval of the common odds ratio.
    silo_of : callable, optional
        The silo of a label, where a silo has several cells of a group; the label itself if absent.
    summed : bool, default False
        Whether silos were not seen apart.
    standardized : bool, default True
        Whether to give the standardized mean difference of scores.
    noisy : Flagged, optional
        The records at or above the threshold where noise was added to them. Tests that take counts for
        exact are not given then.

    Examples
    --------
    >>> scores = [1.0] * 8 + [0.0] * 2 + [1.0] * 1 + [0.0] * 5
    >>> federation = Federation.from_scores(
    ...     scores, groups=["a"] * 10 + ["b"] * 6, silos=[1] * 16, kind="counts"
    ... )
    >>> found = rate_tests(federation, 0.5, favorable="above", score_range=(0, 1))
    >>> found.reference, round(found.groups[0].fisher, 4), round(found.groups[0].shortfall, 3)
    ('a', 0.035, 2.375)
    """
    bounds, confidence = checked_range(federation, score_range), check_confidence(confidence)
    if noisy is None:
        counts, exact = _counts(federation, float(threshold), favorable, bounds, silo_of)
    else:
        counts, exact, summed = _Counts.noisy(noisy, favorable), False, True
    selected, totals = counts.selected.sum(axis=0), counts.totals.sum(axis=0)
    rates = selected / totals
    reference = int(np.argmax(rates))
    others = [i for i in range(rates.size) if i != reference]
    corrected = _corrected(counts)
    notes = [ESTIMATED] * (not exact) + [SUMMED] * summed + [WEIGHTED] * (not counts.whole)
    notes = notes if noisy is None else [NOISY]
    return RateTests(
        score=float(threshold),
        favorable=favorable,
        counted=exact,
        reference=federation.groups[reference],
        reference_selected=_amount(selected[reference], counts),
        reference_n=_amount(totals[reference], counts),
        groups=tuple(
            _pair_test(
                federation,
                counts,
                (i, reference),
                holm_p=corrected.get((min(i, reference), max(i, reference))),
                confidence=confidence,
                summed=summed,
                smd=_standardized(federation, i, reference, bounds) if standardized else None,
            )
            for i in others
        ),
        assumptions=ASSUMPTIONS,
        not_given=" ".join(notes),
    )


def _counts(
    federation: Federation,
    threshold: float,
    favorable: Favorable,
    bounds: tuple[float, float],
    silo_of: SiloOf | None,
) -> tuple[_Counts, bool]:
    """The records selected by silo and group, and whether all cells counted them."""
    found = records_above(federation, threshold, bounds)
    counts = federation.counts.astype(np.float64)
    selected = found.value if favorable == "above" else counts - found.value
    whole = federation.counts.dtype.kind == "i"
    places = own_silos(federation.silos, silo_of)
    row_of = np.zeros(len(federation.silos), dtype=np.int64)
    for row, labels in enumerate(places.values()):
        row_of[labels] = row
    shape = len(places), len(federation.groups)

    def tabulated(per_cell: FloatArray) -> FloatArray:
        table = np.zeros(shape)
        np.add.at(table, (row_of[federation.silo_of], federation.group_of), per_cell)
        return np.rint(table) if whole else table

    exact = bool(np.array_equal(found.least, found.most))
    return _Counts(tabulated(selected), tabulated(counts), whole), exact


def _corrected(counts: _Counts) -> dict[tuple[int, int], float]:
    """Holm's p-values of all pairs of groups; those without a test are left out."""
    selected, totals = counts.selected.sum(axis=0), counts.totals.sum(axis=0)
    found = {}
    for i, j in combinations(range(totals.size), 2):
        exact = _fisher(counts, i, j)
        z = z_test(selected[i], totals[i], selected[j], totals[j], noise=counts.noise_of(i, j))
        p = exact if exact is not None else None if z is None else z.p_value
        if p is not None:
            found[i, j] = p
    return dict(zip(found, holm(list(found.values())), strict=True))


def _fisher(counts: _Counts, one: int, other: int) -> float | None:
    numbers = [
        round(float(each[:, i].sum()))
        for i in (one, other)
        for each in (counts.selected, counts.totals)
    ]
    if not counts.whole or any(counts.noise) or sum(numbers[1::2]) > _MOST:
        return None
    return fisher_exact(*numbers)


def _pair_test(
    federation: Federation,
    counts: _Counts,
    pair: tuple[int, int],
    *,
    holm_p: float | None,
    confidence: float,
    summed: bool,
    smd: Bracket | None,
) -> PairTest:
    one, reference = pair
    tables = counts.pair(one, reference)
    a, b, c, d = tables.sum(axis=0).tolist()
    usable = smd is not None and math.isfinite(smd.value)
    return PairTest(
        group=federation.groups[one],
        selected=_amount(a, counts),
        n=_amount(a + b, counts),
        fisher=_fisher(counts, one, reference),
        z=z_test(a, a + b, c, c + d, noise=counts.noise_of(one, reference)),
        holm=holm_p,
        odds_ratio=a * d / (b * c) if b * c > 0 else None,
        mantel_haenszel=None if summed else mantel_haenszel(tables, confidence),
        breslow_day=None if summed else breslow_day(tables),
        shortfall=(a + b) * (a + c) / (a + b + c + d) - a,
        standardized_mean_difference=smd.value if smd is not None and usable else None,
        standardized_bounds=Bounds(smd.lower, smd.upper) if smd is not None and usable else None,
    )


def _standardized(
    federation: Federation, one: int, other: int, bounds: tuple[float, float]
) -> Bracket:
    """The mean gap of two groups in standard deviations within them, each counting by its records."""
    groups = federation.groups[one], federation.groups[other]
    cells = {label: cell for label, cell in federation.cells.items() if label[1] in groups}
    pair = Federation.from_cells(cells, groups=groups, score_range=federation.score_range)
    return magnitudes(pair, score_range=bounds).standardized.mean_gap


def _amount(number: float, counts: _Counts) -> int | float:
    return round(number) if counts.whole else float(number)
