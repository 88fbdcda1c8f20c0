"""``fedparity report``: a result as text, page, PDF, Markdown or tables, and the options of these."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from fedparity.cli.audit_text import audit_text
from fedparity.cli.options import option, with_options
from fedparity.cli.output import note, open_page
from fedparity.documents.files import refuse_existing, write_whole
from fedparity.documents.result import AuditResult
from fedparity.errors import OutputError
from fedparity.errors.base import printable
from fedparity.report.formats import FORMATS, FormatName
from fedparity.report.preparation import Preparation
from fedparity.text import counted

if TYPE_CHECKING:
    from fedparity.report.filing_templates import TemplateName

__all__ = ["ReportOptions", "report"]

_PRINTED = "-"
"""The target that is the standard output."""


@dataclass(frozen=True)
class ReportOptions:
    """The reports to write; a field has the name of its format."""

    html: str | None = option("--html FILE", "Write a report as one HTML page.")
    pdf: str | None = option("--pdf FILE", "Write a report as PDF.")
    markdown: str | None = option("--markdown FILE", "Write Markdown; - prints it.")
    model_card: str | None = option(
        "--model-card FILE", "Write a section for a Hugging Face model card; - prints it."
    )
    xlsx: str | None = option("--xlsx FILE", "Write all tables as an Excel workbook.")
    tables: str | None = option("--tables DIR", "Write all tables as CSV files into a folder.")
    author: str | None = option("--author TEXT", "Author of the reports.")
    date: str | None = option("--date DAY", "Date of the reports.  [default: today]")
    open_page: bool = option("--open", "Open the HTML page in a browser.")

    @property
    def targets(self) -> dict[FormatName, str]:
        """The file of each format, or - for the standard output."""
        named = {name: getattr(self, name.replace("-", "_")) for name in FORMATS}
        return {name: target for name, target in named.items() if target is not None}

    @property
    def prepared(self) -> Preparation:
        """When and by whom the reports are prepared.

        Raises
        ------
        OptionError
            If the date is not a day, or the author cannot be shown.
        """
        return Preparation.stated(self.date, self.author)

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
        targets, _ = self.targets, self.prepared
        if self.open_page and self.html is None:
            raise click.UsageError("--open opens the page that --html FILE writes; name it.")
        if self.tables is not None and not force and os.path.isdir(self.tables):  # noqa: PTH112
            refuse_existing(self.tables)
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
        prepared = self.prepared
        made = [
            (FORMATS[name].render(result, prepared), target)
            for name, target in self.targets.items()
        ]
        for data, target in made:
            if target == _PRINTED:
                click.echo(data.decode(), nl=False)
            else:
                write_whole(target, data, force=force)
                note(f"wrote {printable(target)}")
        if self.tables is not None:
            self._write_tables(result, self.tables, force=force)
        if self.open_page and self.html is not None:
            open_page(self.html)

    @staticmethod
    def _write_tables(result: AuditResult, folder: str, *, force: bool) -> None:
        from fedparity.report.table_files import csv_tables  # noqa: PLC0415 -- few need it

        made = csv_tables(result)
        try:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103 -- pathlib takes 7 ms to import
        except OSError as problem:
            raise OutputError.unwritable(folder, str(problem.strerror)) from None
        for name, data in made.items():
            write_whole(os.path.join(folder, name), data, force=force)  # noqa: PTH118
        note(f"wrote {counted(len(made), 'table')} to {printable(folder)}")


@click.command
@click.argument("result", type=click.Path())
@with_options(ReportOptions)
@click.option(
    "--details", is_flag=True, help="Print formulas, every kind of bound, and all silos."
)
@click.option(
    "--template",
    type=click.Choice(["ll144", "ugesp", "insurance", "ai-act", "hospital"]),
    help="Write the tables that a rule asks for, to the file of -o.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="File of the template, .html or .md; - prints Markdown."
)
@click.option("--force", is_flag=True, help="Replace existing files.")
def report(
    result: str,
    options: ReportOptions,
    *,
    details: bool,
    template: TemplateName | None,
    output: str | None,
    force: bool,
) -> None:
    """Show RESULT, the JSON that audit or simulate wrote, or make reports of it.

    Without an output the answer is printed. Nothing is measured again: every number is the
    result's own. The page needs no network, and nothing in it asks for one.

    \b
    Examples:
      fedparity report result.json --details
      fedparity report result.json --html audit.html --author "The office" --open
      fedparity report result.json --markdown - --force
      fedparity report result.json --pdf audit.pdf --xlsx audit.xlsx
      fedparity report result.json --template ll144 -o summary.html
    """
    if (template is None) != (output is None):
        raise click.UsageError("--template and -o go together: -o names the file of the template.")
    options.check(force=force, others=[result])
    read = AuditResult.read(result)
    if template is not None and output is not None:
        _write_template(read, template, output, force=force)
    elif not options.targets and options.tables is None:
        click.echo(audit_text(read, details=details))
        return
    options.write(read, force=force)


def _write_template(
    result: AuditResult, template: TemplateName, output: str, *, force: bool
) -> None:
    """Write the tables that a rule asks for; the ending of the file decides the format."""
    from fedparity.report.filing_templates import html_filing, markdown_filing  # noqa: PLC0415

    if output == _PRINTED:
        click.echo(markdown_filing(result, template), nl=False)
        return
    render = {".html": html_filing, ".md": markdown_filing}.get(
        output[output.rfind(".") :].lower()
    )
    if render is None:
        raise click.UsageError("the file of a template ends in .html or .md.")
    write_whole(output, render(result, template).encode(), force=force)
    note(f"wrote {printable(output)}")
