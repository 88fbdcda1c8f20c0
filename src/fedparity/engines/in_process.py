"""A whole audit in one process: one table, its silos, their messages, the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fedparity.auditing.audit import audit
from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import Favorable, ReviewUnit
from fedparity.documents.result import AuditResult
from fedparity.engines.pooled_table import PooledTable, read_pooled
from fedparity.errors import GroupError, OptionError, TableError
from fedparity.errors.base import listed
from fedparity.federated.mixtures import Estimator
from fedparity.laws.arrays import FloatArray, check_magnitude
from fedparity.laws.progress import LabeledProgress
from fedparity.modes.measurement import ComputeOptions
from fedparity.modes.mode import StepName, mode_of
from fedparity.modes.secure.rounds import LocalSilos
from fedparity.modes.secure.secure_mode import SecureMode
from fedparity.privacy.disclosure import Disclosure
from fedparity.privacy.rounding import decimal
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_LEVELS, Kind, default_kind

__all__ = [
    "Settings",
    "audit_pooled",
    "simulate",
]


_RANGE_FROM_DATA = AuditWarning(
    code="range_from_data",
    text="the score range was taken from the data, since none was given: what rests on it "
    "(certificate, outer bounds) holds only if no score can lie beyond the lowest and the highest "
    "one here.",
)
_KEYS_LEFT_OUT = AuditWarning(
    code="keys_left_out",
    text="the keys of the plan were left out, and the digest is that of the plan without them: "
    "nothing leaves in a simulation, so nothing is signed.",
)

_LARGE = 1 << 20
"""Records of a silo from which threads pay; they have no effect on its message."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a plan would say of the measurement, where there is none."""

    levels: int = DEFAULT_LEVELS
    sketch: Kind | None = None
    estimator: Estimator = DEFAULT_ESTIMATOR
    order: Literal[1, 2] = 2
    trim: float = 0.0
    thresholds: Sequence[float] = ()
    favorable: Favorable = "above"
    review_level: float | None = None
    review_unit: ReviewUnit = "points"
    score_range: tuple[float, float] | None = None
    score_step: float | None = None

    def refuse_beside_plan(self) -> None:
        """Raise if one of them is set: the plan says it."""
        default = Settings()
        names = [f.name for f in fields(self) if getattr(self, f.name) != getattr(default, f.name)]
        if names:
            raise OptionError(
                f"a plan was given, and beside it {listed(names)}, which the plan says.",
                fix="leave them out, or change the plan.",
            )

    def plan_for(self, table: PooledTable) -> Plan:
        """Return a plan for a table, without disclosure rules.

        Raises
        ------
        GroupError
            If the table has fewer than two groups.
        OptionError
            If no range is given, and the data have none because all scores are the same.
        """
        if len(table.groups) < 2:
            raise GroupError.too_few(table.groups)
        score_range = _range_of(table) if self.score_range is None else self.score_range
        settings = asdict(self) | {"score_range": score_range}
        if self.score_step is None and self.sketch in (None, "counts"):
            settings["score_step"] = _step_of(table.scores, score_range, self.levels)
        return Plan(
            title="simulation", groups=table.groups, disclosure=Disclosure.off(), **settings
        )


def simulate(
    data: object,
    *,
    silo: str | None = None,
    score: str | None = None,
    group: str | Sequence[str] | None = None,
    weight: str | None = None,
    where: str | None = None,
    mapping: Mapping[str, str] | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    other: str | None = None,
    plan: Plan | None = None,
    levels: int = DEFAULT_LEVELS,
    sketch: Kind | None = None,
    estimator: Estimator = DEFAULT_ESTIMATOR,
    order: Literal[1, 2] = 2,
    trim: float = 0.0,
    thresholds: Sequence[float] = (),
    favorable: Favorable = "above",
    review_level: float | None = None,
    review_unit: ReviewUnit = "points",
    score_range: tuple[float, float] | None = None,
    score_step: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    redraws: int | None = None,
    progress: LabeledProgress | None = None,
) -> AuditResult:
    """Audit one table that has a column of silos, as if each were on its own.

    Every silo's records are sketched by the function that real silos use, and the messages are
    audited like theirs: the result is the same, bit for bit. Nothing leaves, so nothing is
    signed and no ledger is kept.

    Without a plan the groups are the labels found, no disclosure rule is applied, and the score
    range is that of the data unless ``score_range`` is given; the result warns of it. If no ``sketch``
    is given, records are counted at their scores where these lie on a grid of no more than ``levels``
    points, and sketched by bin means otherwise. With a plan its rules apply exactly, and a silo of
    its roster that the table lacks is missing.

    Parameters
    ----------
    data : path, frame, dict of arrays, or iterator of these
        Whatever :func:`fedparity.sketch` reads; all records are held in memory.
    silo : str, optional
        The column that names the silo of each row; without one, all rows are of one silo.
    score, group, weight, where, mapping, missing, other
        As in :func:`fedparity.sketch`; ``mapping`` does not touch the names of silos.
    plan : Plan, optional
        Instead of the settings that follow.
    levels, sketch, estimator, order, trim, thresholds, favorable
        As in :class:`fedparity.Plan`.
    review_level, review_unit, score_range, score_step
        As in :class:`fedparity.Plan`.
    confidence, seed, redraws, progress
        As in :func:`fedparity.audit`.

    Raises
    ------
    TableError
        If the table cannot be read, or has silos that the plan's roster does not have.
    LabelError
        If its labels do not fit the groups of the plan.
    GroupError
        If fewer than two groups have records.
    OptionError
        If a setting is given beside a plan, or is out of its range.

    Examples
    --------
    >>> table = {
    ...     "risk": [0.1, 0.2, 0.6, 0.9, 0.3, 0.8],
    ...     "sex": ["f", "f", "m", "m", "f", "m"],
    ...     "hospital": ["aurora"] * 4 + ["bayside"] * 2,
    ... }
    >>> result = simulate(table, silo="hospital", score="risk", group="sex", redraws=100)
    >>> result.silos_received, round(result.disparity.value, 4)
    (('aurora', 'bayside'), 0.0808)
    """
    settings = Settings(
        levels=levels,
        sketch=sketch,
        estimator=estimator,
        order=order,
        trim=trim,
        thresholds=thresholds,
        favorable=favorable,
        review_level=review_level,
        review_unit=review_unit,
        score_range=score_range,
        score_step=score_step,
    )
    if plan is not None:
        settings.refuse_beside_plan()
    table = read_pooled(
        data,
        silo=silo,
        score=score,
        group=group,
        groups=None if plan is None else plan.groups,
        weight=weight,
        where=where,
        mapping=mapping,
        missing=missing,
        other=other,
    )
    return audit_pooled(
        table,
        settings if plan is None else plan,
        confidence=confidence,
        seed=seed,
        redraws=redraws,
        progress=progress,
    )


