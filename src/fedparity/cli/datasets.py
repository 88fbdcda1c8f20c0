"""``fedparity datasets``: the tables of the paper's experiments, fetched, listed and checked."""

from __future__ import annotations

import click

from fedparity.cli.lazy import LazyGroup, Place

__all__ = ["datasets"]

_COMMANDS = {
    "fetch": Place("datasets_fetch", "fetch", "Download the files from where they are published."),
    "list": Place("datasets_list", "list_", "Name the data sets, their files and licences."),
    "check": Place("datasets_check", "check", "Check the files, and measure what they hold."),
}


@click.group(cls=LazyGroup, places=_COMMANDS, short_help="Get the data of the paper.")
def datasets() -> None:
    """Get the data of the paper's experiments: COMPAS, Adult and Law.

    None of them comes with the program. Files are looked for in --data DIR, else in the folder
    that FEDPARITY_DATA names, else in the one that fetch fills.

    \b
    Examples:
      fedparity datasets list
      fedparity datasets fetch
      fedparity datasets check --data DIR
    """
