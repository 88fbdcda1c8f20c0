"""Weights of groups, and the mixture of laws with such weights: the average of their cdfs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from fedparity.errors import GroupMismatchError, MassError
from fedparity.laws.labels import Group
from fedparity.laws.law import Law
from fedparity.text import brief

__all__ = [
    "Weights",
    "mixture",
]


class Weights(Mapping[Group, float]):
    r"""Shares :math:`\alpha_s` of the groups (paper, `sec:setting:notation`).

    Valid once built: finite, non-negative, with sum one. Any positive multiple of the shares
    is accepted and normalized; counts are divided only once, so that
    ``Weights({"a": 1, "b": 2})["a"]`` is the float nearest to one third.

    Parameters
    ----------
    shares : mapping of group to number

    Raises
    ------
    MassError
        If a share is negative or not finite, or if all are zero.

    Examples
    --------
    >>> Weights({"a": 30, "b": 10})
    Weights({'a': 0.75, 'b': 0.25})
    """

    def __init__(self, shares: Mapping[Group, float]) -> None:
        numbers = np.array(list(shares.values()), dtype=np.float64)
        if bad := int(np.count_nonzero(~np.isfinite(numbers))):
            raise MassError.not_finite("shares", bad)
        if bad := int(np.count_nonzero(numbers < 0)):
            raise MassError.negative("shares", bad)
        with np.errstate(over="ignore"):
            total = float(numbers.sum())
        if total == 0:
            raise MassError.all_zero("shares")
        if not total < np.inf:
            raise MassError.too_large("shares")
        normalized: list[float] = (numbers / total).tolist()
        self._shares: dict[Group, float] = dict(zip(shares, normalized, strict=True))

    @classmethod
    def from_counts(cls, counts: Mapping[Group, int]) -> Weights:
        r"""Return the empirical shares :math:`\hat\alpha_s = n_s / n`."""
        return cls(counts)

    def aligned(self, groups: Mapping[Group, object]) -> npt.NDArray[np.float64]:
        """Return the shares as an array in the order of ``groups``.

        Raises
        ------
        GroupMismatchError
            If a group has no share, or a share no group.
        """
        if self.keys() != groups.keys():
            raise GroupMismatchError.between(groups, self)
        return np.array([self._shares[group] for group in groups], dtype=np.float64)

    def __getitem__(self, group: Group) -> float:
        return self._shares[group]

    def __iter__(self) -> Iterator[Group]:
        return iter(self._shares)

    def __len__(self) -> int:
        return len(self._shares)

    def __repr__(self) -> str:
        return f"Weights({brief(self._shares)})"


def mixture(laws: Mapping[Group, Law], weights: Weights) -> Law:
    r"""Return the law whose cdf is the weighted mean of the cdfs of ``laws``.

    It is the barycenter for the Cramér distance (paper, `eq:cramer-barycenter`),

    .. math:: F_{\nu^\times}(x) = \sum_s \alpha_s F_s(x).

    It averages *vertically*; :func:`fedparity.theory.barycenter` averages horizontally.

    Raises
    ------
    GroupMismatchError
        If a group has a law but no weight, or a weight but no law.

    Examples
    --------
    >>> laws = {"a": Law.from_scores([0.0, 1.0]), "b": Law.from_scores([1.0])}
    >>> mixture(laws, Weights({"a": 0.5, "b": 0.5})).masses
    array([0.25, 0.75])
    """
    shares = weights.aligned(laws)
    return Law(
        atoms=np.concatenate([law.atoms for law in laws.values()]),
        masses=np.concatenate(
            [share * law.masses for share, law in zip(shares, laws.values(), strict=True)]
        ),
    )
