"""What the page says in sentences, escaped and with foreign directions of writing kept apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedparity.auditing.result import AuditResult
from fedparity.report import sentences
from fedparity.report.html.isolation import Isolation
from fedparity.report.html.markup import escaped
from fedparity.report.sentences.naming import group_words, short
from fedparity.report.tables import all_rates

__all__ = ["isolation_of", "said"]


def isolation_of(result: AuditResult) -> Isolation:
    """Return what escapes sentences about this result; they may hold a name, or its beginning."""
    measured = (each.group for each in result.groups)
    aside = (each.group for each in result.set_aside)
    groups = map(group_words, (*measured, *aside))
    names = [*groups, *result.silos_received, *result.silos_missing]
    return Isolation([*names, *map(short, names)])


def said(result: AuditResult) -> Mapping[str, Any]:
    """Return the sentences of the page by their place in it."""
    safe = isolation_of(result)
    single = {
        "headline": sentences.in_points,
        "range": sentences.points_range,
        "size": sentences.size,
        "how_large": sentences.how_large,
        "how_certain": sentences.how_certain,
        "seen_alone": sentences.seen_alone,
        "why": sentences.why,
        "laws": sentences.explain_laws,
        "alone": sentences.explain_alone,
        "influence": sentences.explain_influence,
        "attribution": sentences.explain_attribution,
        "decomposition": sentences.explain_decomposition,
        "accuracy": sentences.explain_accuracy,
        "privacy": sentences.explain_privacy,
    }
    words: dict[str, Any] = {name: safe(sentence(result)) for name, sentence in single.items()}
    words["verdicts"] = tuple(
        (shape, safe(verdict)) for shape, verdict in sentences.two_verdicts(result)
    )
    words["left_out"] = tuple(map(safe, sentences.left_out(result)))
    words["missing"] = tuple(map(safe, sentences.what_weakens(result)))
    words["rates"] = tuple(
        safe(sentences.reading_rates(each, result)) for each in all_rates(result)
    )
    words["limits"] = tuple(map(escaped, sentences.does_not_prove()))
    words["command"] = escaped(sentences.reproduce_command(result))
    return words
