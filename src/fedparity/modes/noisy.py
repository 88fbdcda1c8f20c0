"""Noise in each silo: exact counts in, noisy counts out.

What leaves is a function of the noisy counts and of the plan alone. Nothing else that depends on the
records is in a message: no number of rows left out, no rank error, no reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fedparity.documents.fields import group_words
from fedparity.documents.files import Path
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import HistogramCell, SketchedTable, table_keys
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import OUTCOMES
from fedparity.documents.privacy_terms import PrivacyTerms
from fedparity.errors import PlanError, PrivacyError
from fedparity.laws.labels import Group
from fedparity.modes.mode import AuditOptions, Cost, Description, ExecutionInfo, Measured, Release
from fedparity.modes.plain import SketchMode
from fedparity.privacy.disclosure import Decision
from fedparity.privacy.histograms import Counts, GridTally, grid_counts
from fedparity.privacy.noise import MECHANISM, NoiseLaw, laplace_mechanism
from fedparity.sketches.records import Faults, Records, RowCounts
from fedparity.sketches.select import ComputeOptions
from fedparity.text import counted, named, number
from fedparity.version import SOFTWARE

__all__ = ["HistogramMode", "NoisyMode", "Preview"]

_NOISE_LIMITS = (
    "changing a record, or its group, costs 2 epsilon; c records of one person cost c epsilon; "
    "a person in m silos loses up to m epsilon; other releases from the same records add up"
)
_INPUT_LIMIT = "a silo that does not follow the plan is not found out"


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What would leave, for a dry run: no noise is drawn, and no number of the data is stored."""

    plan: Plan
    silo: str
    guarantee: Mapping[str, Any]
    deviation: float
    """Standard deviation of the noise of one bin of a group, whatever the outcome."""
    count_deviation: float
    """Standard deviation of the noise of a group's count."""


