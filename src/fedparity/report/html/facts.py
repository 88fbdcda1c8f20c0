"""What was promised and where the numbers come from: fields of the result with their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from fedparity.auditing.result import AuditResult
from fedparity.report.pointers import pointer
from fedparity.report.sentences.naming import is_weighted

__all__ = ["Fact", "guarantee", "provenance"]

Fact: TypeAlias = tuple[str, str, str]
"""A name, the path of a value in the JSON, and how it is written."""

_TERMS: Mapping[str, str] = {
    "mode": "privacy mode",
    "epsilon": "epsilon, per release",
    "minimum_cell": "smallest cell released, in records",
    "records_per_level": "records per value, at least",
    "rounding": "rounding, as a share of the score range",
}
"""Names of the terms that are known; an unknown one is shown by its own."""


def guarantee(document: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return every term of the guarantee, known ones first, whatever it holds."""
    terms = document["guarantee"]
    known = [name for name in _TERMS if name in terms]
    names = [*known, *sorted(set(terms) - set(known))]
    return tuple(
        (_TERMS.get(name, name), pointer("guarantee", name), _form(terms[name])) for name in names
    )


def _form(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "stated" if number else "text"


def provenance(result: AuditResult) -> tuple[Fact, ...]:
    """Return the fields that say how to make the result again."""
    return (
        ("plan", "/plan/title", "text"),
        ("digest of the plan", "/plan/digest", "text"),
        ("sketches", "/plan/sketch", "text"),
        ("levels, k", "/plan/levels", "amount"),
        ("estimator", "/plan/estimator", "text"),
        ("order, p", "/plan/order", "amount"),
        ("score range", "/plan/score_range", "span"),
        ("trim", "/plan/trim", "stated"),
        ("confidence of the intervals", "/confidence", "percent"),
        ("redraws", "/redraws", "amount"),
        ("seed", "/seed", "amount"),
        ("weight" if is_weighted(result) else "records", "/n", "amount"),
        ("software", "/software", "text"),
        ("format of the result", "/schema", "text"),
        *(
            [("signed with the key", "/signature/key", "text")]
            if result.signature is not None
            else [("signature", "/signature", "text")]
        ),
    )
