"""``fedparity plan``: what is asked of every silo, written, checked and shown."""

from __future__ import annotations

import click

from fedparity.cli.lazy import LazyGroup, Place

__all__ = ["plan"]

_COMMANDS = {
    "new": Place("plan_new", "new", "Write a plan: asks on a terminal, or takes options."),
    "check": Place("plan_check", "check", "Find every mistake of a plan, with line and fix."),
    "show": Place("plan_show", "show", "Say in plain words what a plan asks for."),
    "sign": Place("plan_sign", "sign", "Sign a plan, for silos that obey only known auditors."),
    "size": Place("plan_size", "size", "Say how large an audit must be, or what one detects."),
    "privacy": Place(
        "plan_privacy", "privacy", "Say what noise costs in accuracy, before it is drawn."
    ),
}


@click.group(cls=LazyGroup, places=_COMMANDS)
def plan() -> None:
    """Plan an audit before any silo is asked for numbers.

    \b
    Examples:
      fedparity plan new
      fedparity plan check plan.toml
      fedparity plan show plan.toml
    """
