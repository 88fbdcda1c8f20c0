"""``fedparity report``: a page, a PDF or Markdown of a result, and the options that ask for them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import click

from fedparity.cli.options import option, with_options
from fedparity.cli.output import note
from fedparity.documents.files import refuse_existing, write_whole
from fedparity.documents.result import AuditResult
from fedparity.errors.base import printable
from fedparity.report.formats import FORMATS, FormatName

__all__ = ["ReportOptions", "report"]

_PRINTED = "-"
"""The target that is the standard output."""


@dataclass(frozen=True)
class ReportOptions:
    """The reports to write; a field has the name of its format."""

    html: str | None = option("--html FILE", "Write a report as one HTML page.")
    pdf: str | None = option("--pdf FILE", "Write a report of one page as PDF.")
    markdown: str | None = option("--markdown FILE", "Write Markdown; - prints it.")
    model_card: str | None = option(
        "--model-card FILE", "Write a section for a Hugging Face model card; - prints it."
    )

    @property
    def targets(self) -> dict[FormatName, str]:
        """The file of each format, or - for the standard output."""
        named = {name: getattr(self, name.replace("-", "_")) for name in FORMATS}
        return {name: target for name, target in named.items() if target is not None}

    @property
    def is_printed(self) -> bool:
        """Whether a report goes to the standard output."""
        return _PRINTED in self.targets.values()

    def check(self, *, force: bool, others: Iterable[str | None] = ()) -> None:
        """Refuse what cannot be written, before anything is measured.

        Raises
        ------
        click.UsageError
            If two outputs have one target, or a page is to be printed.
        OutputError
            If a file exists and ``force`` is not set.
        MissingExtraError
            If a format needs something that is not installed.
        """
        targets = self.targets
        places = [os.path.realpath(each) for each in (*targets.values(), *filter(None, others))]
        if len(set(places)) < len(places):
            raise click.UsageError("two outputs have the same name; give each its own.")
        for name, target in targets.items():
            if target == _PRINTED and not FORMATS[name].is_text:
                raise click.UsageError(f"--{name} needs the name of a file, not -.")
            if target != _PRINTED and not force:
                refuse_existing(target)
            FORMATS[name].check()

    def write(self, result: AuditResult, *, force: bool) -> None:
        """Make every report, then write them: a format that fails leaves no file behind."""
        made = [(FORMATS[name].render(result), target) for name, target in self.targets.items()]
        for data, target in made:
            if target == _PRINTED:
                click.echo(data.decode(), nl=False)
            else:
                write_whole(target, data, force=force)
                note(f"wrote {printable(target)}")


@click.command
@click.argument("result", type=click.Path())
@with_options(ReportOptions)
@click.option("--force", is_flag=True, help="Replace existing files.")
def report(result: str, options: ReportOptions, *, force: bool) -> None:
    """Make reports of RESULT, the JSON that audit or simulate wrote.

    At least one output is needed. Nothing is measured again: every number is the result's own.
    The page needs no network, and nothing in it asks for one.

    \b
    Examples:
      fedparity report result.json --html audit.html
      fedparity report result.json --markdown - --force
      fedparity report result.json --model-card card.md --pdf audit.pdf
    """
    if not options.targets:
        raise click.UsageError("name an output: --html, --pdf, --markdown or --model-card FILE.")
    options.check(force=force, others=[result])
    options.write(AuditResult.read(result), force=force)
