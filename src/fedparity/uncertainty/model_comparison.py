r"""Two models on the same people: which has the smaller disparity, and how sure that is.

The disparity in score points is a length, :math:`D = G_p^{1/p}`. Both models score the same people, so
their errors go together: people are redrawn within silos with both of their scores, and the lengths
:math:`D_1, D_2` are measured in every redraw.

A length is no smooth function near 0, and redraws of it are too long. So the interval of the difference
is not read off the redraws: it holds every difference :math:`\delta` under which the observed one would not be
surprising, at either end (a Neyman construction, as in :mod:`fedparity.uncertainty.intervals`, for both models at
once). How both lengths would scatter if they were :math:`l_1` and :math:`l_2 = l_1 - \delta` is told by the same
redraws: the curves of each model are moved to its length, and every redraw adds its own noise to both.
What :math:`\delta` leaves open, the sum of both lengths, is the estimated one, or as near to it as lengths can be.
Where both lengths are clearly above 0, by three standard deviations, the interval also holds the quantiles of the redraws, as
they are and turned around the estimate: with 50 people in a group the construction alone was seen to cover 91 %.
Where one is not, and scores have many ties, the difference may be whatever the intervals of both lengths allow: with one model
at parity and scores in whole standard deviations the construction alone was seen to cover 82 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from fedparity.errors import GroupError, ScoreError
from fedparity.functionals.curves import check_order, disparities
from fedparity.functionals.disparity import disparity
from fedparity.laws.bounds import Bounds
from fedparity.laws.labels import check_aligned, encode_labels
from fedparity.laws.law import FloatArray, IntArray, QuantileTable, as_masses, as_scores
from fedparity.laws.progress import Progress, callback, shows_progress
from fedparity.sketches.kinds import DEFAULT_LEVELS
from fedparity.text import OneLine, number, span
from fedparity.uncertainty.bootstrap import Draws
from fedparity.uncertainty.checks import check_confidence, check_redraws
from fedparity.uncertainty.intervals import LengthAssessment, assess_length, scattered
from fedparity.uncertainty.moved_laws import Curves, MovedLaws
from fedparity.uncertainty.score_nodes import ScoreNodes, level_edges

__all__ = ["ModelComparison", "compare"]

BoolArray = npt.NDArray[np.bool_]

_LEVELS = 200
"""Levels at which redrawn quantile functions are read."""
_REDRAWS = 500
_CANDIDATES = 200
"""Differences that are tried at once."""
_CLEAR = 3.0
"""A disparity of more standard deviations than this is clearly above 0."""
_WIDER = 12
"""How often the search for the ends of an interval may be widened."""
_PARTS = 17
"""Laws between the pooled one and those of the groups."""


@dataclass(frozen=True, kw_only=True)
class ModelComparison(OneLine):
    """The disparities of two models on the same people, in score points, and their difference."""

    names: tuple[str, str]
    first: LengthAssessment
    second: LengthAssessment
    difference: float
    """The corrected disparity of the first model minus that of the second."""
    interval: Bounds
    """What the difference could be in the population."""
    confidence: float
    records: int
    redraws: int
    seed: int

    @property
    def smaller(self) -> str | None:
        """The model whose disparity is smaller with the confidence stated; None if that is open."""
        if 0 in self.interval:
            return None
        return self.names[0] if self.interval.upper < 0 else self.names[1]

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))} ({self.confidence:.4g} confidence).</p>"

    def __str__(self) -> str:
        found = "the data do not show which of them has the smaller disparity"
        if self.smaller is not None:
            found = f"{self.smaller} has the smaller disparity"
        return (
            f"{self.names[0]} {number(self.first.corrected)} points, "
            f"{self.names[1]} {number(self.second.corrected)} points; "
            f"difference {number(self.difference)} ({span(self.interval)}): {found}"
        )


@shows_progress
def compare(
    first: object,
    second: object,
    *,
    sensitive_features: object,
    silos: object = None,
    sample_weight: object = None,
    names: tuple[str, str] = ("first", "second"),
    order: Literal[1, 2] = 2,
    confidence: float = 0.95,
    redraws: int = _REDRAWS,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> ModelComparison:
    """Compare the disparities of two models that score the same people.

    Parameters
    ----------
    first, second : array of numbers
        The scores of both models, one per person and in the same order.
    sensitive_features : array of labels, or a frame or mapping of several columns
    silos : array of labels, optional
        People are then redrawn within silos.
    sample_weight : array of numbers, optional
    names : pair of str
        What the models are called in the result.
    order : 1 or 2
    confidence : float in (0, 1)
        Confidence level of the intervals.
    redraws : int
        Number of bootstrap samples.
    seed : int
        The same seed gives the same numbers.
    progress : bool or callable, optional
        True draws a bar; a callback is called with the redraws done and their total.

    Raises
    ------
    InputError
        If the arrays do not fit together, or there are fewer than two groups.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> sex = np.repeat(["f", "m"], 500)
    >>> skill = random.normal(size=1000)
    >>> found = compare(
    ...     skill + 1.0 * (sex == "m"), skill + 0.5 * (sex == "m"), sensitive_features=sex
    ... )
    >>> print(found)
    first 0.48 points, second 0.231 points; difference 0.249 (0.236 to 0.256): second has the smaller disparity
    """
    check_order(order)
    check_confidence(confidence)
    check_redraws(redraws)
    people = _People.read(first, second, sensitive_features, silos, sample_weight)
    redrawn = _redrawn(people, order, redraws, seed, callback(progress))
    lengths = [
        _in_points(assess_length(own, model.draws, confidence, order), order)
        for own, model in zip(people.disparities(order), redrawn, strict=True)
    ]
    return ModelComparison(
        names=names,
        first=lengths[0],
        second=lengths[1],
        difference=lengths[0].corrected - lengths[1].corrected,
        interval=_interval_of_difference(lengths, redrawn, confidence, order),
        confidence=confidence,
        records=people.codes.size,
        redraws=redraws,
        seed=seed,
    )


def _in_points(found: LengthAssessment, order: int) -> LengthAssessment:
    power = 1 / order
    return LengthAssessment(
        value=found.value**power,
        corrected=found.corrected**power,
        interval=Bounds(found.interval.lower**power, found.interval.upper**power),
    )


def _interval_of_difference(
    lengths: Sequence[LengthAssessment],
    redrawn: Sequence[_Redrawn],
    confidence: float,
    order: int,
) -> Bounds:
    """Return the differences of two lengths under which the observed one is not surprising."""
    first, second = lengths
    observed = first.value - second.value
    estimate, total = first.corrected - second.corrected, first.corrected + second.corrected

    def fits(differences: FloatArray) -> BoolArray:
        both = np.maximum(total, np.abs(differences))
        one, other = (
            model.if_truth(((both + sign * differences) / 2) ** order) ** (1 / order)
            for model, sign in zip(redrawn, (1, -1), strict=True)
        )
        noisy = one - other
        least = (1 + noisy.shape[1]) * (1 - confidence) / 2 - 1
        above = np.count_nonzero(noisy >= observed, axis=1)
        below = np.count_nonzero(noisy <= observed, axis=1)
        kept: BoolArray = (above >= least) & (below >= least)
        return kept

    one, other = (model.draws.values ** (1 / order) for model in redrawn)
    base = [float(model.draws.base) ** (1 / order) for model in redrawn]
    moved = one - other - (base[0] - base[1])
    reach = 2 * float(np.ptp(moved))
    if reach == 0:  # a model against itself
        return Bounds(estimate, estimate)
    low, high = estimate - reach, estimate + reach
    for _ in range(_WIDER):
        tried = np.linspace(low, high, _CANDIDATES)
        kept = np.flatnonzero(fits(tried))
        if not kept.size or (kept[0] > 0 and kept[-1] < tried.size - 1):
            break
        low, high = low - reach * (kept[0] == 0), high + reach * (kept[-1] == tried.size - 1)
        reach *= 2
    found = Bounds(estimate, estimate)
    if kept.size:
        found = found.hull(Bounds(*tried[kept[[0, -1]]].tolist()))
    clear = [
        own.corrected > _CLEAR * points.std(ddof=1) and own.value**order > model.draws.null.max()
        for own, points, model in zip(lengths, (one, other), redrawn, strict=True)
    ]
    if all(clear):
        down, up = np.quantile(moved, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
        return found.hull(Bounds(observed + min(down, -up), observed + max(up, -down)))
    if any(model.draws.noise is None for model in redrawn):
        return found.hull(
            Bounds(
                first.interval.lower - second.interval.upper,
                first.interval.upper - second.interval.lower,
            )
        )
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class _People:
    """Both scores of every person, their group, and the silo within which they are redrawn."""

    scores: tuple[FloatArray, FloatArray]
    codes: IntArray
    """The position of each person's group."""
    silos: tuple[IntArray, ...]
    """The positions of the people of each silo."""
    weights: FloatArray
    groups: int

    @classmethod
    def read(
        cls, first: object, second: object, groups: object, silos: object, weights: object
    ) -> _People:
        scores = as_scores(first, "first"), as_scores(second, "second")
        size = scores[0].size
        labels, codes = encode_labels(groups)
        places = np.zeros(size, np.int64) if silos is None else encode_labels(silos)[1]
        masses = np.ones(size) if weights is None else as_masses(weights).astype(np.float64)
        for name, column in (
            ("second", scores[1]),
            ("sensitive_features", codes),
            ("silos", places),
            ("sample_weight", masses),
        ):
            if column.size != size:
                raise ScoreError.lengths_differ(name, column.size, "first", size)
        columns = {"first": first, "second": second, "sensitive_features": groups}
        check_aligned(columns | {"silos": silos, "sample_weight": weights})
        if len(labels) < 2:
            raise GroupError.too_few(labels)
        order = np.argsort(places, kind="stable")
        starts = np.flatnonzero(np.diff(places[order], prepend=-1))
        return cls(
            scores=scores,
            codes=codes,
            silos=tuple(np.split(order, starts[1:])),
            weights=masses,
            groups=len(labels),
        )

    def disparities(self, order: Literal[1, 2]) -> list[float]:
        """Return the disparity of each model, exact."""
        return [
            disparity(own, sensitive_features=self.codes, sample_weight=self.weights, order=order)
            for own in self.scores
        ]

    def shares(self, weights: FloatArray) -> FloatArray:
        """Return the share of each group, where people weigh as much as this."""
        totals = np.bincount(self.codes, weights, self.groups)
        shares: FloatArray = totals / totals.sum()
        return shares

    def redraw(self, random: np.random.Generator) -> FloatArray:
        """Return how much each person weighs in a sample of the same size from every silo.

        A group of which nobody was drawn stays as it is.
        """
        drawn = np.zeros(self.codes.size)
        for silo in self.silos:
            drawn[silo] = np.bincount(
                random.integers(0, silo.size, silo.size), minlength=silo.size
            )
        drawn *= self.weights
        weightless = np.bincount(self.codes, drawn, self.groups) == 0
        if weightless.any():
            lost = weightless[self.codes]
            drawn[lost] = self.weights[lost]
        return drawn

    def pick(self, random: np.random.Generator) -> list[IntArray]:
        """Return people drawn from all together, as many for each group as it has."""
        size = self.codes.size
        ends = np.cumsum(np.bincount(self.codes, minlength=self.groups))
        return np.split(random.integers(0, size, size), ends[:-1])


