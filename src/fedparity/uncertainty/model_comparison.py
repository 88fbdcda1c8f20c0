r"""Two models on the same people: which has the smaller disparity, and how sure that is.

The disparity in score points is a length, :math:`D = G_p^{1/p}`. Both models score the same people, so
their errors go together: people are redrawn within silo and group with both of their scores, and the
difference :math:`D_1 - D_2` is measured in every redraw.

Where both disparities are clearly above 0, by three standard deviations, the difference is a smooth function
of the data, and its interval holds the quantiles of the redraws, as they are and turned around the
estimate. Where one may be 0, a length is no smooth function any more, and redraws of it are too long.
Then the intervals of both lengths, which are right at 0 (:mod:`fedparity.uncertainty.intervals`), are
combined as if the errors were independent, which is too wide rather than too narrow
(:func:`~fedparity.uncertainty.intervals.interval_of_difference`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Literal

import numpy as np

from fedparity.errors import GroupError, ScoreError
from fedparity.functionals.curves import disparities
from fedparity.functionals.disparity import disparity
from fedparity.functionals.order import check_order
from fedparity.laws.arrays import FloatArray, IntArray, as_masses, as_scores
from fedparity.laws.bounds import Bounds
from fedparity.laws.label_codes import check_aligned, encode_labels
from fedparity.laws.progress import Progress, callback, shows_progress
from fedparity.laws.refinement import QuantileTable
from fedparity.sketches.grids import midpoints
from fedparity.sketches.kinds import DEFAULT_LEVELS, default_kind
from fedparity.text import OneLine, number, span
from fedparity.uncertainty.bootstrap import Draws
from fedparity.uncertainty.checks import check_confidence, check_redraws
from fedparity.uncertainty.intervals import (
    LengthAssessment,
    assess_length,
    interval_of_difference,
)

__all__ = ["ModelComparison", "compare"]

_LEVELS = 200
"""Levels at which redrawn quantile functions are read."""
_REDRAWS = 500
_CLEAR = 3.0
"""A disparity of more standard deviations than this is clearly above 0."""


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
    method: Literal["paired", "combined"]
    """Paired redraws; or the combined intervals of both, where a disparity may be 0."""
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
        People are then redrawn within silo and group.
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
    first 0.48 points, second 0.231 points; difference 0.249 (0.238 to 0.254): second has the smaller disparity
    """
    check_order(order)
    check_confidence(confidence)
    check_redraws(redraws)
    people = _People.read(first, second, sensitive_features, silos, sample_weight)
    draws = _draws(people, order, redraws, seed, callback(progress))
    lengths = [
        _in_points(assess_length(own, drawn, confidence, order), order)
        for own, drawn in zip(people.disparities(order), draws, strict=True)
    ]
    method, interval = _difference(lengths, draws, confidence, order)
    difference = lengths[0].corrected - lengths[1].corrected
    return ModelComparison(
        names=names,
        first=lengths[0],
        second=lengths[1],
        difference=difference,
        interval=interval.hull(Bounds(difference, difference)),
        confidence=confidence,
        method=method,
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


def _difference(
    lengths: list[LengthAssessment], draws: list[Draws], confidence: float, order: int
) -> tuple[Literal["paired", "combined"], Bounds]:
    first, second = lengths
    redrawn = [drawn.values ** (1 / order) for drawn in draws]
    if any(
        own.corrected <= _CLEAR * points.std(ddof=1)
        for own, points in zip(lengths, redrawn, strict=True)
    ):
        return "combined", interval_of_difference(
            first.corrected, first.interval, second.corrected, second.interval
        )
    base = float(draws[0].base ** (1 / order) - draws[1].base ** (1 / order))
    levels = (1 - confidence) / 2, (1 + confidence) / 2
    low, high = np.quantile(redrawn[0] - redrawn[1] - base, levels).tolist()
    estimate = first.value - second.value
    return "paired", Bounds(
        estimate + min(low, -high),
        estimate + max(high, -low),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _People:
    """Both scores of every person, their group, and the cell within which they are redrawn."""

    scores: tuple[FloatArray, FloatArray]
    codes: IntArray
    """The position of each person's group."""
    cells: tuple[IntArray, ...]
    """The positions of the people of each silo and group."""
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
        keys = places * len(labels) + codes
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        return cls(
            scores=scores,
            codes=codes,
            cells=tuple(np.split(order, starts[1:])),
            weights=masses,
            groups=len(labels),
        )

    def disparities(self, order: Literal[1, 2]) -> list[float]:
        """Return the disparity of each model, exact."""
        return [
            disparity(own, sensitive_features=self.codes, sample_weight=self.weights, order=order)
            for own in self.scores
        ]

    @property
    def shares(self) -> FloatArray:
        """The share of each group."""
        totals = np.bincount(self.codes, self.weights, self.groups)
        shares: FloatArray = totals / totals.sum()
        return shares

    def redraw(self, random: np.random.Generator) -> FloatArray:
        """Return how much each person weighs in a sample of the same size from every cell."""
        drawn = np.zeros(self.codes.size)
        for cell in self.cells:
            drawn[cell] = np.bincount(
                random.integers(0, cell.size, cell.size), minlength=cell.size
            )
        return drawn * self.weights


def _draws(
    people: _People, order: int, redraws: int, seed: int, progress: Progress | None
) -> list[Draws]:
    """The disparities of both models in every redraw, of its noise, and of groups with one law."""
    curves = [_Curves(people, own) for own in people.scores]
    random, other = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2)
    )
    values, noise, null = (np.empty((2, redraws)) for _ in range(3))
    shares = people.shares
    for place in range(redraws):
        drawn = people.redraw(random)
        picked = other.integers(0, people.codes.size, people.codes.size)
        for model, own in enumerate(curves):
            table = own.table(drawn)
            values[model, place] = _measure(table, shares, order)
            noise[model, place] = _measure(table - own.base, shares, order)
            null[model, place] = _measure(own.null_table(picked), shares, order)
        if progress is not None:
            progress(place + 1, redraws)
    return [
        Draws(
            base=np.array(_measure(own.base, shares, order)),
            values=values[model],
            noise=None if own.has_steps else noise[model],
            null=null[model],
        )
        for model, own in enumerate(curves)
    ]


