r"""How a measure would scatter if the groups were nearer to each other, or farther apart.

Squared lengths of smooth curves grow by a known formula when noise is added to them
(:mod:`fedparity.uncertainty.intervals`). Distances of order 1, and those of scores on a coarse grid, which change with the
first power of the noise, do not: where an estimate is small by chance, redraws around it scatter less than redraws
around a larger truth. So the noise of every redraw is added to laws of which the truth is known,

.. math:: F_s(t) = \bar F + t \, \delta_s,

the pooled curve and the differences of the groups, stretched until no redraw is as small as what was observed. Estimated
differences are noisy themselves, and coherent ones scatter more than noisy ones of the same length. So they are
split into a shift of each group as a whole, and the rest, of which as much is left out as noise may explain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fedparity.laws.law import FloatArray

__all__ = ["Curves", "Ends", "MovedLaws", "Scatter"]

_TINY = 1e-300
_LARGE = 0.95
"""Shapes as large as noise has them more rarely than in one redraw of twenty are taken to be real in part."""
_FIRST, _REACH = 0.5, 5
"""The shortest differences, and how far below the estimated ones they begin, in lengths of the noise."""
_GROWTH, _MOST = 1.5, 32
"""How much longer they become at a time, and how often at most."""


class Scatter(NamedTuple):
    """A measure of laws that are known, and what redraws of them show."""

    truths: FloatArray
    """In increasing order, from 0."""
    found: FloatArray
    """The redraws at each truth (rows), in order of size."""

    def at(self, candidates: FloatArray, order: int) -> FloatArray:
        """Return the redraws (columns) if the truth were each of the candidates (rows).

        Beyond the largest truth lengths grow as they are.
        """
        place = np.interp(candidates, self.truths, np.arange(self.truths.size))
        low = np.minimum(place.astype(np.int64), self.truths.size - 2)
        part = (place - low)[:, None]
        noisy: FloatArray = (1 - part) * self.found[low] + part * self.found[low + 1]
        power, last = 1 / order, float(self.truths[-1])
        beyond = np.maximum(candidates**power - last**power, 0.0)
        if not beyond.any():
            return noisy
        lengths: FloatArray = (noisy**power + beyond[:, None]) ** order
        return lengths


class Curves(NamedTuple):
    """The curves of groups, and the noise of redraws around them."""

    own: FloatArray
    """Distribution or quantile functions: groups by places."""
    noise: FloatArray
    """What redraws differ from them by: redraws by groups by places."""
    shift: FloatArray
    """What the curve of a group changes by if all its scores move: one number for each place."""
    widths: FloatArray
    """Of the places."""
    shares: FloatArray
    """Of the groups."""
    redrawn_shares: FloatArray
    """Of the groups in each redraw."""

    def of(self, groups: Sequence[int]) -> Curves:
        """Return the curves of some of the groups."""
        some = list(groups)
        shares, redrawn = self.shares[some], self.redrawn_shares[:, some]
        return self._replace(
            own=self.own[some],
            noise=self.noise[:, some],
            shares=shares / shares.sum(),
            redrawn_shares=redrawn / np.maximum(redrawn.sum(axis=1, keepdims=True), _TINY),
        )


class Ends(NamedTuple):
    """Where moving laws begins and ends."""

    null: FloatArray
    """Redraws of groups with one common law."""
    enough: float
    """Laws are moved apart until no redraw is smaller."""


@dataclass(frozen=True, eq=False)
class MovedLaws:
    """A measure of some groups, whose laws are moved nearer to each other and farther apart."""

    curves: Curves
    groups: Sequence[int]
    measure: Callable[[FloatArray, FloatArray], FloatArray]
    """Returns the measure of sets of curves (sets by groups by places), given the groups' shares."""
    ends: Ends
    offset: float = 0.0
    """What redraws of all cells show more than these."""

    @cached_property
    def scatter(self) -> Scatter:
        """The measure of moved laws, and of their redraws."""
        curves = self.curves.of(self.groups)
        pooled = np.sum(curves.shares[:, None] * curves.own, axis=0)
        noise = _differences(curves.noise, curves.shares)
        apart = _without_noise(curves, curves.own - pooled, noise)
        length = max(_length(apart, curves), _TINY)
        unit = max(_length(noise, curves), _TINY * length)
        # No truth far below the estimate is kept.
        size = max(_FIRST * unit, length - _REACH * unit)
        truths, found = [0.0], [np.sort(self.ends.null)]
        while len(found) < _MOST and (len(found) == 1 or found[-1][0] <= self.ends.enough):
            laws = pooled + size / length * apart
            truth = float(self.measure(laws[None], curves.shares[None])[0])
            redrawn = self.measure(laws + curves.noise, curves.redrawn_shares) + self.offset
            truths.append(max(truth, truths[-1]))
            found.append(np.sort(np.maximum(redrawn, 0.0)))
            size *= _GROWTH
        return Scatter(np.array(truths), np.array(found))


def _differences(curves: FloatArray, shares: FloatArray) -> FloatArray:
    """How far each curve is from the mean of all."""
    apart: FloatArray = curves - np.sum(shares[:, None] * curves, axis=-2, keepdims=True)
    return apart


def _without_noise(curves: Curves, estimated: FloatArray, noise: FloatArray) -> FloatArray:
    """The groups' differences, without what noise explains of their shapes."""
    shifts = _shifts(estimated, curves)
    shapes = estimated - shifts
    explained = np.quantile(_squares(noise - _shifts(noise, curves), curves), _LARGE)
    real = max(0.0, 1 - float(explained) / max(float(_squares(shapes, curves)), _TINY))
    apart: FloatArray = shifts + real * shapes
    if _length(apart, curves) > _TINY:
        return apart
    away = -curves.shares  # nothing differs: the first group moves away from the others
    away[0] += 1
    return np.outer(away, curves.shift)


def _shifts(differences: FloatArray, curves: Curves) -> FloatArray:
    """The shift of each group that is nearest to its difference."""
    weights = curves.shift * curves.widths
    amount = np.sum(differences * weights, axis=-1) / max(
        float(np.sum(weights * curves.shift)), _TINY
    )
    shifts: FloatArray = amount[..., None] * curves.shift
    return shifts


def _length(differences: FloatArray, curves: Curves) -> float:
    """The length of differences; that of noise is the root of its mean square."""
    return float(np.sqrt(np.mean(_squares(differences, curves))))


def _squares(differences: FloatArray, curves: Curves) -> FloatArray:
    squares: FloatArray = np.sum(
        curves.shares[:, None] * differences**2 * curves.widths, axis=(-2, -1)
    )
    return squares
