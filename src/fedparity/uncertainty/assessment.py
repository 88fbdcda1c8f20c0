"""How sure are we: one object that reports the errors of a disparity separately, and adds them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.fields import group_words
from fedparity.documents.result_parts import Verdict, verdict
from fedparity.errors import GroupError
from fedparity.federated.decomposition import Attribution
from fedparity.federated.estimate import Method, Pair, estimate
from fedparity.federated.federation import Federation, takes_federation
from fedparity.federated.local_audits import Measures
from fedparity.laws.bounds import Bounds
from fedparity.laws.labels import Group, Silo
from fedparity.laws.law import FloatArray
from fedparity.laws.progress import Progress
from fedparity.text import OneLine
from fedparity.uncertainty.bootstrap import (
    MANY_VALUES,
    Draws,
    bootstrap,
    default_redraws,
    pooled_bootstrap,
)
from fedparity.uncertainty.certificate import certify
from fedparity.uncertainty.checks import check_confidence, check_redraws
from fedparity.uncertainty.intervals import (
    LengthAssessment,
    PairAssessment,
    assess_length,
    basic_interval,
    group_reaches,
    interval_of_difference,
    left_open,
    p_value,
)
from fedparity.uncertainty.resampling import Resolution

__all__ = [
    "LOCAL_SILOS",
    "Assessment",
    "DisparityAssessment",
    "LengthAssessment",
    "PairAssessment",
    "assess",
    "assess_pairs",
    "assess_silos",
    "cautions",
    "largest_silos",
    "part_intervals",
]

LOCAL_SILOS = 200
"""Silos that get an interval of their own where there are very many."""
_REDRAWS = 200
_THREADS = 2
_COARSE = Resolution(nodes=160, levels=100, atoms=64)


def assess_silos(
    federation: Federation,
    method: Method,
    silos: Collection[Silo],
    *,
    confidence: float,
    seed: int,
) -> dict[Silo, LengthAssessment | None]:
    """Return the disparity inside these ``silos``; ``None`` where one has fewer than two groups."""
    # Merged counts lie where those of all silos are likely to.
    cells = federation.reconstructed if federation.kind == "counts" else federation

    def assessed(silo: Silo) -> LengthAssessment | None:
        try:
            own = cells.only([silo])
        except GroupError:
            return None
        draws = bootstrap(
            own, method, redraws=_REDRAWS, seed=seed, details=False, resolution=_COARSE
        )
        value = estimate(own, method).disparity
        return assess_length(value, draws["disparity"], confidence, method.order)

    with ThreadPoolExecutor(_THREADS) as pool:  # of no effect on the result
        found = list(pool.map(assessed, silos))
    return dict(zip(silos, found, strict=True))


def largest_silos(federation: Federation) -> list[Silo]:
    """Return the silos with most records."""
    records = federation.count_table.sum(axis=1)
    return [federation.silos[i] for i in np.argsort(-records, kind="stable")[:LOCAL_SILOS]]


_SMALL_CELL = 100
_FAR = 0.05
"""Of the range: a group that is known no better is named."""
_HEAVY_TIE, _FEW_WITH_TIES = 0.25, 1_000
"""Where the measured coverage fell below 92 %: half of the scores at one value, 400 per group."""


def cautions(federation: Federation, *, certified: bool) -> tuple[AuditWarning, ...]:
    """Return a sentence for each reason to trust an interval less.

    ``certified`` says whether the estimate lies inside its own certificate.
    """
    warnings = []
    small = int(np.count_nonzero(federation.counts < _SMALL_CELL))
    if small:
        warnings.append(
            AuditWarning(
                code="small_cells",
                text=f"{small} of {federation.counts.size} silo-group samples {'has' if small == 1 else 'have'} "
                f"fewer than {_SMALL_CELL} records: the ranges may be too narrow.",
            )
        )
    for group, reach in zip(federation.groups, group_reaches(federation).tolist(), strict=True):
        if reach > _FAR * np.ptp(federation.score_range or federation.values):
            warnings.append(
                AuditWarning(
                    code="merged_counts",
                    text=f"counts of group {group_words(group)} are small and merged with their "
                    f"neighbors: its scores are known to about {reach:.2g} points. A plan with sketch "
                    "'mean' says more of small groups.",
                )
            )
    if _largest_tie(federation) > _HEAVY_TIE and min(_records(federation)) < _FEW_WITH_TIES:
        warnings.append(
            AuditWarning(
                code="heavy_tie",
                text=f"one score holds more than {_HEAVY_TIE:.0%} of a silo-group sample, and a group "
                f"has fewer than {_FEW_WITH_TIES:,} records: the ranges may be too narrow.",
            )
        )
    if federation.counts.dtype.kind != "i":
        warnings.append(
            AuditWarning(
                code="weights",
                text="counts are weights: intervals count each cell as the number of equally "
                "weighted records that it amounts to.",
            )
        )
    if not certified:
        warnings.append(
            AuditWarning(
                code="outside_certificate",
                text="the estimate lies outside its certificate: use estimator 'exact', or ask "
                "for more levels.",
            )
        )
    return tuple(warnings)


def _records(federation: Federation) -> list[float]:
    totals: list[float] = federation.count_table.sum(axis=0).tolist()
    return totals


def _largest_tie(federation: Federation) -> float:
    """The largest share of a cell's values that are equal; of one value alone, none."""
    new = np.append(True, federation.values[1:] != federation.values[:-1])
    new[federation.offsets[:-1]] = True
    starts = np.flatnonzero(new)
    runs = np.diff(np.append(starts, new.size))
    sizes = np.repeat(federation.levels, federation.levels)[starts]
    return float(np.max(np.where(runs > 1, runs / sizes, 0.0)))


