"""``fedparity secure``: the steps of a secure sum; those of a silo keep a state on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import numpy as np
import numpy.typing as npt

from fedparity.cli.message_files import message_files
from fedparity.cli.options import (
    CollectorOptions,
    PolicyOptions,
    ReleaseOptions,
    SigningOptions,
    TableOptions,
    nested,
    option,
    reading_words,
    with_options,
)
from fedparity.cli.output import note, progress_bar
from fedparity.cli.settings_file import SettingsOptions
from fedparity.documents.files import file_name, refuse_existing
from fedparity.documents.plan import Plan
from fedparity.errors.base import printable
from fedparity.modes.mode import StepName
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import Inbox, roster_of, secure_terms, threshold_of
from fedparity.modes.secure.round_messages import RoundMessage, SiloRoundMessage
from fedparity.modes.secure.round_progress import request_for
from fedparity.modes.secure.rounds import silo_step
from fedparity.modes.secure.secure_mode import SecureMode, unprotected
from fedparity.modes.secure.silo_state import StateFile
from fedparity.silo.permit import find_policy, lawful
from fedparity.sketches.records import Records
from fedparity.sketches.select import ComputeOptions
from fedparity.tables.opening import planned_records
from fedparity.text import wrapped

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["consent", "dry_run_text", "keys", "mask", "request", "run", "shares", "unmask"]


@dataclass(frozen=True)
class _StateOptions:
    """Who takes part, and where its secrets are."""

    silo: str = option("--silo NAME", "This silo's name in the plan.", required=True)
    state: str | None = option(
        "--state FILE", "The round's secrets, which stay here.  [default: NAME.secure-state]"
    )
    signing: SigningOptions = nested(SigningOptions)

    def state_file(self) -> StateFile:
        """Return where the state of the round is."""
        return StateFile(self.state or f"{file_name(self.silo)}.secure-state")


@dataclass(frozen=True)
class _SiloOptions(_StateOptions):
    """The options of every step of a silo."""

    output: str | None = option("-o, --output FILE", "File to write.  [default: see above]")
    force: bool = option("--force", "Replace an existing output file.")
    resend: bool = option("--resend", "Write the message of this step again; compute nothing.")
    as_json: bool = option("--json", "Print what was written as JSON.")


@dataclass(frozen=True)
class StepOptions(_SiloOptions):
    """The options of a step that reads no table."""

    policy: PolicyOptions = nested(PolicyOptions)


@dataclass(frozen=True)
class MaskOptions(_SiloOptions):
    """The options of the step that releases the table's numbers."""

    table: TableOptions = nested(TableOptions)
    threads: int | None = option("--threads", "Threads to use.  [default: one per core]", min=1)
    dry_run: bool = option("--dry-run", "Read the table, say what would leave, and stop.")
    release: ReleaseOptions = nested(ReleaseOptions)
    kept: SettingsOptions = nested(SettingsOptions)


@dataclass(frozen=True)
class RunOptions(_StateOptions):
    """The options of all steps through a collector."""

    collector: CollectorOptions = nested(CollectorOptions)
    timeout: int = option(
        "--timeout SECONDS",
        "How long to wait for the other silos before each step.",
        default=86400,
        min=0,
    )
    table: TableOptions = nested(TableOptions)
    threads: int | None = option("--threads", "Threads to use.  [default: one per core]", min=1)
    release: ReleaseOptions = nested(ReleaseOptions)
    kept: SettingsOptions = nested(SettingsOptions)


@dataclass(frozen=True)
class RequestOptions:
    """The options of the auditor's step."""

    output: str = option("-o, --output FILE", "File to write.", default="request.json")
    force: bool = option("--force", "Replace an existing output file.")
    as_json: bool = option("--json", "Print what was written as JSON.")


class _SiloStep:
    """One step of a silo: its plan, its state, and where its message goes.

    Raises
    ------
    RuleError
        If the silo's policy forbids the plan.
    OutputError
        If the output file exists; before anything is done.
    """

    def __init__(
        self,
        name: StepName,
        plan: str,
        options: _SiloOptions,
        policy: PolicyOptions | ReleaseOptions,
        *,
        dry_run: bool = False,
    ) -> None:
        file = file_name(options.silo)
        self.name, self.options = name, options
        self.output = options.output or f"{file}.{name}.json"
        self.plan = Plan.read(plan)
        lawful(self.plan, find_policy(policy.policy), policy.allow_weaker)
        if not (options.force or dry_run):
            refuse_existing(self.output)
        if not options.resend:
            _check_signing(self.plan, options)
        self.state = options.state_file()
        self.key: Ed25519PrivateKey | None = options.signing.key()

    def made(
        self,
        messages: tuple[str, ...] = (),
        count: Callable[[], npt.NDArray[np.int64]] | None = None,
    ) -> AbstractContextManager[SiloRoundMessage]:
        """Make the step, or take its message again; the state is on disk before the body runs."""
        return silo_step(
            self.plan,
            self.options.silo,
            self.name,
            self.state,
            inbox=lambda: _inbox(messages),
            count=count,
            key=lambda: self.key,
            resend=lambda _: self.options.resend,
        )

    def write(self, messages: tuple[str, ...] = ()) -> SiloRoundMessage:
        """Make the step, and write its message."""
        with self.made(messages) as message:
            message.write(self.output, overwrite=self.options.force)
        return message

    def report(self, message: RoundMessage, next_step: str) -> None:
        """Print what was written, and what to do with it."""
        _report_written(message, self.output, next_step, as_json=self.options.as_json)


