"""``fedparity plan new``, ``check``, ``show``, ``letter`` and ``sign``."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import click
from click.core import ParameterSource

from fedparity.cli.main import ExitCode
from fedparity.cli.options import PASSPHRASE_FILE, json_option, option, private_key, with_options
from fedparity.cli.output import note, print_json, quoted
from fedparity.cli.plans.plan_letter import Letter
from fedparity.cli.plans.plan_options import NewPlanOptions
from fedparity.cli.plans.plan_questions import Draft, ask
from fedparity.cli.plans.plan_text import plan_text
from fedparity.documents.files import refuse_existing, write_whole
from fedparity.documents.plan import Mistake, Plan, check_plan, plan_warnings, read_plan_text
from fedparity.documents.signing import check_plan_signature, public_text, sign_plan, signed_text
from fedparity.errors import FedparityError, PlanError
from fedparity.errors.base import printable
from fedparity.text import counted

__all__ = ["check", "letter", "new", "show", "sign"]


@click.command
@click.argument("file", type=click.Path(dir_okay=False), default="plan.toml")
@with_options(NewPlanOptions)
@click.option(
    "--ask/--no-ask",
    "asks",
    default=None,
    help="Prompt for missing options.  [default: on a terminal, unless title, groups and range are given]",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.pass_context
def new(
    context: click.Context, file: str, options: NewPlanOptions, *, asks: bool | None, force: bool
) -> None:
    """Write a plan to FILE (plan.toml): what is requested of every silo.

    On a terminal it prompts for missing options, in plain words, and checks each answer at once.
    Answers are kept in FILE.draft until the plan is written: after Ctrl-C, the same command goes
    on from there. A plan holds nothing secret and nothing read from data; send the file,
    unchanged, to every silo. Its digest is bound into every message.

    \b
    Examples:
      fedparity plan new
      fedparity plan new q4.toml --title Risk --group A --group B --range 0 1
      fedparity plan new --title Deciles --group A --group B --range 1 10 \\
        --step 1 --threshold 5 --favorable below
      fedparity plan new --title Risk --group A --group B --range 0 1 \\
        --silo aurora --silo bayside --review-level 0.05 --keys-from keys
      fedparity plan new --title Risk --group A --group B --range 0 1 \\
        --privacy dp --epsilon 1 --records 5000
    """
    if not force:
        refuse_existing(file)
    enough = bool(options.title and options.groups and options.score_range)
    draft = None
    if (sys.stdin.isatty() and not enough) if asks is None else asks:
        draft = Draft.beside(file)
        _offer(draft)
    try:
        plan = (options if draft is None else ask(options, _given(context), draft)).plan()
        plan.write(file, overwrite=force)
    except (FedparityError, click.ClickException, click.Abort):
        if draft is not None and draft.answers:
            kept = f"your answers are kept in {printable(draft.path)}; the same command resumes"
            click.echo(f"\n{kept}", err=True)
        raise
    if draft is not None:
        draft.discard()
    for warning in plan_warnings(plan):
        click.echo(f"warning: {warning}", err=True)
    note(f"wrote {printable(file)}\ndigest {plan.digest}")
    note(
        f"next: {quoted('fedparity', 'plan', 'show', file)}\n"
        f"      {quoted('fedparity', 'plan', 'letter', file, '-o', 'letters')} (what to send to the silos)"
    )


def _offer(draft: Draft) -> None:
    """Ask whether to go on with the answers of an earlier start."""
    if not draft.answers:
        return
    kept = counted(len(draft.answers), "answer")
    question = f"{printable(draft.path)} has {kept} of an earlier start. Go on from there?"
    if not click.confirm(question, default=True, err=True):
        draft.discard()


def _given(context: click.Context) -> set[str]:
    """The options that were given: there is no question about them."""
    return {
        name
        for name in context.params
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


@click.command
@click.argument("file", type=click.Path())
@json_option("Print the mistakes as JSON.")
@click.pass_context
def check(context: click.Context, file: str, *, as_json: bool) -> None:
    """Find every mistake of a plan at once, each with its line and a fix.

    A plan without mistakes prints its digest, which every message will carry, and warnings where
    it may not say what was meant. Exit code 3 if there is a mistake.

    \b
    Examples:
      fedparity plan check plan.toml
      fedparity plan check plan.toml --json
    """
    text = read_plan_text(file)
    mistakes = check_plan(text)
    plan = None if mistakes else Plan.from_toml(text)
    digest = None if plan is None else plan.digest
    warnings = () if plan is None else plan_warnings(plan)
    signature = None if plan is None else plan.signature
    if plan is not None and signature is not None:
        try:
            check_plan_signature(plan)
        except PlanError as error:
            mistakes = (Mistake(None, "signature", error.message, error.fix),)
            digest = None
    if as_json:
        found = {
            "file": file,
            "digest": digest,
            "signed_by": None if signature is None else signature["key"],
            "mistakes": [asdict(each) for each in mistakes],
            "warnings": list(warnings),
        }
        print_json(found)
    elif digest is not None:
        click.echo(digest)
    else:
        for mistake in mistakes:
            line = "" if mistake.line is None else f":{mistake.line}"
            click.echo(f"{printable(file)}{line}: {mistake.message}\n  fix: {mistake.fix}")
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    if not mistakes:
        signed = "" if signature is None else ", signed"
        shown = quoted("fedparity", "plan", "show", file)
        note(f"{printable(file)} is a valid plan{signed}; next: {shown}")
        return
    click.echo(
        f"error: {printable(file)} has {counted(len(mistakes), 'mistake')}.\n"
        "fix: correct each as it says, then check again.",
        err=True,
    )
    context.exit(ExitCode.BAD_INPUT)


@click.command
@click.argument("file", type=click.Path())
@json_option("Print the complete plan as JSON.")
def show(file: str, *, as_json: bool) -> None:
    """Say in plain words what silos will send and the auditor will compute.

    With --json: the complete plan, every default stated, and its digest.

    \b
    Examples:
      fedparity plan show plan.toml
      fedparity plan show plan.toml --json
    """
    plan = Plan.read(file)
    if as_json:
        print_json({**plan.to_dict(), "digest": plan.digest})
        return
    click.echo(plan_text(plan))
    if plan.signature is None:
        click.echo("\nNot signed by the auditor")
    else:
        check_plan_signature(plan)
        click.echo(f"\nSigned by the auditor with the key\n  {plan.signature['key']}")


@dataclass(frozen=True)
class LetterOptions:
    """What a letter says beyond the plan, and where it goes."""

    output: str = option(
        "-o, --output DIR", "Folder to write to.", type=click.Path(file_okay=False), required=True
    )
    sender: str | None = option("--from NAME", "Who sends the plan: the auditor's name.")
    contact: str | None = option(
        "--contact TEXT", "Contact for questions: an address or a telephone number."
    )
    deadline: datetime | None = option(
        "--deadline DATE",
        "Day by which to answer, such as 2027-01-31.",
        type=click.DateTime(["%Y-%m-%d"]),
    )
    force: bool = option("--force", "Replace existing files.")


@click.command
@click.argument("file", type=click.Path())
@with_options(LetterOptions)
def letter(file: str, options: LetterOptions) -> None:
    """Write a folder to send to the silos with the plan FILE.

    A letter, a one-page summary of the use of data for those who must agree to it, the commands
    of each silo to copy, and the plan itself. Nothing in them is read from data.

    \b
    Examples:
      fedparity plan letter plan.toml -o letters
      fedparity plan letter plan.toml -o letters --from "Audit Office" \\
        --contact audit@example.org --deadline 2027-01-31
    """
    deadline = None if options.deadline is None else options.deadline.date().isoformat()
    plan, text = Plan.read(file), read_plan_text(file)
    made = Letter(plan, sender=options.sender, contact=options.contact, deadline=deadline).files()
    folder = Path(options.output)
    targets = {folder / name: content for name, content in {**made, "plan.toml": text}.items()}
    for target in targets if not options.force else ():
        refuse_existing(target)
    for target, content in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, content.encode(), force=options.force)
        click.echo(printable(target))
    note(
        "next: fill in the names of columns with each silo, and send the folder, plan.toml unchanged"
    )


@dataclass(frozen=True)
class SignOptions:
    """The auditor's key, and where the signed plan goes."""

    key: str = option("--key KEY", "File of the auditor's private key.", required=True)
    passphrase_file: str | None = option(*PASSPHRASE_FILE)
    output: str | None = option("-o, --output FILE", "File to write.  [default: the plan itself]")
    force: bool = option("--force", "Replace an existing output file.")


@click.command
@click.argument("file", type=click.Path())
@with_options(SignOptions)
def sign(file: str, options: SignOptions) -> None:
    """Sign the plan FILE: all of it, the roster and the silos' keys too.

    A table [signature] is written at its end, in place of an earlier one; the digest of the
    plan stays the same. Silos put the public key under [auditors] of their policy.

    \b
    Examples:
      fedparity keygen authority
      fedparity plan sign plan.toml --key authority.key
    """
    text = read_plan_text(file)
    key = private_key(options.key, options.passphrase_file)
    signed = sign_plan(Plan.read(file), key)
    written = signed_text(text, signed)
    if Plan.from_toml(written) != signed:  # a plan whose tables are written in an unusual way
        written = signed.to_toml()
    output = options.output or file
    write_whole(output, written.encode(), force=options.force or options.output is None)
    note(f"signed {printable(output)} with the key {public_text(key)}")
    note(f"digest {signed.digest}")
