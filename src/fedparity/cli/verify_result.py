"""``fedparity verify --result``: whether a result is as its auditor signed it."""

from __future__ import annotations

import json

import click

from fedparity.auditing.result import AuditResult
from fedparity.cli.fitting import wrapped
from fedparity.errors import ResultError
from fedparity.errors.base import printable
from fedparity.protocol.files import read_bounded
from fedparity.protocol.plan import Plan

__all__ = ["verify_result"]

_LONGEST_KEY = 1000


def verify_result(
    file: str, *, plan_file: str | None, key_file: str | None, as_json: bool
) -> None:
    """Say by which key a result is signed; raise if it is not, or not as it should be.

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
    signed_by = result.signature.key
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
    if as_json:
        document = {
            "schema": "fedparity/verify-result/1",
            "file": file,
            "plan": result.plan.digest,
            "signed_by": signed_by,
            "key_known": key_file is not None,
            "valid": True,
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    lines = wrapped(f"{name} is as it was signed, with the key {signed_by}.", 80)
    if key_file is None:
        lines += wrapped(
            "Whose key that is, the result cannot say: compare it with the auditor's, which you have "
            "from another source, or name its file with --key.",
            80,
        )
    click.echo("\n".join(lines))
