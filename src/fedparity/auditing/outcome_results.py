"""Outcomes and tests of one table of an audit, from the messages of the silos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from fedparity.documents.outcome_parts import OutcomeResult, RateTests
from fedparity.documents.plan import Plan
from fedparity.documents.plan_tables import PlanTable
from fedparity.federated.federation import Federation
from fedparity.federated.mixtures import Method
from fedparity.laws.labels import Group
from fedparity.modes.mode import AuditOptions, Measured
from fedparity.modes.table_cells import gathered_cells, silo_of, table_unseen
from fedparity.outcomes.measure_outcomes import measure_outcomes
from fedparity.outcomes.rate_tests import rate_tests

__all__ = ["table_outcome", "table_tests"]

_OUTCOMES: tuple[Literal["positive", "negative"], ...] = ("positive", "negative")


def table_outcome(
    plan: Plan,
    table: PlanTable,
    found: Measured,
    options: AuditOptions,
    compared: Sequence[Group],
) -> OutcomeResult | None:
    """Return what the cells of both outcomes tell of the rows that are compared.

    ``None`` without an outcome in the plan, or if fewer than two rows have cells of both outcomes.
    """
    if plan.outcome is None:
        return None
    cells = [gathered_cells(plan, found.messages, table, outcome) for outcome in _OUTCOMES]
    present = [{group for _, group in each} for each in cells]
    groups = [group for group in compared if all(group in each for each in present)]
    if len(groups) < 2:
        return None
    both = [
        Federation.from_cells(
            {at: cell for at, cell in each.items() if at[1] in groups},
            groups=groups,
            score_range=plan.score_range,
        )
        for each in cells
    ]
    missing = len(found.missing.silos_missing)
    unseen = [
        table_unseen(plan, found.messages, table, outcome, silos_missing=missing)
        for outcome in _OUTCOMES
    ]
    most = [{group: each[group] for group in groups if each[group]} for each in unseen]
    return measure_outcomes(
        *both,
        thresholds=plan.thresholds,
        score_range=plan.score_range,
        bins=plan.outcome.bins,
        unseen_positive=most[0],
        unseen_negative=most[1],
        method=Method(
            order=plan.order, estimator=plan.estimator, levels=plan.levels, trim=plan.trim
        ),
        confidence=options.confidence,
        seed=options.seed,
        redraws=options.redraws,
        silo_of=silo_of,
    )


def table_tests(
    plan: Plan, federation: Federation, options: AuditOptions
) -> tuple[RateTests, ...]:
    """Return the tests of equal selection rates of the rows that are compared, by threshold."""
    return tuple(
        rate_tests(
            federation,
            threshold,
            favorable=plan.favorable,
            score_range=plan.score_range,
            confidence=options.confidence,
            silo_of=silo_of,
        )
        for threshold in plan.thresholds
    )