class _Redrawn(Protocol):
    """The redrawn disparities of one model."""

    @property
    def draws(self) -> Draws:
        """The disparities of the redraws."""
        ...

    def if_truth(self, disparities: FloatArray) -> FloatArray:
        """Return the redrawn disparities (columns) if the true one were each of these (rows)."""
        ...


def _redrawn(
    people: _People, order: int, redraws: int, seed: int, progress: Progress | None
) -> list[_Redrawn]:
    """Redraw the people, and read the laws of their groups under both models."""
    readers = [_reader(people, own, redraws) for own in people.scores]
    random, other = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2)
    )
    shares = np.empty((redraws, people.groups))
    for place in range(redraws):
        weights, picked = people.redraw(random), people.pick(other)
        shares[place] = people.shares(weights)
        for reader in readers:
            reader.add(place, weights, picked)
        if progress is not None:
            progress(place + 1, redraws)
    return [reader.measured(shares, order) for reader in readers]


def _reader(people: _People, scores: FloatArray, redraws: int) -> _Curves | _Steps:
    """Curves of few scores that many people share move by steps."""
    points, places = np.unique(scores, return_inverse=True)
    if points.size <= min(DEFAULT_LEVELS, scores.size / 2):
        return _Steps(people, points, places, redraws)
    return _Curves(people, scores, redraws)


