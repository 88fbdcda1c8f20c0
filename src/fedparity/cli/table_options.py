"""The options that say which columns and rows of a table are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from fedparity.cli.amounts import mapping_of

__all__ = ["reading_of", "table_options"]

_OPTIONS = (
    click.option("--table", metavar="NAME", help="Table of a database: NAME or SCHEMA.NAME."),
    click.option("--query", metavar="SQL", help="One statement that reads, instead of --table."),
    click.option(
        "--url-file",
        metavar="FILE",
        help="File with the address of a database, instead of DATA; - is the standard input.",
    ),
    click.option("--score", metavar="COL", help="Column of the scores.  [default: score]"),
    click.option(
        "--group",
        multiple=True,
        metavar="COL",
        help="Column of the groups; several for intersections.  [default: group]",
    ),
    click.option("--weight", metavar="COL", help="Column of survey or exposure weights."),
    click.option("--where", metavar="SQL", help="Read only rows that meet a condition."),
    click.option(
        "--map",
        "mapping",
        multiple=True,
        metavar="A=B",
        help="Read label A as B; an empty A is a missing label.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "drop"]),
        default="refuse",
        show_default=True,
        help="What to do about rows without a score.",
    ),
    click.option(
        "--other", metavar="LABEL", help="Group that takes labels the plan does not list."
    ),
)


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say what of a table is read."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def reading_of(options: dict[str, Any]) -> dict[str, Any]:
    """Take these options out of all options, as a function of the library takes them."""
    names = ("score", "group", "weight", "where", "mapping", "missing", "other")
    reading = {name: options.pop(name) for name in names}
    reading["group"] = reading["group"] or None
    reading["mapping"] = mapping_of(reading["mapping"], "--map") or None
    return reading
