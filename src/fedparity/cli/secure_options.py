"""What the silo's steps of a secure sum have in common: options, the state, what is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from fedparity.cli.law_options import policy_option, weaker_option
from fedparity.cli.message_files import message_files
from fedparity.cli.signing import SIGN_OPTIONS, signing_key
from fedparity.errors.base import printable
from fedparity.protocol.file_names import file_name
from fedparity.protocol.files import refuse_existing
from fedparity.protocol.plan import Plan
from fedparity.protocol.policy_reading import find_policy
from fedparity.protocol.secure.reading import Inbox
from fedparity.protocol.secure.round_message import RoundMessage, SiloRoundMessage
from fedparity.releasing.permit import lawful
from fedparity.releasing.secure.state import RoundState
from fedparity.releasing.secure.state_file import StateFile

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Command: TypeAlias = Callable[..., None]

__all__ = ["SiloStep", "inbox_of", "report_written", "silo_options"]

_OPTIONS = (
    click.option("--silo", required=True, metavar="NAME", help="This silo's name in the plan."),
    click.option(
        "--state",
        metavar="FILE",
        help="The round's secrets, which stay here.  [default: NAME.secure-state]",
    ),
    *SIGN_OPTIONS,
    click.option("-o", "--output", metavar="FILE", help="File to write.  [default: see above]"),
    click.option("--force", is_flag=True, help="Replace an existing output file."),
    click.option(
        "--resend", is_flag=True, help="Write the message of this step again; compute nothing."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON."),
)
_LAW = (policy_option, weaker_option)


def silo_options(*, releasing: bool = False) -> Callable[[Command], Command]:
    """Return what gives a command the options of a silo's step; one that releases has its own law."""

    def decorate(command: Command) -> Command:
        for option in reversed(_OPTIONS if releasing else (*_OPTIONS, *_LAW)):
            command = option(command)
        return command

    return decorate


@dataclass(frozen=True)
class SiloStep:
    """One step of a silo: where its state is, and where its message goes."""

    plan: Plan
    silo: str
    state: StateFile
    output: str
    force: bool
    resend: bool
    as_json: bool
    key: Ed25519PrivateKey | None

    @classmethod
    def of(cls, options: dict[str, Any], ending: str) -> SiloStep:
        """Return the step that these options ask for.

        Raises
        ------
        RuleError
            If the silo's policy forbids the plan.
        OutputError
            If the output file exists; before anything is done.
        """
        name = file_name(options["silo"])
        output = options["output"] or f"{name}.{ending}.json"
        plan = Plan.read(options["plan"])
        lawful(plan, find_policy(options["policy"]), options["allow_weaker"])
        if not options["force"]:
            refuse_existing(output)
        if plan.keys and not options["sign"] and not options["resend"]:
            raise click.UsageError("the plan has keys, so the message must be signed: --sign KEY.")
        return cls(
            plan=plan,
            silo=options["silo"],
            state=StateFile(options["state"] or f"{name}.secure-state"),
            output=output,
            force=options["force"],
            resend=options["resend"],
            as_json=options["as_json"],
            key=signing_key(options),
        )

    def check(self, state: RoundState) -> RoundState:
        """Return the state if it is of this plan and silo."""
        if (state.plan, state.silo) != (self.plan.digest, self.silo):
            from fedparity.errors import RoundStateError  # noqa: PLC0415 -- only where it is wrong

            raise RoundStateError.other_plan(self.state.path)
        return state

    def write(self, message: SiloRoundMessage) -> None:
        """Write a step's message, whose state is on disk, and say so."""
        message.write(self.output, force=self.force)


def inbox_of(names: tuple[str, ...]) -> Inbox:
    """Return the messages of files, patterns and folders."""
    return Inbox.of(message_files(names))


def report_written(message: RoundMessage, output: str, next_step: str, *, as_json: bool) -> None:
    """Say what was written, and what to do with it."""
    if as_json:
        document = {
            "file": output,
            "schema": message.schema,
            "digest": message.digest,
            "bytes": len(message.to_bytes()),
        }
        click.echo(json.dumps(document, indent=2))
    click.echo(f"wrote {printable(output)}\ndigest {message.digest}\nnext: {next_step}", err=True)
