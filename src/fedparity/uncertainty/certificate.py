"""A certificate: the interval that the raw data's disparity cannot leave, given what the silos sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from fedparity.federated.federation import Federation, takes_federation
from fedparity.functionals.curves import center, check_order, largest_disparity, power
from fedparity.laws.bounds import Bounds
from fedparity.laws.labels import Group
from fedparity.laws.law import IntArray
from fedparity.privacy.histograms import Grid
from fedparity.sketches.cell import Cell
from fedparity.uncertainty.checks import Evidence
from fedparity.uncertainty.envelopes import Boxes, integrated_extremes
from fedparity.uncertainty.potentials import (
    least_from_potentials,
    least_from_tangents,
    most_from_coupling,
)

__all__ = [
    "bounds_of_disparity",
    "bounds_of_distance",
    "certify",
    "certify_grid",
    "certify_pairs",
    "federation_of_bins",
]

_ROUNDING = 1e-11
"""Bounds are moved outwards by this, relative to them and to the range, against rounding."""
_PULLS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""How far targets are pulled to the middle of the range where much is unseen; the best is kept."""


@takes_federation
def certify(
    federation: Federation,
    *,
    score_range: tuple[float, float],
    order: int = 2,
    trim: float = 0.0,
    unseen: Mapping[Group, float] | None = None,
    unseen_total: float | None = None,
) -> Bounds:
    r"""Return an interval that :math:`G_p` of the raw data cannot leave.

    Nothing is assumed but the sketches, the public score range and monotonicity. A sketch
    leaves each silo's quantile function between two step functions, hence each group's
    mixture between two laws; at every level the dispersion of the groups is at least the
    smallest and at most the largest that these allow. Exact bin means (``kind="mean"``) allow much
    more, and mean squares more still: see :mod:`fedparity.uncertainty.potentials`. The best bound
    is kept on each side. Cells with a rank error, or with values that were rounded, have wider
    envelopes; counts at exact scores leave nothing open.

    Parameters
    ----------
    score_range : pair of numbers
        Public bounds of the scores, never read from the data.
    trim : float in [0, 0.5)
        For the trimmed disparity (`rem:trimmed`).
    unseen : mapping of group to number, optional
        Upper bounds of the further records of each group of which nothing is known: cells
        that were withheld, silos that sent nothing. ``math.inf`` where there is no limit.
    unseen_total : float, optional
        An upper bound of the further records of all groups together: what public totals leave,
        whichever groups it belongs to. Without ``unseen`` they may be of any.

    Raises
    ------
    OptionError
        If the range is not valid, a value lies outside it, ``unseen`` names another group, or a
        number of unseen records is not valid.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 0.1, 0.5, 1.0], groups=list("aabb"), silos=[1, 2, 1, 2], levels=1
    ... )
    >>> certificate = certify(federation, score_range=(0.0, 1.0))
    >>> round(certificate.lower, 9), round(certificate.upper, 9)
    (0.1325, 0.1325)
    """
    check_order(order)
    evidence = Evidence.from_federation(federation, score_range, unseen, unseen_total)
    return bounds_of_disparity(evidence, order=order, trim=trim)


def bounds_of_disparity(evidence: Evidence, *, order: int = 2, trim: float = 0.0) -> Bounds:
    """Return the best proven bounds; with unseen records they contain those without."""
    lower, upper = _of_what_was_seen(evidence.as_if_complete, order, trim)
    if evidence.total:
        least, most = _with_unseen(evidence, upper, order, trim)
        lower, upper = min(lower, least), max(upper, most)
    widest = largest_disparity(evidence.width, order)
    slack = _ROUNDING * widest
    return Bounds(
        lower=float(max(0.0, lower * (1 - _ROUNDING) - slack)),
        upper=float(min(widest, upper * (1 + _ROUNDING) + slack)),
    )


def certify_pairs(
    federation: Federation,
    *,
    score_range: tuple[float, float],
    order: int = 2,
    trim: float = 0.0,
    unseen: Mapping[Group, float] | None = None,
    unseen_total: float | None = None,
) -> tuple[Bounds, ...]:
    """Return intervals that the distance of every two groups cannot leave, in their order.

    Options are those of :func:`certify`.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 0.2, 0.5, 0.7], groups=list("aabb"), silos=[1, 1, 1, 1], levels=2
    ... )
    >>> (found,) = certify_pairs(federation, score_range=(0, 1), order=1)
    >>> round(found.lower, 6), round(found.upper, 6)
    (0.5, 0.5)
    """
    check_order(order)
    evidence = Evidence.from_federation(federation, score_range, unseen, unseen_total)
    return tuple(
        bounds_of_distance(evidence.between(i, j), order=order, trim=trim)
        for i, j in combinations(range(len(federation.groups)), 2)
    )


def bounds_of_distance(evidence: Evidence, *, order: int = 2, trim: float = 0.0) -> Bounds:
    r"""Return bounds of :math:`W_p` between two groups, from evidence in which they weigh the same.

    :math:`G_2 = \beta (1 - \beta) W_2^2` with the shares :math:`\beta` that the two have in the end, which
    unseen records can drive from one half: :math:`1 / \beta (1 - \beta) = r + 2 + 1 / r` with the
    ratio r of what the two weigh. For p = 1 the center is the larger group, and
    :math:`G_1 = W_1 / (1 + r)` with the larger weight over the smaller.
    """
    of_disparity = bounds_of_disparity(evidence, order=order, trim=trim)
    ratio = 1 + 2 * float(evidence.extra.max())
    at_most = 1 + ratio if order == 1 else ratio + 2 + 1 / ratio
    lower, upper = (
        (factor * end) ** (1 / order)
        for factor, end in (
            (2 * order, of_disparity.lower),
            (at_most, of_disparity.upper),
        )
    )
    return Bounds(lower=lower, upper=min(evidence.width, upper))


