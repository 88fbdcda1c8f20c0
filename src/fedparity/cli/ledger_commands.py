"""``fedparity ledger``: what left this silo, shown, checked, begun, and voided."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from fedparity.cli.options import (
    LedgerOptions,
    json_option,
    reading_words,
    row_words,
    with_options,
)
from fedparity.cli.output import note, print_json
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_message
from fedparity.documents.plan import Plan
from fedparity.errors import LedgerError
from fedparity.errors.base import printable
from fedparity.modes.mode import mode_of
from fedparity.privacy.ledger import Entry, now
from fedparity.silo.permit import plan_view
from fedparity.text import counted, number, wrapped

__all__ = ["add", "init", "release_words", "show", "verify", "void"]

_because = click.option(
    "--because", required=True, metavar="TEXT", help="Why; it stays on record."
)
_SHORT = 19
"""Characters of a digest that people compare: ``sha256:`` and twelve digits."""


@click.command
@click.option(
    "--because", metavar="TEXT", help="Why, if an earlier one is lost; it stays on record."
)
@click.option("--shared", is_flag=True, help="Let the group of the folder write to it.")
@with_options(LedgerOptions)
def init(because: str | None, options: LedgerOptions, *, shared: bool) -> None:
    """Begin a ledger, where one must exist or an earlier one is lost.

    \b
    Examples:
      fedparity ledger init
      fedparity ledger init --because "the disk of the old one broke"
      fedparity ledger init --ledger /srv/fedparity/ledger.jsonl --shared
    """
    _, record = options.find()
    record.begin(because=because, shared=shared)
    note(f"wrote {printable(record.path)}")
    if because:
        note("next: enter each message that left: fedparity ledger add PLAN FILE")


@click.command
@json_option("Print all entries as JSON.")
@with_options(LedgerOptions)
def show(options: LedgerOptions, *, as_json: bool) -> None:
    """Print every entry: when, under which plan, of which data, at what cost.

    \b
    Examples:
      fedparity ledger show
      fedparity ledger show --json
    """
    _, record = options.find()
    entries = record.entries()
    if as_json:
        print_json([json.loads(entry.to_json()) for entry in entries])
        return
    for entry in entries:
        click.echo("\n".join(wrapped(printable(_words(entry, entries)), 80, rest="  ")))
        if entry.file is not None:
            click.echo(f"  {printable(entry.file)}")
        if entry.reading:
            how = f"read with {reading_words(entry.reading)}"
            click.echo("\n".join(wrapped(how, 80, first="  ", rest="    ")))
        if entry.rows:
            click.echo("\n".join(wrapped(row_words(entry.rows), 80, first="  ", rest="    ")))
    note(f"{printable(record.path)}: {counted(len(entries), 'line')}")


@click.command
@click.option(
    "--head", metavar="DIGEST", help="A last line noted earlier; it must still be there."
)
@with_options(LedgerOptions)
def verify(head: str | None, options: LedgerOptions) -> None:
    """Check that every line continues the one before; print the last digest.

    Lines that are cut off at the end leave no trace in the file: note the digest that is
    printed, and pass it as --head the next time. Exit code 4 if the chain is broken.

    \b
    Examples:
      fedparity ledger verify
      fedparity ledger verify --head sha256:1f2e3d4c5b6a
    """
    _, record = options.find()
    entries, last = record.entries(), record.head
    seen = {last, *(entry.previous for entry in entries)} - {None}
    if head is not None and not any(str(digest).startswith(head) for digest in seen):
        raise LedgerError(
            f"the ledger {record.path} no longer holds the line {head}: lines are missing.",
            fix="restore the file from a backup; see the how-to page on a lost ledger.",
        )
    click.echo(last or "empty")
    count = counted(len(entries), "line")
    note(f"{printable(record.path)}: {count}, one chain; note the digest for --head")


@click.command
@click.argument("digest")
@_because
@with_options(LedgerOptions)
def void(digest: str, because: str, options: LedgerOptions) -> None:
    """Say that the message DIGEST was wrong; its entry and its cost stay.

    Then the same plan may be answered anew. The new message names the one that it replaces,
    so the auditor sees that there was another. DIGEST is that of the message, as sketch and
    verify print it; twelve digits are enough.

    \b
    Examples:
      fedparity ledger void sha256:1f2e3d4c5b6a --because "last month's table"
    """
    _, record = options.find()
    entries = record.entries()
    digits = digest.removeprefix("sha256:")
    found = [
        entry
        for entry in entries
        if entry.entry == "release"
        and len(digits) >= 8
        and any(
            (name or "").removeprefix("sha256:").startswith(digits)
            for name in (entry.message, entry.release)
        )
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
    note(f"voided {found[0].message}\nnext: create the message again, and inform the auditor")


@click.command
@click.argument("plan", type=click.Path())
@click.argument("message", type=click.Path())
@_because
@click.option("--dataset", metavar="NAME", help="Which data set of the policy it is of.")
@with_options(LedgerOptions)
def add(
    plan: str, message: str, because: str, dataset: str | None, options: LedgerOptions
) -> None:
    """Enter the file MESSAGE, which left under PLAN, into a ledger.

    For a ledger that was lost: auditors keep what they received, so ask them for copies.

    \b
    Examples:
      fedparity ledger add plan.toml aurora.sketch.json --because "lost ledger"
    """
    own, record = options.find()
    agreed, sketch = Plan.read(plan), SiloSketch.read(message)
    check_message(agreed, sketch)
    cost = mode_of(agreed).cost
    entry = Entry(
        entry="release",
        time=now(),
        plan=agreed.digest,
        silo=sketch.silo,
        dataset=own.dataset_of((), dataset),
        release=sketch.content_digest,
        message=sketch.digest,
        replaces=sketch.replaces,
        view=plan_view(agreed),
        epsilon=cost.epsilon,
        budget=cost.budget,
        because=because,
    )

    def unknown(entries: Sequence[Entry]) -> bool:
        return not any(each.release == entry.release for each in entries)

    with record.commit(entry, unknown):
        note(f"entered {sketch.digest} into {printable(record.path)}")


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
