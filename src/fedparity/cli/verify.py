"""``fedparity verify``: every message on its own and against the plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from fedparity.cli.exits import ExitCode
from fedparity.cli.fitting import counted
from fedparity.cli.inspecting import Inspection, inspect_files, missing_silos
from fedparity.cli.message_files import message_files
from fedparity.cli.progress import progress_bar
from fedparity.cli.requiring import check_all_there
from fedparity.cli.secure_verify import verify_rounds
from fedparity.cli.verify_result import verify_result
from fedparity.cli.verify_text import doubts, signed_words, verify_text
from fedparity.protocol.plan import Plan

__all__ = ["verify"]


@click.command(short_help="Check the silos' messages against the plan.")
@click.argument("plan", type=click.Path(), required=False)
@click.argument("sketches", type=click.Path(), nargs=-1)
@click.option("--result", metavar="FILE", help="Check the signature of a result instead.")
@click.option("--key", metavar="FILE", help="The auditor's public key, for --result.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option(
    "--require-all", is_flag=True, help="Exit code 5 if a silo of the roster is missing."
)
@click.pass_context
def verify(
    context: click.Context,
    plan: str | None,
    sketches: tuple[str, ...],
    result: str | None,
    key: str | None,
    *,
    as_json: bool,
    require_all: bool,
) -> None:
    """Check every message, on its own and against PLAN: a table, one line for each.

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
    if result is not None:
        if sketches or require_all:
            raise click.UsageError("check messages and a result one after the other.")
        verify_result(result, plan_file=plan, key_file=key, as_json=as_json)
        return
    if plan is None or not sketches or key is not None:
        raise click.UsageError("name a plan and its messages, or a result: --result FILE.")
    asked = Plan.read(plan)
    if asked.privacy is not None and asked.privacy.secure:
        files = message_files(sketches)
        verify_rounds(context, asked, files, as_json=as_json, require_all=require_all)
        return
    with progress_bar("messages") as progress:
        found = inspect_files(asked, message_files(sketches), progress)
    missing = missing_silos(asked, (each.facts.silo for each in found if each.facts))
    if as_json:
        click.echo(json.dumps(_document(asked, found, missing), indent=2, ensure_ascii=False))
    else:
        click.echo(verify_text(asked, found, missing))
    refused = sum(each.error is not None for each in found)
    if refused:
        click.echo(
            f"error: {counted(refused, 'message')} of {len(found):,} refused.\n"
            "fix: see each of them; an audit needs all of its messages to be valid.",
            err=True,
        )
        context.exit(ExitCode.BAD_INPUT)
    if require_all:
        check_all_there(asked, missing)


def _document(plan: Plan, found: Sequence[Inspection], missing: Sequence[str]) -> dict[str, Any]:
    doubt = doubts(found)
    return {
        "schema": "fedparity/verify/1",
        "plan": plan.digest,
        "valid": all(each.error is None for each in found),
        "messages": [_entry(plan, each) for each in found],
        "silos_missing": list(missing),
        "warnings": [{"code": "implausible_count", "text": doubt}] if doubt else [],
    }


def _entry(plan: Plan, each: Inspection) -> dict[str, Any]:
    seen, error = each.facts, each.error
    return {
        "file": each.file,
        "silo": None if seen is None else seen.silo,
        "digest": None if seen is None else seen.digest,
        "cells": None if seen is None else seen.cells,
        "levels": None if seen is None else max(seen.levels, default=0),
        "withheld": None if seen is None else seen.cells - len(seen.levels),
        "signed": None if seen is None else signed_words(plan, each),
        "valid": error is None,
        "error": None if error is None else error.message,
        "fix": None if error is None else error.fix,
    }
