"""A law on the line with finitely many atoms: sorted, cut at common levels, mixed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Never, final, overload

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError, ScoreError
from fedparity.laws.arrays import FloatArray, as_masses, as_scores, check_magnitude, sort_all

__all__ = [
    "Law",
    "QuantileTable",
    "check_trim",
    "common_refinement",
]

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
