r"""What a reconstruction between the numbers of a sketch leaves open, as far as it can be estimated.

Redraws repeat the sketch of a law that was itself reconstructed, so they do not see what no sketch
of so few numbers can show. Other reconstructions of the same numbers do: bin means without their mean
squares, and the staircase of the values. The staircase is far too rough; on laws that are known, a
twentieth of its distance was seen to hold the error (:doc:`/decisions/0009-intervals`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fedparity.diagnostics.bootstrap import Draws
from fedparity.federated.estimate import global_heterogeneity
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.federated.mixtures import mixture_table, observed_weights
from fedparity.functionals.disparity import spread

__all__ = ["LeftOpen", "left_open"]

_OF_STAIRCASE = 0.05


class LeftOpen(NamedTuple):
    """How far reconstructions of the same sketches are from each other."""

    disparity: float
    heterogeneity: float


def left_open(federation: Federation, method: Method, draws: Mapping[str, Draws]) -> LeftOpen:
    """Return how far measures of other reconstructions are from those of the one that is used.

    Counts leave nothing open. The laws through quantiles are those of the redraws; their
    estimates read the staircase.
    """
    if federation.kind == "counts":
        return LeftOpen(0.0, 0.0)
    staircase = _measures(federation, method, reconstruct=False)
    if federation.kind == "quantile":
        base = LeftOpen(*(float(draws[name].base) for name in LeftOpen._fields))
        return LeftOpen(*(abs(a - b) for a, b in zip(staircase, base, strict=True)))
    used = _measures(federation, method, reconstruct=True)
    plain = replace(federation, mean_squares=np.full(federation.levels.size, np.nan))
    other = _measures(plain, method, reconstruct=True)
    return LeftOpen(
        *(
            max(abs(here - there), _OF_STAIRCASE * abs(here - rough))
            for here, there, rough in zip(used, other, staircase, strict=True)
        )
    )


def _measures(federation: Federation, method: Method, *, reconstruct: bool) -> LeftOpen:
    exact = replace(method, estimator="exact")
    cells = federation.reconstructed if reconstruct else federation
    table = mixture_table(cells, observed_weights(cells), exact, reconstruct=False)
    return LeftOpen(
        spread(table, cells.shares, method.order), global_heterogeneity(cells, method.order)
    )
