"""``fedparity policy``: the silo's own policy, written, checked, shown, and filed."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path

import click

from fedparity.cli.ledger_commands import release_words
from fedparity.cli.main import ExitCode
from fedparity.cli.options import (
    LEDGER,
    POLICY,
    LedgerOptions,
    PolicyOptions,
    json_option,
    nested,
    option,
    with_options,
)
from fedparity.cli.output import note, print_json
from fedparity.cli.plans.plan_text import plan_text
from fedparity.documents.files import write_whole
from fedparity.documents.plan import Plan
from fedparity.documents.policy_file import read_policy
from fedparity.errors import LedgerError, RuleError
from fedparity.errors.base import printable
from fedparity.privacy.disclosure import MODES
from fedparity.privacy.ledger import Entry, now
from fedparity.privacy.policy import Policy
from fedparity.silo.permit import check_auditor, default_policy_path, find_policy, lawful
from fedparity.text import counted, number, wrapped
from fedparity.version import SOFTWARE

__all__ = ["ApprovalOptions", "approve", "check", "dossier", "new", "show"]

_PACKAGES = "numpy", "narwhals", "click", "rich", "cryptography", "opendp", "polars", "pyarrow"
_TEMPLATE = """\
# What may leave this silo, whatever a plan requests. It belongs to the silo, not to the auditor.
# A line that begins with # states the default. Check it with: fedparity policy check policy.toml
schema = "fedparity/policy/1"
# modes = ["none", "dp", "secure", "secure+dp"]  # of plans; "none" has no [privacy]
# overrides = true             # whether --allow-weaker RULE may be used; the ledger records it
# other_grids = false          # whether one data set may be released on two grids of scores
# without_ledger = false       # whether --no-ledger and ledger=False are allowed
# page = true                  # whether the page that sketches in a browser may be used

[floors]                       # a plan may request more protection, never less
# minimum_cell = {cell}            # records of a group, and between two thresholds
# records_per_level = {per_level}
# rounding_mean = {mean}        # share of the score range
# rounding_quantile = {quantile}
# levels = {levels}                # the most
# thresholds = {thresholds}              # the most

[epsilon]                      # the most privacy loss
# release = {release}                # of one release
# year = {year}                   # of all releases from one data set in 365 days

[ledger]
# file = "/srv/fedparity/ledger.jsonl"  # the only ledger that is used; else that of the user
# must_exist = false           # true: fedparity ledger init makes it, nothing else

[datasets]                     # without any, all tables are one data set
# visits = ["/data/visits/*.parquet", "postgresql://db.example/clinic#clinic.visits"]

[auditors]                     # with any, plans must be signed: fedparity plan sign
# "National authority" = "<the public key, 44 characters>"

[silos]                        # public keys of the silos of secure sums, checked by phone, say
# bayside = "<the public key, 44 characters>"

[secure]
# without_keys = false         # whether sums may be made under plans without [keys]
# unknown_silos = false        # whether sums may be made with silos that are not under [silos]

