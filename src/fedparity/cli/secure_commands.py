"""What the silo's steps of a secure sum have in common: options, the state, what is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import click
import numpy as np
import numpy.typing as npt

from fedparity.cli.key_commands import SIGN_OPTIONS, signing_key
from fedparity.cli.lazy import LazyGroup, Place
from fedparity.cli.message_files import message_files
from fedparity.cli.options import (
    data_of,
    law_options,
    permit_of,
    policy_option,
    reading_of,
    table_options,
    weaker_option,
)
from fedparity.cli.output import progress_bar
from fedparity.documents.files import file_name, refuse_existing
from fedparity.documents.plan import Plan
from fedparity.documents.policy_file import find_policy
from fedparity.errors.base import printable
from fedparity.modes.measurement import ComputeOptions
from fedparity.modes.mode import StepName
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import (
    Inbox,
    roster_of,
    secure_terms,
    threshold_of,
)
from fedparity.modes.secure.round_messages import RoundMessage, SiloRoundMessage
from fedparity.modes.secure.round_progress import request_for
from fedparity.modes.secure.rounds import silo_step
from fedparity.modes.secure.secure_mode import SecureMode, unprotected
from fedparity.modes.secure.silo_state import StateFile
from fedparity.silo.permit import lawful
from fedparity.sketches.records import Records
from fedparity.tables.opening import open_records
from fedparity.text import wrapped

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = [
    "SiloStep",
    "consent",
    "dry_run_text",
    "inbox_of",
    "keys",
    "mask",
    "report_written",
    "request",
    "secure",
    "shares",
    "silo_options",
    "unmask",
]

_WORDS = {
    "counts": "records of each group in each bin",
    "dropped": "rows without a score",
}


def dry_run_text(plan: Plan, silo: str, width: int = 80) -> str:
    """Return what is summed, what is seen, and by whom; no number of the table is in it."""
    layout = Layout.of(plan)
    silos, threshold = len(roster_of(plan)), threshold_of(plan)
    lines = [
        *wrapped(f"{silo}: what would leave under “{plan.title}”", width),
        "",
        *wrapped(
            f"{layout.length:,} numbers of 64 bits, each hidden by masks; alone they are random. "
            f"Added up over the silos ({threshold} of {silos} at least), the masks cancel:",
            width,
        ),
    ]
    for name, shape in layout.shapes.items():
        size = " x ".join(f"{number:,}" for number in shape)
        lines += wrapped(f"{_WORDS[name]} ({size})", width, first="  - ", rest="    ")
    lines += ["", *wrapped(_noise_words(plan), width), ""]
    lines += wrapped(unprotected(plan), width)
    return "\n".join(lines)


def _noise_words(plan: Plan) -> str:
    terms = secure_terms(plan)
    if terms.epsilon is None:
        return "No noise is added: the sums are exact."
    if terms.dose == "split":
        return (
            f"Noise is added first: this silo's part of one dose, epsilon = {terms.epsilon:g}, which "
            f"{terms.honest} silos together make."
        )
    return f"Noise is added first: a full dose of this silo, epsilon = {terms.epsilon:g}."


Command: TypeAlias = Callable[..., None]


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

    def made(
        self,
        name: StepName,
        messages: tuple[str, ...] = (),
        count: Callable[[], npt.NDArray[np.int64]] | None = None,
    ) -> AbstractContextManager[SiloRoundMessage]:
        """Make the step, or take its message again, with the state on disk before the body runs."""
        return silo_step(
            self.plan,
            self.silo,
            name,
            self.state,
            inbox=lambda: inbox_of(messages),
            count=count,
            key=lambda: self.key,
            resend=lambda _: self.resend,
        )

    def write(self, name: StepName, messages: tuple[str, ...] = ()) -> SiloRoundMessage:
        """Make the step, and write its message."""
        with self.made(name, messages) as message:
            message.write(self.output, force=self.force)
        return message

    def report(self, message: SiloRoundMessage, next_step: str) -> None:
        """Say what was written, and what to do with it."""
        report_written(message, self.output, next_step, as_json=self.as_json)


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


_COMMANDS = {
    "keys": Place("secure_commands", "keys", "Silo, step 1: publish keys for this round."),
    "shares": Place("secure_commands", "shares", "Silo, step 2: split its secrets for all silos."),
    "mask": Place("secure_commands", "mask", "Silo, step 3: send its numbers, hidden by masks."),
    "request": Place("secure_commands", "request", "Auditor, step 4: say whose numbers came."),
    "consent": Place("secure_commands", "consent", "Silo, step 5: sign that list (with keys)."),
    "unmask": Place("secure_commands", "unmask", "Silo, step 6: help to open that one sum."),
}
"""In the order of a round."""


@click.group(cls=LazyGroup, places=_COMMANDS)
def secure() -> None:
    """Add up the silos' counts; the auditor sees the sum.

    With [keys] in the plan, 2t - d of the d silos together with the auditor could see another's
    own counts (t is the threshold), fewer of them the sum of the others. Without keys whoever
    carries the files could.

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


