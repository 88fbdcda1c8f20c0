"""``fedparity page``: the page that sketches a silo's table in a browser, and the check of such a file."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import click

from fedparity.cli.options import option, with_options
from fedparity.cli.output import note, print_json, quoted
from fedparity.documents.files import read_bounded, refuse_existing, write_whole
from fedparity.documents.plan import Plan
from fedparity.errors import DocumentError
from fedparity.errors.base import printable
from fedparity.page.build_page import build_page

__all__ = ["PageOptions", "page"]

_LARGEST = 50_000_000


@dataclass(frozen=True)
class PageOptions:
    """Where the page goes, or which one to check."""

    output: str | None = option("-o, --output FILE", "File to write.")
    verify: str | None = option("--verify FILE", "Compare a page with the one of this plan.")
    as_json: bool = option("--json", "Print JSON.")
    force: bool = option("--force", "Replace an existing output file.")


@click.command
@click.argument("plan", type=click.Path())
@with_options(PageOptions)
def page(plan: str, options: PageOptions) -> None:
    """Write a page that reduces a silo's table to its message, in a browser.

    One HTML file for those who may not install anything: it is opened from the disk, reads a CSV,
    TSV or Parquet file, shows all that would leave, and saves the message. It cannot send anything.
    Its sha256 is printed; --verify builds the page again and compares it, byte for byte. Exit code
    3 if it is another one, 4 if the plan asks for noise, secure sums, axes or an outcome.

    \b
    Examples:
      fedparity page plan.toml -o silo.html
      fedparity page plan.toml --verify silo.html
    """
    if (options.output is None) == (options.verify is None):
        raise click.UsageError(
            "name the file to write with -o, or the one to check with --verify."
        )
    if options.output is not None and not options.force:
        refuse_existing(options.output)
    agreed = Plan.read(plan)
    made = build_page(agreed)
    if options.verify is not None:
        _compare(options.verify, made)
    elif options.output is not None:
        write_whole(options.output, made, force=options.force)
    file, digest = options.output or options.verify, sha256(made).hexdigest()
    if options.as_json:
        print_json({"file": file, "plan": agreed.digest, "sha256": digest, "bytes": len(made)})
    else:
        click.echo(f"sha256 {digest}")
    if options.verify is not None:
        note(f"{printable(file)} is the page of this plan and this version, byte for byte")
        return
    note(f"wrote {printable(file)} ({len(made):,} bytes)")
    note(f"next: {quoted('fedparity', 'page', plan, '--verify', file)} (anybody with the plan)")


def _compare(file: str, made: bytes) -> None:
    found = read_bounded(file, limit=_LARGEST)
    if found == made:
        return
    raise DocumentError(
        f"{file} is not the page of this plan and this version: its sha256 is "
        f"{sha256(found).hexdigest()}, that of the page built here {sha256(made).hexdigest()}.",
        fix="do not use it until you know why: take the plan and the version of fedparity (named at the "
        "end of the page) of whoever made it, and compare again.",
    )
