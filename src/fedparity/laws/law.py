"""A law on the line with finitely many atoms: scores and masses checked, sorted fast, cut at common levels."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from time import perf_counter
from typing import Any, NamedTuple, Never, final, overload

import numpy as np
import numpy.typing as npt

from fedparity.errors import MagnitudeError, MassError, OptionError, ScoreError

__all__ = [
    "BoolArray",
    "FloatArray",
    "IntArray",
    "Law",
    "QuantileTable",
    "as_masses",
    "as_scores",
    "check_magnitude",
    "check_trim",
    "common_refinement",
    "sort_all",
    "sort_order",
    "sort_scores",
]


FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_LARGEST_SCORE = 1e140
_LARGEST_TOTAL = 2**62


def as_scores(scores: object, what: str = "scores") -> FloatArray:
    """Return ``scores`` as a one-dimensional float64 array of finite numbers.

    The array may be the caller's own: copy it before writing to it.

    Raises
    ------
    ScoreError
        If they are not numbers, not one-dimensional, not finite, or none.
    """
    array = _numeric(scores, what)
    if array.ndim != 1:
        raise ScoreError.not_one_dimensional(what, array.shape)
    if array.size == 0:
        raise ScoreError.empty(what)
    finite = np.isfinite(array)
    if not finite.all():
        missing = int(np.count_nonzero(np.isnan(array)))
        infinite = array.size - int(np.count_nonzero(finite)) - missing
        raise ScoreError.not_finite(what, missing=missing, infinite=infinite, total=array.size)
    return array


def check_magnitude(scores: FloatArray, what: str) -> None:
    """Raise where squares of differences, or sums of them, would not fit a float.

    Raises
    ------
    MagnitudeError
        If a score is beyond ±1e140.
    """
    if max(float(scores.max()), -float(scores.min())) > _LARGEST_SCORE:
        raise MagnitudeError(
            f"a square of {what} is too large for a 64-bit float.",
            fix="rescale the scores (for example to [0, 1]) before measuring.",
        )


def as_masses(masses: object, what: str = "weights") -> npt.NDArray[Any]:
    """Return ``masses`` as int64 where they are whole numbers by type, else as float64.

    Whole numbers stay integers: their running sums are exact.

    Raises
    ------
    MassError
        If one is negative or not finite, or if all are zero.
    """
    array = np.asarray(masses)
    if array.dtype.kind in "bui" and array.ndim == 1:
        array = array.astype(np.int64)
    else:
        array = _numeric(masses, what)
        if array.ndim != 1:
            raise ScoreError.not_one_dimensional(what, array.shape)
        if bad := array.size - int(np.count_nonzero(np.isfinite(array))):
            raise MassError.not_finite(what, bad)
    if bad := int(np.count_nonzero(array < 0)):
        raise MassError.negative(what, bad)
    with np.errstate(over="ignore"):
        total = float(array.sum(dtype=np.float64))
    if total == 0:
        raise MassError.all_zero(what)
    if not total < (_LARGEST_TOTAL if array.dtype.kind == "i" else np.inf):
        raise MassError.too_large(what)
    return array


def _numeric(values: object, what: str) -> FloatArray:
    array: npt.NDArray[Any] = np.asarray(values)
    if array.dtype.kind == "O":  # decimals, nullable integers, or a string that strayed in
        if any(isinstance(value, str | bytes) for value in array.flat):
            raise ScoreError.not_numeric(what, "text")
        try:
            return array.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise ScoreError.not_numeric(what, array.dtype) from None
    if array.dtype.kind not in "buif":
        raise ScoreError.not_numeric(what, array.dtype)
    return array.astype(np.float64, copy=False)


_LARGE = 50_000
_BUCKETS = 1 << 16
_SAMPLE = 4_096
_BLOCK = 1 << 14


# np.sort of doubles is vectorized, but on some AVX-512 processors (AMD Zen 4) its instructions are
# microcoded, and it takes five times as long as without them. Spreading the scores over 2^16 buckets
# with a radix sort, and finishing with a merge sort (which is linear on almost sorted input), does not
# use them. Both give the same sorted array; which one is faster is measured once, on the first large
# array.


def sort_scores(scores: FloatArray) -> FloatArray:
    """Return the finite ``scores`` in increasing order."""
    spread = _spread_over_buckets(scores)
    if spread is None:
        return np.sort(scores)
    almost = scores[spread]
    almost.sort(kind="stable")
    return almost


def sort_order(scores: FloatArray) -> npt.NDArray[np.int64]:
    """Return positions that put the finite ``scores`` in increasing order, ties in any order."""
    spread = _spread_over_buckets(scores)
    if spread is None:
        return np.argsort(scores)
    return spread[np.argsort(scores[spread], kind="stable")]


def sort_all(arrays: list[FloatArray]) -> list[FloatArray]:
    """Sort several arrays, on several threads when they are large: sorting releases the GIL."""
    if len(arrays) < 2 or sum(array.size for array in arrays) < 2 * _LARGE:
        return [sort_scores(array) for array in arrays]
    _buckets_are_faster()  # measured before the threads start, not while they compete
    with ThreadPoolExecutor(max_workers=min(len(arrays), 8)) as pool:
        return list(pool.map(sort_scores, arrays))


def _spread_over_buckets(scores: FloatArray) -> npt.NDArray[np.int64] | None:
    """Return positions that almost sort ``scores``; None where a plain sort is better."""
    if scores.size < _LARGE or not _buckets_are_faster():
        return None
    return _bucket_order(scores)


def _bucket_order(scores: FloatArray) -> npt.NDArray[np.int64] | None:
    """Return positions in the order of a monotone map to 16-bit buckets, sorted by radix.

    None where few buckets would hold most of the scores, as under heavy tails.
    """
    sample = np.sort(scores[:: max(1, scores.size // _SAMPLE)])
    low, high = sample[sample.size // 1000], sample[-1 - sample.size // 1000]
    with np.errstate(over="ignore"):
        width = (high - low) / (_BUCKETS - 1)
        if not 0 < width < np.inf:
            return None
        distinct = np.unique(sample)
        if np.unique(_buckets(distinct, low, width)).size < distinct.size // 2:
            return None
        return np.argsort(_buckets(scores, low, width), kind="stable")


def _buckets(scores: FloatArray, low: float, width: float) -> npt.NDArray[np.uint16]:
    """The bucket of each score, block by block: fresh memory costs more than arithmetic."""
    buckets = np.empty(scores.size, dtype=np.uint16)
    for start in range(0, scores.size, _BLOCK):
        part = scores[start : start + _BLOCK] - low
        part /= width
        np.clip(part, 0, _BUCKETS - 1, out=part)
        buckets[start : start + _BLOCK] = part
    return buckets


@cache
def _buckets_are_faster() -> bool:
    trial = np.random.default_rng(0).random(_BUCKETS)
    by_buckets, plainly = [], []
    for _ in range(3):
        start = perf_counter()
        trial[_bucket_order(trial)].sort(kind="stable")
        by_buckets.append(perf_counter() - start)
        start = perf_counter()
        np.sort(trial)
        plainly.append(perf_counter() - start)
    return min(by_buckets) < min(plainly)


_EPSILON = float(np.finfo(np.float64).eps)


@final
class Law:
    r"""A probability :math:`\nu` on the line: sorted atoms with masses.

    Valid once built and read-only: atoms strictly increase, masses are positive and add up to
    one. Whole-number masses (counts) are summed as integers, so that the cdf takes the exact
    value :math:`i/n` rounded once, and a quantile at a level such as :math:`u = 0.55` is the
    order statistic of rank :math:`\lceil n u \rceil`, not the one after it.

    Parameters
    ----------
    atoms : array of finite numbers
        Where the mass is, in any order, repeated or not.
    masses : array of non-negative numbers
        How much is there, up to a common factor. Atoms of mass zero are dropped.

    Raises
    ------
    ScoreError
        If an atom is not a finite number, or if there are no atoms.
    MagnitudeError
        If an atom is beyond ±1e140, whose squares would not fit a float.
    MassError
        If a mass is negative or not finite, or all are zero.

    Examples
    --------
    >>> law = Law([3.0, 1.0, 3.0], [1, 1, 2])
    >>> law.atoms, law.masses
    (array([1., 3.]), array([0.25, 0.75]))
    >>> law.quantile(0.25), law.quantile(0.26), law.cdf(2.0), law.mean
    (1.0, 3.0, 0.25, 2.5)
    """

    atoms: FloatArray
    """The atoms, strictly increasing."""
    weights: npt.NDArray[Any]
    """Their masses up to a common factor: int64 where they were counts, else float64."""

    def __init__(self, atoms: object, masses: object) -> None:
        places = as_scores(atoms, "atoms").copy()
        check_magnitude(places, "atoms")
        weights = as_masses(masses, "masses").copy()
        if places.size != weights.size:
            raise ScoreError.lengths_differ("atoms", places.size, "masses", weights.size)
        if not (weights > 0).all():
            places, weights = places[weights > 0], weights[weights > 0]
        if not (places[1:] >= places[:-1]).all():
            order = np.argsort(places, kind="stable")
            places, weights = places[order], weights[order]
        self._fill(*_merge_ties(places, weights))

    @classmethod
    def from_scores(cls, scores: object, weights: object = None) -> Law:
        """Return the empirical law of ``scores``, each counted once or by its weight.

        Examples
        --------
        >>> Law.from_scores([2.0, 5.0]).quantile([0.5, 0.51])
        array([2., 5.])
        """
        if weights is not None:
            return cls(scores, weights)
        return cls.from_samples([scores])[0]

    @classmethod
    def from_samples(cls, samples: Sequence[object]) -> list[Law]:
        """Return the empirical law of each sample; large ones are sorted on several threads."""
        arrays = [as_scores(sample) for sample in samples]
        for array in arrays:
            check_magnitude(array, "scores")
        return [cls.from_sorted(array) for array in sort_all(arrays)]

    @classmethod
    def from_sorted(cls, scores: FloatArray, weights: npt.NDArray[Any] | None = None) -> Law:
        """Return the law of finite scores that are already sorted, unchecked.

        ``weights`` are positive; absent, every score counts once.
        """
        if weights is None:
            weights = np.broadcast_to(np.int64(1), scores.shape)
        law = cls.__new__(cls)
        law._fill(*_merge_ties(scores, weights))  # noqa: SLF001 -- our own
        return law

    def _fill(self, atoms: FloatArray, weights: npt.NDArray[Any]) -> None:
        zero = int(np.searchsorted(atoms, 0.0))
        if zero < atoms.size and atoms[zero] == 0.0 and np.signbit(atoms[zero]):
            atoms = atoms + 0.0  # -0.0 + 0.0 is 0.0: equal atoms are equal bits
        for array in (atoms, weights):
            if array.flags.owndata:
                array.flags.writeable = False
        self.__dict__.update(atoms=atoms, weights=weights)

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError(f"a Law is read-only; cannot set {name!r}")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError(f"a Law is read-only; cannot delete {name!r}")

    @cached_property
    def masses(self) -> FloatArray:
        """The mass of each atom; they add up to one."""
        masses: FloatArray = self.weights / self.weights.sum()
        masses.flags.writeable = False
        return masses

    @cached_property
    def cumulative(self) -> FloatArray:
        """The cdf at each atom; the last is exactly one."""
        if self.is_uniform:
            cumulative = np.arange(1.0, len(self) + 1)
        else:
            cumulative = np.cumsum(self.weights).astype(np.float64)
        cumulative /= cumulative[-1]
        cumulative.flags.writeable = False
        return cumulative

    @property
    def is_uniform(self) -> bool:
        """Whether every atom has the same mass by construction (distinct, unweighted scores)."""
        return self.weights.strides == (0,)

    @property
    def _rounding(self) -> float:
        """How far below a level the cdf may be and still reach it: the rounding of its sums.

        Sums of counts have none; twelve masses of 1/12 reach one half after six of them.
        """
        return 0.0 if self.weights.dtype.kind == "i" else len(self) * _EPSILON

    @cached_property
    def mean(self) -> float:
        """The expectation."""
        return float(np.sum(self.atoms * self.masses))

    @overload
    def quantile(self, levels: float) -> float: ...
    @overload
    def quantile(self, levels: npt.ArrayLike) -> FloatArray: ...
    def quantile(self, levels: npt.ArrayLike) -> float | FloatArray:
        r"""Return :math:`Q(u) = \inf\{z : F(z) \ge u\}`, left-continuous in ``levels``.

        Masses that were not counts reach a level up to the rounding of their sum.

        Parameters
        ----------
        levels : number or array of numbers in (0, 1]

        Raises
        ------
        OptionError
            If a level is not above 0 and at most 1.
        """
        wanted = np.asarray(levels, dtype=np.float64)
        if not ((wanted > 0) & (wanted <= 1)).all():
            raise OptionError(
                "quantile levels must be above 0 and at most 1.",
                fix="pass levels in (0, 1]; the lowest atom is law.atoms[0].",
            )
        values = self.atoms[np.searchsorted(self.cumulative, wanted - self._rounding, side="left")]
        return float(values) if wanted.ndim == 0 else values

    @overload
    def cdf(self, points: float) -> float: ...
    @overload
    def cdf(self, points: npt.ArrayLike) -> FloatArray: ...
    def cdf(self, points: npt.ArrayLike) -> float | FloatArray:
        r"""Return :math:`F(x) = \nu((-\infty, x])` at ``points``."""
        where = np.asarray(points, dtype=np.float64)
        padded = np.concatenate(([0.0], self.cumulative))
        values = padded[np.searchsorted(self.atoms, where, side="right")]
        return float(values) if where.ndim == 0 else values

    def __len__(self) -> int:
        return self.atoms.size

    def __repr__(self) -> str:
        plural = "" if len(self) == 1 else "s"
        return f"Law({len(self)} atom{plural}, mean {self.mean:.6g})"


def _merge_ties(
    atoms: FloatArray, weights: npt.NDArray[Any]
) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Return sorted atoms without repetition, each with the mass of its repetitions."""
    is_new = atoms[1:] != atoms[:-1]
    if is_new.all():
        return atoms, weights
    starts = np.concatenate(([0], np.flatnonzero(is_new) + 1))
    return atoms[starts], np.add.reduceat(weights, starts)