_AFTER_KEYS = "send the file to all silos and the auditor; keep the state file secret"


@click.command(short_help="Silo, step 1: publish keys for this round.")
@click.argument("plan", type=click.Path())
@silo_options()
@click.pass_context
def keys(context: click.Context, /, **_: object) -> None:
    """Start a round under PLAN: write NAME.keys.json, two public keys for this silo.

    Their private halves are in NAME.secure-state, readable by you alone; without it the round
    goes on without this silo. A new round needs a new state file.

    \b
    Examples:
      fedparity secure keys plan.toml --silo aurora
      fedparity secure keys plan.toml --silo aurora --sign aurora.key
    """
    step = SiloStep.of(dict(context.params), "keys")
    message = step.write("keys")
    if not step.plan.keys:
        click.echo(
            "warning: the plan has no [keys]: whoever carries the messages could put keys in between "
            "and read this silo's own numbers",
            err=True,
        )
    step.report(message, _AFTER_KEYS)


_AFTER_SHARES = "send the file to all silos and the auditor"


@click.command(short_help="Silo, step 2: split its secrets for all silos.")
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@silo_options()
@click.pass_context
def shares(context: click.Context, /, **_: object) -> None:
    """Write NAME.shares.json, for which the keys of all silos must be among MESSAGES.

    MESSAGES are files, patterns, or folders of files that end in .json. Each silo can open its
    own share only; as many as the plan's threshold are needed to make use of them.

    \b
    Examples:
      fedparity secure shares plan.toml inbox --silo aurora
      fedparity secure shares plan.toml inbox --silo aurora --sign aurora.key
    """
    step = SiloStep.of(dict(context.params), "shares")
    step.report(step.write("shares", context.params["messages"]), _AFTER_SHARES)


_AFTER_MASK = "send the file to the auditor"


