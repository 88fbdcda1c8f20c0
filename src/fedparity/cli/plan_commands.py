"""``fedparity plan new``: a plan from options, or from answers on a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import click

from fedparity.cli.key_commands import passphrase_option, private_key
from fedparity.cli.lazy import LazyGroup, Place
from fedparity.cli.main import ExitCode
from fedparity.cli.output import quoted
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
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_LEVELS
from fedparity.text import counted

__all__ = [
    "check",
    "new",
    "plan",
    "show",
    "sign",
]

_COMMANDS = {
    "new": Place("plan_commands", "new", "Write a plan: asks on a terminal, or takes options."),
    "check": Place("plan_commands", "check", "Find every mistake of a plan, with line and fix."),
    "show": Place("plan_commands", "show", "Say in plain words what a plan asks for."),
    "sign": Place(
        "plan_commands", "sign", "Sign a plan, for silos that obey only known auditors."
    ),
    "size": Place(
        "planning_commands", "size", "Say how large an audit must be, or what one detects."
    ),
    "privacy": Place(
        "planning_commands", "privacy", "Say what noise costs in accuracy, before it is drawn."
    ),
}


@click.group(cls=LazyGroup, places=_COMMANDS)
def plan() -> None:
    """Plan an audit before any silo is asked for numbers.

    \b
    Examples:
      fedparity plan new
      fedparity plan check plan.toml
      fedparity plan show plan.toml
    """


@click.command(short_help="Find every mistake of a plan, with line and fix.")
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print the mistakes as JSON.")
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
    if plan is not None and plan.signature is not None:
        try:
            check_plan_signature(plan)
        except PlanError as error:
            mistakes = (Mistake(None, "signature", error.message, error.fix),)
            digest = None
    if as_json:
        found = {
            "file": file,
            "digest": digest,
            "signed_by": None if plan is None or plan.signature is None else plan.signature["key"],
            "mistakes": [asdict(each) for each in mistakes],
            "warnings": list(warnings),
        }
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    elif digest is not None:
        click.echo(digest)
    else:
        for mistake in mistakes:
            click.echo(f"{_place(file, mistake)}: {mistake.message}\n  fix: {mistake.fix}")
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    if not mistakes:
        signed = "" if plan is None or plan.signature is None else ", signed"
        shown = quoted("fedparity", "plan", "show", file)
        click.echo(f"{printable(file)} is a valid plan{signed}; next: {shown}", err=True)
        return
    click.echo(
        f"error: {printable(file)} has {counted(len(mistakes), 'mistake')}.\n"
        "fix: correct each as it says, then check again.",
        err=True,
    )
    context.exit(ExitCode.BAD_INPUT)


def _place(file: str, mistake: Mistake) -> str:
    name = printable(file)
    return name if mistake.line is None else f"{name}:{mistake.line}"


@click.command(short_help="Say in plain words what a plan asks for.")
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print the complete plan as JSON.")
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
        document = {**plan.to_dict(), "digest": plan.digest}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo(plan_text(plan))
        click.echo(_signature_words(plan))


def _signature_words(plan: Plan) -> str:
    """Whether the auditor signed it, and whether the signature fits."""
    if plan.signature is None:
        return "\nNot signed by the auditor"
    check_plan_signature(plan)
    return f"\nSigned by the auditor with the key\n  {plan.signature['key']}"


@click.command(short_help="Sign a plan, for silos that obey only known auditors.")
@click.argument("file", type=click.Path())
@click.option("--key", required=True, metavar="KEY", help="File of the auditor's private key.")
@passphrase_option
@click.option("-o", "--output", metavar="FILE", help="File to write.  [default: the plan itself]")
@click.option("--force", is_flag=True, help="Replace an existing output file.")
def sign(
    file: str, key: str, passphrase_file: str | None, output: str | None, *, force: bool
) -> None:
    """Sign the plan FILE: all of it, the roster and the silos' keys too.

    A table [signature] is written at its end, in place of an earlier one; the digest of the
    plan stays the same. Silos put the public key under [auditors] of their policy.

    \b
    Examples:
      fedparity keygen authority
      fedparity plan sign plan.toml --key authority.key
    """
    text = read_plan_text(file)
    private = private_key(key, passphrase_file)
    signed = sign_plan(Plan.read(file), private)
    written = signed_text(text, signed)
    if Plan.from_toml(written) != signed:  # a plan whose tables are written in an unusual way
        written = signed.to_toml()
    write_whole(output or file, written.encode(), force=force or output is None)
    click.echo(f"signed {printable(output or file)} with the key {public_text(private)}", err=True)
    click.echo(f"digest {signed.digest}", err=True)


_RULES = Disclosure()
_POSITIVE = click.FloatRange(min=0, min_open=True)


@click.command(short_help="Write a plan: asks on a terminal, or takes options.")
@click.argument("file", type=click.Path(dir_okay=False), default="plan.toml")
@click.option("--title", help="What is audited, in one line.")
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="LABEL",
    help='A group, in reporting order; an intersection as \'["F", "65+"]\'.',
)
@click.option("--range", "score_range", type=float, nargs=2, help="Lowest and highest score.")
@click.option(
    "--step", "score_step", type=_POSITIVE, help="Scores lie on this grid, from the lowest on."
)
@click.option(
    "--levels",
    type=click.IntRange(min=1),
    default=DEFAULT_LEVELS,
    show_default=True,
    help="Values per cell, at most.",
)
@click.option(
    "--sketch",
    type=click.Choice(["mean", "quantile", "counts"]),
    help="What they are.  [default: counts if the step leaves few scores, else mean]",
)
@click.option(
    "--estimator",
    type=click.Choice(["exact", "grid"]),
    default=DEFAULT_ESTIMATOR,
    show_default=True,
    help="How they are read.",
)
@click.option(
    "--threshold",
    "thresholds",
    type=float,
    multiple=True,
    metavar="SCORE",
    help="Count records on both sides of it; may be repeated.",
)
@click.option(
    "--favorable",
    type=click.Choice(get_args(Favorable)),
    default="above",
    show_default=True,
    help="The good side of a threshold.",
)
@click.option(
    "--period",
    nargs=2,
    metavar="FROM TO",
    help="First and last day of the records, such as 2026-10-01 2026-12-31.",
)
@click.option(
    "--order", type=click.IntRange(1, 2), default=2, show_default=True, help="The p of W_p."
)
@click.option("--review-level", type=_POSITIVE, help="What the verdict compares with.")
@click.option(
    "--review-unit",
    type=click.Choice(get_args(ReviewUnit)),
    default="points",
    show_default=True,
    help="What that is: W₂ of the worst pair of groups, or squared: G.",
)
@click.option("--silo", "silos", multiple=True, metavar="NAME", help="A silo of the roster.")
@click.option(
    "--minimum-cell",
    type=int,
    default=_RULES.minimum_cell,
    show_default=True,
    help="Withhold groups with fewer records.",
)
@click.option(
    "--records-per-level",
    type=int,
    default=_RULES.records_per_level,
    show_default=True,
    help="Send at most one value per so many; 0: off.",
)
@click.option(
    "--rounding",
    type=float,
    help="Share of the range; 0: off.  [default: 0.005 for means, 0.001 for quantiles]",
)
@click.option("--key", "keys", multiple=True, metavar="NAME=KEY", help="A silo's public key.")
@click.option(
    "--keys-from",
    type=click.Path(exists=True, file_okay=False),
    help="Folder of NAME.pub files, one per silo.",
)
@click.option(
    "--total", "totals", multiple=True, metavar="NAME=N", help="A silo's public number of records."
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.pass_context
def new(context: click.Context, /, **_: object) -> None:
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
    options = dict(context.params)
    file, force = options.pop("file"), options.pop("force")
    if not force:
        refuse_existing(file)
    if sys.stdin.isatty():
        _ask(options)
    _require(context, options)
    plan = _plan(options)
    plan.write(file, force=force)
    for warning in plan_warnings(plan):
        click.echo(f"warning: {warning}", err=True)
    click.echo(f"wrote {printable(file)}\ndigest {plan.digest}", err=True)
    click.echo(f"next: fedparity plan show {quoted(file)}, then send it to every silo", err=True)


def _ask(options: dict[str, Any]) -> None:
    """Ask for what every plan has, and for what most have; each answer is checked at once."""
    if options["title"] and options["groups"] and options["score_range"]:
        return
    _fill(options, "title", "Title", "Risk score audit")
    _fill(options, "groups", "Groups, with commas", "A, B", read=_labels)
    if options["score_range"] is None:
        lowest = click.prompt("Lowest score there can be", default=0.0, err=True)
        _fill(
            options,
            "score_range",
            "Highest score there can be",
            "1.0" if lowest < 1 else None,
            read=lambda text: (lowest, float(text)),
        )
    _fill(options, "score_step", "Step of the score (empty: any number)", "", read=_number)
    options["levels"] = click.prompt(
        "Levels k", default=options["levels"], type=click.IntRange(min=1), err=True
    )
    _fill(options, "thresholds", "Thresholds, with commas (empty: none)", "", read=_numbers)
    if options["thresholds"]:
        options["favorable"] = _choose("Good side of a threshold", Favorable, options["favorable"])
    question = "Review level, W₂ of the worst pair (empty: none)"
    _fill(options, "review_level", question, "", read=_number)
    if options["review_level"] is not None:
        options["review_unit"] = _choose("Its unit", ReviewUnit, options["review_unit"])
    _fill(options, "silos", "Silos, with commas (empty: any)", "", read=_split)


def _fill(
    options: dict[str, Any],
    key: str,
    question: str,
    default: str | None,
    *,
    read: Callable[[str], Any] = str,
) -> None:
    """Ask for a key of the plan that is not given, again until the answer is one."""
    if options[key] or options[key] == 0:
        return

    def checked(text: str) -> Any:  # noqa: ANN401 -- what the key holds
        try:
            value = read(text)
        except ValueError:
            raise click.UsageError(f"{text!r} is not a number.") from None
        problem = _problem({**options, key: value}, key)
        if problem is not None:
            raise click.UsageError(f"{problem.message}\nfix: {problem.fix}")
        return value

    options[key] = click.prompt(
        question, default=default, show_default=bool(default), value_proc=checked, err=True
    )


def _choose(question: str, choices: Any, default: str) -> str:  # noqa: ANN401 -- a Literal
    chosen: str = click.prompt(
        question, default=default, type=click.Choice(get_args(choices)), err=True
    )
    return chosen


def _problem(options: Mapping[str, Any], key: str) -> PlanError | None:
    """What is wrong with a key of the plan, given those that are known."""
    given = {name: options[name] for name in SCALARS if options.get(name) not in (None, (), "")}
    _, problems = settle(given)
    found = (problem.error for problem in problems if problem.path[0] == key and key in given)
    return next(found, None)


def _number(text: str) -> float | None:
    return float(text) if text.strip() else None


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(sorted(float(part) for part in _split(text)))


def _labels(text: str) -> tuple[Group, ...]:
    return tuple(_label(part) for part in _split(text))


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _require(context: click.Context, options: Mapping[str, Any]) -> None:
    """Refuse to guess where nobody can be asked."""
    needed = {"title": "--title", "groups": "--group (twice or more)", "score_range": "--range"}
    missing = [option for name, option in needed.items() if not options[name]]
    if missing:
        raise click.UsageError(f"a plan needs {', '.join(missing)}.", ctx=context)


def _plan(options: dict[str, Any]) -> Plan:
    rules = {name: options.pop(name) for name in _RULES.to_dict()}
    folder = options.pop("keys_from")
    keys = {**(_keys_in(folder) if folder else {}), **_pairs(options.pop("keys"), "--key")}
    return Plan(
        **{
            **options,
            "groups": tuple(_label(text) for text in options["groups"]),
            "thresholds": tuple(sorted(options["thresholds"])),
            "silos": options["silos"] or None,
            "disclosure": rules,
            "keys": keys,
            "totals": _pairs(options["totals"], "--total", int),
        }
    )


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
