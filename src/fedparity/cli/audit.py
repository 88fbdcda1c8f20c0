"""``fedparity audit``: from the plan and the messages to the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from fedparity.auditing.audit import audit as measure
from fedparity.auditing.result import AuditResult
from fedparity.cli.answering import AnswerCommand, answer, answer_options, check_answer, end
from fedparity.cli.fitting import counted
from fedparity.cli.inspecting import inspect_message, missing_silos, refuse_twice
from fedparity.cli.message_files import message_files
from fedparity.cli.progress import Progress, progress_bar
from fedparity.cli.requiring import check_all_there
from fedparity.errors import MessageError
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan

__all__ = ["audit"]


@click.command(
    cls=AnswerCommand, short_help="Measure the disparity of all silos from their messages."
)
@click.argument("plan", type=click.Path())
@click.argument("sketches", type=click.Path(), nargs=-1, required=True)
@answer_options
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
    """
    options = dict(context.params)
    check_answer(options)
    plan = Plan.read(options["plan"])
    files = message_files(options["sketches"])
    with progress_bar("steps") as progress:
        if plan.privacy is not None and plan.privacy.secure:
            result = _opened(plan, files, options, progress)
        else:
            messages = _read(files, progress)
            if options["require_all"]:
                check_all_there(plan, missing_silos(plan, (each.silo for each in messages)))
            result = _measured(plan, files, messages, options, progress)
    answer(result, options)
    end(context, result, options)


def _opened(
    plan: Plan, files: Sequence[str], options: dict[str, Any], progress: Progress | None
) -> AuditResult:
    """The result of a secure sum: its silos are known once it is opened."""
    chosen = {name: options[name] for name in ("confidence", "seed", "redraws")}
    result = measure(plan, files, progress=progress, **chosen)
    if options["require_all"]:
        check_all_there(plan, list(result.silos_missing))
    return result


def _read(files: Sequence[str], progress: Progress | None) -> list[SiloSketch]:
    messages = []
    for done, file in enumerate(files, start=1):
        messages.append(SiloSketch.read(file))
        if progress is not None:
            progress(done, len(files), "reading")
    return messages


def _measured(
    plan: Plan,
    files: Sequence[str],
    messages: Sequence[SiloSketch],
    options: dict[str, Any],
    progress: Progress | None,
) -> AuditResult:
    chosen = {name: options[name] for name in ("confidence", "seed", "redraws")}
    try:
        return measure(plan, messages, progress=progress, **chosen)
    except MessageError as error:
        raise _with_file(plan, files, messages, error) from None


def _with_file(
    plan: Plan, files: Sequence[str], messages: Sequence[SiloSketch], error: MessageError
) -> MessageError:
    """The error with the name of the file that is to blame, and how many more there are."""
    pairs = zip(files, messages, strict=True)
    found = refuse_twice([inspect_message(plan, file, sketch) for file, sketch in pairs])
    refused = [each.error for each in found if each.error is not None]
    if not refused:
        return error
    first, more = refused[0], len(refused) - 1
    if not more:
        return first
    return MessageError(
        f"{first.message} {counted(more, 'more message')} refused.",
        fix="run fedparity verify with the same plan and messages to see all of them.",
    )
