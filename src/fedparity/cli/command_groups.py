"""The tree of commands: every group with its help, and where each command is.

A group knows its commands by name and by one line of help; the module of a command is imported when it
is called, so ``--help`` of any group imports none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = [
    "COMMANDS",
    "LazyGroup",
    "Place",
    "engine",
    "flower",
    "is_quiet",
    "ledger",
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

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which they are used."""
        return list(self.places)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Return a command, or None if there is none of this name."""
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
    "plan": Place("command_groups", "Plan an audit before any silo is asked for numbers."),
    "sketch": Place("sketch_commands", "Reduce a silo's table to the numbers that may leave."),
    "secure": Place("command_groups", "Add up the silos' counts; the auditor sees the sum."),
    "policy": Place("command_groups", "Say what may leave this silo, whatever a plan asks for."),
    "ledger": Place(
        "command_groups", "Show, check and correct the record of what left this silo."
    ),
    "approve": Place("policy_commands", "Agree to a plan before this silo answers it."),
    "verify": Place("verify_commands", "Check the silos' messages against the plan."),
    "audit": Place("audit_commands", "Measure the disparity of all silos from their messages."),
    "engine": Place("command_groups", "Ask the silos over a network instead of by files."),
    "serve": Place("serve_commands", "Collect the silos' messages with a small service."),
    "send": Place("serve_commands", "Send a message to a collector."),
    "simulate": Place("simulate_commands", "Audit one table that has a column of silos."),
    "report": Place("report_commands", "Make a page, a PDF or Markdown of a result."),
    "keygen": Place("key_commands", "Make a key to sign messages with."),
}
"""In the order of an audit."""


@click.group(
    cls=LazyGroup,
    places={
        "new": Place("plans.plan_commands", "Write a plan: asks on a terminal, or takes options."),
        "check": Place("plans.plan_commands", "Find every mistake of a plan, with line and fix."),
        "show": Place("plans.plan_commands", "Say in plain words what a plan asks for."),
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
        "request": Place("secure_commands", "Auditor, step 4: say whose numbers came."),
        "consent": Place("secure_commands", "Silo, step 5: sign that list (with keys)."),
        "unmask": Place("secure_commands", "Silo, step 6: help to open that one sum."),
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
    """Say what may leave this silo, whatever a plan asks for.

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


@click.group(
    cls=LazyGroup, places={"flower": Place("command_groups", "Ask the silos over Flower.")}
)
def engine() -> None:
    """Ask the silos over a network instead of by files.

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