def _measure(table: FloatArray, shares: FloatArray, order: int) -> float:
    widths = np.full(_LEVELS, 1 / _LEVELS)
    return float(disparities(QuantileTable(widths, table), shares, order))


class _Curves:
    """The quantile functions of the groups under one model, read at fixed levels."""

    def __init__(self, people: _People, scores: FloatArray) -> None:
        self._people, self._scores = people, scores
        members = [np.flatnonzero(people.codes == code) for code in range(people.groups)]
        self._sorted = [own[np.argsort(scores[own], kind="stable")] for own in members]
        self.base = self.table(people.weights)
        self.has_steps = default_kind(scores, DEFAULT_LEVELS) == "counts"

    def table(self, weights: FloatArray) -> FloatArray:
        """Return the quantiles of each group, where people weigh as much as this."""
        return np.stack([self._quantiles(own, weights) for own in self._sorted])

    def null_table(self, picked: IntArray) -> FloatArray:
        """Return the same for groups whose people were drawn from all people together."""
        return np.stack(list(self._null_rows(picked)))

    def _null_rows(self, picked: IntArray) -> Iterator[FloatArray]:
        end = 0
        for own in self._sorted:
            start, end = end, end + own.size
            drawn = picked[start:end]
            yield self._quantiles(drawn[np.argsort(self._scores[drawn])], self._people.weights)

    def _quantiles(self, people: IntArray, weights: FloatArray) -> FloatArray:
        below = np.cumsum(weights[people])
        # a rounding of the levels must not reach past a person
        levels = midpoints(_LEVELS) * below[-1] * (1 - 1e-12)
        quantiles: FloatArray = self._scores[people[np.searchsorted(below, levels)]]
        return quantiles
