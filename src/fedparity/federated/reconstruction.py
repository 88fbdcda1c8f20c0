r"""A continuous law for every cell of bin means: what lies between the numbers that were sent.

Inside bin l the quantile function runs from a left end over its middle to a right end, linearly
in both halves. Two neighboring bins meet halfway between their means; the middle is where the
mean of the bin is the value sent. With :math:`a` and :math:`b` the distances of the ends from
the mean, the middle lies at :math:`m + (a - b)/2` and the variance inside the bin is
:math:`(a^2 + b^2)/6`. A bin that is cut too unevenly for two straight lines (:math:`b > 3a`) ends
earlier, and the quantile function jumps to the next.

The outer ends of a cell are unknown. The mean square of the cell says how much variance its bins
hold together: what the inner bins do not explain belongs to the two outer ones, and all bins
shrink alike where even the inner ones would hold too much. A cell whose mean square is 0 keeps
its values as atoms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedparity.laws.law import FloatArray, IntArray

__all__ = [
    "BinCuts",
    "BinShapes",
    "CellLayout",
    "mean_shapes",
    "quantile_shapes",
]

_STEEPEST = 3.0
"""Two straight lines hold a mean between a quarter and three quarters of the way."""
_HIGHEST = 1e6
"""A rise is no more times as high as its foot is far from the mean: its corner would be the end."""
_NEAREST = 0.2
"""An outer bin begins no nearer to either mean than this part of the way between them."""


class CellLayout(NamedTuple):
    """Where the values of each cell lie, one cell after the other."""

    levels: IntArray
    """Values of each cell."""
    starts: IntArray
    """Where the first value of each cell lies."""

    @classmethod
    def of(cls, levels: IntArray) -> CellLayout:
        """Return the layout of cells with so many values each."""
        return cls(levels, np.cumsum(levels) - levels)

    @property
    def ends(self) -> IntArray:
        """Where the last value of each cell lies."""
        return self.starts + self.levels - 1


class BinShapes(NamedTuple):
    """The quantile function inside each bin (last axis): two straight lines that meet at a corner."""

    left: FloatArray
    middle: FloatArray
    right: FloatArray
    corner: FloatArray
    """The part of the bin's mass up to the corner: a half, but for bins of heavy tails."""

    @classmethod
    def halved(cls, left: FloatArray, middle: FloatArray, right: FloatArray) -> BinShapes:
        """Return shapes with their corners in the middle."""
        return cls(left, middle, right, np.full(left.shape, 0.5))

    def means(self) -> FloatArray:
        """Return the mean of each bin."""
        left, middle, right, corner = self
        mean: FloatArray = (corner * left + middle + (1 - corner) * right) / 2
        return mean

    def around(self, origin: FloatArray | float) -> BinShapes:
        """Return the shapes of the distances from an origin."""
        return self._replace(
            left=self.left - origin, middle=self.middle - origin, right=self.right - origin
        )

    def mean_squares(self, layout: CellLayout) -> FloatArray:
        """Return the mean variance inside the bins of each cell."""
        variance = self.around(self.means()).square_integral()
        inside: FloatArray = np.add.reduceat(variance, layout.starts, axis=-1) / layout.levels
        return inside

    def at(self, bins: IntArray) -> BinShapes:
        """Return the shapes of these bins (last axis)."""
        return BinShapes(*(end.take(bins, axis=-1) for end in self))

    def quantile(self, part: FloatArray | float = 1.0) -> FloatArray:
        """Return the values at these parts, from 0 to 1, of the bins."""
        left, middle, right, corner = self
        value: FloatArray = np.where(
            part < corner,
            left + (middle - left) * (part / corner),
            middle + (right - middle) * ((part - corner) / (1 - corner)),
        )
        return value

    def integral(self, part: FloatArray | float = 1.0) -> FloatArray:
        """Return the integral of the quantile function from the left of the bins to a part of them."""
        first, second, low, high = self._cut(part)
        total: FloatArray = (first * (self.left + low) + second * (self.middle + high)) / 2
        return total

    def quantile_and_integral(self, part: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return :meth:`quantile` and :meth:`integral`, from one cut of the bins."""
        first, second, low, high = self._cut(part)
        value: FloatArray = np.where(part < self.corner, low, high)
        first *= np.add(low, self.left, out=low)
        second *= np.add(high, self.middle, out=high)
        first += second
        first /= 2
        return value, first

    def square_integral(self, part: FloatArray | float = 1.0) -> FloatArray:
        """Return the integral of its square."""
        first, second, low, high = self._cut(part)
        left, middle = self.left, self.middle
        total: FloatArray = (
            first * (left**2 + left * low + low**2)
            + second * (middle**2 + middle * high + high**2)
        ) / 3
        return total

    def _cut(
        self, part: FloatArray | float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """How much of each line lies before a part, and the value at which it ends there."""
        left, middle, right, corner = self
        first = np.minimum(part, corner)
        second = part - first
        low = left + (middle - left) * (first / corner)
        high = middle + (right - middle) * (second / (1 - corner))
        return first, second, low, high


def mean_shapes(
    means: FloatArray,
    layout: CellLayout,
    *,
    mean_squares: FloatArray,
    mean_square_errors: FloatArray | float = 0.0,
    value_error: float = 0.0,
    bounds: tuple[float, float] | None = None,
) -> BinShapes:
    """Return the shapes of the bins of cells, given their means (last axis).

    Parameters
    ----------
    means : array
        The bin means of all cells, one cell after the other; leading axes are sets of them.
    mean_squares : array
        Of each cell (last axis); NaN where it is not known: then the outer bins are as wide on both
        sides.
    mean_square_errors : array, or 0
        Half a step of the rounding of each of them. A mean square that was rounded downwards may be as
        large as that of bins with symmetric ends, as far as this allows.
    value_error : float
        Half a step of rounding: equal means are spread inside it.
    bounds : pair of numbers, optional
        The score range, which no law leaves.
    """
    if value_error:
        means = _spread_ties(means, layout, value_error)
    low, high = bounds or (-np.inf, np.inf)
    first, last = layout.starts, layout.ends
    gaps = np.empty(means.shape)
    gaps[..., :-1] = (means[..., 1:] - means[..., :-1]) / 2
    left, right = np.empty_like(gaps), gaps
    left[..., 1:] = gaps[..., :-1]
    _lean(left, right, layout)
    left[..., first], right[..., last] = right[..., first], left[..., last]
    known = ~np.isnan(mean_squares)
    alone = layout.levels == 1
    if alone.any():  # a single bin: a symmetric one, as wide as its variance says
        spread = np.sqrt(3 * np.where(known, mean_squares, 0.0))[..., alone]
        left[..., first[alone]] = right[..., first[alone]] = spread
    _trim(left, right)
    if known.any():
        # Far tails make steps larger than most mean squares, so that most cells send 0 and a few send
        # one step: read as they are, groups would differ by which of their cells were rounded upwards.
        symmetric = np.add.reduceat((left**2 + right**2) / 6, first, axis=-1) / layout.levels
        possible = np.minimum(symmetric, mean_squares + mean_square_errors)
        mean_squares = np.maximum(mean_squares, possible)
        _match(left, right, layout, mean_squares)
    if bounds is not None:
        left = np.minimum(left, np.maximum(means - low, 0.0))
        right = np.minimum(right, np.maximum(high - means, 0.0))
        _trim(left, right)
    shapes = BinShapes.halved(means - left, means + (left - right) / 2, means + right)
    if known.any():
        _fatten(shapes, means, layout, mean_squares, bounds=(low, high))
    return shapes


def quantile_shapes(
    values: FloatArray,
    layout: CellLayout,
    *,
    value_error: float = 0.0,
    bounds: tuple[float, float] | None = None,
) -> BinShapes:
    """Return the law through the quantiles of each cell: the value sent is the middle of its bin.

    Quantiles are joined linearly, but not next to a repeated one: tied scores are atoms.
    """
    if value_error:
        values = _spread_ties(values, layout, value_error)
    inner = np.ones(values.shape[-1] - 1, dtype=bool)
    inner[layout.ends[:-1]] = False
    same = (values[..., 1:] == values[..., :-1]) & inner
    tied = np.zeros(values.shape, dtype=bool)
    tied[..., 1:] |= same
    tied[..., :-1] |= same
    joined = inner & ~(tied[..., 1:] | tied[..., :-1])
    gaps = np.where(joined, (values[..., 1:] - values[..., :-1]) / 2, 0.0)
    left, right = np.zeros(values.shape), np.zeros(values.shape)
    left[..., 1:], right[..., :-1] = gaps, gaps
    left[..., layout.starts] = right[..., layout.starts]
    right[..., layout.ends] = left[..., layout.ends]
    low, high = bounds or (-np.inf, np.inf)
    return BinShapes.halved(
        np.maximum(values - left, low), values, np.minimum(values + right, high)
    )


@dataclass(frozen=True, eq=False)
class BinCuts:
    """How the bins of cells are cut into narrow ones of equal mass inside a cell."""

    layout: CellLayout
    """Where the narrow bins of each cell lie."""
    cell_of: IntArray
    """The cell of each narrow bin."""
    mass: FloatArray
    """Its share of the cell's mass."""
    bins: dict[int, IntArray]
    """The bins that are cut into so many parts."""
    order: IntArray
    """Where the parts go, those of one number after those of another."""

    @classmethod
    def of(cls, layout: CellLayout, least: int) -> BinCuts:
        """Return cuts that leave ``least`` narrow bins in every cell, or more.

        The number of parts of a bin is even, so that none has a corner of the quantile function
        inside it, or 1.
        """
        parts = np.where(layout.levels >= least, 1, 2 * -(-least // (2 * layout.levels)))
        narrow = layout.levels * parts
        of_bin = np.repeat(parts, layout.levels)
        bins = {int(number): np.flatnonzero(of_bin == number) for number in np.unique(parts)}
        owner = np.concatenate([np.repeat(rows, number) for number, rows in bins.items()])
        return cls(
            layout=CellLayout.of(narrow),
            cell_of=np.repeat(np.arange(narrow.size), narrow),
            mass=np.repeat(1 / narrow, narrow),
            bins=bins,
            order=np.argsort(owner, kind="stable"),
        )

    def values(self, shapes: BinShapes) -> FloatArray:
        """Return the means of the narrow bins (last axis)."""
        cut = [_part_means(shapes.at(rows), number) for number, rows in self.bins.items()]
        return cut[0] if len(cut) == 1 else np.concatenate(cut, axis=-1)[..., self.order]


def _part_means(shapes: BinShapes, parts: int) -> FloatArray:
    """The means of equal parts of every bin, one bin after the other (last axis)."""
    if parts == 1:
        return shapes.means()
    half = (np.arange(parts // 2) + 0.5) / (parts // 2)
    left, middle, right, _ = (end[..., None] for end in shapes)
    values = np.empty((*shapes.corner.shape, parts))
    for cut, low, high in (
        (np.s_[..., : parts // 2], left, middle),
        (np.s_[..., parts // 2 :], middle, right),
    ):
        np.multiply(high - low, half, out=values[cut])
        values[cut] += low
    axes = tuple(range(shapes.corner.ndim - 1))
    (elsewhere,) = np.nonzero((shapes.corner != 0.5).any(axis=axes))
    if elsewhere.size:
        fat = BinShapes(*(end[..., None] for end in shapes.at(elsewhere)))
        integral = fat.integral(np.arange(parts + 1) / parts)
        values[..., elsewhere, :] = np.diff(integral, axis=-1) * parts
    return values.reshape(*values.shape[:-2], -1)


def _fatten(
    shapes: BinShapes,
    means: FloatArray,
    layout: CellLayout,
    mean_squares: FloatArray,
    *,
    bounds: tuple[float, float],
) -> None:
    r"""Move the corners of the outer bins outwards where their variance is still too small.

    A quantile function that is flat up to its corner and then rises by h has the mean at a distance
    :math:`a = (1 - c) h / 2` from its flat part, and the variance :math:`2 a h / 3 - a^2`: any
    variance is reached by a rise that is high and short enough.
    """
    variances = ((means - shapes.left) ** 2 + (shapes.right - means) ** 2) / 6
    missing = mean_squares * layout.levels - np.add.reduceat(variances, layout.starts, axis=-1)
    several = (layout.levels > 1) & (missing > 0)
    if not several.any():
        return
    outer = variances[..., layout.starts] + variances[..., layout.ends]
    low, high = bounds
    for end, inner, outwards in ((layout.starts, 2, -1.0), (layout.ends, 0, 1.0)):
        mean, own = means[..., end], variances[..., end]
        near = np.abs(mean - shapes[inner][..., end])
        room = np.maximum(np.abs((high if outwards > 0 else low) - mean) + near, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            wanted = own + missing * (own / outer)
            rise = np.minimum(1.5 * (wanted / near + near), np.minimum(room, _HIGHEST * near))
            flat = several & (near > 0) & (rise > 4 * near)
            corner = np.where(flat, 1 - 2 * near / rise, 0.5)
        foot = mean - outwards * near
        top = foot + outwards * np.where(flat, rise, 0.0)
        sides = (foot, top) if outwards > 0 else (top, foot)
        for side, new in zip((0, 2), sides, strict=True):
            shapes[side][..., end] = np.where(flat, new, shapes[side][..., end])
        shapes.middle[..., end] = np.where(flat, foot, shapes.middle[..., end])
        shapes.corner[..., end] = corner if outwards > 0 else 1 - corner


def _lean(left: FloatArray, right: FloatArray, layout: CellLayout) -> None:
    """Let an outer bin begin nearer to its neighbor, the more so the faster gaps grow.

    Gaps grow where tails are thin. An outer bin of an exponential tail begins at the part
    :math:`d / (d + D)` of the way to its mean, with D this gap and d the one before; of a uniform law
    halfway.
    """
    wide = layout.levels > 2
    sides = (
        (layout.ends[wide], -1, left, right),
        (layout.starts[wide], 1, right, left),
    )
    for outer, inwards, own, other in sides:
        gap, before = own[..., outer], own[..., outer + inwards]
        part = np.divide(before, gap + before, out=np.full_like(gap, 0.5), where=gap > 0)
        part = np.clip(part, _NEAREST, 1 - _NEAREST)
        own[..., outer], other[..., outer + inwards] = 2 * gap * (1 - part), 2 * gap * part


def _trim(left: FloatArray, right: FloatArray) -> None:
    """Shorten the longer side of a bin whose mean two straight lines could not hold."""
    np.minimum(right, _STEEPEST * left, out=right)
    np.minimum(left, _STEEPEST * right, out=left)


def _match(
    left: FloatArray, right: FloatArray, layout: CellLayout, mean_squares: FloatArray
) -> None:
    """Give the outer bins the variance that is missing; shrink all bins where there is too much."""
    first, last = layout.starts, layout.ends
    wanted = mean_squares * layout.levels
    outer = (right[..., first] ** 2 + left[..., last] ** 2) / 6
    held = np.add.reduceat((left**2 + right**2) / 6, layout.starts, axis=-1)
    several = (layout.levels > 1) & ~np.isnan(mean_squares)
    missing = wanted - (held - (left[..., first] ** 2 + right[..., last] ** 2) / 6)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.sqrt(np.clip(missing / outer, 1 / _STEEPEST**2, _STEEPEST**2))
    ratio = np.where(several & (outer > 0), ratio, 1.0)
    left[..., first] *= ratio
    right[..., last] *= np.where(layout.levels > 1, ratio, 1.0)
    held = np.add.reduceat((left**2 + right**2) / 6, layout.starts, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shrink = np.sqrt(np.minimum(wanted / held, 1.0))
    shrink = np.where(np.isnan(mean_squares) | (held == 0), 1.0, shrink)
    shrink = np.repeat(np.where(wanted == 0, 0.0, shrink), layout.levels, axis=-1)
    left *= shrink
    right *= shrink


def _spread_ties(values: FloatArray, layout: CellLayout, value_error: float) -> FloatArray:
    """Equal rounded values of a cell, spread evenly over the numbers that round to them."""
    repeats = np.zeros(values.shape, dtype=bool)
    np.equal(values[..., 1:], values[..., :-1], out=repeats[..., 1:])
    repeats[..., layout.starts] = False
    tied = np.flatnonzero(repeats)
    if not tied.size:
        return values
    spread = values.copy()
    flat = spread.reshape(-1)
    # The runs of equal values, from the first to the last place of each.
    (breaks,) = np.nonzero(np.diff(tied) > 1)
    start = tied[np.concatenate(([0], breaks + 1))] - 1
    end = tied[np.append(breaks, tied.size - 1)]
    value, size = flat[start], values.shape[-1]
    cell = np.repeat(np.arange(layout.levels.size), layout.levels)[start % size]
    before, after = flat[np.maximum(start - 1, 0)], flat[np.minimum(end + 1, flat.size - 1)]
    # No farther than halfway to the next value: rounding may have moved less than it is said to.
    first, last = start % size > layout.starts[cell], end % size < layout.ends[cell]
    down = np.where(first, np.minimum((value - before) / 2, value_error), value_error)
    up = np.where(last, np.minimum((after - value) / 2, value_error), value_error)
    length = end - start + 1
    run = np.repeat(np.arange(start.size), length)
    place = np.arange(run.size) - np.repeat(np.cumsum(length) - length, length)
    within = (2 * place + 1) / length[run] - 1
    flat[start[run] + place] += within * np.where(within < 0, down[run], up[run])
    return spread