@dataclass(frozen=True)
class HistogramMode:
    """What modes have in common in which silos count their records in the plan's public bins."""

    plan: Plan
    protected = True

    @property
    def name(self) -> str:
        """As the plan calls it."""
        return self.terms.mode

    @property
    def terms(self) -> PrivacyTerms:
        """The ``[privacy]`` of the plan."""
        if self.plan.privacy is None:
            raise PlanError.no_histograms()
        return self.plan.privacy

    @property
    def levels(self) -> int:
        """The bins of the histograms."""
        return self.plan.grid.bins

    most_values = levels

    @property
    def cost(self) -> Cost:
        """The plan's epsilon, and what all releases of the records may cost together."""
        epsilon = self.terms.epsilon
        return Cost() if epsilon is None else Cost(epsilon, self.terms.budget or epsilon)

    @property
    def view(self) -> list[float | None]:
        """The range and the grid of the scores; without noise the edges of the bins too."""
        edges = [] if self.terms.noisy else self.plan.grid.edges.tolist()
        return [*self.plan.score_range, self.plan.score_step, *edges]

    def check_unweighted(self, *, weighted: bool) -> None:
        """Raise if the records have weights: no epsilon bounds what one weight reveals."""
        if weighted:
            raise PrivacyError(
                f"records with weights cannot be released in privacy mode {self.name!r}: one record "
                "could change a sum of weights by any amount.",
                fix="leave out the weight, or agree on a plan without [privacy].",
            )

    def count(self, records: Records, options: ComputeOptions | None = None) -> Counts:
        """Return the exact counts by group, outcome and bin; they stay in the building.

        The plan's *atoms* are its groups, or the records of each group by outcome. Every record is in one
        of them, so that adding or removing one changes one count by one.

        Raises
        ------
        PrivacyError
            If the records have weights.
        TableError, ScoreError
            If rows may not be counted; without numbers.
        """
        self.check_unweighted(weighted=records.weighted)
        options = options or ComputeOptions()
        return grid_counts(
            records,
            self.plan.grid,
            self.plan.record_labels,
            threads=options.threads,
            progress=options.progress,
        )

    def describe(self) -> Description:
        """Return what the plan means, in sentences."""
        return Description(
            sent=self._sent(),
            held_back=self._held_back(),
            estimator="from histograms of public bins",
            sources=self._sources,
        )

    def _sent(self) -> list[str]:
        plan = self.plan
        groups = named([group_words(group) for group in plan.groups])
        lowest, highest = (number(end) for end in plan.score_range)
        sentences = [
            (
                f"for each of the {len(plan.groups)} groups ({groups}): how many of its scores lie in "
                f"each of {counted(plan.grid.bins, 'bin')} from {lowest} to {highest}, "
                f"{self._protection};"
            )
        ]
        if plan.thresholds:
            scores = ", ".join(number(threshold) for threshold in plan.thresholds)
            sentences.append(
                f"no bin has scores on both sides of {scores} ({plan.favorable} is good);"
            )
        sentences += self._tables_sent()
        if self.terms.noisy:
            return [*sentences, "no record, no name, no other column, no exact number."]
        return [
            *sentences,
            "how many rows it left out because they have no score, masked likewise;",
            "no record, no name, no other column.",
        ]

    def _tables_sent(self) -> list[str]:
        """What a plan with axes or an outcome requests in addition, and what the auditor computes from it."""
        outcome, axes = self.plan.outcome, self.plan.axes
        sentences = []
        if outcome is not None:
            sentences.append(
                f"the same of the records whose outcome is {outcome.positive}, and of those whose outcome "
                f"is {outcome.negative}, {self._protection};"
            )
        if axes:
            sentences.append(
                f"nothing more for the tables by {named([*axes])}: they are sums of these;"
            )
        return sentences

    def _held_back(self) -> list[str]:
        terms = self.terms
        if terms.epsilon is None:
            return []
        return [
            (
                "single records: adding or removing one changes no outcome's probability by more "
                f"than {number(math.exp(terms.epsilon), 2)} times (epsilon = {number(terms.epsilon)});"
            ),
            (
                f"more than the budget of {number(terms.budget or terms.epsilon)} for all releases "
                "from the same data;"
            ),
        ]

    @property
    def _protection(self) -> str:
        """What is done to the counts before they leave."""
        return "with noise added"

    @property
    def _sources(self) -> str:
        return "what it comes from, and what each silo would see alone"

    def stated(self, seen: str, *limits: str) -> dict[str, Any]:
        """Return the terms as a result states them: what the auditor saw, and what is not protected."""
        changed = _NOISE_LIMITS
        if self.plan.outcome is not None:
            changed = changed.replace("its group,", "its group or outcome,")
        known = (*((changed,) if self.terms.noisy else ()), *limits, _INPUT_LIMIT)
        return {**self.plan.guarantee, "seen": seen, "limits": "; ".join(known)}


