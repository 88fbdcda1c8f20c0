"""How a federation is measured: the order, the estimator and its grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from fedparity.errors import OptionError
from fedparity.functionals.order import Order, check_order
from fedparity.laws.refinement import check_trim
from fedparity.sketches.defaults import DEFAULT_ESTIMATOR
from fedparity.sketches.levels import check_levels

__all__ = ["Estimator", "Method"]

Estimator: TypeAlias = Literal["grid", "exact"]
"""``grid``: Algorithm 1 to the letter; ``exact``: the same mixtures, integrated exactly."""


@dataclass(frozen=True, kw_only=True)
class Method:
    r"""How to measure: valid once built.

    Parameters
    ----------
    order : 1 or 2
        The p of :math:`W_p`, :math:`G_p` and :math:`H_p`.
    estimator : "exact" or "grid"
        ``exact`` integrates between the mixtures by common refinement of their cumulative masses,
        cells of bin means being reconstructed first; ``grid`` inverts them at k midpoints (the
        paper's Algorithm 1).
    levels : int, optional
        The k of the grid; the largest number of levels among the cells if absent.
    trim : float in [0, 0.5)
        Leave out this share of levels at both ends of :math:`G_p` (`rem:trimmed`).
    """

    order: Order = 2
    estimator: Estimator = DEFAULT_ESTIMATOR
    levels: int | None = None
    trim: float = 0.0

    def __post_init__(self) -> None:
        check_order(self.order)
        check_trim(self.trim)
        if self.estimator not in get_args(Estimator):
            raise OptionError.unknown("estimator", self.estimator, get_args(Estimator))
        if self.levels is not None:
            check_levels(self.levels)