class _Curves:
    """The quantile functions of the groups under one model, read at fixed levels."""

    def __init__(self, people: _People, scores: FloatArray, redraws: int) -> None:
        self._people = people
        order = np.argsort(scores, kind="stable")
        self._ordered, self._person = scores[order], order
        self._rank = np.empty(order.size, np.int64)
        self._rank[order] = np.arange(order.size)
        codes = people.codes[order]
        self._ranks = [np.flatnonzero(codes == code) for code in range(people.groups)]
        edges = level_edges(_LEVELS)
        self._widths = np.diff(edges)
        # a rounding of the levels must not reach past a person
        self._levels = (edges[:-1] + edges[1:]) / 2 * (1 - 1e-12)
        self._base = self._table(people.weights)
        self._own, self._null = (
            np.empty((redraws, *self._base.shape), np.float64) for _ in range(2)
        )

    def add(self, place: int, weights: FloatArray, picked: Sequence[IntArray]) -> None:
        """Read a redraw, and one of groups whose people were drawn from all people together."""
        self._own[place] = self._table(weights)
        for group, people in enumerate(picked):
            ranks = np.sort(self._rank[people])
            self._null[place, group] = self._quantiles(ranks, self._people.weights)

    def _table(self, weights: FloatArray) -> FloatArray:
        return np.stack([self._quantiles(ranks, weights) for ranks in self._ranks])

    def _quantiles(self, ranks: IntArray, weights: FloatArray) -> FloatArray:
        below = np.cumsum(weights[self._person[ranks]])
        at = np.searchsorted(below, self._levels * below[-1])
        quantiles: FloatArray = self._ordered[ranks[at]]
        return quantiles

    def measured(self, shares: FloatArray, order: int) -> _SmoothModel:
        """Return the disparities of all redraws."""

        def measure(tables: FloatArray, shares: FloatArray) -> FloatArray:
            return disparities(QuantileTable(self._widths, tables), shares, order)

        own = self._people.shares(self._people.weights)
        draws = Draws(
            base=measure(self._base[None], own[None])[0],
            values=measure(self._own, shares),
            noise=measure(self._own - self._base, shares),
            null=measure(self._null, np.broadcast_to(own, shares.shape)),
        )
        return _SmoothModel(draws, order)