_TINY = 1e-300

_IN_TAILS = 4
"""The number of redraws outside an interval from which its ends can be estimated."""


@dataclass(frozen=True, kw_only=True)
class DisparityAssessment(LengthAssessment):
    """The global disparity with its errors, each separately."""

    certificate: Bounds
    """What the raw data could be, given what the silos sent."""
    outer: Bounds
    """The same if records that nobody described are counted: withheld cells, missing silos."""
    p_value: float
    """How often chance alone would show at least this much."""
    null: tuple[float, ...]
    """The null distribution behind the p-value: disparities of redrawn noise, sorted."""

    @property
    def combined(self) -> Bounds:
        """What the population could be, with the guaranteed error of the sketches.

        The interval counts the error of the sketches as it is estimated; the raw data could
        have given anything inside ``certificate``, so its distances to the estimate are added.
        """
        return self.with_sketches(self.interval, self.value, self.certificate)

    @property
    def combined_all(self) -> Bounds:
        """The same if records that nobody described are counted."""
        return self.with_all(self.interval, self.value, self.certificate, self.outer)

    @staticmethod
    def with_sketches(interval: Bounds, value: float, certificate: Bounds) -> Bounds:
        """Return the interval of a measure with the guaranteed error of the sketches."""
        return widened(interval, value, certificate)

    @staticmethod
    def with_all(interval: Bounds, value: float, certificate: Bounds, outer: Bounds) -> Bounds:
        """Return the interval of a measure if records that nobody described are counted too."""
        seen, everyone = (widened(interval, value, bounds) for bounds in (certificate, outer))
        return seen.hull(everyone)

    def verdict(self, review_level: float | None) -> Verdict:
        """Return where the disparity lies, *inconclusive* if the errors straddle the level."""
        return verdict(self.combined, review_level)


def widened(interval: Bounds, value: float, bounds: Bounds) -> Bounds:
    """Return an interval that reaches as much farther as ``bounds`` reach from the value."""
    return Bounds(
        max(0.0, interval.lower - max(0.0, value - bounds.lower)),
        interval.upper + max(0.0, bounds.upper - value),
    )


@dataclass(frozen=True, kw_only=True)
class Assessment(OneLine):
    """All measures of a federation with their errors, and what to keep in mind."""

    disparity: DisparityAssessment
    heterogeneity: LengthAssessment
    pairs: tuple[PairAssessment, ...]
    """The distance of every two groups."""
    attribution: Mapping[str, Bounds]
    """Intervals of ``selection`` and ``within``."""
    local: Mapping[Silo, LengthAssessment | None]
    """The disparity inside each silo; ``None`` where it has fewer than two groups.

    In federations of very many silos, only of some: see :func:`assess`.
    """
    confidence: float
    redraws: int
    seed: int
    warnings: tuple[AuditWarning, ...]


