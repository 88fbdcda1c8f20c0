"""The auditor's commands: measure messages, and make reports of a result."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from fedparity.auditing.audit import audit_messages
from fedparity.cli.audit_text import audit_text
from fedparity.cli.main import ExitCode
from fedparity.cli.message_files import (
    check_complete,
    inspect_files,
    message_files,
    missing_silos,
)
from fedparity.cli.options import PROBABILITY, SigningOptions, nested, option, with_options
from fedparity.cli.output import Progress, note, open_page, progress_bar
from fedparity.documents.files import refuse_existing, write_whole
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.errors import MessageError, OutputError
from fedparity.errors.base import printable
from fedparity.modes.mode import AuditOptions as Options
from fedparity.modes.mode import mode_of
from fedparity.report.formats import FORMATS, FormatName, Preparation
from fedparity.text import counted
from fedparity.uncertainty.checks import FEWEST_REDRAWS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from fedparity.report.filing_templates import TemplateName

__all__ = [
    "AuditOptions",
    "ReportOptions",
    "ResultCommand",
    "ResultOptions",
    "audit",
    "report",
]

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
    help="Write the tables that a rule requires, to the file of -o.",
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
    result's own. The page needs no network and makes no requests.

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
    """Write the tables that a rule requires; the ending of the file decides the format."""
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


class ResultCommand(click.Command):
    """A command whose ``--fail-above`` never takes the word after it: only ``--fail-above=answered`` does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with the default value of ``--fail-above`` written out."""
        words = args.index("--") if "--" in args else len(args)
        stated = ["--fail-above=all" if word == "--fail-above" else word for word in args[:words]]
        return super().parse_args(ctx, stated + args[words:])


@dataclass(frozen=True)
class ResultOptions:
    """How a result is computed, printed and written, and what the command ends with."""

    as_json: bool = option("--json", "Print the result as JSON.")
    output: str | None = option("-o, --output FILE", "Write the result as JSON to a file.")
    force: bool = option("--force", "Replace existing output files.")
    reports: ReportOptions = nested(ReportOptions)
    confidence: float = option(
        "--confidence", "Confidence level of the intervals.", type=PROBABILITY, default=0.95
    )
    seed: int = option("--seed", "Random seed of the bootstrap.", min=0, default=0)
    redraws: int | None = option("--redraws", "Number of bootstrap samples.", min=FEWEST_REDRAWS)
    thresholds: tuple[float, ...] = option(
        "--threshold SCORE", "Add rates and ratios at a score to every output; may be repeated."
    )
    tails: tuple[float, ...] = option(
        "--tail LEVEL",
        "Add the share of each group above a quantile of everyone (0.5: LL144 scoring rate).",
        type=PROBABILITY,
    )
    details: bool = option("--details", "Show formulas, every kind of bound, and all silos.")
    fail_above: Literal["all", "answered"] | None = option(
        "--fail-above [=answered]",
        "Exit code 10 above the review level for all; or among those who answered.",
        type=click.Choice(["all", "answered"]),
    )

    def check(self) -> None:
        """Refuse outputs that cannot be written, before anything is measured."""
        if self.output and not self.force:
            refuse_existing(self.output)
        self.reports.check(force=self.force, others=[self.output])
        if self.reports.is_printed and self.as_json:
            raise click.UsageError("a report that is printed leaves no room for --json.")

    def finish(
        self, context: click.Context, measured: AuditResult, key: Ed25519PrivateKey | None = None
    ) -> None:
        """Write and print the result; exit with code 10 if ``--fail-above`` requires it.

        A report that is printed takes the place of the text.
        """
        result = measured.with_rates(thresholds=self.thresholds, tails=self.tails)
        if key is not None:
            result = result.signed(key)
        if self.output:
            result.write(self.output, overwrite=self.force)
        self.reports.write(result, force=self.force)
        if not self.reports.is_printed:
            click.echo(
                result.to_json() if self.as_json else audit_text(result, details=self.details)
            )
        if self.output:
            note(f"wrote {printable(self.output)}")
        if self.fail_above is None:
            return
        if result.disparity.review_level is None:
            click.echo(
                "warning: --fail-above has no effect: the plan has no review level", err=True
            )
        if getattr(result.disparity.verdict, self.fail_above) == "above":
            context.exit(ExitCode.ABOVE)


@dataclass(frozen=True)
class AuditOptions:
    """The options of an audit."""

    result: ResultOptions = nested(ResultOptions)
    signing: SigningOptions = nested(SigningOptions)
    require_all: bool = option(
        "--require-all", "Exit code 5 unless all silos in the plan have answered."
    )


@click.command(cls=ResultCommand)
@click.argument("plan", type=click.Path())
@click.argument("sketches", type=click.Path(), nargs=-1, required=True)
@with_options(AuditOptions)
@click.pass_context
def audit(
    context: click.Context, plan: str, sketches: tuple[str, ...], options: AuditOptions
) -> None:
    """Measure the disparity of all silos together, from their messages.

    SKETCHES are files, patterns, or folders of files that end in .json. A message that does not
    answer PLAN is refused (exit code 3), never left out; missing silos and withheld cells are
    named and widen the bounds.

    \b
    Examples:
      fedparity audit plan.toml inbox
      fedparity audit plan.toml inbox --json > result.json
      fedparity audit plan.toml inbox -o result.json --fail-above --require-all
      fedparity audit plan.toml inbox --threshold 0.5 --tail 0.9
      fedparity audit plan.toml inbox --html audit.html --pdf audit.pdf
      fedparity audit plan.toml inbox -o result.json --sign auditor.key
    """
    options.result.check()
    key = options.signing.key()
    agreed = Plan.read(plan)
    files = message_files(sketches)
    with progress_bar("steps") as progress:
        result = _measured(agreed, files, options, progress)
    options.result.finish(context, result, key)


def _measured(
    plan: Plan, files: Sequence[str], options: AuditOptions, progress: Progress | None
) -> AuditResult:
    secure = mode_of(plan).in_rounds
    messages: Sequence[SiloSketch | str] = files if secure else _read(plan, files, progress)
    if options.require_all and not secure:
        seen = (each.silo for each in messages if isinstance(each, SiloSketch))
        check_complete(plan, missing_silos(plan, seen))
    chosen = options.result
    result = audit_messages(
        plan,
        messages,
        Options(
            confidence=chosen.confidence,
            seed=chosen.seed,
            redraws=chosen.redraws,
            progress=progress,
        ),
    )
    if options.require_all and secure:  # the silos of a sum are known once it is opened
        check_complete(plan, list(result.silos_missing))
    return result


def _read(plan: Plan, files: Sequence[str], progress: Progress | None) -> list[SiloSketch]:
    """The messages, each checked as it is read; the error names the first that is refused.

    Raises
    ------
    MessageError
        If one is refused; it says how many more are.
    """
    found = inspect_files(plan, files, progress)
    refused = [each.error for each in found if each.error is not None]
    if len(refused) > 1:
        raise MessageError(
            f"{refused[0].message} {counted(len(refused) - 1, 'more message')} refused.",
            fix="run fedparity verify with the same plan and messages to see all of them.",
        )
    if refused:
        raise refused[0]
    return [each.sketch for each in found if each.sketch is not None]
