"""The disparity inside each silo with its errors."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from fedparity.diagnostics.bootstrap import bootstrap
from fedparity.diagnostics.length_assessment import LengthAssessment, assess_length
from fedparity.diagnostics.resampling import Resolution
from fedparity.errors import GroupError
from fedparity.federated.estimate import estimate
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.laws.labels import Silo

__all__ = ["LOCAL_SILOS", "assess_silos", "largest_silos"]

LOCAL_SILOS = 200
"""Silos that get an interval of their own where there are very many."""
_REDRAWS = 200
_THREADS = 2
_COARSE = Resolution(nodes=160, levels=100, atoms=64)


def assess_silos(
    federation: Federation,
    method: Method,
    silos: Collection[Silo],
    *,
    confidence: float,
    seed: int,
) -> dict[Silo, LengthAssessment | None]:
    """Return the disparity inside these ``silos``; ``None`` where one has fewer than two groups."""

    def assessed(silo: Silo) -> LengthAssessment | None:
        try:
            own = federation.only([silo])
        except GroupError:
            return None
        draws = bootstrap(
            own, method, redraws=_REDRAWS, seed=seed, details=False, resolution=_COARSE
        )
        value = estimate(own, method).disparity
        return assess_length(value, draws["disparity"], confidence, method.order)

    with ThreadPoolExecutor(_THREADS) as pool:  # of no effect on the result
        found = list(pool.map(assessed, silos))
    return dict(zip(silos, found, strict=True))


def largest_silos(federation: Federation) -> list[Silo]:
    """Return the silos with most records."""
    records = federation.count_table.sum(axis=1)
    return [federation.silos[i] for i in np.argsort(-records, kind="stable")[:LOCAL_SILOS]]
