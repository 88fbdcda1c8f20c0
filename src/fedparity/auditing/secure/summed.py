"""The numbers of a secure sum: what the auditor sees, and all of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedparity.auditing.secure.opening import SecureSum
from fedparity.errors import GroupError
from fedparity.laws.arrays import FloatArray
from fedparity.privacy.histograms import Counts
from fedparity.privacy.masking.fixed_point import from_fixed
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.layout import Layout

__all__ = ["Summed"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Summed:
    """Sums over silos, by group; None where the plan does not have them summed."""

    counts: Counts
    """Groups by bins; noisy ones may be negative."""
    centers: FloatArray | None
    """Quantiles of the transport centers: groups by levels."""
    unselected: FloatArray | None
    """Masses of each group if it were spread over the silos as the whole population is."""
    parity: FloatArray | None
    """Masses of each group if it had its silo's pooled law."""
    lacking: tuple[int, ...]
    """How many silos have no record of each group."""
    dropped: int
    """Rows without a score that silos left out."""

    @classmethod
    def of(cls, plan: Plan, opened: SecureSum) -> Summed:
        """Return the numbers of a sum that was opened.

        Raises
        ------
        GroupError
            If a group has fewer records in all silos together than the plan's smallest cell.
        """
        parts = Layout.of(plan).unpack(opened.vector)
        _check_groups(plan, parts["counts"])
        centers = None
        if "centers" in parts:
            low, high = plan.score_range
            units = from_fixed(parts["centers"]) / from_fixed(parts["totals"])[:, None]
            centers = low + (high - low) * units
        return cls(
            counts=parts["counts"],
            centers=centers,
            unselected=from_fixed(parts["unselected"]) if "unselected" in parts else None,
            parity=from_fixed(parts["parity"]) if "parity" in parts else None,
            lacking=tuple(parts["lacking"].tolist()) if "lacking" in parts else (),
            dropped=int(parts["dropped"][0]) if "dropped" in parts else 0,
        )


def _check_groups(plan: Plan, counts: Counts) -> None:
    least = max(1, plan.disclosure.minimum_cell)
    for group, records in zip(plan.groups, np.sum(counts, axis=1).tolist(), strict=True):
        if records < least:
            raise GroupError(
                f"all silos together have fewer than {least:,} records of group {group!r}.",
                fix="write a plan whose groups are large enough: join this group with another, or "
                "leave it out.",
            )
