"""What an audit of a given size can detect: the smallest disparity, for a given power."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fedparity.documents.tabular import Columns, Tabular, columns_of
from fedparity.errors import OptionError
from fedparity.federated.estimate import Estimator
from fedparity.laws.progress import Progress, callback, shows_progress
from fedparity.planning.scenario import (
    Purpose,
    Scenario,
    Shape,
    Steps,
    check_at_least,
    check_power,
    checked_shape,
    checked_shares,
    disparity_between,
    farthest_distance,
    upper_limit,
)
from fedparity.planning.simulation import ENOUGH_NUMBERS, Audit
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_SKETCH, Kind, check_levels
from fedparity.text import OneLine

__all__ = [
    "DetectableDisparity",
    "DetectableRow",
    "detectable_disparity",
    "smallest_strength",
    "strength_at",
]

_OCTAVES = 32
"""Strengths are searched from the largest down to this many halvings of it."""
_STEPS = 45
"""Bisections that give the strength of a disparity to ten digits."""


def smallest_strength(
    reached: Callable[[float], bool], furthest: float, *, steps: int
) -> float | None:
    """Return the smallest strength that is ``reached``, or None if the furthest is not.

    Bisection of the logarithm: after s steps it is known to a factor of 2 to the 32 / 2^s.

    Examples
    --------
    >>> round(smallest_strength(lambda t: t * t >= 0.25, 3.0, steps=40), 9)
    0.5
    """
    if not reached(furthest):
        return None
    low, high = math.log2(furthest) - _OCTAVES, math.log2(furthest)
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(math.exp2(middle)) else (middle, high)
    return math.exp2(high)


def strength_at(shape: Shape, shares: Sequence[float], disparity: float) -> float:
    """Return the strength at which the shape has this disparity.

    Raises
    ------
    OptionError
        If it is not positive, or more than the shape reaches.
    """

    def measured(strength: float) -> float:
        return disparity_between(shape.laws(len(shares), strength), shares)

    if not disparity > 0:
        raise OptionError(
            f"the expected disparity must be above 0, not {disparity!r}.",
            fix="pass the disparity that you expect, or leave it out.",
        )
    strength = smallest_strength(lambda t: measured(t) >= disparity, shape.furthest, steps=_STEPS)
    if strength is None:
        raise OptionError(
            f"the shape {shape.name!r} cannot have a disparity of {disparity:g}.",
            fix=f"pass at most {measured(shape.furthest):.3g}, or a wider score range.",
        )
    return strength


_MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Of the planned records: where the curve of detectable disparities is drawn."""
_POWER_STEPS = 13
"""Bisections: the detectable disparity is then found to half a per cent, less than its noise."""
_NULL_REPLICATES = 5
"""Audits simulated at parity for each audit simulated elsewhere: a tail needs more of them."""


