"""The ``fedparity`` command: its options and its sub-commands."""

from __future__ import annotations

import sys

import click

from fedparity.cli.guarding import TRACEBACK, GuardedGroup
from fedparity.cli.lazy import Place
from fedparity.version import __version__

__all__ = ["cli", "main"]

_COMMANDS = {
    "demo": Place("demo", "demo", "Audit five synthetic hospitals, from data to answer."),
    "plan": Place("plan", "plan", "Plan an audit before any silo is asked for numbers."),
    "sketch": Place("sketch", "sketch", "Reduce a silo's table to the numbers that may leave."),
    "secure": Place("secure", "secure", "Add up the silos' counts; the auditor sees the sum."),
    "policy": Place("policy", "policy", "Say what may leave this silo, whatever a plan asks for."),
    "ledger": Place(
        "ledger", "ledger", "Show, check and correct the record of what left this silo."
    ),
    "approve": Place("approve", "approve", "Agree to a plan before this silo answers it."),
    "verify": Place("verify", "verify", "Check the silos' messages against the plan."),
    "audit": Place("audit", "audit", "Measure the disparity of all silos from their messages."),
    "engine": Place("engine", "engine", "Ask the silos over a network instead of by files."),
    "simulate": Place("simulate", "simulate", "Audit one table that has a column of silos."),
    "report": Place("report", "report", "Make a page, a PDF or Markdown of a result."),
    "keygen": Place("keygen", "keygen", "Make a key to sign messages with."),
}
"""In the order of an audit."""


@click.group(
    cls=GuardedGroup,
    places=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="fedparity")
@click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    help=f"Show where an unexpected error comes from; may show data.  [env: {TRACEBACK}]",
)
def cli() -> None:
    """Measure demographic disparity across institutions that cannot pool their data.

    Each silo releases, per group, a count and k numbers of its score law; the auditor recovers
    the disparity of the whole, what it comes from, and what each silo would have seen alone.

    \b
    Examples:
      fedparity demo
      fedparity plan new
      fedparity sketch plan.toml data.csv --silo aurora --score risk --group sex
      fedparity audit plan.toml inbox
    """


def main() -> None:
    """Run the command line and end the process with an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without ≤ prints ? instead of failing
            stream.reconfigure(errors="replace")
    cli(prog_name="fedparity")
