"""``fedparity verify``: the messages of silos, the messages of a secure round, or a signed result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from fedparity.auditing.audit import implausible_counts
from fedparity.cli.main import ExitCode
from fedparity.cli.message_files import (
    Inspection,
    check_complete,
    inspect_files,
    message_files,
    missing_silos,
)
from fedparity.cli.options import option, with_options
from fedparity.cli.output import print_json, progress_bar
from fedparity.documents.files import read_bounded
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.errors import FedparityError, MessageError, ResultError, SignatureError
from fedparity.errors.base import printable
from fedparity.modes.mode import mode_of
from fedparity.modes.secure.round_checks import Inbox, check_round, read_round
from fedparity.modes.secure.round_messages import RoundMessage, SiloRoundMessage
from fedparity.modes.secure.round_progress import STEPS, Standing, standing
from fedparity.text import counted, cut, left, named, right, width_of, wrapped

__all__ = ["VerifyOptions", "verify", "verify_text"]


@dataclass(frozen=True)
class VerifyOptions:
    """The options of a check."""

    result: str | None = option("--result FILE", "Check the signature of a result instead.")
    key: str | None = option("--key FILE", "The auditor's public key, for --result.")
    as_json: bool = option("--json", "Print the findings as JSON.")
    require_all: bool = option(
        "--require-all", "Exit code 5 unless all silos in the plan have answered."
    )


@click.command
@click.argument("plan", type=click.Path(), required=False)
@click.argument("sketches", type=click.Path(), nargs=-1)
@with_options(VerifyOptions)
@click.pass_context
def verify(
    context: click.Context, plan: str | None, sketches: tuple[str, ...], options: VerifyOptions
) -> None:
    """Check every message, on its own and against PLAN, and print a table.

    SKETCHES are files, patterns, or folders of files that end in .json. All are checked even if
    one is refused; exit code 3 if any is. With --result: whether a result is as its auditor
    signed it, and, if PLAN is given, of that plan.

    \b
    Examples:
      fedparity verify plan.toml inbox
      fedparity verify plan.toml aurora.sketch.json bayside.sketch.json
      fedparity verify plan.toml 'inbox/*.json' --require-all --json
      fedparity verify --result result.json --key auditor.pub
    """
    if options.result is not None:
        if sketches or options.require_all:
            raise click.UsageError("check messages and a result one after the other.")
        _verify_result(options.result, plan, options)
        return
    if plan is None or not sketches or options.key is not None:
        raise click.UsageError("name a plan and its messages, or a result: --result FILE.")
    agreed = Plan.read(plan)
    check = _verify_round if mode_of(agreed).in_rounds else _verify_messages
    problems, missing = check(agreed, message_files(sketches), as_json=options.as_json)
    if problems:
        click.echo(problems, err=True)
        context.exit(ExitCode.BAD_INPUT)
    if options.require_all:
        check_complete(agreed, missing)


def _verify_messages(
    plan: Plan, files: Sequence[str], *, as_json: bool
) -> tuple[str | None, Sequence[str]]:
    """Print what is found in each file; return the error if any is refused, and the missing silos."""
    with progress_bar("messages") as progress:
        found = inspect_files(plan, files, progress)
    missing = missing_silos(plan, (each.facts.silo for each in found if each.facts))
    if as_json:
        doubt = _doubts(found)
        print_json(
            {
                "schema": "fedparity/verify/1",
                "plan": plan.digest,
                "valid": all(each.error is None for each in found),
                "messages": [_entry(plan, each) for each in found],
                "silos_missing": missing,
                "warnings": [{"code": "implausible_count", "text": doubt}] if doubt else [],
            }
        )
    else:
        click.echo(verify_text(plan, found, missing))
    refused = sum(each.error is not None for each in found)
    error = (
        f"error: {counted(refused, 'message')} of {len(found):,} refused.\n"
        "fix: see each of them; an audit needs all of its messages to be valid."
    )
    return error if refused else None, missing


def _entry(plan: Plan, each: Inspection) -> dict[str, Any]:
    seen = each.facts
    return {
        "file": each.file,
        "silo": None if seen is None else seen.silo,
        "digest": None if seen is None else seen.digest,
        "cells": None if seen is None else seen.cells,
        "levels": None if seen is None else max(seen.levels, default=0),
        "withheld": None if seen is None else seen.cells - len(seen.levels),
        "signed": None if seen is None else _signed_words(plan, each),
        "valid": each.error is None,
        **_error_entry(each.error),
    }


def _error_entry(error: FedparityError | None) -> dict[str, str | None]:
    return {
        "error": None if error is None else error.message,
        "fix": None if error is None else error.fix,
    }


_ALL = 40
"""Up to this number, all messages are shown; of more, those refused and a count of the others."""
_LONGEST_NAME = 24
_COLUMNS = (("cells", 7), ("levels", 8), ("withheld", 10), ("signed", 11))


def verify_text(
    plan: Plan, found: Sequence[Inspection], missing: Sequence[str], width: int = 80
) -> str:
    """Return a table of the messages, then why some are refused, then who is missing."""
    shown = [each for each in found if len(found) <= _ALL or each.error is not None]
    names = min(max(4, *map(width_of, map(_name, shown))) if shown else 4, _LONGEST_NAME)
    heading = left("silo", names) + "".join(right(name, wide) for name, wide in _COLUMNS)
    lines = [f"{heading}  status"] if shown else []
    lines += [cut(_row(plan, each, names), width) for each in shown]
    if len(shown) < len(found):
        lines.append(f"{counted(len(found) - len(shown), 'message')} ok, not listed")
    lines += _refusals((each.error for each in shown), width)
    doubt = _doubts(found)
    if doubt:
        lines += ["", *wrapped(doubt, width, first="! ")]
    return "\n".join([*lines, "", *_ending(plan, found, missing, width)])


def _doubts(found: Sequence[Inspection]) -> str:
    """A warning of implausible numbers of records, or an empty text."""
    return implausible_counts([each.sketch for each in found if each.sketch is not None])


def _signed_words(plan: Plan, each: Inspection) -> str:
    """Whether a message is signed, as far as the plan allows a check."""
    if each.facts is None or not each.facts.signed:
        return "no"
    if not plan.keys:
        return "unchecked"
    return "invalid" if isinstance(each.error, SignatureError) else "yes"


def _name(each: Inspection) -> str:
    return printable(each.file) if each.facts is None else each.facts.silo


def _row(plan: Plan, each: Inspection, names: int) -> str:
    numbers = ["-", "-", "-", "-"]
    if (seen := each.facts) is not None:
        withheld = seen.cells - len(seen.levels)
        numbers = [str(seen.cells), _spread(seen.levels), str(withheld), _signed_words(plan, each)]
    columns = "".join(right(text, wide) for text, (_, wide) in zip(numbers, _COLUMNS, strict=True))
    status = "ok" if each.error is None else "refused"
    if each.sketch is not None and each.sketch.replaces is not None:
        status += f", replaces {each.sketch.replaces[:19]}"
    return f"{left(_name(each), names)}{columns}  {status}"


def _spread(levels: Sequence[int]) -> str:
    """The levels of a message's cells, which may differ."""
    lowest, highest = min(levels, default=0), max(levels, default=0)
    return str(lowest) if lowest == highest else f"{lowest}-{highest}"


