"""The ``fedparity`` command: the tree of commands, what it is called with, and how it ends."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from enum import IntEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

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

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = [
    "COMMANDS",
    "TRACEBACK",
    "ExitCode",
    "LazyGroup",
    "Place",
    "RootGroup",
    "cli",
    "engine",
    "exit_code",
    "flower",
    "is_quiet",
    "ledger",
    "main",
    "plan",
    "policy",
    "secure",
]


class Place(NamedTuple):
    """Where a command is, and its help in one line."""

    module: str
    """Of ``fedparity.cli``; the command has the same name in it as on the command line."""
    short_help: str


_QUIET = "fedparity.quiet"
"""The key in what a command's contexts share."""


def _set_quiet(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 -- click's signature
    if value:
        context.meta[_QUIET] = True


def is_quiet() -> bool:
    """Return whether the command that runs was called with ``--quiet``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


def _with_quiet(command: click.Command) -> click.Command:
    """Give a command, and those below it, the option that all commands have."""
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        _with_quiet(below)
    if not any(parameter.name == "quiet" for parameter in command.params):
        quiet = click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            callback=_set_quiet,
            help="Print no notes and no progress; warnings and errors stay.",
        )
        command.params.append(quiet)
    return command


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and prints its help when none is."""

    def __init__(self, *args: Any, places: Mapping[str, Place], **options: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **options)
        self.places = dict(places)
        _with_quiet(self)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; without any, print the help: a first look is not a mistake."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names; of a misspelled one say the nearest."""
        name = args[0]
        from difflib import get_close_matches  # noqa: PLC0415 -- only after a mistake

        near = () if name in self.places else get_close_matches(name, self.places, n=1)
        if near and not ctx.resilient_parsing:
            ctx.fail(f"no such command {name!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which they are used."""
        return list(self.places)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Return the command of this name, or None."""
        if name not in self.places:
            return None
        place = self.places[name]
        command: click.Command = getattr(import_module(f"fedparity.cli.{place.module}"), name)
        command.short_help = place.short_help
        return _with_quiet(command)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what the shell offers: names of commands, without importing any, and options."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 -- only the shell asks

        names = [name for name in self.places if name.startswith(incomplete)]
        offered = [CompletionItem(name, help=self.places[name].short_help) for name in names]
        return offered + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.short_help) for name, place in self.places.items()])


COMMANDS = {
    "demo": Place("demo_commands", "Audit five synthetic hospitals, from data to answer."),
    "doctor": Place("doctor_commands", "Say what is installed, and whether a plan fits a table."),
    "plan": Place("main", "Plan an audit before any silo is asked for numbers."),
    "sketch": Place("sketch_commands", "Reduce a silo's table to the numbers that may leave."),
    "page": Place("page_commands", "Write a page that sketches a silo's table in a browser."),
    "secure": Place("main", "Add up the silos' counts; the auditor sees the sum."),
    "policy": Place("main", "Say what may leave this silo, whatever a plan requests."),
    "ledger": Place("main", "Show, check and correct the record of what left this silo."),
    "approve": Place("policy_commands", "Agree to a plan before this silo answers it."),
    "verify": Place("verify_commands", "Check the silos' messages against the plan."),
    "audit": Place("audit_commands", "Measure the disparity of all silos from their messages."),
    "engine": Place("main", "Exchange messages over a network instead of as files."),
    "serve": Place("serve_commands", "Collect the silos' messages with a small service."),
    "send": Place("serve_commands", "Send a message to a collector."),
    "simulate": Place("simulate_commands", "Audit one table that has a column of silos."),
    "report": Place("audit_commands", "Make a page, a PDF or Markdown of a result."),
    "keygen": Place("key_commands", "Make a key to sign messages with."),
}
"""In the order of an audit."""


@click.group(
    cls=LazyGroup,
    places={
        "new": Place(
            "plans.plan_commands", "Write a plan, by questions on a terminal or by options."
        ),
        "check": Place("plans.plan_commands", "Find every mistake of a plan, with line and fix."),
        "show": Place("plans.plan_commands", "Explain in plain words what a plan requests."),
        "letter": Place(
            "plans.plan_commands", "Write what travels: letter, data use, commands to copy."
        ),
        "sign": Place(
            "plans.plan_commands", "Sign a plan, for silos that obey only known auditors."
        ),
        "size": Place(
            "plans.planning_commands", "Say how large an audit must be, or what one detects."
        ),
        "privacy": Place(
            "plans.planning_commands", "Say what noise costs in accuracy, before it is drawn."
        ),
    },
)
def plan() -> None:
    """Plan an audit before any silo is asked for numbers.

    \b
    Examples:
      fedparity plan new
      fedparity plan check plan.toml
      fedparity plan show plan.toml
      fedparity plan letter plan.toml -o letters
    """


@click.group(
    cls=LazyGroup,
    places={  # in the order of a round
        "keys": Place("secure_commands", "Silo, step 1: publish keys for this round."),
        "shares": Place("secure_commands", "Silo, step 2: split its secrets for all silos."),
        "mask": Place("secure_commands", "Silo, step 3: send its numbers, hidden by masks."),
        "request": Place(
            "secure_commands", "Auditor, step 4: list the silos whose numbers arrived."
        ),
        "consent": Place("secure_commands", "Silo, step 5: sign that list (with keys)."),
        "unmask": Place("secure_commands", "Silo, step 6: help to open that one sum."),
        "run": Place("secure_commands", "Silo: all steps, through a collector."),
    },
)
def secure() -> None:
    """Add up the silos' counts; the auditor sees the sum.

    With [keys] in the plan, 2t - d of the d silos together with the auditor could see another's
    own counts (t is the threshold), fewer of them the sum of the others. Without keys, those who
    carry the files could.

    Every step writes one file; files go to a folder that all can read. Three silos or more take
    part. One that drops out after step 2 is left out of the sum; step 4 needs as many silos as
    the plan's threshold. fedparity audit then reads the whole folder.

    \b
    Examples:
      fedparity secure keys plan.toml --silo aurora
      fedparity secure shares plan.toml inbox --silo aurora
      fedparity secure mask plan.toml patients.csv inbox --silo aurora \\
        --score risk --group sex
      fedparity secure request plan.toml inbox
      fedparity secure unmask plan.toml inbox --silo aurora
      fedparity secure run plan.toml patients.csv --silo aurora --score risk \\
        --group sex --to https://audit.example.org --token-file token.txt
    """


@click.group(
    cls=LazyGroup,
    places={
        "check": Place("policy_commands", "Check a policy, and whether it allows a plan."),
        "dossier": Place(
            "policy_commands", "Print this silo's page for its security office, in Markdown."
        ),
        "new": Place("policy_commands", "Write a policy with every key and its meaning."),
        "show": Place("policy_commands", "Say in plain words what this silo allows."),
    },
)
def policy() -> None:
    """Say what may leave this silo, whatever a plan requests.

    The policy is a file of this silo: --policy FILE, $FEDPARITY_POLICY, or fedparity/policy.toml
    in this user's folder for configuration. Without one, the default rules of plans are the
    minimum.

    \b
    Examples:
      fedparity policy new
      fedparity policy check policy.toml plan.toml
      fedparity policy show
    """


@click.group(
    cls=LazyGroup,
    places={
        "add": Place("ledger_commands", "Enter a message that left, after a ledger was lost."),
        "init": Place("ledger_commands", "Begin a ledger; say why if an earlier one is lost."),
        "show": Place("ledger_commands", "Print what left, and what was said of it."),
        "verify": Place("ledger_commands", "Check that no line was changed or taken out."),
        "void": Place(
            "ledger_commands", "Say that a message was wrong, so that it can be replaced."
        ),
    },
)
def ledger() -> None:
    """Show, check and correct the record of what left this silo.

    The ledger is a local file: --ledger FILE, that of the policy, $FEDPARITY_LEDGER, or
    fedparity/ledger.jsonl in this user's folder for state. Every line holds the digest of the
    one before it. Lines are only ever added.

    \b
    Examples:
      fedparity ledger show
      fedparity ledger verify
      fedparity ledger void sha256:1f2e3d4c5b6a --because "wrong month"
    """


@click.group(cls=LazyGroup, places={"flower": Place("main", "Exchange messages over Flower.")})
def engine() -> None:
    """Exchange messages over a network instead of as files.

    The messages, the rules and the result are the same. Silos that let nobody's program run
    on their machines use files.

    \b
    Examples:
      fedparity engine flower new audit --plan plan.toml
    """


@click.group(
    cls=LazyGroup,
    places={
        "new": Place("engine_commands", "Auditor: write the app of a plan."),
        "preview": Place("engine_commands", "Silo: see what would leave."),
        "start": Place("engine_commands", "Run a command of Flower, quietly."),
    },
)
def flower() -> None:
    """Exchange messages over Flower.

    \b
    Examples:
      fedparity engine flower new audit --plan plan.toml
      fedparity engine flower preview aurora.toml --plan plan.toml
      fedparity engine flower start flower-supernode --node-config aurora.toml \\
        --superlink auditor.example:8000 --root-certificates ca.crt \\
        --auth-supernode-private-key aurora.key
      fedparity engine flower start flwr run audit consortium --stream
    """


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


_CLICK_TYPES = {
    "is not a valid float range": "is not a number",
    "is not a valid float": "is not a number",
    "is not a valid integer range": "is not a whole number",
    "is not a valid integer": "is not a whole number",
}


def _print_usage(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    path = "fedparity" if context is None else context.command_path
    if context is not None:
        click.echo(context.get_usage(), err=True)
    message = printable(error.format_message())
    message = message[:1].lower() + message[1:]
    for words, plain in _CLICK_TYPES.items():
        message = message.replace(words, plain)
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
