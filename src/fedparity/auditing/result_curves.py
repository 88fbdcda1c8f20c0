"""The laws that an audit saw, as curves: quantiles at fixed levels, so that a result can be drawn.

They are read from the sketches alone: every number is a value that a silo released, or a center of
such values. Between two levels nothing is said.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fedparity.documents.document import Parts
from fedparity.documents.result_parts import SILO_LEVELS, Curves, GroupCurve
from fedparity.federated.estimate import cell_quantiles
from fedparity.federated.federation import Federation
from fedparity.federated.mixtures import mixtures
from fedparity.functionals.curves import center
from fedparity.laws.labels import Group, Silo

__all__ = ["group_curves", "silo_quantiles"]

_STEPS: Final = 200


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
        groups=Parts(
            GroupCurve(group=group, quantiles=tuple(row))
            for group, row in zip(federation.groups, table.tolist(), strict=True)
        ),
        center=tuple(center(table, federation.shares, order).tolist()),
    )


def silo_quantiles(federation: Federation) -> dict[tuple[Silo, Group], tuple[float, ...]]:
    """Return the quantiles of every cell at the levels that a result holds, by silo and group.

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
