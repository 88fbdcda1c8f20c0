"""The laws that an audit saw, as curves: quantiles at fixed levels, so that a result can be drawn.

They are read from the sketches alone: every number is a value that a silo released, or a center of
such values. Between two levels nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from fedparity.auditing.result_parts import Curves, GroupCurve, SiloResult
from fedparity.errors import ResultError
from fedparity.federated.estimate import cell_quantiles
from fedparity.federated.federation import Federation
from fedparity.federated.mixtures import mixtures
from fedparity.functionals.curves import center
from fedparity.laws.labels import Group, Silo

__all__ = ["SILO_LEVELS", "check_curves", "check_silo_quantiles", "group_curves", "silo_quantiles"]

_STEPS: Final = 200
SILO_LEVELS: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Levels at which a result holds the quantiles of each silo's groups."""


def group_curves(federation: Federation, order: int) -> Curves:
    r"""Return the quantile functions of the group mixtures, and of their center, on one grid.

    The levels are 0, 0.005, …, 1; at 0 stands the smallest atom. The center is that of the
    disparity: the barycenter, whose quantiles are the mean of those of the groups, or for order 1
    their lower weighted median.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 1, 1, 1], levels=2
    ... )
    >>> curves = group_curves(federation, 2)
    >>> curves.levels[100:102], curves.center[100:102]
    ((0.5, 0.505), (1.0, 3.0))
    """
    levels = np.arange(_STEPS + 1) / _STEPS
    asked = np.maximum(levels, np.finfo(np.float64).tiny)  # the infimum at 0 is the first atom
    laws = mixtures(federation)
    table = np.stack([laws[group].quantile(asked) for group in federation.groups])
    return Curves(
        levels=tuple(levels.tolist()),
        groups=tuple(
            GroupCurve(group=group, quantiles=tuple(row))
            for group, row in zip(federation.groups, table.tolist(), strict=True)
        ),
        center=tuple(center(table, federation.shares, order).tolist()),
    )


def silo_quantiles(federation: Federation) -> dict[tuple[Silo, Group], tuple[float, ...]]:
    """Return the quantiles of every cell at :data:`SILO_LEVELS`, by silo and group.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 1, 1, 1], levels=2
    ... )
    >>> silo_quantiles(federation)[1, "b"]
    (2.0, 2.0, 2.0, 5.0, 5.0)
    """
    cells = np.arange(federation.counts.size)
    rows = cell_quantiles(federation, cells, np.array(SILO_LEVELS)).tolist()
    return {
        (federation.silos[silo], federation.groups[group]): tuple(row)
        for silo, group, row in zip(
            federation.silo_of.tolist(), federation.group_of.tolist(), rows, strict=True
        )
    }


def check_curves(curves: Curves, groups: Sequence[Group]) -> None:
    """Raise unless the curves are those of the groups, as long as their levels, and increasing.

    Raises
    ------
    ResultError
        If a curve that was read from a file is none.
    """
    if [each.group for each in curves.groups] != list(groups):
        raise ResultError.field(
            "curves.groups", "the groups in their order", [each.group for each in curves.groups]
        )
    levels = curves.levels
    if not levels or (levels[0], levels[-1]) != (0, 1) or any(b <= a for a, b in pairwise(levels)):
        raise ResultError.field("curves.levels", "levels that increase from 0 to 1", levels[:3])
    named = {f"curves.groups[{i}].quantiles": g.quantiles for i, g in enumerate(curves.groups)}
    for where, values in {**named, "curves.center": curves.center}.items():
        _check_curve(where, values, len(levels))


def check_silo_quantiles(silo: SiloResult) -> None:
    """Raise unless a silo's quantiles are one per level, in order.

    Raises
    ------
    ResultError
        If they are not.
    """
    for group, values in silo.quantiles.items():
        if values is not None:
            _check_curve(f"quantiles of a silo, {group!r}", values, len(SILO_LEVELS))


def _check_curve(where: str, values: Sequence[float], length: int) -> None:
    if len(values) != length or any(after < before for before, after in pairwise(values)):
        raise ResultError.field(where, f"{length} numbers that do not decrease", values)