class QuantileTable(NamedTuple):
    """Quantile functions read on consecutive intervals of levels, on which they are constant.

    An integral over levels of any function of them is a sum over columns.
    """

    widths: FloatArray
    """Length of each interval, zero where levels of two laws coincide."""
    values: FloatArray
    """One row per law, one column per interval."""


def common_refinement(laws: Sequence[Law], *, trim: float = 0.0) -> QuantileTable:
    r"""Return the quantile functions of ``laws`` on the intervals cut by all their cdf values.

    :math:`Q_\nu` is constant on :math:`(F(x_{i-1}), F(x_i)]`, so between two consecutive cdf
    values of any of the laws all of them are constant and an integral over :math:`u` is a
    finite sum: exact for laws of any sizes, with no grid. With ``trim`` the intervals are
    those inside :math:`[\varepsilon, 1 - \varepsilon]` (paper, `rem:trimmed`).

    Examples
    --------
    >>> widths, values = common_refinement([Law([0.0, 1.0], [1, 1]), Law([5.0], [1])])
    >>> widths[widths > 0], values[:, widths > 0]
    (array([0.5, 0.5]), array([[0., 1.],
           [5., 5.]]))
    """
    check_trim(trim)
    if all(law.is_uniform and len(law) == len(laws[0]) for law in laws):
        size = len(laws[0])
        widths = _widths(laws[0].cumulative, trim) if trim else np.broadcast_to(1 / size, size)
        return QuantileTable(widths, np.stack([law.atoms for law in laws]))
    sizes = [len(law) for law in laws]
    levels = np.concatenate([law.cumulative for law in laws])
    order = np.argsort(levels, kind="stable")  # a merge of sorted runs: linear
    values = np.empty((len(laws), levels.size))
    counter: npt.DTypeLike = np.int32 if levels.size < 2**31 else np.int64  # half the traffic
    end = 0
    for row, law in enumerate(laws):
        start, end = end, end + sizes[row]
        own = (order >= start) & (order < end)
        passed = np.cumsum(own, dtype=counter)
        passed -= own
        np.take(law.atoms, passed, out=values[row], mode="clip")
    return QuantileTable(_widths(levels[order], trim), values)


def check_trim(trim: float) -> None:
    """Raise unless ``trim`` is a share in [0, 0.5)."""
    if not 0 <= trim < 0.5:
        raise OptionError(
            f"trim must be at least 0 and below 0.5, not {trim!r}.",
            fix="pass trim=0 for the whole law, or for example trim=0.01.",
        )


def _widths(levels: FloatArray, trim: float) -> FloatArray:
    if trim:
        levels = np.clip(levels, trim, 1 - trim)
    widths = np.empty_like(levels)
    widths[0] = levels[0] - trim
    np.subtract(levels[1:], levels[:-1], out=widths[1:])
    return widths