@dataclass(frozen=True)
class NoisyMode(HistogramMode, SketchMode):
    """Noisy histograms of each silo."""

    def check(self, silo: str, *, weighted: bool) -> None:
        """Raise if the roster does not list the silo, or the records have weights."""
        super().check(silo, weighted=weighted)
        self.check_unweighted(weighted=weighted)

    def release(
        self, records: Records, silo: str, options: ComputeOptions | None = None
    ) -> Release:
        """Return what a silo with these records would send; every call draws noise anew."""
        self.check(silo, weighted=records.weighted)
        return self._released(self.count(records, options), silo)

    def preview(
        self, records: Records, silo: str, options: ComputeOptions | None = None
    ) -> Preview:
        """Count the records, so that a mistake in them is found, and forget the counts."""
        self.check(silo, weighted=records.weighted)
        self.count(records, options)
        parts = len(self.plan.record_labels) // len(self.plan.groups)
        law = NoiseLaw(self._epsilon, doses=float(parts))
        whole = NoiseLaw(law.epsilon, doses=float(parts * (self.terms.bins or 1)))
        return Preview(
            plan=self.plan,
            silo=silo,
            guarantee=self._message_guarantee(),
            deviation=law.deviation,
            count_deviation=whole.deviation,
        )

    def stream(self, *, weighted: bool, resolution: int) -> GridTally:  # noqa: ARG002 -- counts are exact
        """Return what counts records that come once."""
        return GridTally(len(self.plan.record_labels), self.plan.grid)

    def finish(
        self,
        stream: GridTally,
        silo: str,
        accept: Callable[[Faults], RowCounts],
        *,
        weighted: bool,  # noqa: ARG002 -- found out before
    ) -> Release:
        """Return what a silo whose records a stream has counted would send."""
        return self._released(stream.finish(accept), silo)

    def measure(self, messages: Iterable[SiloSketch | Path], options: AuditOptions) -> Measured:
        """Check the histograms, and measure the disparity from them."""
        from fedparity.modes.histogram_audit import measure_noisy  # noqa: PLC0415 -- not in a silo

        return measure_noisy(self, messages, options)

    def guarantee(self) -> dict[str, Any]:
        """Return the terms, and what they do not protect; with tables no rule withholds a cell."""
        if not self.plan.releases_tables:
            return self.stated("a noisy histogram of each group in each silo")
        parts = "group" if self.plan.outcome is None else "group and outcome"
        terms = self.stated(f"a noisy histogram of each {parts} in each silo")
        return {name: term for name, term in terms.items() if name != "minimum_cell"}

    def _held_back(self) -> list[str]:
        least = self.plan.disclosure.minimum_cell
        rule = f"a group whose noisy count is below {counted(least, 'record')};"
        held = least > 1 and not self.plan.releases_tables
        return [*super()._held_back(), *([rule] if held else [])]

    def _released(self, counts: Counts, silo: str) -> Release:
        r"""Draw the noise: :math:`\varepsilon`-differentially private.

        Precondition: the counts are those of every group of the plan, or of every group by outcome.
        Postcondition: the message is post-processing of one release of
        :func:`~fedparity.privacy.noise.noisy_counts`, so it costs the plan's epsilon, once. Each call draws
        anew and costs as much again.

        Of a plan with an outcome, the noisy histograms of a group's three atoms are sent as their sum, the
        positives and the negatives. With axes or an outcome every cell is sent, whatever it counts: tables
        by axis are sums of all of them.
        """
        plan = self.plan
        minimum = 1 if plan.releases_tables else plan.disclosure.minimum_cell
        noisy = laplace_mechanism(self._epsilon).release(counts)
        atoms = noisy.reshape(len(plan.groups), -1, plan.grid.bins)
        message = SiloSketch(
            plan=plan.digest,
            silo=silo,
            kind="histogram",
            cells=_cells(plan, atoms.sum(axis=1), minimum),
            tables=[
                SketchedTable(
                    by=(),
                    outcome=outcome,
                    cells=_cells(plan, atoms[:, OUTCOMES.index(outcome)], minimum),
                )
                for _, outcome in table_keys(plan)
                if outcome is not None
            ],
            rows_dropped=0,
            guarantee=self._message_guarantee(),
            software=SOFTWARE,
        )
        reason = f"fewer than {minimum} records once noise was added"
        decisions = {
            cell.group: Decision(
                levels=cell.levels,
                withheld=cell.withheld,
                reasons=() if cell.withheld is None else (reason,),
            )
            for cell in message.cells
        }
        how = ExecutionInfo(strategy="one pass", kernel="numpy", passes=1)
        return Release(sketch=message, decisions=decisions, records={}, execution=how)

    def _message_guarantee(self) -> dict[str, Any]:
        mechanism = laplace_mechanism(self._epsilon)
        return {
            **self.plan.guarantee,
            "mechanism": MECHANISM,
            "scale": mechanism.scale,
            "library": mechanism.library,
        }

    @property
    def _epsilon(self) -> float:
        return float(self.terms.epsilon or 0.0)


def _cells(plan: Plan, counts: Counts, minimum: int) -> list[HistogramCell]:
    return [_cell(group, row, minimum) for group, row in zip(plan.groups, counts, strict=True)]


def _cell(group: Group, row: Counts, minimum: int) -> HistogramCell:
    """A cell, withheld by its noisy count alone: post-processing, which costs nothing."""
    withheld = minimum > 1 and int(row.sum()) < minimum
    return HistogramCell.kept_back(group) if withheld else HistogramCell(group=group, values=row)
