"""``--require-all``: an audit only of all silos of the roster."""

from __future__ import annotations

from collections.abc import Sequence

import click

from fedparity.errors import MissingSiloError
from fedparity.protocol.plan import Plan

__all__ = ["check_all_there"]


def check_all_there(plan: Plan, missing: Sequence[str]) -> None:
    """Raise if a silo of the roster sent nothing, or if there is no roster to tell.

    Raises
    ------
    MissingSiloError
        If one is missing.
    click.UsageError
        If the plan has no roster.
    """
    if plan.silos is None:
        raise click.UsageError("--require-all needs a plan with a roster (silos = [...]).")
    if missing:
        raise MissingSiloError.required(missing, len(plan.silos))
