"""``fedparity verify`` under a plan of a secure sum: every message, and where the round stands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from fedparity.auditing.secure.checking import STEPS, Standing, standing
from fedparity.cli.exits import ExitCode
from fedparity.cli.fitting import counted, cut, left, wrapped
from fedparity.cli.plan_words import named
from fedparity.cli.requiring import check_all_there
from fedparity.errors import MessageError
from fedparity.errors.base import printable
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import check_round
from fedparity.protocol.secure.reading import Inbox, read_round
from fedparity.protocol.secure.round_message import RoundMessage, SiloRoundMessage

__all__ = ["verify_rounds"]

_NAMES = {kind: step for step, kind in STEPS.items()}


@dataclass(frozen=True)
class _Inspection:
    file: str
    message: RoundMessage | None
    error: MessageError | None

    @property
    def step(self) -> str:
        return "-" if self.message is None else _NAMES[type(self.message)]

    @property
    def silo(self) -> str:
        return self.message.silo if isinstance(self.message, SiloRoundMessage) else "-"


def verify_rounds(
    context: click.Context, plan: Plan, files: Sequence[str], *, as_json: bool, require_all: bool
) -> None:
    """Print what is found in each file, and what the round is waiting for; exit code 3 if refused."""
    found = [_inspect(plan, file) for file in files]
    valid = [each.message for each in found if each.message is not None and each.error is None]
    stands = standing(plan, Inbox(tuple(valid)))
    if as_json:
        click.echo(json.dumps(_document(plan, found, stands), indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(plan, found, stands)))
    refused = sum(each.error is not None for each in found) + (stands.problem is not None)
    if refused:
        click.echo(
            f"error: {counted(refused, 'problem')} in {counted(len(found), 'message')}.\n"
            "fix: see each of them; a sum is opened only if all of its messages fit.",
            err=True,
        )
        context.exit(ExitCode.BAD_INPUT)
    if require_all:
        check_all_there(plan, list(stands.missing))


def _inspect(plan: Plan, file: str) -> _Inspection:
    try:
        message = read_round(file)
    except MessageError as error:
        return _Inspection(file, None, error)
    try:
        check_round(plan, message)
    except MessageError as error:
        return _Inspection(file, message, error)
    return _Inspection(file, message, None)


def _lines(
    plan: Plan, found: Sequence[_Inspection], stands: Standing, width: int = 80
) -> list[str]:
    names = min(max(4, *(len(each.silo) for each in found)), 24)
    lines = [f"{left('silo', names)}  {left('step', 8)}  status"]
    for each in sorted(
        found,
        key=lambda each: (
            (list(STEPS).index(each.step), each.silo)
            if each.message is not None
            else (len(STEPS), each.file)
        ),
    ):
        status = "ok" if each.error is None else "refused"
        place = each.silo if each.message is not None else printable(each.file)
        lines.append(cut(f"{left(place, names)}  {left(each.step, 8)}  {status}", width))
    for each in found:
        if each.error is not None:
            lines += ["", *wrapped(each.error.message, width)]
            lines += wrapped(each.error.fix, width, first="  fix: ")
    if stands.problem is not None:
        lines += ["", *wrapped(stands.problem.message, width)]
        lines += wrapped(stands.problem.fix, width, first="  fix: ")
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


def _document(plan: Plan, found: Sequence[_Inspection], stands: Standing) -> dict[str, Any]:
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
                "error": None if each.error is None else each.error.message,
                "fix": None if each.error is None else each.error.fix,
            }
            for each in found
        ],
        "round": {
            **stands.came,
            "waiting": stands.waiting or None,
            "error": None if problem is None else problem.message,
            "fix": None if problem is None else problem.fix,
        },
        "silos_missing": list(stands.missing),
    }
