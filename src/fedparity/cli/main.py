"""The ``fedparity`` command: its options, its sub-commands, its exit codes."""

from __future__ import annotations

import sys

import click

from fedparity import __version__
from fedparity.cli.demo import demo
from fedparity.cli.plan import plan
from fedparity.errors import FedparityError, InputError

__all__ = ["cli", "main"]

EXIT_BUG = 1
EXIT_BAD_DATA = 3


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fedparity")
def cli() -> None:
    """Measure demographic disparity across institutions that cannot pool their data.

    Each silo releases, per group, a count and k numbers of its score law; the auditor recovers
    the disparity of the whole, what it comes from, and what each silo would have seen alone.

    \b
    Try it:
      fedparity demo
    """


cli.add_command(demo)
cli.add_command(plan)


def main() -> None:
    """Run the command line; an error on purpose prints one sentence and its fix."""
    try:
        cli()
    except FedparityError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_BAD_DATA if isinstance(error, InputError) else EXIT_BUG)
