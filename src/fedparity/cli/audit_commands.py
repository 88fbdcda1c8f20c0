"""The answer of an audit or a simulation: options, printing, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from fedparity.auditing.audit import audit as measure
from fedparity.cli.audit_text import audit_text
from fedparity.cli.key_commands import sign_options, signing_key
from fedparity.cli.main import ExitCode
from fedparity.cli.message_files import inspect_files, message_files, missing_silos
from fedparity.cli.options import check_all_there
from fedparity.cli.output import Progress, progress_bar
from fedparity.cli.report_commands import (
    asked,
    check_outputs,
    is_printed,
    report_options,
    write_outputs,
)
from fedparity.documents.files import refuse_existing
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.errors import MessageError
from fedparity.errors.base import printable
from fedparity.modes.mode import mode_of
from fedparity.text import counted
from fedparity.uncertainty.checks import FEWEST_REDRAWS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = [
    "AnswerCommand",
    "answer",
    "answer_options",
    "audit",
    "check_answer",
    "end",
]


class AnswerCommand(click.Command):
    """A command whose ``--fail-above`` never takes the word after it: only ``--fail-above=answered`` does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with the value that ``--fail-above`` alone stands for written out."""
        words = args.index("--") if "--" in args else len(args)
        stated = ["--fail-above=all" if word == "--fail-above" else word for word in args[:words]]
        return super().parse_args(ctx, stated + args[words:])


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
    click.option("--redraws", type=click.IntRange(min=FEWEST_REDRAWS), help="Of the bootstrap."),
    click.option(
        "--threshold",
        "thresholds",
        type=float,
        multiple=True,
        metavar="SCORE",
        help="Add rates and ratios at a score to every output; may be repeated.",
    ),
    click.option(
        "--tail",
        "tails",
        type=_SHARE,
        multiple=True,
        metavar="LEVEL",
        help="Add shares above a quantile of all; 0.5 is the median.",
    ),
    click.option(
        "--details",
        is_flag=True,
        help="Show formulas, every kind of bound, and further measures.",
    ),
    click.option(
        "--fail-above",
        type=click.Choice(["all", "answered"]),
        metavar="[=answered]",
        help="Exit code 10 above the review level for all; or among those who answered.",
    ),
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
    if is_printed(outputs) and options["as_json"]:
        raise click.UsageError("a report that is printed leaves no room for --json.")


def answer(
    measured: AuditResult, options: dict[str, Any], key: Ed25519PrivateKey | None = None
) -> None:
    """Print the result, and write it where it was asked for, with the rates asked for.

    A report that is printed takes the place of the text.
    """
    result = measured.with_rates(thresholds=options["thresholds"], tails=options["tails"])
    if key is not None:
        result = result.signed(key)
    if options["output"]:
        result.write(options["output"], force=options["force"])
    outputs = asked(options)
    write_outputs(result, outputs, force=options["force"])
    if is_printed(outputs):
        return
    if options["as_json"]:
        click.echo(result.to_json())
    else:
        click.echo(audit_text(result, details=options["details"]))


def end(context: click.Context, result: AuditResult, options: dict[str, Any]) -> None:
    """End with code 10 if the verdict asked for is *above* the review level."""
    if options["output"]:
        click.echo(f"wrote {printable(options['output'])}", err=True)
    whom = options["fail_above"]
    if whom is None:
        return
    if result.disparity.review_level is None:
        click.echo("warning: --fail-above has no effect: the plan has no review level", err=True)
    if getattr(result.disparity.verdict, whom) == "above":
        context.exit(ExitCode.ABOVE)


@click.command(
    cls=AnswerCommand, short_help="Measure the disparity of all silos from their messages."
)
@click.argument("plan", type=click.Path())
@click.argument("sketches", type=click.Path(), nargs=-1, required=True)
@answer_options
@sign_options
@click.option(
    "--require-all", is_flag=True, help="Exit code 5 if a silo of the roster is missing."
)
@click.pass_context
def audit(context: click.Context, /, **_: object) -> None:
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
    options = dict(context.params)
    check_answer(options)
    key = signing_key(options)
    plan = Plan.read(options["plan"])
    files = message_files(options["sketches"])
    with progress_bar("steps") as progress:
        if mode_of(plan).in_rounds:
            result = _opened(plan, files, options, progress)
        else:
            messages = _read(plan, files, progress)
            if options["require_all"]:
                check_all_there(plan, missing_silos(plan, (each.silo for each in messages)))
            result = _measured(plan, messages, options, progress)
    answer(result, options, key)
    end(context, result, options)


def _measured(
    plan: Plan,
    messages: Sequence[SiloSketch] | Sequence[str],
    options: dict[str, Any],
    progress: Progress | None,
) -> AuditResult:
    chosen = {name: options[name] for name in ("confidence", "seed", "redraws")}
    return measure(plan, messages, progress=progress, **chosen)


def _opened(
    plan: Plan, files: Sequence[str], options: dict[str, Any], progress: Progress | None
) -> AuditResult:
    """The result of a secure sum: its silos are known once it is opened."""
    result = _measured(plan, files, options, progress)
    if options["require_all"]:
        check_all_there(plan, list(result.silos_missing))
    return result


def _read(plan: Plan, files: Sequence[str], progress: Progress | None) -> list[SiloSketch]:
    """The messages, each checked as it is read; the first that is refused is named.

    Raises
    ------
    MessageError
        If one is refused; the error says how many more are.
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
