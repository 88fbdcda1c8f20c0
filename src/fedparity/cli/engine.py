"""``fedparity engine``: networks over which silos can be asked."""

from __future__ import annotations

import click

from fedparity.cli.lazy import LazyGroup, Place

__all__ = ["engine"]

_COMMANDS = {"flower": Place("engine_flower", "flower", "Ask the silos over Flower.")}


@click.group(cls=LazyGroup, places=_COMMANDS)
def engine() -> None:
    """Ask the silos over a network instead of by files.

    The messages, the rules and the result are the same. Silos that let nobody's program run
    on their machines use files.

    \b
    Examples:
      fedparity engine flower new audit --plan plan.toml
    """
