"""Every way in which a command can end, turned into a message and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from fedparity.cli.exits import ExitCode, exit_code
from fedparity.cli.lazy import LazyGroup
from fedparity.errors import FedparityError
from fedparity.errors.base import printable

__all__ = ["TRACEBACK", "GuardedGroup"]

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
