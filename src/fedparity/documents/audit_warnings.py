"""What a reader must keep in mind: a sentence for people, and a code for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["AuditWarning", "WarningCode"]

WarningCode: TypeAlias = Literal[
    "bins_dominate",
    "cells_withheld",
    "coarser_cells",
    "few_local_intervals",
    "group_set_aside",
    "heavy_tie",
    "implausible_count",
    "keys_left_out",
    "labels_alike",
    "merged_counts",
    "messages_replaced",
    "no_intersections",
    "noise_alone",
    "noise_dominates",
    "only_sums",
    "outside_certificate",
    "pooled_redraws",
    "range_from_data",
    "rows_dropped",
    "silos_dropped_out",
    "silos_missing",
    "small_cells",
    "totals_contradicted",
    "unbounded",
    "unsigned",
    "weak_epsilon",
    "weights",
]
"""What a warning is about; programs go by it, since the sentence may change."""


@dataclass(frozen=True, kw_only=True)
class AuditWarning:
    """A reason to trust a number less, or something that is missing.

    Examples
    --------
    >>> print(AuditWarning(code="weights", text="counts are weights."))
    counts are weights.
    """

    code: WarningCode
    text: str
    """A sentence that starts in lower case and ends with a full stop."""

    def __str__(self) -> str:
        return self.text