@takes_federation
def assess(
    federation: Federation,
    method: Method | None = None,
    *,
    score_range: tuple[float, float],
    confidence: float = 0.95,
    unseen: Mapping[Group, float] | None = None,
    unseen_total: float | None = None,
    redraws: int | None = None,
    seed: int = 0,
    local: Collection[Silo] | None = None,
    progress: Progress | None = None,
    measures: Measures | None = None,
) -> Assessment:
    """Measure a federation, and say how far each number may be from the truth.

    Three errors are separate: what the population could be given the data (the interval, by a
    seeded bootstrap that repeats the whole audit from the sketches alone), what the raw data could
    be given what the silos sent (the certificate), and what is missing (``unseen`` records).

    Parameters
    ----------
    score_range : pair of numbers
        Public bounds of the scores.
    confidence : float
        Confidence level of the intervals.
    unseen, unseen_total
        Upper bounds of the missing records; see :func:`fedparity.theory.certify`.
    redraws : int, optional
        Bootstrap redraws; 500, or fewer for many values. Beyond 300,000 values the groups are
        redrawn as wholes (:mod:`fedparity.uncertainty.bootstrap`), with a warning.
    seed : int
        Equal seeds give equal numbers.
    local : collection of silos, optional
        The silos that get an interval of their own; all of them, or the 200 with most records,
        if absent.
    progress : callable, optional
        Called with the redraws done and their total.
    measures : Measures, optional
        Those of this federation by this method, where some were computed already.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> groups = np.repeat(["a", "b"], 1000)
    >>> scores = np.where(groups == "a", random.beta(3, 4, 2000), random.beta(6, 4, 2000))
    >>> federation = Federation.from_scores(
    ...     scores, groups=groups, silos=random.integers(0, 3, 2000), levels=50
    ... )
    >>> found = assess(federation, score_range=(0.0, 1.0), redraws=200).disparity
    >>> found.interval.lower < found.value < found.interval.upper
    True
    >>> found.verdict(0.001), found.verdict(0.0076), found.verdict(0.1)
    ('above', 'inconclusive', 'below')
    """
    method = method or Method()
    check_confidence(confidence)
    many = redraws is None and federation.values.size > MANY_VALUES
    redraws = default_redraws(federation) if redraws is None else check_redraws(redraws)
    certain = partial(
        certify, federation, score_range=score_range, order=method.order, trim=method.trim
    )
    certificate = certain()
    draw = pooled_bootstrap if many else bootstrap
    draws = draw(federation, method, redraws=redraws, seed=seed, progress=progress)
    chosen = largest_silos(federation) if local is None else local
    alone = assess_silos(federation, method, chosen, confidence=confidence, seed=seed)
    measured = measures or Measures(federation, method)
    found = measured.estimate
    length = partial(assess_length, confidence=confidence, order=method.order)
    inside = left_open(federation, method, draws)
    disparity = length(found.disparity, draws["disparity"], inside=inside.disparity)
    return Assessment(
        disparity=DisparityAssessment(
            value=disparity.value,
            corrected=disparity.corrected,
            interval=disparity.interval,
            certificate=certificate,
            outer=certain(unseen=unseen, unseen_total=unseen_total) if unseen else certificate,
            p_value=p_value(disparity.value, draws["disparity"].null),
            null=tuple(np.sort(draws["disparity"].null).tolist()),
        ),
        heterogeneity=length(
            found.heterogeneity, draws["heterogeneity"], inside=inside.heterogeneity
        ),
        pairs=assess_pairs(
            measured.pairs,
            draws["pairs"],
            confidence,
            method.order,
            inside=inside.disparity / max(found.disparity, _TINY),
            reaches=dict(zip(federation.groups, group_reaches(federation).tolist(), strict=True)),
        ),
        attribution=part_intervals(measured.attribution, draws, disparity, confidence),
        local=alone,
        confidence=confidence,
        redraws=redraws,
        seed=seed,
        warnings=cautions(federation, certified=disparity.value in certificate)
        + (_pooled_words(federation) if many else ())
        + _local_words(federation, alone),
    )