def _refusals(errors: Iterable[FedparityError | None], width: int) -> Iterator[str]:
    """Each error with its fix, after an empty line."""
    for error in errors:
        if error is not None:
            yield from ["", *wrapped(error.message, width)]
            yield from wrapped(error.fix, width, first="  fix: ")


def _ending(
    plan: Plan, found: Sequence[Inspection], missing: Sequence[str], width: int
) -> list[str]:
    valid = sum(each.error is None for each in found)
    words = f"{valid:,} of {counted(len(found), 'message')} ok"
    if plan.silos is None:
        return wrapped(
            f"{words}; the plan lists no silos, so a missing one cannot be noticed.", width
        )
    if missing:
        return wrapped(f"{words}; {len(missing):,} missing: {named(list(missing))}.", width)
    return wrapped(f"{words}; all silos in the plan have answered.", width)


_STEP_NAMES = {kind: step for step, kind in STEPS.items()}


@dataclass(frozen=True)
class _RoundFile:
    file: str
    message: RoundMessage | None
    error: MessageError | None

    @property
    def step(self) -> str:
        return "-" if self.message is None else _STEP_NAMES[type(self.message)]

    @property
    def order(self) -> tuple[int, str]:
        """Messages by step and silo, then the files that could not be read."""
        if self.message is None:
            return len(STEPS), self.file
        return list(STEPS).index(self.step), self.silo

    @property
    def silo(self) -> str:
        return self.message.silo if isinstance(self.message, SiloRoundMessage) else "-"


