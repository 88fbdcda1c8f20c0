"""Silos without settings of their own: those of a simulation, whose data nobody has to protect."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import gettempdir

from fedparity.engines.pooled_reading import read_pooled
from fedparity.engines.pooled_table import PooledTable
from fedparity.engines.remote.settings import Scalar, SiloSettings, reading_of
from fedparity.engines.remote.simulating import may_simulate
from fedparity.errors import SettingsError
from fedparity.protocol.plan import Plan

__all__ = ["PREFIX", "simulated_settings"]

PREFIX = "simulated-"
"""What the settings of all simulated silos begin with in the configuration of a run."""


def simulated_settings(
    plan: Plan, position: int, run: Mapping[str, Scalar], run_id: int
) -> SiloSettings:
    """Return the settings of one silo of a simulation: the plan's roster says which it is.

    Its records are those rows of the table ``simulated-data`` that name it in the column
    ``simulated-silo``. No ledger is kept.

    Raises
    ------
    SettingsError
        If the run simulates no silos, there is none at this position, or it has no rows.
    """
    shared = {key.removeprefix(PREFIX): str(run[key]) for key in run if key.startswith(PREFIX)}
    silos = plan.silos or ()
    if not may_simulate():
        raise SettingsError.not_simulated("it was not started for a simulation")
    if not shared.get("data"):
        raise SettingsError.not_simulated("its configuration has no simulated-data")
    if not 0 <= position < len(silos):
        raise SettingsError.not_simulated(f"the plan has {len(silos)} silos")
    chosen = tuple(sorted((key, value) for key, value in shared.items() if value))
    table = _table(plan, chosen, run_id)
    silo = silos[position]
    if silo not in table.silos:
        raise SettingsError.not_simulated(f"the table has no rows of {silo!r}")
    return SiloSettings(
        silo=silo,
        approved=None,
        data=table.records(table.silos.index(silo)),
        reading={},
        law=None,
        folder=Path(gettempdir()) / f"fedparity-simulation-{run_id}",
    )


@lru_cache(maxsize=1)
def _table(plan: Plan, shared: tuple[tuple[str, str], ...], _: int) -> PooledTable:
    """The table of all silos, read once in a run for as many of them as this process simulates."""
    settings = dict(shared)
    data, silo = settings.pop("data"), settings.pop("silo", "silo")
    return read_pooled(data, silo=silo, groups=plan.groups, **reading_of(settings))
