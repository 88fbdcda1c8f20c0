"""Sentences about a result: plain text by tested rules, the same in every format.

Each function takes a result and returns text without markup. No sentence computes a measure: its
numbers are those of the result, written by :mod:`fedparity.text`.
"""

from __future__ import annotations

from fedparity.documents.fields import group_words
from fedparity.documents.result import symbol
from fedparity.report.sentences.answers import (
    chance,
    direction,
    explain_alone,
    explain_influence,
    how_certain,
    how_large,
    in_means,
    in_points,
    method,
    points_range,
    rates_heading,
    reading_rates,
    seen_alone,
    size,
    verdict_for_all,
    worse_off,
)
from fedparity.report.sentences.caveats import (
    does_not_prove,
    explain_accuracy,
    explain_laws,
    explain_privacy,
    is_complete,
    left_out,
    levels_words,
    reproduce_command,
    reproduce_words,
    set_aside_words,
    what_is_missing,
    what_weakens,
)
from fedparity.report.sentences.naming import given_words, groups_words, silos_words
from fedparity.report.sentences.origins import (
    explain_attribution,
    explain_decomposition,
    in_percent,
    next_steps,
    shares,
    what_dominates,
    why,
)

__all__ = [
    "chance",
    "direction",
    "does_not_prove",
    "explain_accuracy",
    "explain_alone",
    "explain_attribution",
    "explain_decomposition",
    "explain_influence",
    "explain_laws",
    "explain_privacy",
    "given_words",
    "group_words",
    "groups_words",
    "how_certain",
    "how_large",
    "in_means",
    "in_percent",
    "in_points",
    "is_complete",
    "left_out",
    "levels_words",
    "method",
    "next_steps",
    "points_range",
    "rates_heading",
    "reading_rates",
    "reproduce_command",
    "reproduce_words",
    "seen_alone",
    "set_aside_words",
    "shares",
    "silos_words",
    "size",
    "symbol",
    "verdict_for_all",
    "what_dominates",
    "what_is_missing",
    "what_weakens",
    "why",
    "worse_off",
]