class _Numbers:
    """The silo's table as a vector to mask, once the ledger and the policy allow it."""

    def __init__(self, plan: Plan, source: object, options: MaskOptions | RunOptions) -> None:
        self.reading = options.table.reading()
        self.plan, self._source, self._options = plan, source, options
        self._mode = SecureMode(plan)
        self._mode.check_unweighted(weighted=self.reading["weight"] is not None)
        self.permit = options.release.permit(plan, options.silo, source, self.reading)

    @contextmanager
    def _read(self) -> Iterator[tuple[Records, ComputeOptions]]:
        with progress_bar("rows") as progress:
            records = planned_records(self._source, self.plan, **self.reading)
            yield records, ComputeOptions(threads=self._options.threads, progress=progress)

    def count(self) -> npt.NDArray[np.int64]:
        """Return the vector."""
        self.permit.check()
        with self._read() as (records, computing):
            return self._mode.vector(records, computing)

    def look(self) -> None:
        """Read the table, so that a mistake in it is found, and forget the counts."""
        with self._read() as (records, computing):
            self._mode.preview(records, self._options.silo, computing)


def _check_signing(plan: Plan, options: _StateOptions) -> None:
    if plan.keys and not options.signing.sign:
        raise click.UsageError("the plan has keys, so the message must be signed: --sign KEY.")


def _inbox(names: tuple[str, ...]) -> Inbox:
    return Inbox.of(message_files(names))


def _report_written(message: RoundMessage, output: str, next_step: str, *, as_json: bool) -> None:
    if as_json:
        document = {
            "file": output,
            "schema": message.schema,
            "digest": message.digest,
            "bytes": len(message.to_bytes()),
        }
        click.echo(json.dumps(document, indent=2))
    note(f"wrote {printable(output)}\ndigest {message.digest}\nnext: {next_step}")


@click.command
@click.argument("plan", type=click.Path())
@with_options(StepOptions)
def keys(plan: str, options: StepOptions) -> None:
    """Start a round under PLAN: write NAME.keys.json, two public keys.

    Their private halves are in NAME.secure-state, readable by you alone; without it the round
    goes on without this silo. A new round needs a new state file.

    \b
    Examples:
      fedparity secure keys plan.toml --silo aurora
      fedparity secure keys plan.toml --silo aurora --sign aurora.key
    """
    step = _SiloStep("keys", plan, options, options.policy)
    message = step.write()
    if not step.plan.keys:
        click.echo(
            "warning: the plan has no [keys]: those who carry the messages could put keys in between "
            "and read this silo's own numbers",
            err=True,
        )
    step.report(message, "send the file to all silos and the auditor; keep the state file secret")


@click.command
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@with_options(StepOptions)
def shares(plan: str, messages: tuple[str, ...], options: StepOptions) -> None:
    """Write NAME.shares.json; MESSAGES must hold the keys of all silos.

    MESSAGES are files, patterns, or folders of files that end in .json. Each silo can open its
    own share only; at least the plan's threshold of shares is needed to use them.

    \b
    Examples:
      fedparity secure shares plan.toml inbox --silo aurora
      fedparity secure shares plan.toml inbox --silo aurora --sign aurora.key
    """
    step = _SiloStep("shares", plan, options, options.policy)
    step.report(step.write(messages), "send the file to all silos and the auditor")


