"""Silos without settings of their own: those of a simulation, whose data nobody has to protect."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import gettempdir

from fedparity.engines.remote.settings import Scalar, SiloSettings, reading_of
from fedparity.errors import SettingsError
from fedparity.protocol.file_names import file_name
from fedparity.protocol.plan import Plan

__all__ = ["PREFIX", "simulated_settings"]

PREFIX = "simulated-"
"""What the settings of all simulated silos begin with in the configuration of a run."""


def simulated_settings(
    plan: Plan, position: int, run: Mapping[str, Scalar], run_id: int
) -> SiloSettings:
    """Return the settings of one silo of a simulation: the plan's roster says which it is.

    Its data are the file of its name in the folder ``simulated-data``. No ledger is kept.

    Raises
    ------
    SettingsError
        If the run simulates no silos, or there is none at this position, or no file of its name.
    """
    shared = {key.removeprefix(PREFIX): str(run[key]) for key in run if key.startswith(PREFIX)}
    folder = shared.pop("data", "")
    if not folder:
        raise SettingsError.not_simulated("its configuration has no simulated-data")
    silos = plan.silos or ()
    if not 0 <= position < len(silos):
        raise SettingsError.not_simulated(f"the plan has {len(silos)} silos")
    name = file_name(silos[position])
    files = sorted(path for path in Path(folder).glob(f"{name}.*") if path.stem == name)
    if len(files) != 1:
        raise SettingsError.not_simulated(f"one file named {name}.* is wanted, not {len(files)}")
    return SiloSettings(
        silo=silos[position],
        approved=None,
        data=str(files[0]),
        reading=reading_of({key: value for key, value in shared.items() if value}),
        ledger=None,
        folder=Path(gettempdir()) / f"fedparity-simulation-{os.getuid()}-{run_id}",
    )