def _of_what_was_seen(evidence: Evidence, order: int, trim: float) -> tuple[float, float]:
    lower, upper = _between_envelopes(evidence, order, trim)
    if evidence.exact_means and not trim:
        upper = min(upper, most_from_coupling(evidence, order))
        tangents = least_from_tangents(evidence, order)
        lower = max(lower, tangents, least_from_potentials(evidence, order))
    return lower, upper


def _with_unseen(
    evidence: Evidence, most_seen: float, order: int, trim: float
) -> tuple[float, float]:
    lower, upper = _between_envelopes(evidence, order, trim)
    if not trim:
        lower = max(lower, least_from_potentials(evidence, order))
        upper = min(upper, _most_from_moving(evidence, most_seen, order))
        if evidence.exact_means:
            upper = min(upper, most_from_coupling(evidence, order))
    return lower, upper


def _between_envelopes(evidence: Evidence, order: int, trim: float) -> tuple[float, float]:
    """Integrate the pointwise extremes between the envelopes of all groups."""
    boxes = Boxes.from_envelopes(evidence.envelopes, trim=trim)
    return integrated_extremes(boxes, evidence.shares, order, evidence.newcomers)


def _most_from_moving(evidence: Evidence, most_seen: float, order: int) -> float:
    r"""Return an upper bound of the disparity of all records from one of those seen.

    :math:`G_p` is the least mean of :math:`|Z - B|^p` over targets B whose law is the same in every
    group. Keep the targets of the records seen, and let the unseen ones of every group have targets of
    the same law :math:`\mu`: then all have. An unseen record is at a distance from its target that
    is at most as large as if all of them lay at one end of the range, so with a share
    :math:`\rho` of unseen records

    .. math:: G_p \le (1 - \rho) G_p^{seen}
              + \rho \max_{e} \int |b - e|^p \, \mu(db), \quad e \in \{0, w\},

    whichever groups they belong to. Pulling all targets towards the middle c of the range by a factor
    :math:`\lambda` costs the records seen at most :math:`\lambda^p \int |b - c|^p \mu(db)`
    more (for p = 2 scores deviate from their barycenter by zero on average; for p = 1 by the triangle
    inequality), and spares the unseen. The law :math:`\mu` of the barycenter is known
    up to the envelopes.
    """
    widths, *sides = Boxes.from_envelopes(evidence.as_if_complete.envelopes)
    middle = evidence.width / 2
    low, high = (center(side, evidence.shares, order) - middle for side in sides)
    away = power(np.maximum(np.abs(low), np.abs(high)), order)
    share = evidence.unseen_share
    bounds = []
    for pull in _PULLS:
        seen = most_seen + pull**order * float(np.sum(widths * away))
        near, far = (1 - pull) * low, (1 - pull) * high
        unseen = max(
            float(np.sum(widths * power(np.maximum(far + middle, 0.0), order))),
            float(np.sum(widths * power(np.maximum(middle - near, 0.0), order))),
        )
        bounds.append(max(seen, (1 - share) * seen + share * unseen))
    return min(bounds)


def certify_grid(
    counts: IntArray,
    grid: Grid,
    *,
    order: int = 2,
    trim: float = 0.0,
    unseen: Sequence[float] | None = None,
    unseen_total: float | None = None,
) -> Bounds:
    """Return an interval that the disparity of the raw data cannot leave, given exact counts in bins.

    Proof. A record of a bin lies between its two edges, or at one of its points, at most half the way
    between the lowest and the highest of them from their middle: the counts are those of records at the
    middles, known up to that error, which is zero where a bin is one point. The rest is the certificate
    of counts at scores.

    Parameters
    ----------
    counts : array, groups by bins
    unseen : sequence of numbers, optional
        Upper bounds of the further records of each group; ``math.inf`` where there is no limit.
    unseen_total : float, optional
        An upper bound of the further records of all groups together.

    Examples
    --------
    >>> grid = Grid.of((0.0, 1.0), bins=4)
    >>> found = certify_grid(np.array([[8, 0, 0, 0], [0, 0, 0, 8]]), grid)
    >>> round(found.lower, 6), round(found.upper, 6)
    (0.0625, 0.25)
    """
    return certify(
        federation_of_bins(counts, grid, range(len(counts))),
        score_range=(grid.low, grid.high),
        order=order,
        trim=trim,
        unseen=None if unseen is None else dict(enumerate(unseen)),
        unseen_total=unseen_total,
    )


def federation_of_bins(counts: IntArray, grid: Grid, groups: Iterable[Group]) -> Federation:
    """Return the records of each group at the middles of their bins, known up to their widths."""
    names = tuple(groups)
    cells = {("", group): _bin_cell(row, grid) for group, row in zip(names, counts, strict=True)}
    return Federation.from_cells(cells, groups=names, score_range=(grid.low, grid.high))


def _bin_cell(counts: IntArray, grid: Grid) -> Cell:
    """The records of one group at the middles of their bins."""
    filled = counts > 0
    low, high = grid.lowest[filled], grid.highest[filled]
    middles = low + (high - low) / 2
    return Cell(
        count=int(counts.sum()),
        values=middles,
        kind="counts",
        masses=counts[filled],
        value_error=np.maximum(middles - low, high - middles),
    )