[approval]                     # with any, fedparity approve is needed before a release
# people = ["Ada Berg", "Ben Cole"]
# needed = 1                   # or 2
"""


@click.command
@click.argument("file", type=click.Path(dir_okay=False), required=False)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def new(file: str | None, *, force: bool) -> None:
    """Write a commented policy to FILE: every key, its meaning and its default.

    Without FILE, to the place where this user's policy is looked for.

    \b
    Examples:
      fedparity policy new
      fedparity policy new policy.toml
    """
    path = Path(file) if file else default_policy_path()
    if path is None:
        raise click.UsageError("this user has no folder for configuration: name a FILE.")
    own = Policy()
    text = _TEMPLATE.format(
        cell=own.minimum_cell,
        per_level=own.records_per_level,
        mean=own.rounding["mean"],
        quantile=own.rounding["quantile"],
        levels=own.levels,
        thresholds=own.thresholds,
        release=own.epsilon_per_release,
        year=own.epsilon_per_year,
    )
    if not file:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, text.encode(), force=force)
    where = "" if not file else "; use it with --policy, or set FEDPARITY_POLICY"
    note(f"wrote {printable(path)}{where}\nnext: fedparity policy show")


@click.command
@click.argument("file", type=click.Path())
@click.argument("plan", type=click.Path(), required=False)
@json_option("Print the answer as JSON.")
@click.pass_context
def check(context: click.Context, file: str, plan: str | None, *, as_json: bool) -> None:
    """Say whether FILE is a policy, and which of its rules refuse a PLAN.

    Exit code 3 if it is not a policy, 4 if it refuses the plan.

    \b
    Examples:
      fedparity policy check policy.toml
      fedparity policy check policy.toml plan.toml
    """
    own = read_policy(file)
    refused: list[dict[str, str]] = []
    if plan is not None:
        agreed = Plan.read(plan)
        refused = [each._asdict() for each in own.refusals(agreed.to_dict())]
        try:
            check_auditor(agreed, own)
        except RuleError as error:
            refused.append({"rule": "auditors", "text": error.message.rstrip(".")})
    if as_json:
        print_json({"file": file, "plan": plan, "allowed": not refused, "refused": refused})
    else:
        for each in refused:
            click.echo(f"{each['rule']}: {each['text']}")
    if not refused:
        what = f"{file} is a valid policy" if plan is None else f"{file} allows {plan}"
        note(printable(what))
        return
    click.echo(
        f"error: {printable(file)} refuses {printable(plan)} by {counted(len(refused), 'rule')}.\n"
        "fix: ask the auditor for a plan that obeys them.",
        err=True,
    )
    context.exit(ExitCode.REFUSED)


@click.command
@click.option("--policy", metavar="FILE", help=POLICY[1])
def show(policy: str | None) -> None:
    """Say in plain words what may leave this silo.

    \b
    Examples:
      fedparity policy show
      fedparity policy show --policy policy.toml
    """
    own = find_policy(policy)
    source = "no file: the default policy" if own.path is None else str(own.path)
    lines = [f"Policy: {source}", ""]
    lines += chain.from_iterable(wrapped(each, 80, first="  - ") for each in _sentences(own))
    click.echo(printable("\n".join(lines)))


@click.command
@with_options(LedgerOptions)
def dossier(options: LedgerOptions) -> None:
    """Print this silo's page in Markdown: its policy, ledger and versions.

    \b
    Examples:
      fedparity policy dossier > dossier.md
    """
    own, record = options.find()
    try:
        entries, head, state = record.entries(), record.head, "one chain, no line changed"
    except LedgerError as error:
        entries, head, state = (), None, error.message
    releases = [entry for entry in entries if entry.entry == "release"]
    click.echo("# What may leave this silo, and what did\n")
    click.echo(f"Policy: {own.name if own.path is None else f'`{printable(own.path)}`'}.\n")
    click.echo("\n".join(f"- {each}" for each in _sentences(own)))
    click.echo(
        f"\n## Ledger\n\n`{printable(record.path)}`: {counted(len(releases), 'release')}; {state}."
    )
    if head is not None:
        click.echo(f"Last line: `{head}`.")
    if releases:
        click.echo("\n| when | plan | data set | message | cost |\n|---|---|---|---|---|")
    for entry in releases:
        cells = (printable(word).replace("|", "\\|") for word in release_words(entry, entries))
        click.echo(f"| {' | '.join(cells)} |")
    click.echo("\n## Versions\n")
    click.echo(f"- {SOFTWARE}, Python {platform.python_version()}, {platform.system()}")
    for package in _PACKAGES:
        try:
            click.echo(f"- {package} {version(package)}")
        except PackageNotFoundError:
            continue


def _sentences(own: Policy) -> list[str]:
    """Each rule as one sentence."""
    modes = [{"none": "without [privacy]"}.get(mode, mode) for mode in own.modes]
    sentences = [
        "plans may be of any mode."
        if len(own.modes) == len(MODES)
        else f"plans may ask for: {', '.join(modes)}.",
        (
            "without noise, a group, or what lies between two thresholds, has at least "
            f"{own.minimum_cell} records, and a value stands for at least {own.records_per_level}."
        ),
        (
            f"means are rounded to at least {number(own.rounding['mean'])} of the score range, "
            f"quantiles to {number(own.rounding['quantile'])}; at most {own.levels:,} levels and "
            f"{own.thresholds} thresholds."
        ),
        (
            f"with noise, epsilon is at most {number(own.epsilon_per_release)} per release, and "
            f"{number(own.epsilon_per_year)} for all releases from one data set in 365 days."
        ),
        "a second release of the same records needs a reason, which the ledger records; another grid "
        + ("is allowed." if own.other_grids else "is refused."),
        "all tables of this silo are one data set."
        if not own.datasets
        else f"data sets: {', '.join(own.datasets)}; other tables are refused.",
        "plans need not be signed."
        if not own.auditors
        else f"plans must be signed by {' or '.join(own.auditors)}.",
        _secure_sentence(own),
        "nobody has to approve a plan."
        if not own.needed
        else f"{own.needed} of {', '.join(own.people)} must approve a plan.",
        f"the ledger is {own.ledger or 'that of the user'}"
        + (", and must exist; " if own.must_exist else "; ")
        + (
            "messages without one are allowed." if own.without_ledger else "no message without it."
        ),
        "a rule may be overridden by name." if own.overrides else "no rule may be overridden.",
        f"the page in a browser is {'allowed' if own.page else 'not allowed'}.",
    ]
    return [f"{each[:1].upper()}{each[1:]}" for each in sentences]


def _secure_sentence(own: Policy) -> str:
    keys = "plans without keys are obeyed" if own.without_keys else "the plan must have keys"
    if own.unknown_silos:
        return f"in secure sums, {keys}, and any silo may take part."
    known = ", ".join(own.silos) or "nobody yet: [silos] is empty"
    return f"in secure sums, {keys}, and the other silos must be known: {known}."


@dataclass(frozen=True)
class ApprovalOptions:
    """Who approves a plan and why, under which policy, and the ledger that records it."""

    by: str = option("--by NAME", "Who approves; a name of the policy.", required=True)
    because: str = option("--because TEXT", "Why; it stays on record.", required=True)
    policy: PolicyOptions = nested(PolicyOptions)
    ledger: str | None = option(*LEDGER)


@click.command
@click.argument("plan", type=click.Path())
@with_options(ApprovalOptions)
def approve(plan: str, options: ApprovalOptions) -> None:
    """Agree to PLAN by its digest, as one of the people named in the policy.

    The plan is printed first; the approval, its reason and its time go into the ledger. A plan
    that the policy forbids cannot be approved. Exit code 4 then, or if NAME is not named there.

    \b
    Examples:
      fedparity approve plan.toml --by "Ada Berg" --because "agreed on 12 October"
    """
    own, record = LedgerOptions(options.policy.policy, options.ledger).find()
    by, agreed = options.by, Plan.read(plan)
    if by not in own.people:
        known = ", ".join(own.people) or "nobody"
        raise RuleError(
            f"{own.name} does not name {by!r} among those who approve: {known}.",
            fix="give a name that is listed in [approval] of the policy.",
        )
    lawful(agreed, own, options.policy.allow_weaker)
    click.echo(plan_text(agreed))
    record.add(
        Entry(entry="approval", time=now(), plan=agreed.digest, by=by, because=options.because)
    )
    entries = record.entries()
    given = {e.by for e in entries if e.entry == "approval" and e.plan == agreed.digest}
    left = own.needed - len(given & set(own.people))
    rest = "the plan may be answered" if left <= 0 else f"{left} more must approve it"
    note(f"approved {agreed.digest} by {printable(by)}; {rest}")
