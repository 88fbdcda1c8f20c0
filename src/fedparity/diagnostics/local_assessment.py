"""The disparity inside each silo with its sampling error."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from fedparity.diagnostics.bootstrap import Draws, bootstrap
from fedparity.diagnostics.length_assessment import LengthAssessment, assess_length
from fedparity.diagnostics.local import local_audits
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.federated.mixtures import grid_levels
from fedparity.laws.labels import Group, Silo
from fedparity.sketches.cell import Cell

__all__ = ["LOCAL_SILOS", "assess_silos", "assess_some_silos", "largest_silos"]

LOCAL_SILOS = 200
"""Silos that get an interval of their own where there are very many."""
_REDRAWS = 200
_THREADS = 2
"""Sorting out what a redraw explains is long work in NumPy, which lets other threads run."""


def assess_silos(
    federation: Federation, method: Method, draws: Draws, confidence: float
) -> dict[Silo, LengthAssessment | None]:
    """Return the disparity inside each silo, given its redraws; ``None`` with one group alone."""
    audits = list(local_audits(federation, method))

    def assessed(place: int) -> LengthAssessment | None:
        observed, noise = audits[place].disparity, draws.noise[:, place]
        if observed is None:
            return None
        own = Draws(draws.base[place], draws.values[:, place], noise, noise)
        return assess_length(observed, own, confidence, method.order)

    with ThreadPoolExecutor(_THREADS) as pool:  # of no effect on the result
        found = list(pool.map(assessed, range(len(audits))))
    return {audit.silo: own for audit, own in zip(audits, found, strict=True)}


def assess_some_silos(
    federation: Federation,
    method: Method,
    silos: Collection[Silo],
    confidence: float,
    seed: int,
) -> dict[Silo, LengthAssessment | None]:
    """Return the disparity inside these ``silos``, from redraws of their cells alone."""
    cells = _cells_of(federation, set(silos))
    present = {group for _, group in cells}
    if len(present) < 2:
        return {silo: None for silo, _ in cells}
    some = Federation.from_cells(cells, groups=[g for g in federation.groups if g in present])
    alike = replace(method, levels=grid_levels(federation, method))
    draws = bootstrap(some, alike, redraws=_REDRAWS, seed=seed)
    return assess_silos(some, alike, draws["local"], confidence)


def _cells_of(federation: Federation, silos: Collection[Silo]) -> dict[tuple[Silo, Group], Cell]:
    """The cells of these silos, without building those of the others."""
    held = {}
    for i, (silo, group) in enumerate(zip(federation.silo_of, federation.group_of, strict=True)):
        if federation.silos[silo] in silos:
            held[federation.silos[silo], federation.groups[group]] = federation.cell(i)
    return held


def largest_silos(federation: Federation) -> list[Silo]:
    """Return the silos with most records."""
    records = federation.count_table.sum(axis=1)
    return [federation.silos[i] for i in np.argsort(-records, kind="stable")[:LOCAL_SILOS]]