@dataclass(frozen=True)
class _SmoothModel:
    """A model whose curves move smoothly: noise is added to curves that are shorter or longer."""

    draws: Draws
    order: int

    def if_truth(self, disparities: FloatArray) -> FloatArray:
        base, values, noise = float(self.draws.base), self.draws.values, self.draws.noise
        if noise is None:
            raise AssertionError
        product = (values - base - noise) / 2
        return np.maximum(scattered(disparities, base, product, noise, self.order), 0.0)


class _Steps:
    """The masses of the groups at the few scores of one model."""

    def __init__(
        self, people: _People, points: FloatArray, places: IntArray, redraws: int
    ) -> None:
        self._people, self._nodes, self._places = people, ScoreNodes.at(points), places
        self._shape = people.groups, points.size
        self._base = self._masses(people.codes, places, people.weights)
        self._own, self._null = (np.empty((redraws, *self._shape)) for _ in range(2))

    def add(self, place: int, weights: FloatArray, picked: Sequence[IntArray]) -> None:
        """Count a redraw, and one of groups whose people were drawn from all people together."""
        self._own[place] = self._masses(self._people.codes, self._places, weights)
        people = np.concatenate(picked)
        groups = np.repeat(np.arange(len(picked)), [each.size for each in picked])
        self._null[place] = self._masses(
            groups, self._places[people], self._people.weights[people]
        )

    def _masses(self, groups: IntArray, places: IntArray, weights: FloatArray) -> FloatArray:
        number, points = self._shape
        masses = np.bincount(groups * points + places, weights, number * points)
        return masses.astype(np.float64, copy=False).reshape(self._shape)

    def measured(self, shares: FloatArray, order: int) -> _StepModel:
        """Return the disparities of all redraws, and those of laws between the groups' and the pooled one."""

        def measure(cdfs: FloatArray, shares: FloatArray) -> FloatArray:
            return disparities(self._nodes.table(cdfs), shares, order)

        own = self._people.shares(self._people.weights)
        base, drawn, null = map(self._nodes.cdfs, (self._base, self._own, self._null))
        pooled = np.sum(own[:, None] * base, axis=0)
        between = [pooled + part * (base - pooled) for part in np.linspace(0, 1, _PARTS)]
        truths = np.array([measure(laws[None], own[None])[0] for laws in between])
        found = np.stack([measure(laws + drawn - base, shares) for laws in between])
        curves = Curves(
            own=base,
            noise=drawn - base,
            shift=pooled * (1 - pooled),
            widths=self._nodes.spread_widths(),
            shares=own,
            redrawn_shares=shares,
        )
        draws = Draws(
            base=truths[-1],
            values=found[-1],
            noise=None,
            null=measure(null, np.broadcast_to(own, shares.shape)),
        )
        laws = MovedLaws(curves, range(len(own)), measure, draws.ends)
        return _StepModel(
            replace(draws, laws=(laws,)), order, np.maximum.accumulate(truths), found
        )


@dataclass(frozen=True)
class _StepModel:
    """A model of few scores: noise is added to laws nearer to the pooled one.

    The squared distance of such laws changes with the first power of the noise, so that no formula tells
    it. Beyond the estimated disparity lengths grow as they are.
    """

    draws: Draws
    order: int
    truths: FloatArray
    """The disparities of the laws between, without noise."""
    found: FloatArray
    """The same (rows) with the noise of each redraw (columns)."""

    def if_truth(self, disparities: FloatArray) -> FloatArray:
        place = np.interp(disparities, self.truths, np.arange(self.truths.size))
        low = np.minimum(place.astype(np.int64), self.truths.size - 2)
        part = (place - low)[:, None]
        noisy = (1 - part) * self.found[low] + part * self.found[low + 1]
        power = 1 / self.order
        beyond = np.maximum(disparities**power - float(self.truths[-1]) ** power, 0.0)
        lengths: FloatArray = (noisy**power + beyond[:, None]) ** self.order
        return lengths
