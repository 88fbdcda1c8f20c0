"""Files for people: the options that ask for them, checks before any work, and writing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from fedparity.documents.files import refuse_existing, write_whole
from fedparity.documents.result import AuditResult
from fedparity.errors.base import printable
from fedparity.report.formats import FORMATS, FormatName

__all__ = [
    "Output",
    "asked",
    "check_outputs",
    "is_printed",
    "report",
    "report_options",
    "write_outputs",
]

_PRINTED = "-"
_OPTIONS = (
    click.option("--html", metavar="FILE", help="Write a report as one HTML page."),
    click.option("--pdf", metavar="FILE", help="Write a report of one page as PDF."),
    click.option("--markdown", metavar="FILE", help="Write Markdown; - prints it."),
    click.option(
        "--model-card",
        metavar="FILE",
        help="Write a section for a Hugging Face model card; - prints it.",
    ),
)


class Output(NamedTuple):
    """One file that was asked for."""

    format: FormatName
    target: str
    """Its name, or - for the standard output."""


def report_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that ask for reports."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def asked(options: Mapping[str, Any]) -> list[Output]:
    """Return the outputs that the options ask for."""
    named = {name: options[name.replace("-", "_")] for name in FORMATS}
    return [Output(name, target) for name, target in named.items() if target is not None]


def is_printed(outputs: Iterable[Output]) -> bool:
    """Return whether one of them goes to the standard output."""
    return any(output.target == _PRINTED for output in outputs)


def check_outputs(
    outputs: Sequence[Output], *, force: bool, others: Iterable[str | None] = ()
) -> None:
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
    targets = [*(output.target for output in outputs), *filter(None, others)]
    places = [os.path.realpath(target) for target in targets]
    if len(set(places)) < len(places):
        raise click.UsageError("two outputs have the same name; give each its own.")
    for output in outputs:
        if output.target == _PRINTED and not FORMATS[output.format].is_text:
            raise click.UsageError(f"--{output.format} needs the name of a file, not -.")
        if output.target != _PRINTED and not force:
            refuse_existing(output.target)
        FORMATS[output.format].check()


def write_outputs(result: AuditResult, outputs: Sequence[Output], *, force: bool) -> None:
    """Make every report, then write them: a format that fails leaves no file behind."""
    made = [(output, FORMATS[output.format].render(result)) for output in outputs]
    for output, data in made:
        if output.target == _PRINTED:
            click.echo(data.decode(), nl=False)
        else:
            write_whole(output.target, data, force=force)
            click.echo(f"wrote {printable(output.target)}", err=True)


@click.command(short_help="Make a page, a PDF or Markdown of a result.")
@click.argument("result", type=click.Path())
@report_options
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.pass_context
def report(context: click.Context, /, **_: object) -> None:
    """Make reports of RESULT, the JSON that audit or simulate wrote.

    At least one output is needed. Nothing is measured again: every number is the result's own.
    The page needs no network, and nothing in it asks for one.

    \b
    Examples:
      fedparity report result.json --html audit.html
      fedparity report result.json --markdown - --force
      fedparity report result.json --model-card card.md --pdf audit.pdf
    """
    options = dict(context.params)
    outputs = asked(options)
    if not outputs:
        raise click.UsageError("name an output: --html, --pdf, --markdown or --model-card FILE.")
    check_outputs(outputs, force=options["force"], others=[options["result"]])
    write_outputs(AuditResult.read(options["result"]), outputs, force=options["force"])
