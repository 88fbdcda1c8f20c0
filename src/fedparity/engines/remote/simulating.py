"""Whether silos may be simulated in this process; apart, since a command that only says so starts at once."""

from __future__ import annotations

import os

__all__ = ["ALLOWED", "may_simulate"]

ALLOWED = "FEDPARITY_SIMULATED_SILOS"
"""The variable without which no silo is simulated: else whoever starts a run could name the data of a
real node that has no settings. ``fedparity engine flower start flwr`` sets it, for its own processes."""


def may_simulate() -> bool:
    """Return whether the variable is set, to 1 and nothing else."""
    return os.environ.get(ALLOWED) == "1"
