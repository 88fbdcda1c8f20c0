"""``fedparity report``: a result, once more, for people."""

from __future__ import annotations

import click

from fedparity.auditing.result import AuditResult
from fedparity.cli.reporting import asked, check_outputs, report_options, write_outputs

__all__ = ["report"]


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