def _verify_round(
    plan: Plan, files: Sequence[str], *, as_json: bool
) -> tuple[str | None, Sequence[str]]:
    """Print what is found in each file, and what the round is waiting for; return as for messages."""
    found = [_inspect_round(plan, file) for file in files]
    valid = [each.message for each in found if each.message is not None and each.error is None]
    stands = standing(plan, Inbox(tuple(valid)))
    if as_json:
        print_json(_round_document(plan, found, stands))
    else:
        click.echo("\n".join(_round_lines(plan, found, stands)))
    refused = sum(each.error is not None for each in found) + (stands.problem is not None)
    error = (
        f"error: {counted(refused, 'problem')} in {counted(len(found), 'message')}.\n"
        "fix: see each of them; a sum is opened only if all of its messages fit."
    )
    return error if refused else None, stands.missing


def _inspect_round(plan: Plan, file: str) -> _RoundFile:
    message = None
    try:
        message = read_round(file)
        check_round(plan, message)
    except MessageError as error:
        return _RoundFile(file, message, error)
    return _RoundFile(file, message, None)


def _round_lines(
    plan: Plan, found: Sequence[_RoundFile], stands: Standing, width: int = 80
) -> list[str]:
    names = min(max(4, *(len(each.silo) for each in found)), 24)
    lines = [f"{left('silo', names)}  {left('step', 8)}  status"]
    for each in sorted(found, key=lambda each: each.order):
        status = "ok" if each.error is None else "refused"
        place = each.silo if each.message is not None else printable(each.file)
        lines.append(cut(f"{left(place, names)}  {left(each.step, 8)}  {status}", width))
    lines += _refusals((*(each.error for each in found), stands.problem), width)
    return [*lines, "", *wrapped(_round_words(plan, stands), width)]


def _round_words(plan: Plan, stands: Standing) -> str:
    silos = len(plan.silos or ())
    shown = ", ".join(
        f"{came} of {silos} {step}" if step != "request" else f"{came} request"
        for step, came in stands.came.items()
        if step != "consent" or plan.keys
    )
    after = "the sum can be opened" if not stands.waiting else f"waiting for {stands.waiting}"
    if stands.came["request"] and stands.missing:
        after += f"; dropped out: {named(list(stands.missing))}"
    return f"{shown}; {after}."


def _round_document(plan: Plan, found: Sequence[_RoundFile], stands: Standing) -> dict[str, Any]:
    problem = stands.problem
    return {
        "schema": "fedparity/verify/1",
        "plan": plan.digest,
        "valid": problem is None and all(each.error is None for each in found),
        "messages": [
            {
                "file": each.file,
                "step": None if each.message is None else each.step,
                "silo": None if each.silo == "-" else each.silo,
                "digest": None if each.message is None else each.message.digest,
                "valid": each.error is None,
                **_error_entry(each.error),
            }
            for each in found
        ],
        "round": {
            **stands.came,
            "waiting": stands.waiting or None,
            **_error_entry(problem),
        },
        "silos_missing": list(stands.missing),
    }


_LONGEST_KEY = 1000


def _verify_result(file: str, plan_file: str | None, options: VerifyOptions) -> None:
    """Print by which key a result is signed.

    Raises
    ------
    ResultError
        If the result is not valid, not signed, signed with another key than the one named, or of
        another plan than the one named.
    """
    result = AuditResult.read(file)  # its signature fits, or it is not read
    name = printable(file)
    if result.signature is None:
        raise ResultError(
            f"{name} is not signed.", fix="ask the auditor to run fedparity audit with --sign KEY."
        )
    signed_by, key_file = result.signature.key, options.key
    if key_file is not None:
        data = read_bounded(key_file, limit=_LONGEST_KEY, error=ResultError)
        if data.strip() != signed_by.encode():
            raise ResultError(
                f"{name} is signed with the key {signed_by}, not with the one in "
                f"{printable(key_file)}.",
                fix="ask the auditor which key is theirs, by another channel than the result's.",
            )
    if plan_file is not None and (digest := Plan.read(plan_file).digest) != result.plan.digest:
        raise ResultError(
            f"{name} answers another plan: {result.plan.digest}, not {digest}.",
            fix="name the plan of this audit.",
        )
    if options.as_json:
        document = {
            "schema": "fedparity/verify-result/1",
            "file": file,
            "plan": result.plan.digest,
            "signed_by": signed_by,
            "key_known": key_file is not None,
            "valid": True,
        }
        print_json(document)
        return
    lines = wrapped(f"{name} is as it was signed, with the key {signed_by}.", 80)
    if key_file is None:
        lines += wrapped(
            "Whose key that is, the result cannot say: compare it with the auditor's, which you have "
            "from another source, or name its file with --key.",
            80,
        )
    click.echo("\n".join(lines))
