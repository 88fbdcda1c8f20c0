"""JSON Schemas of the documents that travel, for readers in other languages."""

from __future__ import annotations

from typing import Any

from fedparity.errors import OptionError

__all__ = ["SCHEMAS", "schema"]

_SECURE = ("keys", "shares", "mask", "request", "consent", "unmask")
SCHEMAS = {
    "plan": "plan-1.json",
    "sketch": "sketch-1.json",
    "audit": "audit-1.json",
    "policy": "policy-1.json",
    "ledger": "ledger-1.json",
    **{f"secure-{step}": f"secure-{step}-1.json" for step in _SECURE},
}


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a ``plan``, a ``sketch`` or an ``audit``.

    Of a silo's own documents, too: its ``policy``, and one line of its ``ledger``.
    And of the messages of a secure sum: ``secure-keys``, ``secure-shares``, ``secure-mask``,
    ``secure-request``, ``secure-consent`` and ``secure-unmask``.

    A document that a schema refuses is not valid. One that it accepts may still be refused: a
    schema cannot say that values do not decrease, or that a digest is the plan's.

    Raises
    ------
    OptionError
        If there is no such document.

    Examples
    --------
    >>> schema("sketch")["properties"]["schema"]
    {'const': 'fedparity/sketch/1'}
    """
    import json  # noqa: PLC0415 -- not at start
    from importlib.resources import files  # noqa: PLC0415 -- not at start

    if name not in SCHEMAS:
        raise OptionError.unknown("schema", name, SCHEMAS)
    text = files("fedparity.protocol").joinpath("schemas", SCHEMAS[name]).read_text("utf-8")
    document: dict[str, Any] = json.loads(text)
    return document