@click.command
@click.argument("plan", type=click.Path())
@click.argument("data", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@with_options(MaskOptions)
@click.pass_context
def mask(
    context: click.Context,
    plan: str,
    data: str,
    messages: tuple[str, ...],
    options: MaskOptions,
) -> None:
    """Count the table DATA and write NAME.mask.json: numbers hidden by masks.

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
    kept = context.lookup_default("data")
    if kept is not None:  # of the settings: then all arguments after the plan are messages
        source, messages = options.table.source(kept), (data, *messages)
    elif options.table.url_file is None:
        source = options.table.source(data)
    else:  # then there is no DATA either
        source, messages = options.table.source(None), (data, *messages)
    step = _SiloStep("mask", plan, options, options.release, dry_run=options.dry_run)
    numbers = _Numbers(step.plan, source, options)
    permit = numbers.permit
    if options.dry_run:
        numbers.look()
        click.echo(dry_run_text(step.plan, options.silo))
        if permit.reading:
            words = f"Read with {reading_words(permit.reading)}"
            click.echo("\n".join(["", *wrapped(words, 80, rest="  ")]))
        return
    with step.made(messages, numbers.count) as message:
        permit.write(step.output, message, force=options.force)
    step.report(message, "send the file to the auditor")


@click.command
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1, required=True)
@with_options(RequestOptions)
def request(plan: str, messages: tuple[str, ...], options: RequestOptions) -> None:
    """Write the request to open the sum of all masked numbers among MESSAGES.

    Wait until no further silo is expected: a silo answers one request per round. Silos that are
    not in it have dropped out.

    \b
    Examples:
      fedparity secure request plan.toml inbox
      fedparity secure request plan.toml inbox -o inbox/request.json
    """
    if not options.force:
        refuse_existing(options.output)
    agreed = Plan.read(plan)
    made = request_for(agreed, _inbox(messages))
    made.write(options.output, overwrite=options.force)
    note(f"{len(made.survivors)} of {len(agreed.silos or ())} silos are in the sum")
    steps = "consent, then unmask" if agreed.keys else "unmask"
    _report_written(
        made, options.output, f"send the file to all of them: {steps}", as_json=options.as_json
    )


@click.command
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@with_options(StepOptions)
def consent(plan: str, messages: tuple[str, ...], options: StepOptions) -> None:
    """Write NAME.consent.json: this silo's signature under the request.

    Only for plans with [keys]. A silo answers a request once as many silos as the threshold, t,
    have signed it. An auditor who shows different lists to different silos then needs 2t - d of
    the d silos to sign both.

    \b
    Examples:
      fedparity secure consent plan.toml request.json --silo aurora \\
        --sign aurora.key
    """
    step = _SiloStep("consent", plan, options, options.policy)
    if not options.resend and (step.key is None or not step.plan.keys):
        raise click.UsageError("the plan has no keys: go on with fedparity secure unmask.")
    step.report(step.write(messages), "send the file to all silos")


@click.command
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@with_options(StepOptions)
def unmask(plan: str, messages: tuple[str, ...], options: StepOptions) -> None:
    """Write NAME.unmask.json: this silo's answer to the request among MESSAGES.

    Of each silo that is in the sum it holds a share of its seed, of each that dropped out one of
    its key, never both. It is refused if the list is shorter than the threshold, leaves this
    silo out, or is a second one. Exit code 4 then.

    \b
    Examples:
      fedparity secure unmask plan.toml request.json --silo aurora
      fedparity secure unmask plan.toml inbox --silo aurora --sign aurora.key
    """
    step = _SiloStep("unmask", plan, options, options.policy)
    step.report(
        step.write(messages),
        "send the file to the auditor; this silo's part of the round is done",
    )


@click.command
@click.argument("plan", type=click.Path())
@click.argument("data", type=click.Path(), required=False)
@with_options(RunOptions)
def run(plan: str, data: str | None, options: RunOptions) -> None:
    """Make all steps of this silo through a collector, and wait for the others.

    The table DATA is read once before the round begins, so that a mistake in it costs nobody a
    round. Stopped or killed, the same command goes on where it stopped: NAME.secure-state is its
    memory. Exit code 3 if the collector refuses a document, 4 if a rule refuses a step or the
    token is not valid, 6 if the collector or too few silos answer in time.

    \b
    Examples:
      fedparity secure run plan.toml patients.csv --silo aurora --score risk \\
        --group sex --sign aurora.key --to https://audit.example.org \\
        --token-file token.txt
    """
    agreed, state = Plan.read(plan), options.state_file()
    numbers = _Numbers(agreed, options.table.source(data), options)
    _check_signing(agreed, options)
    door = options.collector.door()
    if not state.path.exists():
        numbers.permit.check()
        numbers.look()
    from fedparity.service.round_follower import follow_round  # noqa: PLC0415 -- few commands need it

    @contextmanager
    def make(step: StepName, inbox: Callable[[], Inbox]) -> Iterator[SiloRoundMessage]:
        with silo_step(
            agreed,
            options.silo,
            step,
            state,
            inbox=inbox,
            count=numbers.count,
            key=options.signing.key,
            resend=lambda sent: sent or (step == "keys" and state.path.exists()),
        ) as message:
            if step == "mask":
                numbers.permit.record(message)  # what the ledger refuses does not leave
            yield message

    follow_round(door, agreed, options.silo, make, timeout=options.timeout, tell=note)
    note("this silo's part of the round is done")


_WORDS = {
    "counts": "records of each group in each bin",
    "dropped": "rows without a score",
}


def dry_run_text(plan: Plan, silo: str, width: int = 80) -> str:
    """Return what is summed, and who sees which numbers; it contains no number of the table."""
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