@click.command(short_help="Silo, step 3: send its numbers, hidden by masks.")
@click.argument("plan", type=click.Path())
@click.argument("data", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@silo_options(releasing=True)
@table_options
@click.option(
    "--threads", type=click.IntRange(min=1), help="Threads to use.  [default: one per core]"
)
@click.option("--dry-run", is_flag=True, help="Read the table, say what would leave, and stop.")
@law_options
@click.pass_context
def mask(context: click.Context, /, **_: object) -> None:
    """Count the table DATA on the plan's grid and write NAME.mask.json: random numbers.

    Only the sum over the silos, opened in step 6, means anything. The keys and shares of all
    silos must be among MESSAGES; every share for this silo is opened and checked before the
    table is read. A silo masks once per round, and takes part in one sum per data set: the
    ledger refuses another. Exit code 4 if a rule refuses the step.

    \b
    Examples:
      fedparity secure mask plan.toml patients.csv inbox --silo aurora \\
        --score risk --group sex
      fedparity secure mask plan.toml 'visits/*.parquet' inbox --silo aurora \\
        --score risk --group sex --where "year = 2026" --sign aurora.key
      fedparity secure mask plan.toml inbox --url-file clinic.url --table visits \\
        --silo aurora --score risk --group sex
    """
    options = dict(context.params)
    if options["url_file"] is not None:  # then there is no DATA, and all the rest are messages
        options |= {"data": None, "messages": (options["data"], *options["messages"])}
    options["data"] = data_of(options)
    reading = reading_of(options)
    step = SiloStep.of(options | {"force": options["force"] or options["dry_run"]}, "mask")
    mode = SecureMode(step.plan)
    mode.check_unweighted(weighted=reading["weight"] is not None)
    permit = permit_of(options, step.plan, step.silo, options["data"])
    if options["dry_run"]:
        with _read(step, options, reading) as (records, computing):
            mode.preview(records, step.silo, computing)
        click.echo(dry_run_text(step.plan, step.silo))
        return

    def count() -> npt.NDArray[np.int64]:
        permit.check()
        with _read(step, options, reading) as (records, computing):
            return mode.vector(records, computing)

    with step.made("mask", options["messages"], count) as message:
        permit.write(step.output, message, force=step.force)
    step.report(message, _AFTER_MASK)


@contextmanager
def _read(
    step: SiloStep, options: dict[str, Any], reading: dict[str, Any]
) -> Iterator[tuple[Records, ComputeOptions]]:
    """The records of the table, and what may be used to count them."""
    with progress_bar("rows") as progress:
        records = open_records(options["data"], groups=step.plan.groups, **reading)
        yield records, ComputeOptions(threads=options["threads"], progress=progress)


_AFTER_CONSENT = "send the file to all silos"


@click.command(short_help="Silo, step 5: sign that list (with keys).")
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@silo_options()
@click.pass_context
def consent(context: click.Context, /, **_: object) -> None:
    """Write NAME.consent.json: this silo's signature under the request among MESSAGES.

    Only for plans with [keys]. A silo answers a request once as many silos as the threshold, t,
    have signed it. An auditor who shows different lists to different silos then needs 2t - d of
    the d silos to sign both.

    \b
    Examples:
      fedparity secure consent plan.toml request.json --silo aurora \\
        --sign aurora.key
    """
    step = SiloStep.of(dict(context.params), "consent")
    if not step.resend and (step.key is None or not step.plan.keys):
        raise click.UsageError("the plan has no keys: go on with fedparity secure unmask.")
    step.report(step.write("consent", context.params["messages"]), _AFTER_CONSENT)


@click.command(short_help="Auditor, step 4: say whose numbers came.")
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="request.json",
    show_default=True,
    help="File to write.",
)
@click.option("--force", is_flag=True, help="Replace an existing output file.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def request(
    plan: str, messages: tuple[str, ...], output: str, *, force: bool, as_json: bool
) -> None:
    """Write the request to open the sum of all masked numbers among MESSAGES.

    Wait until no further silo is expected: a silo answers one request per round. Silos that are
    not in it have dropped out.

    \b
    Examples:
      fedparity secure request plan.toml inbox
      fedparity secure request plan.toml inbox -o inbox/request.json
    """
    if not force:
        refuse_existing(output)
    asked = Plan.read(plan)
    made = request_for(asked, inbox_of(messages))
    made.write(output, force=force)
    came, silos = len(made.survivors), len(asked.silos or ())
    click.echo(f"{came} of {silos} silos are in the sum", err=True)
    step = "consent, then unmask" if asked.keys else "unmask"
    report_written(made, output, f"send the file to all of them: {step}", as_json=as_json)


_AFTER_UNMASK = "send the file to the auditor; this silo's part of the round is done"


@click.command(short_help="Silo, step 6: help to open that one sum.")
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@silo_options()
@click.pass_context
def unmask(context: click.Context, /, **_: object) -> None:
    """Write NAME.unmask.json: this silo's answer to the request among MESSAGES.

    Of each silo that is in the sum it holds a share of its seed, of each that dropped out one of
    its key, never both. It is refused if the list is shorter than the threshold, leaves this
    silo out, or is a second one. Exit code 4 then.

    \b
    Examples:
      fedparity secure unmask plan.toml request.json --silo aurora
      fedparity secure unmask plan.toml inbox --silo aurora --sign aurora.key
    """
    step = SiloStep.of(dict(context.params), "unmask")
    step.report(step.write("unmask", context.params["messages"]), _AFTER_UNMASK)
