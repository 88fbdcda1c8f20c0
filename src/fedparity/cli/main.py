"""The ``fedparity`` command: its options and its sub-commands."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NoReturn

import click

from fedparity.cli.lazy import LazyGroup, Place
from fedparity.errors import (
    DatabaseUnreachableError,
    DisclosureError,
    FedparityError,
    InputError,
    MissingExtraError,
    MissingSiloError,
    OptionError,
    OutputError,
)
from fedparity.errors.base import printable
from fedparity.version import __version__

__all__ = [
    "TRACEBACK",
    "ExitCode",
    "GuardedGroup",
    "cli",
    "exit_code",
    "main",
]


class ExitCode(IntEnum):
    """How a command ended; the numbers are a contract."""

    OK = 0
    BUG = 1
    USAGE = 2
    """The command cannot be carried out as it was typed, or not with what is installed."""
    BAD_INPUT = 3
    """Data, a plan or a message that are not what they should be."""
    REFUSED = 4
    """A disclosure or privacy rule refuses the release."""
    SILO_MISSING = 5
    """A silo of the roster sent nothing, and all were required."""
    NETWORK = 6
    ABOVE = 10
    """The disparity is above the review level, and that was to be told so."""
    INTERRUPTED = 130
    """Ctrl-C: 128 and the number of the signal, as in shells."""
    PIPE_CLOSED = 141
    """Whoever read the output stopped reading."""


_BY_ERROR: tuple[tuple[type[FedparityError], ExitCode], ...] = (
    (DatabaseUnreachableError, ExitCode.NETWORK),
    (DisclosureError, ExitCode.REFUSED),
    (MissingSiloError, ExitCode.SILO_MISSING),
    (MissingExtraError, ExitCode.USAGE),
    (OptionError, ExitCode.USAGE),
    (OutputError, ExitCode.USAGE),
    (InputError, ExitCode.BAD_INPUT),
)
"""The first class that fits decides."""


def exit_code(error: FedparityError) -> ExitCode:
    """Return the code that a command ends with after this error.

    Examples
    --------
    >>> exit_code(OptionError.unknown("sketch", "median", ("quantile", "mean"))).name
    'USAGE'
    """
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), ExitCode.BUG)


TRACEBACK = "FEDPARITY_TRACEBACK"
"""The variable that asks for tracebacks; they may show data, so nothing else does."""


class _PipeClosedError(Exception):
    """Whoever read the output stopped; click would call that a failure of its own."""


class GuardedGroup(LazyGroup):
    """The outermost group: errors become ``error:`` and ``fix:`` on the standard error stream."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _PipeClosedError from None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 -- click's signature
        **extra: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Run a command and end the process."""
        typed = list(sys.argv[1:] if args is None else args)

        def run() -> Any:  # noqa: ANN401
            return super(GuardedGroup, self).main(typed, prog_name, complete_var, False, **extra)

        if not standalone_mode:
            return run()
        try:
            ended = run()
        except Exception as error:  # noqa: BLE001 -- the outermost place there is
            _end(error, typed)
        sys.exit(ended if isinstance(ended, int) else ExitCode.OK)


def _end(error: Exception, typed: Sequence[str]) -> NoReturn:
    if isinstance(error, FedparityError):
        click.echo(f"error: {error}", err=True)
        sys.exit(exit_code(error))
    if isinstance(error, click.Abort):  # click's word for Ctrl-C
        click.echo(
            "error: interrupted; nothing was left half-written.\nfix: run it again.", err=True
        )
        sys.exit(ExitCode.INTERRUPTED)
    if isinstance(error, click.ClickException):
        _tell_usage(error)
        sys.exit(ExitCode.USAGE)
    if isinstance(error, _PipeClosedError):
        _forget_output()
        sys.exit(ExitCode.PIPE_CLOSED)
    if isinstance(error, OSError):
        click.echo(f"error: {_refused_by_system(error)}", err=True)
        sys.exit(ExitCode.USAGE)
    if "--traceback" in typed or os.environ.get(TRACEBACK) not in (None, "", "0"):
        traceback.print_exception(error)
    click.echo(f"error: {_unexpected(error)}", err=True)
    sys.exit(ExitCode.BUG)


def _tell_usage(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    path = "fedparity" if context is None else context.command_path
    if context is not None:
        click.echo(context.get_usage(), err=True)
    message = printable(error.format_message())
    message = message[:1].lower() + message[1:]
    click.echo(f"error: {message}\nfix: see {path} --help.", err=True)


def _refused_by_system(error: OSError) -> str:
    place = "" if error.filename is None else f" ({printable(error.filename)})"
    reason = (error.strerror or type(error).__name__).lower()
    return (
        f"the system does not allow it: {reason}{place}.\n"
        "fix: check paths, permissions and free space."
    )


def _unexpected(error: Exception) -> str:
    """Where it happened, but not what the error says: that may be somebody's data."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}fedparity{os.sep}" in frame.filename]
    last = (own or frames)[-1]
    place = f"{os.path.basename(last.filename)}, line {last.lineno}"  # noqa: PTH119
    return (
        f"an unexpected {type(error).__name__} in {place}: this is a bug of fedparity.\n"
        f"fix: please report it; fedparity --traceback (or {TRACEBACK}=1) shows where it comes "
        "from, and may show data."
    )


def _forget_output() -> None:
    """Let the interpreter's last flush go nowhere instead of failing again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


_COMMANDS = {
    "demo": Place("demo_commands", "demo", "Audit five synthetic hospitals, from data to answer."),
    "plan": Place("plan_commands", "plan", "Plan an audit before any silo is asked for numbers."),
    "sketch": Place(
        "sketch_commands", "sketch", "Reduce a silo's table to the numbers that may leave."
    ),
    "secure": Place(
        "secure_commands", "secure", "Add up the silos' counts; the auditor sees the sum."
    ),
    "policy": Place(
        "policy_commands", "policy", "Say what may leave this silo, whatever a plan asks for."
    ),
    "ledger": Place(
        "ledger_commands", "ledger", "Show, check and correct the record of what left this silo."
    ),
    "approve": Place("policy_commands", "approve", "Agree to a plan before this silo answers it."),
    "verify": Place("verify_commands", "verify", "Check the silos' messages against the plan."),
    "audit": Place(
        "audit_commands", "audit", "Measure the disparity of all silos from their messages."
    ),
    "engine": Place(
        "engine_commands", "engine", "Ask the silos over a network instead of by files."
    ),
    "simulate": Place(
        "simulate_commands", "simulate", "Audit one table that has a column of silos."
    ),
    "report": Place("report_commands", "report", "Make a page, a PDF or Markdown of a result."),
    "keygen": Place("key_commands", "keygen", "Make a key to sign messages with."),
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
