"""Groups of commands whose modules are imported when they are called, not before."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click

__all__ = ["LazyGroup", "Place"]


class Place(NamedTuple):
    """Where a command is, and its help in one line."""

    module: str
    """Of ``fedparity.cli``; the command in it has the module's last name."""
    name: str
    short_help: str


class LazyGroup(click.Group):
    """A group that knows its commands by name; ``--help`` imports none of them."""

    def __init__(self, *args: Any, places: Mapping[str, Place], **options: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **options)
        self.places = dict(places)

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which they are used."""
        return list(self.places)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Return a command, or None if there is none of this name."""
        if name not in self.places:
            return None
        place = self.places[name]
        command: click.Command = getattr(
            import_module(f"fedparity.cli.{place.module}"), place.name
        )
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.short_help) for name, place in self.places.items()])
