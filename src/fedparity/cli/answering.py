"""The answer of an audit or a simulation: options, printing, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from fedparity.auditing.result import AuditResult
from fedparity.cli.audit_text import audit_text
from fedparity.cli.exits import ExitCode
from fedparity.cli.reporting import (
    asked,
    check_outputs,
    is_printed,
    report_options,
    write_outputs,
)
from fedparity.cli.threshold_text import tail_text, threshold_text
from fedparity.protocol.canonical import canonical_bytes
from fedparity.protocol.files import refuse_existing

__all__ = ["answer", "answer_options", "check_answer", "end"]

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
_OPTIONS = (
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    click.option("-o", "--output", metavar="FILE", help="Write the result as JSON to a file."),
    click.option("--force", is_flag=True, help="Replace existing output files."),
    click.option(
        "--confidence", type=_SHARE, default=0.95, show_default=True, help="Of intervals."
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of redraws."
    ),
    click.option("--redraws", type=click.IntRange(min=2), help="Of the bootstrap."),
    click.option(
        "--threshold",
        "thresholds",
        type=float,
        multiple=True,
        metavar="SCORE",
        help="Show selection rates and ratios at a score; may be repeated.",
    ),
    click.option(
        "--tail",
        "tails",
        type=_SHARE,
        multiple=True,
        metavar="LEVEL",
        help="Show shares above a quantile of all; 0.5 is the median.",
    ),
    click.option("--fail-above", is_flag=True, help="Exit code 10 above the review level."),
)


def answer_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an answer."""
    for option in reversed(_OPTIONS[3:]):
        command = option(command)
    command = report_options(command)
    for option in reversed(_OPTIONS[:3]):
        command = option(command)
    return command


def check_answer(options: dict[str, Any]) -> None:
    """Refuse outputs that cannot be written, before anything is measured."""
    outputs = asked(options)
    if options["output"] and not options["force"]:
        refuse_existing(options["output"])
    check_outputs(outputs, force=options["force"], others=[options["output"]])
    if is_printed(outputs) and (options["as_json"] or options["thresholds"] or options["tails"]):
        raise click.UsageError(
            "a report that is printed leaves no room for --json, --threshold or --tail."
        )


def answer(result: AuditResult, options: dict[str, Any]) -> None:
    """Print the result, and write it where it was asked for.

    A report that is printed takes the place of the text. As JSON, each threshold and tail follows on a line of its own.
    """
    thresholds = [result.at_threshold(score) for score in options["thresholds"]]
    tails = [result.at_quantile(level) for level in options["tails"]]
    if options["output"]:
        result.write(options["output"], force=options["force"])
    outputs = asked(options)
    write_outputs(result, outputs, force=options["force"])
    if is_printed(outputs):
        return
    if options["as_json"]:
        click.echo(result.to_json())
        for threshold in thresholds:
            click.echo(_line("threshold", threshold.to_dict()))
        for tail in tails:
            click.echo(_line("tail", tail.to_dict()))
        return
    click.echo(audit_text(result))
    for threshold in thresholds:
        click.echo(f"\n{threshold_text(threshold, result)}")
    for tail in tails:
        click.echo(f"\n{tail_text(tail, result)}")


def end(context: click.Context, result: AuditResult, options: dict[str, Any]) -> None:
    """End with code 10 if the disparity is above the review level and that was asked for."""
    if options["output"]:
        click.echo(f"wrote {options['output']}", err=True)
    if not options["fail_above"]:
        return
    if result.disparity.review_level is None:
        click.echo("warning: --fail-above has no effect: the plan has no review level", err=True)
    if result.disparity.verdict == "above":
        context.exit(ExitCode.ABOVE)


def _line(kind: str, report: Mapping[str, object]) -> str:
    return canonical_bytes({"schema": f"fedparity/{kind}/1", **report}).decode()
