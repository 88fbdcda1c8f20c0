"""A table without silos, its rows dealt to some."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from fedparity.cli.fitting import counted
from fedparity.engines.allocations import Regime, allocate
from fedparity.engines.pooled_reading import read_pooled
from fedparity.engines.pooled_table import PooledTable
from fedparity.protocol.plan import Plan

__all__ = ["deal_rows"]


def deal_rows(
    data: object,
    reading: dict[str, Any],
    plan: Plan | None,
    *,
    silos: int,
    regime: Regime,
    rho: float,
    seed: int,
) -> PooledTable:
    """Return the records of a table with the silos that they were dealt to.

    The correlation of score and silo that came about is told on the standard error stream.
    """
    groups = None if plan is None else plan.groups
    pooled = read_pooled(data, silo=None, groups=groups, **reading)
    dealt = allocate(
        pooled.scores, silos=silos, regime=regime, rho=rho, groups=pooled.codes, seed=seed
    )
    _tell(dealt.number, dealt.pearson, dealt.spearman, int(pooled.dropped.sum()))
    names, codes = np.unique(dealt.names, return_inverse=True)
    return PooledTable.of(
        groups=pooled.groups,
        codes=pooled.codes,
        silos=names.tolist(),
        silo_codes=codes,
        scores=pooled.scores,
        weights=pooled.weights,
    )


def _tell(silos: int, pearson: float | None, spearman: float | None, dropped: int) -> None:
    words = f"dealt to {counted(silos, 'silo')}"
    if pearson is not None and spearman is not None:
        words += f"; score and silo: Pearson {pearson:.3f}, Spearman {spearman:.3f}"
    if dropped:
        words += f"; {counted(dropped, 'row')} without a score left out"
    click.echo(words, err=True)
