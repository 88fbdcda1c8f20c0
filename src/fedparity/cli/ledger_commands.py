"""``fedparity ledger``: what left this silo, shown, checked, begun, and voided."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from fedparity.cli.options import policy_option
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_message
from fedparity.documents.plan import Plan
from fedparity.documents.policy_file import find_policy
from fedparity.errors import LedgerError
from fedparity.errors.base import printable
from fedparity.modes.mode import mode_of
from fedparity.privacy.ledger import Ledger, default_ledger_path, now
from fedparity.privacy.ledger_entries import Entry
from fedparity.privacy.policy import Policy
from fedparity.silo.permit import plan_view
from fedparity.text import counted, number, wrapped

__all__ = ["ledger", "ledger_of", "ledger_option", "release_words"]

ledger_option = click.option("--ledger", metavar="FILE", help="The ledger.  [default: per user]")
_because = click.option(
    "--because", required=True, metavar="TEXT", help="Why; it stays on record."
)
_SHORT = 19
"""Characters of a digest that people compare: ``sha256:`` and twelve digits."""


def ledger_of(path: str | None, policy: Policy) -> Ledger:
    """Return the ledger that is named, that of the policy, or that of the user."""
    chosen = Path(path) if path else policy.ledger or default_ledger_path()
    return Ledger(chosen, must_exist=policy.must_exist)


@click.group()
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


@ledger.command(short_help="Begin a ledger; say why if an earlier one is lost.")
@click.option(
    "--because", metavar="TEXT", help="Why, if an earlier one is lost; it stays on record."
)
@click.option("--shared", is_flag=True, help="Let the group of the folder write to it.")
@policy_option
@ledger_option
def init(because: str | None, policy: str | None, ledger: str | None, *, shared: bool) -> None:
    """Begin a ledger, where a policy says that it must exist or an earlier one is lost.

    \b
    Examples:
      fedparity ledger init
      fedparity ledger init --because "the disk of the old one broke"
      fedparity ledger init --ledger /srv/fedparity/ledger.jsonl --shared
    """
    record = ledger_of(ledger, find_policy(policy))
    record.begin(because=because, shared=shared)
    click.echo(f"wrote {printable(record.path)}", err=True)
    if because:
        click.echo("next: enter each message that left: fedparity ledger add PLAN FILE", err=True)


@ledger.command(short_help="Print what left, and what was said of it.")
@click.option("--json", "as_json", is_flag=True, help="Print all entries as JSON.")
@policy_option
@ledger_option
def show(policy: str | None, ledger: str | None, *, as_json: bool) -> None:
    """Print every entry: when, under which plan, from which data set, at what cost.

    \b
    Examples:
      fedparity ledger show
      fedparity ledger show --json
    """
    record = ledger_of(ledger, find_policy(policy))
    entries = record.entries()
    if as_json:
        lines = [json.loads(entry.to_json()) for entry in entries]
        click.echo(json.dumps(lines, indent=2, ensure_ascii=False))
        return
    for entry in entries:
        click.echo("\n".join(wrapped(printable(_words(entry, entries)), 80, rest="  ")))
        if entry.file is not None:
            click.echo(f"  {printable(entry.file)}")
    click.echo(f"{printable(record.path)}: {counted(len(entries), 'line')}", err=True)


@ledger.command(short_help="Check that no line was changed or taken out.")
@click.option(
    "--head", metavar="DIGEST", help="A last line noted earlier; it must still be there."
)
@policy_option
@ledger_option
def verify(head: str | None, policy: str | None, ledger: str | None) -> None:
    """Check that every line continues the one before it, and print the digest of the last.

    Lines that are cut off at the end leave no trace in the file: note the digest that is
    printed, and pass it as --head the next time. Exit code 4 if the chain is broken.

    \b
    Examples:
      fedparity ledger verify
      fedparity ledger verify --head sha256:1f2e3d4c5b6a
    """
    record = ledger_of(ledger, find_policy(policy))
    entries, last = record.entries(), record.head
    seen = {last, *(entry.previous for entry in entries)} - {None}
    if head is not None and not any(str(digest).startswith(head) for digest in seen):
        raise LedgerError(
            f"the ledger {record.path} no longer holds the line {head}: lines are missing.",
            fix="restore the file from a backup; see the how-to page on a lost ledger.",
        )
    click.echo(last or "empty")
    count = counted(len(entries), "line")
    click.echo(
        f"{printable(record.path)}: {count}, one chain; note the digest for --head", err=True
    )


@ledger.command(short_help="Say that a message was wrong, so that it can be replaced.")
@click.argument("digest")
@_because
@policy_option
@ledger_option
def void(digest: str, because: str, policy: str | None, ledger: str | None) -> None:
    """Say that the message DIGEST was wrong; its entry stays, and what it cost stays spent.

    Then the same plan may be answered anew. The new message names the one that it replaces,
    so the auditor sees that there was another. DIGEST is that of the message, as sketch and
    verify print it; twelve digits are enough.

    \b
    Examples:
      fedparity ledger void sha256:1f2e3d4c5b6a --because "last month's table"
    """
    record = ledger_of(ledger, find_policy(policy))
    entries = record.entries()
    found = [
        entry
        for entry in entries
        if entry.entry == "release" and _named(entry, digest.removeprefix("sha256:"))
    ]
    if len({entry.release for entry in found}) != 1:
        raise LedgerError(
            f"{'no release' if not found else 'more than one release'} in {record.path} has a "
            f"digest that begins with {digest!r}.",
            fix="copy it from fedparity ledger show.",
        )
    release = found[0].release
    if any(entry.entry == "void" and entry.release == release for entry in entries):
        raise LedgerError(f"{digest} is voided already.", fix="make the message that replaces it.")
    record.add(Entry(entry="void", time=now(), release=release, because=because))
    click.echo(
        f"voided {found[0].message}\nnext: make the message anew, and tell the auditor", err=True
    )


@ledger.command(short_help="Enter a message that left, after a ledger was lost.")
@click.argument("plan", type=click.Path())
@click.argument("message", type=click.Path())
@_because
@click.option("--dataset", metavar="NAME", help="Which data set of the policy it is of.")
@policy_option
@ledger_option
def add(
    plan: str,
    message: str,
    *,
    because: str,
    dataset: str | None,
    policy: str | None,
    ledger: str | None,
) -> None:
    """Enter the file MESSAGE, which left under PLAN, into a ledger that does not know of it.

    For a ledger that was lost: auditors keep what they received, so ask them for copies.

    \b
    Examples:
      fedparity ledger add plan.toml aurora.sketch.json --because "lost ledger"
    """
    own = find_policy(policy)
    asked, sketch = Plan.read(plan), SiloSketch.read(message)
    check_message(asked, sketch)
    cost = mode_of(asked).cost
    record = ledger_of(ledger, own)
    entry = Entry(
        entry="release",
        time=now(),
        plan=asked.digest,
        silo=sketch.silo,
        dataset=own.dataset_of((), dataset),
        release=sketch.content_digest,
        message=sketch.digest,
        replaces=sketch.replaces,
        view=plan_view(asked),
        epsilon=cost.epsilon,
        budget=cost.budget,
        because=because,
    )

    def unknown(entries: Sequence[Entry]) -> bool:
        return not any(each.release == entry.release for each in entries)

    with record.commit(entry, unknown):
        click.echo(f"entered {sketch.digest} into {printable(record.path)}", err=True)


def release_words(entry: Entry, entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return when, plan, data set, message and cost of a release, for a table."""
    voided = any(each.entry == "void" and each.release == entry.release for each in entries)
    title = (entry.view or {}).get("title", "")
    name = entry.dataset or f"all tables of {entry.silo}"
    cost = "no noise" if entry.epsilon is None else f"epsilon {number(entry.epsilon)}"
    message = f"{(entry.message or '')[:_SHORT]}{' (voided)' if voided else ''}"
    return entry.time, f"{title}", name, message, cost


def _words(entry: Entry, entries: Sequence[Entry]) -> str:
    match entry.entry:
        case "release":
            when, title, name, message, cost = release_words(entry, entries)
            words = f"{when} release {message} under “{title}”, from {name}, {cost}"
            if entry.because:
                words += f"; again because: {entry.because}"
            if entry.weaker:
                words += f"; weaker than the policy: {', '.join(entry.weaker)}"
            return words
        case "void":
            message = next(e.message or "" for e in entries if e.release == entry.release)
            return f"{entry.time} void {message[:_SHORT]}: {entry.because}"
        case "approval":
            return f"{entry.time} approval of plan {(entry.plan or '')[:_SHORT]} by {entry.by}: {entry.because}"
        case "torn":
            return f"{entry.time} a line was not written to its end; nothing left under it"
    return f"{entry.time} begin{'' if not entry.because else f': {entry.because}'}"


def _named(entry: Entry, digits: str) -> bool:
    names = (entry.message or "", entry.release or "")
    return len(digits) >= 8 and any(n.removeprefix("sha256:").startswith(digits) for n in names)
