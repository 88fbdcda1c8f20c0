"""``fedparity audit``: from the plan and the messages to the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from fedparity.auditing.audit import audit as measure
from fedparity.auditing.result import AuditResult
from fedparity.cli.answering import AnswerCommand, answer, answer_options, check_answer, end
from fedparity.cli.fitting import counted
from fedparity.cli.inspecting import inspect_files, missing_silos
from fedparity.cli.message_files import message_files
from fedparity.cli.progress import Progress, progress_bar
from fedparity.cli.requiring import check_all_there
from fedparity.cli.signing import sign_options, signing_key
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
        if plan.privacy is not None and plan.privacy.secure:
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
