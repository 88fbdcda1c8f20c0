"""The auditor's signature of a plan: who asks, for a silo that answers only those it knows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fedparity.errors import PlanError
from fedparity.protocol.base64_bytes import encode_base64
from fedparity.protocol.plan import Plan
from fedparity.protocol.plan_fields import SCHEMA
from fedparity.protocol.signature import public_text, signature_fits
from fedparity.protocol.toml_text import key_lines

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["check_plan_signature", "sign_plan", "signed_text"]


def sign_plan(plan: Plan, key: Ed25519PrivateKey) -> Plan:
    """Return the plan with the signature of this key; it covers the roster and the silos' keys."""
    value = encode_base64(key.sign(_signed_bytes(plan)))
    return replace(plan, signature={"key": public_text(key), "value": value})


def check_plan_signature(plan: Plan) -> None:
    """Raise if the plan's signature does not fit it; nothing to check if it has none.

    Raises
    ------
    PlanError
        Then: it was changed after it was signed.
    MissingExtraError
        If the package ``cryptography`` is not installed.
    """
    signature = plan.signature
    if signature is not None and not signature_fits(
        signature["value"], _signed_bytes(plan), signature["key"]
    ):
        raise PlanError(
            "the signature does not fit the plan: it was changed after it was signed.",
            fix="ask the auditor for the plan as it was signed, or to run fedparity plan sign again.",
        )


def signed_text(text: str, plan: Plan) -> str:
    """Return a plan's TOML text, comments and all, with the signature of ``plan`` at its end."""
    lines = text.split("\n")
    places = key_lines(text)
    if ("signature",) in places:  # an earlier one, up to the next table
        start = places["signature",] - 1
        later = [line - 1 for path, line in places.items() if path[0] != "signature"]
        stop = min((line for line in later if line > start), default=len(lines))
        del lines[start:stop]
    kept = "\n".join(lines).rstrip("\n")
    signature = plan.signature or {}
    table = "\n".join(f'{name} = "{value}"' for name, value in signature.items())
    return f"{kept}\n\n[signature]                    # the auditor's, of all the rest\n{table}\n"


def _signed_bytes(plan: Plan) -> bytes:
    """Start with the schema, so that no other document's signature fits a plan."""
    return f"{SCHEMA}\n".encode() + plan.unsigned_bytes()