def audit_pooled(
    table: PooledTable,
    asked: Plan | Settings,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    redraws: int | None = None,
    progress: LabeledProgress | None = None,
) -> AuditResult:
    """Sketch every silo of a table and audit the messages.

    The groups of the table are those of the plan, if there is one, in its order.
    """
    plan, warnings = _settled(table, asked)
    result = audit(
        plan,
        mode_of(plan).collect(_PooledSilos(table, plan, progress)),
        confidence=confidence,
        seed=seed,
        redraws=redraws,
        progress=progress,
    )
    summary = replace(result.plan, simulated=isinstance(asked, Settings))
    return replace(result, plan=summary, warnings=(*warnings, *result.warnings))


def _settled(table: PooledTable, asked: Plan | Settings) -> tuple[Plan, list[AuditWarning]]:
    """The plan that silos get, and what the result has to say of it."""
    if isinstance(asked, Settings):
        return asked.plan_for(table), [_RANGE_FROM_DATA] if asked.score_range is None else []
    if asked.silos is not None:
        strangers = [silo for silo in table.silos if silo not in asked.silo_set]
        if strangers:
            raise TableError(
                f"the table has silos that are not among the {len(asked.silos):,} of the plan: "
                f"{listed(strangers)}.",
                fix="leave their rows out with where=, or add them to silos in the plan.",
            )
    if asked.keys:
        return replace(asked, keys={}, signature=None), [_KEYS_LEFT_OUT]
    return asked, []


class _PooledSilos(LocalSilos):
    """The silos of a table, which answer whatever the plan's mode asks of them."""

    def __init__(self, table: PooledTable, plan: Plan, progress: LabeledProgress | None) -> None:
        super().__init__(plan, [str(silo) for silo in table.silos], self._vector_of)
        self._table, self._progress = table, progress
        self._places = {str(silo): place for place, silo in enumerate(table.silos)}

    def ask(
        self,
        step: StepName,
        read: Callable[[bytes], Any],
        **request: Any,  # noqa: ANN401 -- as LocalSilos takes them
    ) -> dict[str, Any]:
        """Let every silo make a step."""
        if step != "sketch":
            return super().ask(step, read, **request)
        found = {}
        for silo in self._table.silos:
            records = self._table.records(self._places[str(silo)])
            options = ComputeOptions(threads=None if records.rows > _LARGE else 1)
            found[silo] = mode_of(self.plan).release(records, silo, options).sketch
            self._tell(str(silo), "sketching")
        return found

    def _vector_of(self, silo: str) -> npt.NDArray[np.int64]:
        vector = SecureMode(self.plan).vector(self._table.records(self._places[silo]))
        self._tell(silo, "masking")
        return vector

    def _tell(self, silo: str, doing: str) -> None:
        if self._progress is not None:
            self._progress(self._places[silo] + 1, len(self._places), doing)


def _step_of(scores: FloatArray, score_range: tuple[float, float], levels: int) -> float | None:
    """The widest step of a grid that holds all scores, if it has no more than ``levels`` points."""
    if default_kind(scores, levels) != "counts":
        return None
    low, high = map(decimal, score_range)
    places = [decimal(score) - low for score in np.unique(scores).tolist()] + [high - low]
    whole = math.lcm(*(place.denominator for place in places))
    step = Fraction(math.gcd(*(int(place * whole) for place in places)), whole)
    return float(step) if (high - low) / step < levels else None


def _range_of(table: PooledTable) -> tuple[float, float]:
    check_magnitude(table.scores, "scores")
    low, high = float(np.min(table.scores)), float(np.max(table.scores))
    if low == high:
        raise OptionError(
            "all scores are the same, so the data show no score range.",
            fix="pass score_range=, the lowest and the highest score there can be.",
        )
    return low, high
