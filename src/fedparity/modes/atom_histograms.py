"""The noisy histograms of a plan's atoms, and the tables that are sums of them.

An *atom* is an intersection of the plan's axes, or one of its groups, by outcome: positive, negative or
without. A record is in one atom, so that the histograms of all of them cost epsilon once (parallel
composition). A table by an axis, or of everybody whatever the outcome, adds some of them up, noise and all:
that costs nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.fields import group_words
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import OUTCOMES, OutcomeName, PlanTable
from fedparity.documents.result_parts import SetAside
from fedparity.errors import GroupError
from fedparity.laws.labels import Group, Silo
from fedparity.laws.law import BoolArray
from fedparity.modes.margins import only_by_axis
from fedparity.modes.mode import MissingRecords
from fedparity.modes.table_cells import category_status
from fedparity.privacy.histograms import Counts
from fedparity.privacy.noise import NoiseLaw
from fedparity.uncertainty.noisy_histograms import NoisyHistograms

__all__ = ["AtomHistograms", "ComparedRows", "Enough", "chosen_groups"]

_DEVIATIONS = 4.0
"""A row of fewer records than this many standard deviations of its noise is not distinguished from noise."""


class Enough(NamedTuple):
    """Which rows of a table are large enough to be measured."""

    fewest: int
    """How many records a row must have, once noise was added: a public number."""
    rows: BoolArray


class ComparedRows(NamedTuple):
    """The groups of the plan, or the rows of a table by axis, that an audit compares."""

    histograms: NoisyHistograms
    unreleased: tuple[SetAside, ...]
    """Those that are too small."""
    missing: MissingRecords
    table: PlanTable | None
    """By an axis; None for the groups of the plan."""
    warnings: tuple[AuditWarning, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class AtomHistograms:
    """Noisy counts by silo, group, outcome and bin."""

    plan: Plan
    silos: tuple[Silo, ...]
    counts: Counts
    """Silos by groups by outcomes by bins; one outcome if the plan requests none."""
    noise: NoiseLaw
    """Of each count."""

    @classmethod
    def from_messages(
        cls, plan: Plan, messages: Sequence[SiloSketch], noise: NoiseLaw
    ) -> AtomHistograms:
        """Return the atoms of checked messages, which hold every group and its two outcomes."""
        everybody = np.array([[cell.values for cell in each.cells] for each in messages])
        parts = [
            np.array([[cell.values for cell in each.tables[place].cells] for each in messages])
            for place in range(0 if plan.outcome is None else len(OUTCOMES))
        ]
        return cls(
            plan=plan,
            silos=tuple(message.silo for message in messages),
            counts=np.stack([*parts, everybody - sum(parts)], axis=2).astype(np.int64),
            noise=noise,
        )

    @classmethod
    def from_sum(cls, plan: Plan, counts: Counts, noise: NoiseLaw, silo: Silo) -> AtomHistograms:
        """Return the atoms of a sum over silos: labels of records by bins."""
        atoms = counts.reshape(1, len(plan.groups), -1, counts.shape[-1])
        return cls(plan=plan, silos=(silo,), counts=atoms, noise=noise)

    def rows(self, table: PlanTable, outcome: OutcomeName | None = None) -> NoisyHistograms:
        """Return the histograms of a table's rows, of everybody or of one outcome."""
        taken = slice(None) if outcome is None else [OUTCOMES.index(outcome)]
        chosen = self.counts[:, :, taken]
        atoms = chosen.shape[2]
        counts = chosen.sum(axis=2)
        if table.by:
            shape = [len(labels) for labels in self.plan.axes.values()]
            own = [*self.plan.axes].index(table.by[0])
            others = tuple(1 + axis for axis in range(len(shape)) if axis != own)
            counts = counts.reshape(len(self.silos), *shape, -1).sum(axis=others)
            atoms *= math.prod(shape) // shape[own]
        return NoisyHistograms(
            silos=self.silos,
            groups=table.groups,
            counts=counts,
            grid=self.plan.grid,
            noise=NoiseLaw(self.noise.epsilon, self.noise.doses * atoms),
        )

    def enough(self, rows: NoisyHistograms) -> Enough:
        """Return which rows have the plan's smallest cell, and more records than noise makes."""
        whole = NoiseLaw(rows.noise.epsilon, rows.noise.doses * len(rows.silos) * rows.grid.bins)
        fewest = max(
            1, self.plan.disclosure.minimum_cell, math.ceil(_DEVIATIONS * whole.deviation)
        )
        return Enough(fewest, rows.counts.sum(axis=(0, 2)) >= fewest)

    def compared(self, missing: MissingRecords) -> ComparedRows:
        """Return the groups of the plan that can be measured, or else the rows of the first axis that can.

        Raises
        ------
        GroupError
            If fewer than two are large enough.
        """
        groups, *margins = self.plan.tables
        for table in (groups, *margins):
            rows = self.rows(table)
            enough = self.enough(rows)
            compared = enough.rows & self._compared(rows) if table.by else enough.rows
            if compared.sum() > 1:
                break
        else:
            fewest, large = self.enough(self.rows(groups))
            few = groups.groups[int(np.argmin(large))]
            raise GroupError(
                f"all silos together have fewer than {fewest:,} records of group {group_words(few)!r}, "
                "once noise was added; fewer than two groups remain to be compared.",
                fix="join this group with another, leave it out, or raise epsilon.",
            )
        reason = "have enough records, once noise was added"
        if table.by:  # a silo that sent nothing may have all of its records in any row
            missing = replace(missing, most=dict.fromkeys(table.groups, missing.total))
        return ComparedRows(
            histograms=chosen_groups(rows, compared),
            unreleased=tuple(
                SetAside(
                    group=group,
                    withheld=0,
                    most=most if math.isfinite(most) else None,
                    known=too_few(enough.fewest),
                )
                for group, is_large in zip(rows.groups, enough.rows, strict=True)
                if not is_large
                for most in [missing.most[group] + 2 * enough.fewest]
            ),
            missing=missing,
            table=table if table.by else None,
            warnings=(only_by_axis(self.plan, table, reason),) if table.by else (),
        )

    def _compared(self, rows: NoisyHistograms) -> BoolArray:
        """Which rows of a table by axis the plan compares, whatever the noise."""
        counts = self.totals(rows)
        return np.array([category_status(self.plan, counts, g) == "compared" for g in rows.groups])

    @staticmethod
    def totals(rows: NoisyHistograms) -> dict[Group, int]:
        """Return the records of each row, with noise; where that is negative, none."""
        totals = np.maximum(rows.counts.sum(axis=2), 0).sum(axis=0)
        return dict(zip(rows.groups, totals.tolist(), strict=True))


def too_few(fewest: int) -> str:
    """Return what is known of a row that noise hides."""
    return f"fewer than {fewest:,} records in all silos together, once noise was added"


def chosen_groups(rows: NoisyHistograms, chosen: BoolArray) -> NoisyHistograms:
    """Return the histograms of some groups."""
    groups: list[Group] = [
        group for group, taken in zip(rows.groups, chosen.tolist(), strict=True) if taken
    ]
    return replace(rows, groups=tuple(groups), counts=rows.counts[:, chosen])