@dataclass(frozen=True, kw_only=True)
class DetectableRow(OneLine):
    """The smallest disparity that an audit of one size detects."""

    levels: int
    records: int
    threshold: float
    """What the estimate exceeds at parity with probability 1 − confidence only."""
    disparity: float | None
    """Detected with the given power; None if the shape has no such disparity."""
    wasserstein: float | None
    r"""The same as :math:`W_2` between the two farthest groups, in score points."""
    bound: float | None
    """Detected with that power whatever the laws; None if no disparity on the range is."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DetectableDisparity(Tabular):
    """What an audit of a given size can detect."""

    records: int
    power: float
    by_records: tuple[DetectableRow, ...]
    """The answer for this and other numbers of records per cell."""
    scenario: Scenario

    @property
    def answer(self) -> DetectableRow:
        """The row of the planned size."""
        return next(row for row in self.by_records if row.records == self.records)

    @property
    def disparity(self) -> float | None:
        r"""The smallest detectable :math:`G_2`; None if the shape has no such disparity."""
        return self.answer.disparity

    @property
    def wasserstein(self) -> float | None:
        r"""The same as :math:`W_2` between the two farthest groups, in score points."""
        return self.answer.wasserstein

    @property
    def threshold(self) -> float:
        """The estimate above which parity is rejected."""
        return self.answer.threshold

    @property
    def bound(self) -> float | None:
        """The smallest disparity that is detected for all laws; None if no disparity is."""
        return self.answer.bound

    @property
    def table(self) -> tuple[DetectableRow, ...]:
        """All simulated sizes."""
        return self.by_records

    def table_columns(self) -> Columns:
        """Return the columns of a table of all settings that were simulated, in :meth:`to_frame`."""
        return columns_of(asdict(row) for row in self.table)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            **asdict(self.answer),
            "power": self.power,
            "by_records": [asdict(row) for row in self.by_records],
            **self.scenario.to_dict(),
        }

    def __repr__(self) -> str:
        def shown(value: float | None) -> str:
            return "none" if value is None else f"{value:.3g}"

        return (
            f"DetectableDisparity(records={self.records}, levels={self.answer.levels}: "
            f"G2 {shown(self.disparity)}, W2 {shown(self.wasserstein)} "
            f"with power {self.power:g}; by bounds G2 {shown(self.bound)})"
        )


@shows_progress
def detectable_disparity(
    *,
    records: int,
    levels: int = 100,
    silos: int = 5,
    groups: int = 2,
    shares: Sequence[float] | None = None,
    shape: str | Shape = "beta",
    score_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    power: float = 0.8,
    kind: Kind = DEFAULT_SKETCH,
    estimator: Estimator = DEFAULT_ESTIMATOR,
    replicates: int = 400,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> DetectableDisparity:
    r"""Return the smallest disparity that an audit of a given size detects.

    Parity is rejected when :math:`\hat G_{k,2}` exceeds the threshold that it passes with
    probability 1 − ``confidence`` when all groups have the same law, the shape's at position
    0. The laws are then moved apart along the shape, the same random levels being used at
    every position, until the estimate passes the threshold in a share ``power`` of the audits.
    The test knows the law at parity: an audit that estimates it may detect a little less.

    In addition it returns the disparity that is detected with that power for any laws on
    the range, by a test whose threshold is itself a bound; the proofs are in
    ``fedparity.planning.provable``.

    Parameters
    ----------
    records : int
        Records per cell of the smallest group.
    levels : int
        The number k of values per cell.
    power : float in (0, 1)
        The required probability of detection.
    silos, groups, shares, shape, score_range, confidence, kind, estimator
        As in :func:`fedparity.plan_size`.
    replicates, seed, progress
        As in :func:`fedparity.plan_size`.

    Raises
    ------
    OptionError
        If an option is out of its range.

    Examples
    --------
    >>> small = detectable_disparity(records=50, levels=10, replicates=100)
    >>> large = detectable_disparity(records=5000, levels=10, replicates=100)
    >>> large.disparity < small.disparity < large.bound
    True
    """
    scenario = Scenario(
        shape=checked_shape(shape, score_range),
        silos=silos,
        shares=checked_shares(groups, shares),
        kind=kind,
        estimator=estimator,
        confidence=confidence,
        replicates=replicates,
        seed=seed,
    )
    check_power(power)
    check_at_least(2, records, "records")
    audits = _audits_around(scenario, int(records), check_levels(levels))
    steps = Steps(callback(progress), total=len(audits))
    return DetectableDisparity(
        records=int(records),
        power=power,
        by_records=tuple(_detectable_row(audit, power, steps) for audit in audits),
        scenario=scenario,
    )


def _audits_around(scenario: Scenario, records: int, levels: int) -> list[Audit]:
    """The planned audit, and smaller and larger ones that can be simulated."""
    planned = Audit(scenario=scenario, records=records, levels=levels)
    if not planned.is_feasible:
        raise OptionError(
            f"{scenario.replicates} simulated audits of this size draw too many numbers.",
            fix=f"pass replicates={planned.most_replicates}, or fewer levels or silos.",
        )
    sizes = sorted({max(2, round(records * multiple)) for multiple in _MULTIPLES})
    audits = [Audit(scenario=scenario, records=size, levels=levels) for size in sizes]
    return [audit for audit in audits if audit.is_feasible]


def _detectable_row(audit: Audit, power: float, steps: Steps) -> DetectableRow:
    scenario = audit.scenario
    threshold = _parity_threshold(audit)
    draws = list(audit.draws(scenario.replicates, Purpose.POWER))

    def is_detected(strength: float) -> bool:
        return bool(np.mean(audit.estimates(strength, draws) > threshold) >= power)

    strength = smallest_strength(is_detected, scenario.shape.furthest, steps=_POWER_STEPS)
    laws = None if strength is None else scenario.laws(strength)
    steps.advance()
    return DetectableRow(
        levels=audit.levels,
        records=audit.records,
        threshold=threshold,
        disparity=None if laws is None else disparity_between(laws, audit.shares),
        wasserstein=None if laws is None else farthest_distance(laws),
        bound=scenario.bounds(audit.shares).detectable(
            audit.levels, audit.records, confidence=scenario.confidence, power=power
        ),
    )


def _parity_threshold(audit: Audit) -> float:
    """What the estimate exceeds with probability 1 − confidence when all laws are equal."""
    replicates = audit.scenario.replicates
    enough = min(_NULL_REPLICATES * replicates, ENOUGH_NUMBERS // audit.numbers)
    draws = audit.draws(max(replicates, enough), Purpose.PARITY)
    return upper_limit(audit.estimates(0.0, draws), audit.scenario.confidence)
