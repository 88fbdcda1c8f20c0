"""Monotone maps from scores to buckets: chosen from a sample, exact for any data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray, IntArray

__all__ = [
    "BucketMap",
    "KeyMap",
    "Keys",
    "LinearMap",
    "choose_map",
    "from_keys",
    "to_keys",
]

Keys = npt.NDArray[np.uint64]

_CELLS = 1 << 16
"""Cells of the key map: sign, exponent and four bits of the mantissa."""
_TAIL = 0.0005
"""Share of the sample below and above the linear buckets."""
_SIGN = np.uint64(1 << 63)


class BucketMap(Protocol):
    """A map from scores to buckets that never puts a larger score into a lower bucket."""

    @property
    def width(self) -> int:
        """Number of buckets of one group."""
        ...

    def buckets(self, scores: FloatArray) -> IntArray:
        """Return the bucket of each finite score."""
        ...


@dataclass(frozen=True)
class LinearMap:
    """Buckets of equal width between two scores, and one for each tail.

    Subtraction, multiplication and truncation never decrease when their argument grows, in
    floats as in reals: hence the map is monotone however they round.
    """

    low: float
    scale: float
    inner: int

    @property
    def width(self) -> int:
        """Number of buckets of one group."""
        return self.inner + 2

    def buckets(self, scores: FloatArray) -> IntArray:
        """Return the bucket of each score, 0 and the last one for the tails."""
        return self.buckets_in(scores, np.empty(scores.size), np.empty(scores.size, np.int64))

    def buckets_in(self, scores: FloatArray, room: FloatArray, places: IntArray) -> IntArray:
        """Return the same in memory that is there already: fresh pages cost more than sums."""
        with np.errstate(over="ignore"):
            np.subtract(scores, self.low, out=room)
            room *= self.scale
        room += 1.0
        np.fmax(room, 0.0, out=room)
        np.fmin(room, self.inner + 1.0, out=room)
        np.copyto(places, room, casting="unsafe")
        return places


@dataclass(frozen=True, eq=False)
class KeyMap:
    """Buckets by the leading bits of a float: for scores of many magnitudes.

    The bits of a float, with the sign turned, are a whole number that grows with the float. Its
    16 leading bits choose a cell; a cell where the sample has many scores is cut into a power
    of two of buckets.
    """

    first: npt.NDArray[np.uint32]
    """The lowest bucket of each cell."""
    shifts: npt.NDArray[np.uint8]
    """How many of a key's 48 other bits do not tell buckets apart."""
    width: int

    def buckets(self, scores: FloatArray) -> IntArray:
        """Return the bucket of each score."""
        keys = to_keys(scores)
        cells = (keys >> np.uint64(48)).astype(np.int64)
        rest = keys & np.uint64((1 << 48) - 1)
        part = (rest >> self.shifts[cells].astype(np.uint64)).astype(np.int64)
        return part + self.first[cells].astype(np.int64)


def to_keys(scores: FloatArray) -> Keys:
    """Return whole numbers in the order of the scores; -0.0 and 0.0 have the same."""
    bits = (scores + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def from_keys(keys: Keys) -> FloatArray:
    """Return the scores of :func:`to_keys`."""
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


def choose_map(sample: FloatArray, inner: int) -> LinearMap | KeyMap:
    """Return the map that spreads a sorted sample better over about ``inner`` buckets.

    A bad sample makes a slow map, never a wrong one.
    """
    linear = _linear_map(sample, inner)
    crowding = 1.0 if linear is None else _crowding(linear, sample)
    if linear is not None and crowding <= 8 / inner:
        return linear
    keyed = _key_map(sample, inner)
    if linear is None or _crowding(keyed, sample) < 0.7 * crowding:
        return keyed
    return linear


def _linear_map(sample: FloatArray, inner: int) -> LinearMap | None:
    last = sample.size - 1
    low, high = sample[int(_TAIL * last)], sample[last - int(_TAIL * last)]
    with np.errstate(over="ignore", divide="ignore"):
        scale = float(inner / (high - low))
    if not 0 < scale < np.inf:
        return None
    return LinearMap(float(low), scale, inner)


def _key_map(sample: FloatArray, inner: int) -> KeyMap:
    cells = (to_keys(sample) >> np.uint64(48)).astype(np.int64)
    share = np.bincount(cells, minlength=_CELLS) / sample.size
    bits = np.floor(np.log2(np.maximum(share * inner, 1.0))).astype(np.int64)
    widths = np.left_shift(1, bits)
    empty = share == 0
    # Cells without a sample share one bucket with their empty neighbors.
    widths[empty] = np.append(True, ~empty[:-1])[empty]
    ends = np.cumsum(widths)
    first = np.where(empty & (widths == 0), ends - 1, ends - widths)
    return KeyMap(first.astype(np.uint32), (48 - bits).astype(np.uint8), int(ends[-1]))


def _crowding(chosen: BucketMap, sample: FloatArray) -> float:
    """How many of the sample, as a share, are in the same bucket as one of them, on average."""
    counts = np.bincount(chosen.buckets(sample))
    return float(np.sum((counts / sample.size) ** 2))
