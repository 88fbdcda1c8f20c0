r"""Confidence intervals of measures that cannot be negative.

A disparity is a squared length. Estimated from a sample it is biased upwards, most near zero: noise
has a length too. So the interval is not read off the redraws directly. It holds every value g that
could have produced the observed one: redraws tell how the estimate would scatter if the true
curves were the estimated ones shrunk or stretched to length g,

.. math:: T(g) = g + 2 \sqrt{g / \hat\theta} \, A + B,

with B the length of the redrawn noise and A its product with the estimated curves. For disparities of scores on a
coarse grid, whose curves move by whole steps, lengths change with the first power of the noise, and T(g) comes from
laws that are moved until their length is g (:mod:`fedparity.uncertainty.moved_laws`). At order 1, and for the heterogeneity
of such scores, a value is kept that either of the two keeps; the formula is then the straight line from the noise at g = 0 to
the redraws at the estimate if p is 1. The value g
is kept if the observed one lies in the central part of T(g). At g = 0 the whole error
probability is put on observing too much, since one cannot observe too little there; it moves to both
sides in equal parts as g leaves zero. Every g then keeps the same probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fedparity.federated.estimate import Method, global_heterogeneity, mixture_table, mixtures
from fedparity.federated.federation import Federation
from fedparity.functionals.curves import spread
from fedparity.laws.bounds import Bounds
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray
from fedparity.text import OneLine
from fedparity.uncertainty.bootstrap import Draws

__all__ = [
    "LeftOpen",
    "LengthAssessment",
    "PairAssessment",
    "assess_length",
    "basic_interval",
    "group_reaches",
    "interval_of_difference",
    "interval_of_length",
    "left_open",
    "p_value",
    "scattered",
]

_CANDIDATES = 500
_FEW, _STUDENT = 20, 2.2
"""With few redraws, an interval of this many of their standard deviations (Student's law, 11 degrees)."""


def interval_of_length(
    observed: float,
    draws: Draws,
    *,
    confidence: float,
    order: int,
) -> Bounds:
    """Return the values of a non-negative measure that explain the ``observed`` one."""
    base, redrawn, null = float(draws.base), draws.values, draws.null
    candidates = _candidates(observed, base, redrawn, null)
    error = 1 - confidence
    away = np.minimum(candidates / max(float(np.quantile(null, confidence)), 1e-300), 1.0)
    too_much = error * (1 - away / 2)
    fits = np.zeros(candidates.size, dtype=bool)
    for noisy in _ways_to_scatter(candidates, draws, order):
        above, below = _share(noisy >= observed), _share(noisy <= observed)
        fits |= (above >= too_much) & (below >= error - too_much)
    kept = candidates[fits]
    if kept.size == 0:  # hardly any redraws: nothing fits exactly
        return Bounds(observed, observed)
    return Bounds(float(kept[0]), float(kept[-1]))


def basic_interval(observed: float, base: float, redrawn: FloatArray, confidence: float) -> Bounds:
    """Return the interval of a measure of any sign: the redraws, turned around the estimate.

    It holds the estimate. A handful of redraws tell no quantiles, only how far they scatter.
    """
    moved = redrawn - base
    if moved.size < _FEW:
        reach = _STUDENT * float(moved.std(ddof=1))
        low, high = float(moved.mean()) - reach, float(moved.mean()) + reach
    else:
        low, high = np.quantile(moved, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return Bounds(min(observed - high, observed), max(observed - low, observed))


def interval_of_difference(
    first: float, first_interval: Bounds, second: float, second_interval: Bounds
) -> Bounds:
    r"""Return the interval of a difference from those of its two parts.

    The method of variance estimates recovery: the limits of both lie as far from their
    estimates as their errors reach on that side, and errors add like standard deviations,
    :math:`L = a - b - \sqrt{(a - l_a)^2 + (u_b - b)^2}`, and U likewise.
    """
    difference = first - second
    below = math.hypot(first - first_interval.lower, second_interval.upper - second)
    above = math.hypot(first_interval.upper - first, second - second_interval.lower)
    return Bounds(difference - below, difference + above)


def p_value(observed: float, null: FloatArray) -> float:
    """Return how often noise alone is at least as large as what was observed."""
    return float((1 + np.count_nonzero(null >= observed)) / (1 + null.size))


def _ways_to_scatter(candidates: FloatArray, draws: Draws, order: int) -> Iterator[FloatArray]:
    """Yield what redraws would show (columns) if the truth were each candidate (rows): by formula, by moved laws."""
    if draws.noise is not None:
        base = float(draws.base)
        product = (draws.values - base - draws.noise) / 2
        yield scattered(candidates, base, product, draws.null, order)
    for laws in draws.laws:
        yield laws.scatter.at(candidates, order)


def _candidates(observed: float, base: float, redrawn: FloatArray, null: FloatArray) -> FloatArray:
    """Zero, and values as far from the observed one as any redraw could explain."""
    reach = 1.5 * float(np.abs(redrawn - base).max()) + float(null.max())
    around = np.linspace(max(0.0, observed - reach), observed + 2 * reach, _CANDIDATES)
    return np.concatenate(([0.0], around))


def scattered(
    candidates: FloatArray, base: float, product: FloatArray, null: FloatArray, order: int
) -> FloatArray:
    """Return the redrawn measure (columns) if the truth were each candidate (rows)."""
    truth = candidates[:, None]
    if base <= 0:
        return truth + null
    pull = 2 * np.sqrt(truth / base) if order == 2 else np.minimum(truth / base, 1.0) * 2
    noisy = pull * product
    noisy += truth  # in place: fresh memory of this size costs more than the sums
    noisy += null
    return noisy


def _share(hits: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> FloatArray:
    """Share of hits in each row, counting the observation itself as one of them."""
    share: FloatArray = (1 + np.count_nonzero(hits, axis=1)) / (1 + hits.shape[1])
    return share


@dataclass(frozen=True, kw_only=True)
class LengthAssessment(OneLine):
    """A measure that cannot be negative, with its sampling error and that of the sketches."""

    value: float
    """The estimate as it is."""
    corrected: float
    """The estimate without what sampling and sketches add on average; never below 0."""
    interval: Bounds
    """What the population could be: sampling and the estimated error of the sketches counted.

    It holds ``value`` and ``corrected``.
    """


@dataclass(frozen=True, kw_only=True)
class PairAssessment(LengthAssessment):
    """The distance of two groups, in score points."""

    groups: tuple[Group, Group]
    simultaneous: Bounds
    """The same for all pairs at once: none is outside with the confidence stated."""


def assess_length(
    value: float, draws: Draws, confidence: float, order: int, *, inside: float = 0.0
) -> LengthAssessment:
    """Return the measure with its interval, and without what redraws have more on average.

    ``inside`` is what the reconstruction between the numbers sent leaves open; it is added to the
    reach of the interval as independent errors add.
    """
    corrected = max(0.0, value - float(draws.values.mean() - draws.base))
    lower, upper = interval_of_length(value, draws, confidence=confidence, order=order)
    lower, upper = min(lower, corrected), max(upper, corrected)
    lower = corrected - math.hypot(corrected - lower, inside)
    upper = corrected + math.hypot(upper - corrected, inside)
    return LengthAssessment(
        value=value,
        corrected=corrected,
        interval=Bounds(max(0.0, min(lower, value)), max(upper, value)),
    )


# What a reconstruction between the numbers of a sketch leaves open, as far as it can be estimated.
#
# Redraws repeat the sketch of a law that was itself reconstructed, so they do not see what no sketch
# of so few numbers can show. Other reconstructions of the same numbers do: bin means without their mean
# squares, and the staircase of the values. The staircase is far too rough; on laws that are known, a
# twentieth of its distance was seen to hold the error (:doc:`/decisions/0009-intervals`).

_OF_STAIRCASE = 0.05
_OF_RUN = 0.8
"""How far the records of merged counts are taken to be off together, as a share of half their run."""
_TINY = 1e-300


class LeftOpen(NamedTuple):
    """How far reconstructions of the same sketches are from each other."""

    disparity: float
    heterogeneity: float


def left_open(federation: Federation, method: Method, draws: Mapping[str, Draws]) -> LeftOpen:
    """Return how far measures of other reconstructions are from those of the one that is used.

    Counts leave nothing open but for those that were merged, which may lie on both sides of where they
    are put. The laws through quantiles are those of the redraws; their estimates read the staircase.
    """
    if federation.kind == "counts":
        return _of_merged_counts(federation, method)
    staircase = _measures(federation, method, reconstruct=False)
    if federation.kind == "quantile":
        base = [float(draws[name].base) for name in LeftOpen._fields]
        return LeftOpen(*(abs(a - b) for a, b in zip(staircase, base, strict=True)))
    used = _measures(federation, method, reconstruct=True)
    plain = replace(federation, mean_squares=np.full(federation.levels.size, np.nan))
    other = _measures(plain, method, reconstruct=True)
    return LeftOpen(
        *(
            max(abs(here - there), _OF_STAIRCASE * abs(here - rough))
            for here, there, rough in zip(used, other, staircase, strict=True)
        )
    )


def group_reaches(federation: Federation) -> FloatArray:
    """Return how far, in score points, the law of each group may have been moved by merging counts.

    Where the records of a group lie in their runs is not known, and is alike in all its cells: its law may be
    moved as a whole, which no redraw shows. 0 for all other sketches.
    """
    reaches = np.zeros(len(federation.groups))
    if federation.kind == "counts":
        groups = np.repeat(federation.group_of, federation.levels)
        moved, records = (
            np.bincount(groups, weights, reaches.size)
            for weights in (federation.parts * federation.value_errors, federation.parts)
        )
        reaches = _OF_RUN * moved / records
    return reaches


def _of_merged_counts(federation: Federation, method: Method) -> LeftOpen:
    """How far the measures are from those of records in the middles of their runs, at both ends, or moved."""
    if not federation.value_errors.any():
        return LeftOpen(0.0, 0.0)
    used = _measures(federation, method, reconstruct=True)
    middle = _measures(federation, method, reconstruct=False)
    ends = _measures(_on_both_sides(federation), method, reconstruct=False)
    return LeftOpen(
        max(
            abs(used.disparity - middle.disparity),
            abs(used.disparity - ends.disparity),
            _of_moved_groups(federation, method),
        ),
        max(
            abs(used.heterogeneity - middle.heterogeneity),
            abs(used.heterogeneity - ends.heterogeneity),
        ),
    )


def _of_moved_groups(federation: Federation, method: Method) -> float:
    """What the disparity changes by if each group moves by its reach, one way or the other."""
    shares, reaches = federation.shares, group_reaches(federation)
    if method.order == 1:
        return math.sqrt(np.sum((shares * reaches) ** 2))
    means = np.array([law.mean for law in mixtures(federation).values()])
    slopes = 2 * shares * (means - np.sum(shares * means))
    return float(np.sum(shares * reaches**2)) + math.sqrt(np.sum((slopes * reaches) ** 2))


def _on_both_sides(federation: Federation) -> Federation:
    """Half of the records of every merged count as low as they may be, half of them as high."""
    cells = {}
    for label, cell in federation.cells.items():
        reach = np.broadcast_to(cell.value_error, cell.levels)
        masses = np.ones(cell.levels) if cell.masses is None else cell.masses
        values = np.concatenate((cell.values - reach, cell.values + reach))
        order = np.argsort(values, kind="stable")
        cells[label] = replace(
            cell, values=values[order], masses=np.tile(masses, 2)[order], value_error=0.0
        )
    return Federation.from_cells(cells, groups=federation.groups)


def _measures(federation: Federation, method: Method, *, reconstruct: bool) -> LeftOpen:
    exact = replace(method, estimator="exact")
    cells = federation.reconstructed if reconstruct else federation
    table = mixture_table(cells, exact, reconstruct=False)
    return LeftOpen(
        spread(table, cells.shares, method.order), global_heterogeneity(cells, method.order)
    )