def assess_pairs(
    found: Collection[Pair],
    draws: Draws,
    confidence: float,
    order: int,
    *,
    inside: float = 0.0,
    reaches: Mapping[Group, float] | None = None,
) -> tuple[PairAssessment, ...]:
    """Return the distance of every two groups with its errors, alone and for all pairs at once.

    All at once by Bonferroni's inequality: each pair gets its part of the error probability. Of many
    pairs that part is smaller than redraws can tell; then the interval of the largest confidence that
    they can tell is stretched around the estimate as that of a normal variable would be. Near zero a
    distance is not like one: its interval starts at zero unless it is larger, next to its noise, than the
    largest of all pairs is where there is nothing to measure.
    ``inside`` is the share of a squared distance that the reconstruction leaves open, ``reaches`` how far
    each group as a whole may be from where it is taken to be.
    """
    moves = reaches or {}
    together = 1 - (1 - confidence) / len(found)
    told = max(confidence, min(together, 1 - _IN_TAILS / (1 + len(draws.values))))
    stretch = _deviations(together) / _deviations(told)
    least = _beyond_noise(draws.null, confidence)
    assessed = []
    for place, pair in enumerate(found):
        own = draws.column(place)
        power = pair.wasserstein**order
        moved = pair.wasserstein + math.hypot(*(moves.get(group, 0.0) for group in pair.groups))
        open_ = max(inside * power, moved**order - power)
        alone, at_once = (
            assess_length(power, own, level, order, inside=open_) for level in (confidence, told)
        )
        corrected = alone.corrected ** (1 / order)
        ends = _rooted(at_once.interval, pair.wasserstein, order)
        assessed.append(
            PairAssessment(
                groups=pair.groups,
                value=pair.wasserstein,
                corrected=corrected,
                interval=_rooted(alone.interval, pair.wasserstein, order),
                simultaneous=Bounds(
                    max(0.0, corrected - stretch * (corrected - ends.lower))
                    if pair.wasserstein**order > least[place]
                    else 0.0,
                    corrected + stretch * (ends.upper - corrected),
                ),
            )
        )
    return tuple(assessed)


def _beyond_noise(null: FloatArray, confidence: float) -> FloatArray:
    """How large the power of each distance must be to be no noise, for all pairs at once."""
    mean = null.mean(axis=0)
    largest = np.max(np.divide(null, mean, out=np.zeros_like(null), where=mean > 0), axis=1)
    least: FloatArray = mean * np.quantile(largest, confidence, method="higher")
    return least


def _deviations(confidence: float) -> float:
    """How many standard deviations an interval of a normal variable reaches to each side."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _rooted(interval: Bounds, value: float, order: int) -> Bounds:
    """The interval of a distance from that of its power; the value stays inside."""
    lower, upper = (end ** (1 / order) for end in interval)
    return Bounds(min(lower, value), max(upper, value))


def part_intervals(
    parts: Attribution,
    draws: Mapping[str, Draws],
    disparity: LengthAssessment,
    confidence: float,
    *,
    inside: Mapping[str, float] | None = None,
) -> dict[str, Bounds]:
    """Return the intervals of the two parts of a disparity, which add up to it.

    The smaller part is read off its redraws; the larger one is the disparity less the smaller one, and
    as skewed as the disparity is. A part is a difference of squares, each of which noise enlarges; so the
    interval of the smaller one holds zero unless the part is larger than the disparity that noise
    alone would show. ``inside`` is what the sketches leave open of each part.
    """
    values = {"selection": parts.selection, "within": parts.within}
    smaller, larger = sorted(values, key=lambda name: abs(values[name]))
    own, open_ = draws[smaller], 0.0 if inside is None else inside[smaller]
    lower, upper = basic_interval(values[smaller], float(own.base), own.values, confidence)
    if abs(values[smaller]) <= np.quantile(draws["disparity"].null, confidence):
        lower, upper = min(lower, 0.0), max(upper, 0.0)
    interval = Bounds(lower - open_, upper + open_)
    found = {
        smaller: interval,
        larger: interval_of_difference(
            disparity.value, disparity.interval, values[smaller], interval
        ),
    }
    if disparity.interval.lower <= 0:  # nothing to divide may be there at all
        found = {name: Bounds(min(low, 0.0), max(up, 0.0)) for name, (low, up) in found.items()}
    return {name: found[name] for name in values}


def _pooled_words(federation: Federation) -> tuple[AuditWarning, ...]:
    words = (
        f"the sketches hold {federation.values.size:,} values: intervals come from redraws of "
        "whole groups; pass redraws=500 for redraws of every cell, which take longer."
    )
    return (AuditWarning(code="pooled_redraws", text=words),)


def _local_words(
    federation: Federation, local: Mapping[Silo, LengthAssessment | None]
) -> tuple[AuditWarning, ...]:
    if len(local) >= min(len(federation.silos), LOCAL_SILOS + 1):
        return ()
    words = f"{len(local):,} of {len(federation.silos):,} silos have an interval of their own."
    return (AuditWarning(code="few_local_intervals", text=words),)
