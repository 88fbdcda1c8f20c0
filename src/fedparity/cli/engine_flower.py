"""``fedparity engine flower``: an audit over Flower, from the app to its processes."""

from __future__ import annotations

import click

from fedparity.cli.lazy import LazyGroup, Place

__all__ = ["flower"]

_COMMANDS = {
    "new": Place("engine_flower_new", "new", "Auditor: write the app of a plan."),
    "preview": Place("engine_flower_preview", "preview", "Silo: see what would leave."),
    "start": Place("engine_flower_start", "start", "Run a command of Flower, quietly."),
}
"""In the order in which they are used."""


@click.group(cls=LazyGroup, places=_COMMANDS)
def flower() -> None:
    """Ask the silos over Flower.

    \b
    Examples:
      fedparity engine flower new audit --plan plan.toml
      fedparity engine flower preview aurora.toml --plan plan.toml
      fedparity engine flower start flower-supernode --node-config aurora.toml \\
        --superlink auditor.example:8000 --root-certificates ca.crt \\
        --auth-supernode-private-key aurora.key
      fedparity engine flower start flwr run audit consortium --stream
    """
