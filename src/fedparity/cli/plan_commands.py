"""``fedparity plan new``, ``check``, ``show`` and ``sign``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import click

from fedparity.cli.main import ExitCode
from fedparity.cli.options import (
    PASSPHRASE_FILE,
    POSITIVE,
    json_option,
    nested,
    option,
    private_key,
    with_options,
)
from fedparity.cli.output import note, print_json, quoted
from fedparity.cli.plan_text import plan_text
from fedparity.documents.fields import as_group
from fedparity.documents.files import refuse_existing, write_whole
from fedparity.documents.plan import Plan, plan_warnings
from fedparity.documents.plan_fields import SCALARS, Favorable, ReviewUnit
from fedparity.documents.plan_file import Mistake, check_plan, read_plan_text
from fedparity.documents.plan_rules import settle
from fedparity.documents.signing import check_plan_signature, public_text, sign_plan, signed_text
from fedparity.errors import PlanError
from fedparity.errors.base import printable
from fedparity.laws.labels import Group
from fedparity.privacy.disclosure import Disclosure
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_LEVELS, Kind
from fedparity.text import counted

__all__ = ["NewPlanOptions", "check", "new", "show", "sign"]

_RULES = Disclosure()


@dataclass(frozen=True)
class DisclosureOptions:
    """The disclosure rules of a plan."""

    minimum_cell: int = option(
        "--minimum-cell", "Withhold groups with fewer records.", default=_RULES.minimum_cell
    )
    records_per_level: int = option(
        "--records-per-level",
        "Send at most one value per this many records; 0: off.",
        default=_RULES.records_per_level,
    )
    rounding: float | None = option(
        "--rounding",
        "Share of the range; 0: off.  [default: 0.005 for means, 0.001 for quantiles]",
    )


@dataclass(frozen=True)
class NewPlanOptions:
    """The options of a new plan; those that are keys of a plan have their names."""

    title: str | None = option("--title", "What is audited, in one line.")
    groups: tuple[Group, ...] = option(
        "--group LABEL", 'A group, in reporting order; an intersection as \'["F", "65+"]\'.'
    )
    score_range: tuple[float, float] | None = option("--range", "Lowest and highest score.")
    score_step: float | None = option(
        "--step", "Scores lie on this grid, from the lowest on.", type=POSITIVE
    )
    levels: int = option("--levels", "Values per cell, at most.", min=1, default=DEFAULT_LEVELS)
    sketch: Kind | None = option(
        "--sketch",
        "Values sent.  [default: counts if the step leaves few scores, else mean]",
        type=click.Choice(["mean", "quantile", "counts"]),
    )
    estimator: Literal["exact", "grid"] = option(
        "--estimator", "How the auditor combines the values.", default=DEFAULT_ESTIMATOR
    )
    thresholds: tuple[float, ...] = option(
        "--threshold SCORE", "Count records on both sides of it; may be repeated."
    )
    favorable: Favorable = option("--favorable", "The good side of a threshold.", default="above")
    period: tuple[str, str] | None = option(
        "--period FROM TO", "First and last day of the records, such as 2026-10-01 2026-12-31."
    )
    order: Literal[1, 2] = option(
        "--order",
        "Order of the distances; 2: squared differences, 1: absolute ones.",
        type=click.IntRange(1, 2),
        default=2,
    )
    review_level: float | None = option(
        "--review-level", "Disparity above which you want a review.", type=POSITIVE
    )
    review_unit: ReviewUnit = option(
        "--review-unit",
        "Unit of the review level; squared compares G, the others the worst pair of groups.",
        default="points",
    )
    silos: tuple[str, ...] = option("--silo NAME", "A silo of the roster.")
    disclosure: DisclosureOptions = nested(DisclosureOptions)
    keys: tuple[str, ...] = option("--key NAME=KEY", "A silo's public key.")
    keys_from: str | None = option(
        "--keys-from",
        "Folder of NAME.pub files, one per silo.",
        type=click.Path(exists=True, file_okay=False),
    )
    totals: tuple[str, ...] = option("--total NAME=N", "A silo's public number of records.")

    def plan(self) -> Plan:
        """Return the plan.

        Raises
        ------
        click.UsageError
            If a key is missing that every plan has, or an option cannot be read.
        PlanError
            If they are not a plan together.
        """
        needed = {
            "title": "--title",
            "groups": "--group (twice or more)",
            "score_range": "--range",
        }
        missing = [flag for name, flag in needed.items() if not getattr(self, name)]
        if missing:
            raise click.UsageError(f"a plan needs {', '.join(missing)}.")
        keys = {} if self.keys_from is None else _keys_in(self.keys_from)
        stated = {name: value for name, value in vars(self).items() if name != "keys_from"}
        return Plan(
            **{
                **stated,
                "groups": tuple(_label(text) for text in self.groups),
                "thresholds": tuple(sorted(self.thresholds)),
                "silos": self.silos or None,
                "disclosure": asdict(self.disclosure),
                "keys": {**keys, **_pairs(self.keys, "--key")},
                "totals": _pairs(self.totals, "--total", int),
            }
        )


@click.command
@click.argument("file", type=click.Path(dir_okay=False), default="plan.toml")
@with_options(NewPlanOptions)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def new(file: str, options: NewPlanOptions, *, force: bool) -> None:
    """Write a plan to FILE (plan.toml): what is asked of every silo.

    On a terminal it asks for what is not given. A plan holds nothing secret and nothing read
    from data; send the file, unchanged, to every silo. Its digest is bound into every message.

    \b
    Examples:
      fedparity plan new
      fedparity plan new q4.toml --title Risk --group A --group B --range 0 1
      fedparity plan new --title Deciles --group A --group B --range 1 10 \\
        --step 1 --threshold 5 --favorable below
      fedparity plan new --title Risk --group A --group B --range 0 1 \\
        --silo aurora --silo bayside --review-level 0.05 --keys-from keys
    """
    if not force:
        refuse_existing(file)
    if sys.stdin.isatty():
        options = _ask(options)
    plan = options.plan()
    plan.write(file, force=force)
    for warning in plan_warnings(plan):
        click.echo(f"warning: {warning}", err=True)
    note(f"wrote {printable(file)}\ndigest {plan.digest}")
    note(f"next: fedparity plan show {quoted(file)}, then send it to every silo")


def _ask(options: NewPlanOptions) -> NewPlanOptions:
    """Ask for what every plan has, and for what most have; each answer is checked at once."""
    if options.title and options.groups and options.score_range:
        return options
    options = _fill(options, "title", "Title", "Risk score audit")
    options = _fill(
        options,
        "groups",
        "Groups, with commas",
        "A, B",
        read=lambda text: tuple(_label(part) for part in _split(text)),
    )
    if options.score_range is None:
        lowest = click.prompt("Lowest score there can be", default=0.0, err=True)
        options = _fill(
            options,
            "score_range",
            "Highest score there can be",
            "1.0" if lowest < 1 else None,
            read=lambda text: (lowest, float(text)),
        )
    question = "Step of the score (empty: any number)"
    options = _fill(options, "score_step", question, "", read=_number)
    levels = click.prompt("Levels k", default=options.levels, type=click.IntRange(min=1), err=True)
    options = replace(options, levels=levels)
    options = _fill(
        options,
        "thresholds",
        "Thresholds, with commas (empty: none)",
        "",
        read=lambda text: tuple(sorted(float(part) for part in _split(text))),
    )
    if options.thresholds:
        options = _choose(options, "favorable", "Good side of a threshold", Favorable)
    question = "Review level, W₂ of the worst pair (empty: none)"
    options = _fill(options, "review_level", question, "", read=_number)
    if options.review_level is not None:
        options = _choose(options, "review_unit", "Its unit", ReviewUnit)
    return _fill(options, "silos", "Silos, with commas (empty: any)", "", read=_split)


def _fill(
    options: NewPlanOptions,
    key: str,
    question: str,
    default: str | None,
    *,
    read: Callable[[str], Any] = str,
) -> NewPlanOptions:
    """Ask for a key of the plan that is not given, again until the answer is valid."""
    given = getattr(options, key)
    if given or given == 0:
        return options

    def checked(text: str) -> NewPlanOptions:
        try:
            changed = replace(options, **{key: read(text)})
        except ValueError:
            raise click.UsageError(f"{text!r} is not a number.") from None
        problem = _problem(changed, key)
        if problem is not None:
            raise click.UsageError(f"{problem.message}\nfix: {problem.fix}")
        return changed

    filled: NewPlanOptions = click.prompt(
        question, default=default, show_default=bool(default), value_proc=checked, err=True
    )
    return filled


def _choose(options: NewPlanOptions, key: str, question: str, choices: object) -> NewPlanOptions:
    chosen = click.prompt(
        question,
        default=getattr(options, key),
        type=click.Choice(get_args(choices)),
        err=True,
    )
    return replace(options, **{key: chosen})


def _problem(options: NewPlanOptions, key: str) -> PlanError | None:
    """What is wrong with a key of the plan, given those that are known."""
    known = {name: getattr(options, name, None) for name in SCALARS}
    given = {name: value for name, value in known.items() if value not in (None, (), "")}
    _, problems = settle(given)
    found = (problem.error for problem in problems if problem.path[0] == key and key in given)
    return next(found, None)


def _number(text: str) -> float | None:
    return float(text) if text.strip() else None


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _label(text: Group) -> Group:
    """The label; what is written as a JSON list is an intersection."""
    if not isinstance(text, str) or not text.startswith("["):
        return text
    try:
        group = as_group(json.loads(text))
    except ValueError:
        group = None
    if group is None:
        raise click.BadParameter(f"{text!r} is not a list of labels.", param_hint="--group")
    return group


def _pairs(
    texts: Iterable[str], option: str, convert: Callable[[str], Any] = str
) -> dict[str, Any]:
    """The pairs of several NAME=VALUE; a key in base64 may end in = itself."""
    pairs = {}
    for text in texts:
        name, sign, value = text.partition("=")
        try:
            pairs[name] = convert(value)
        except ValueError:
            sign = ""
        if not (name and sign):
            raise click.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint=option)
    return pairs


def _keys_in(folder: str | os.PathLike[str]) -> dict[str, str]:
    """The public keys of a folder, by the names of their files."""
    files = sorted(Path(folder).glob("*.pub"))
    if not files:
        raise PlanError(
            f"{os.fspath(folder)} holds no file that ends in .pub.",
            fix="put the NAME.pub files of fedparity keygen there, one per silo.",
        )
    return {file.stem: file.read_text(encoding="utf-8").strip() for file in files}


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
    """Say in plain words what each silo will send and what the auditor will compute.

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
