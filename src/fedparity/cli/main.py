"""The ``fedparity`` command: what it is called with, and how it ends."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NoReturn

import click

from fedparity.cli.command_groups import COMMANDS, LazyGroup
from fedparity.errors import (
    CollectorUnreachableError,
    DatabaseUnreachableError,
    DisclosureError,
    FedparityError,
    InputError,
    MissingExtraError,
    MissingSiloError,
    NotAllowedError,
    OptionError,
    OutputError,
)
from fedparity.errors.base import printable
from fedparity.version import __version__

__all__ = [
    "TRACEBACK",
    "ExitCode",
    "RootGroup",
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
    """A silo of the roster sent nothing, and ``--require-all`` was given."""
    NETWORK = 6
    ABOVE = 10
    """The disparity is above the review level, and ``--fail-above`` was given."""
    INTERRUPTED = 130
    """Ctrl-C: 128 and the number of the signal, as in shells."""
    PIPE_CLOSED = 141
    """The reader of the output stopped reading."""


_BY_ERROR: tuple[tuple[type[FedparityError], ExitCode], ...] = (
    (DatabaseUnreachableError, ExitCode.NETWORK),
    (CollectorUnreachableError, ExitCode.NETWORK),
    (NotAllowedError, ExitCode.REFUSED),
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
"""The variable that switches tracebacks on; they may show data, so they are off by default."""


class _PipeClosedError(Exception):
    """The reader of the output stopped; click would report a failure of its own."""


class RootGroup(LazyGroup):
    """The error boundary: errors become ``error:`` and ``fix:`` on the standard error stream."""

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
            return super(RootGroup, self).main(typed, prog_name, complete_var, False, **extra)

        if not standalone_mode:
            return run()
        try:
            ended = run()
        except Exception as error:  # noqa: BLE001 -- the error boundary
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
        _print_usage(error)
        sys.exit(ExitCode.USAGE)
    if isinstance(error, _PipeClosedError):
        _discard_output()
        sys.exit(ExitCode.PIPE_CLOSED)
    if isinstance(error, OSError):
        click.echo(f"error: {_system_text(error)}", err=True)
        sys.exit(ExitCode.USAGE)
    if "--traceback" in typed or os.environ.get(TRACEBACK) not in (None, "", "0"):
        traceback.print_exception(error)
    click.echo(f"error: {_bug_text(error)}", err=True)
    sys.exit(ExitCode.BUG)


def _print_usage(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    path = "fedparity" if context is None else context.command_path
    if context is not None:
        click.echo(context.get_usage(), err=True)
    message = printable(error.format_message())
    message = message[:1].lower() + message[1:]
    click.echo(f"error: {message}\nfix: see {path} --help.", err=True)


def _system_text(error: OSError) -> str:
    place = "" if error.filename is None else f" ({printable(error.filename)})"
    reason = (error.strerror or type(error).__name__).lower()
    return (
        f"the system does not allow it: {reason}{place}.\n"
        "fix: check paths, permissions and free space."
    )


def _bug_text(error: Exception) -> str:
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


def _discard_output() -> None:
    """Let the interpreter's last flush go nowhere instead of failing again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


@click.group(
    cls=RootGroup,
    places=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="fedparity")
@click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    help=f"Show a full traceback (it may contain data).  [env: {TRACEBACK}]",
)
def cli() -> None:
    """Measure disparity between groups across institutions that share no records.

    Each silo (a hospital, a bank, a court) sends, per group, a count and up to k summary values
    of its scores. The auditor computes from them how far the groups are apart, where that comes
    from, and what each silo would have seen alone.

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
