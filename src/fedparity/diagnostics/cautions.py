"""What to keep in mind when reading an assessment: where intervals were seen to be weak."""

from __future__ import annotations

import numpy as np

from fedparity.diagnostics.left_open import group_reaches
from fedparity.diagnostics.warning import AuditWarning
from fedparity.federated.federation import Federation
from fedparity.protocol.labels import group_words

__all__ = ["cautions"]

_SMALL_CELL = 100
_FAR = 0.05
"""Of the range: a group that is known no better is named."""
_HEAVY_TIE, _FEW_WITH_TIES = 0.25, 1_000
"""Where the measured coverage fell below 92 %: half of the scores at one value, 400 per group."""


def cautions(federation: Federation, *, certified: bool) -> tuple[AuditWarning, ...]:
    """Return a sentence for each reason to trust an interval less.

    ``certified`` says whether the estimate lies inside its own certificate.
    """
    warnings = []
    small = int(np.count_nonzero(federation.counts < _SMALL_CELL))
    if small:
        warnings.append(
            AuditWarning(
                code="small_cells",
                text=f"{small} of {federation.counts.size} cells have fewer than {_SMALL_CELL} "
                "records: intervals may cover less often than stated.",
            )
        )
    for group, reach in zip(federation.groups, group_reaches(federation).tolist(), strict=True):
        if reach > _FAR * np.ptp(federation.score_range or federation.values):
            warnings.append(
                AuditWarning(
                    code="merged_counts",
                    text=f"counts of group {group_words(group)} are small and merged with their "
                    f"neighbors: its scores are known to about {reach:.2g} points. A plan with sketch "
                    "'mean' says more of small groups.",
                )
            )
    if _largest_tie(federation) > _HEAVY_TIE and min(_records(federation)) < _FEW_WITH_TIES:
        warnings.append(
            AuditWarning(
                code="heavy_tie",
                text=f"one score holds more than {_HEAVY_TIE:.0%} of a cell, and a group has fewer "
                f"than {_FEW_WITH_TIES:,} records: intervals may cover less often than stated.",
            )
        )
    if federation.counts.dtype.kind != "i":
        warnings.append(
            AuditWarning(
                code="weights",
                text="counts are weights: intervals count each cell as the number of equally "
                "weighted records that it amounts to.",
            )
        )
    if not certified:
        warnings.append(
            AuditWarning(
                code="outside_certificate",
                text="the estimate lies outside its certificate: use estimator 'exact', or ask "
                "for more levels.",
            )
        )
    return tuple(warnings)


def _records(federation: Federation) -> list[float]:
    totals: list[float] = federation.count_table.sum(axis=0).tolist()
    return totals


def _largest_tie(federation: Federation) -> float:
    """The largest share of a cell's values that are equal; of one value alone, none."""
    new = np.append(True, federation.values[1:] != federation.values[:-1])
    new[federation.offsets[:-1]] = True
    starts = np.flatnonzero(new)
    runs = np.diff(np.append(starts, new.size))
    sizes = np.repeat(federation.levels, federation.levels)[starts]
    return float(np.max(np.where(runs > 1, runs / sizes, 0.0)))
