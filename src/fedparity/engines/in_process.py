"""The verb: an audit of messages, of a federation, or of one table whose silos are all here."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.auditing.audit import audit_federation, audit_messages
from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import MOST_POINTS, Favorable, ReviewUnit
from fedparity.documents.result import AuditResult
from fedparity.engines.pooled_table import ONE_SILO, PooledTable, read_pooled
from fedparity.errors import GroupError, OptionError, TableError
from fedparity.errors.base import listed
from fedparity.errors.inputs import look_alike
from fedparity.federated.estimate import Estimator
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group, canonical_order
from fedparity.laws.law import FloatArray, as_scores, check_magnitude
from fedparity.laws.progress import LabeledProgress, callback, shows_progress
from fedparity.modes.mode import AuditOptions, StepName, mode_of
from fedparity.modes.secure.round_messages import RoundMessage
from fedparity.modes.secure.rounds import LocalSilos
from fedparity.modes.secure.secure_mode import SecureMode
from fedparity.privacy.disclosure import Disclosure, decimal
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_LEVELS, Kind, default_kind
from fedparity.sketches.select import ComputeOptions
from fedparity.tables.opening import label_columns
from fedparity.text import counted

__all__ = [
    "Settings",
    "audit",
    "audit_pooled",
    "audit_scores",
    "simulate",
]


_RANGE_FROM_DATA = AuditWarning(
    code="range_from_data",
    text="the score range was taken from the data because none was given: the guaranteed ranges "
    "(certificate, outer bounds) hold only if no score can be below the lowest or above the highest one "
    "here. To state the range by its definition, pass --range LOW HIGH (score_range=).",
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
    """The settings of the measurement, in place of a plan."""

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
                f"a plan was given together with {listed(names)}, which the plan sets.",
                fix="leave them out, or change the plan.",
            )

    def plan_for(self, table: PooledTable, columns: LabelColumns | None = None) -> Plan:
        """Return a plan for a table, without disclosure rules.

        ``columns`` say which parts of its labels are axes, and the outcome.

        Raises
        ------
        GroupError
            If the table has fewer than two groups.
        OptionError
            If no range is given, and the data have none because all scores are the same.
        """
        if len(table.groups) < 2:
            raise GroupError.too_few(table.groups)
        score_range = self.score_range or _range_of(table.scores)
        settings: dict[str, Any] = {"score_range": score_range}
        if self.score_step is None and self.sketch in (None, "counts"):
            settings["score_step"] = _step_of(table.scores, score_range, self.levels)
        if columns is not None and columns.several:
            return self._plan(None, {**settings, **columns.found(table.groups)})
        return self._plan(table.groups, settings)

    def plan_for_cells(self, federation: Federation) -> Plan:
        """Return a plan that describes a federation as it is, without disclosure rules.

        Raises
        ------
        OptionError
            If records were counted at scores that lie on no grid, or the range of the scores is neither
            given nor shown by the cells.
        """
        score_range = self.score_range or federation.score_range
        if score_range is None:
            if federation.kind != "counts":  # scores lie beyond means and quantiles of them
                raise OptionError(
                    f"the cells are {federation.kind} sketches, which do not show how far scores reach.",
                    fix="pass score_range=, the lowest and the highest score there can be.",
                )
            score_range = _range_of(federation.values)
        settings: dict[str, Any] = {
            "score_range": score_range,
            "sketch": federation.kind,
            "levels": federation.max_levels,
        }
        if federation.kind == "counts":
            step = self.score_step or _step_of(federation.values, score_range, MOST_POINTS)
            if step is None:
                raise OptionError(
                    "the records of this federation were counted at scores that lie on no grid.",
                    fix='pass score_step=, or build the federation with kind="mean".',
                )
            settings |= {"score_step": step, "levels": max(self.levels, federation.max_levels)}
        return self._plan(federation.groups, settings)

    def _plan(self, groups: tuple[Group, ...] | None, found: dict[str, Any]) -> Plan:
        stated = asdict(self) | {"groups": groups} | found
        return Plan(title="simulation", disclosure=Disclosure.off(), **stated)


class LabelColumns(NamedTuple):
    """The columns of labels that are read, and which of them are axes and the outcome."""

    columns: str | Sequence[str] | None
    axes: tuple[str, ...] = ()
    has_outcome: bool = False

    @classmethod
    def from_plan(
        cls,
        plan: Plan | None,
        *,
        group: str | Sequence[str] | None,
        axes: Mapping[str, str] | None,
        outcome: str | None,
    ) -> LabelColumns:
        """Return the columns of a plan, or those that are named where there is no plan.

        Raises
        ------
        OptionError
            If columns are named that the plan does not request, or both groups and axes.
        """
        if plan is not None:
            return cls(label_columns(plan, group=group, axes=axes, outcome=outcome))
        if axes and group is not None:
            raise OptionError(
                "both axes and groups were named.",
                fix="name each column as an axis; the groups are their intersections.",
            )
        if axes and len(axes) < 2:
            raise OptionError(
                "a single axis was named.", fix="name its column as group, or name a second axis."
            )
        if not axes and outcome is None:
            return cls(group)
        groups = [*axes.values()] if axes else ["group"] if group is None else group
        groups = [groups] if isinstance(groups, str) else [*groups]
        columns = groups if outcome is None else [*groups, outcome]
        return cls(columns, tuple(axes or ()), outcome is not None)

    @property
    def several(self) -> bool:
        """Whether there are axes or an outcome, of which a plan is to be made."""
        return bool(self.axes) or self.has_outcome

    def found(self, labels: Sequence[Group]) -> dict[str, Any]:
        """Return the groups or axes, and the outcome, of a plan for labels that were found.

        Raises
        ------
        OptionError
            If the outcome does not have two labels.
        """
        parts = [label[:-1] if self.has_outcome else label for label in labels]
        stated: dict[str, Any] = {}
        if self.axes:
            stated["axes"] = {
                name: canonical_order(part[place] for part in parts)
                for place, name in enumerate(self.axes)
            }
        else:
            stated["groups"] = canonical_order(
                part if len(part) > 1 else part[0] for part in parts
            )
        if self.has_outcome:
            outcomes = canonical_order(label[-1] for label in labels)
            if len(outcomes) != 2:
                raise OptionError(
                    f"the outcome has {len(outcomes)} different labels, and two are needed.",
                    fix="name a column with two labels, such as 0 and 1, or use a plan with [outcome].",
                )
            stated["outcome"] = {"negative": outcomes[0], "positive": outcomes[1]}
        return stated


@shows_progress
def audit(
    data: object,
    sketches: Iterable[SiloSketch | RoundMessage | str | os.PathLike[str]] | None = None,
    *,
    silo: str | None = None,
    score: str | None = None,
    group: str | Sequence[str] | None = None,
    axes: Mapping[str, str] | None = None,
    outcome: str | None = None,
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
    progress: LabeledProgress | bool | None = None,
) -> AuditResult:
    """Measure the disparity of all silos together, from what you have of them.

    ``audit(plan, messages)`` is the auditor's: every message is checked against the plan, and one that
    does not answer it is refused, not left out. What is missing (silos that sent nothing, withheld
    cells, groups that no silo released) is named in the result and counted in outer bounds. There are two
    verdicts: *among the silos that answered*, and *for all, whatever the missing ones hold*; each is
    *inconclusive* if the errors that it counts leave open on which side of the review level the
    number lies. Under a plan with noise, noise and bins are counted too.

    ``audit(table, score=…, group=…, silo=…)`` audits one table as if each of its silos were on its own;
    :func:`simulate` is the same function. Every silo's records are sketched by the function that real
    silos use, and the messages are audited like theirs: the result is the same, bit for bit. Nothing
    leaves, so nothing is signed and no ledger is kept. Without a plan the groups are the labels found, no
    disclosure rule is applied, and the score range is that of the data unless ``score_range`` is
    given; the result warns of it. If no ``sketch`` is given, records are counted at their scores where
    these lie on a grid of no more than ``levels`` points, and sketched by bin means otherwise. With a plan
    its rules apply exactly, and a silo of its roster that the table lacks is missing.

    ``audit(federation)`` audits a :class:`fedparity.Federation`, whose cells are taken as they are.

    Parameters
    ----------
    data : Plan, path, frame, dict of arrays, iterator of these, or Federation
        A plan with messages, a table that :func:`fedparity.sketch` reads (all records are kept in
        memory), or a federation.
    sketches : iterable of SiloSketch or paths, optional
        The messages that answer a plan, in any order: the result does not depend on it. Under a plan of
        a secure sum, all messages of the rounds.
    silo : str, optional
        The column that names the silo of each row; without one, all rows are of one silo.
    score, group, axes, outcome, weight, where, mapping, missing, other
        As in :func:`fedparity.sketch`; ``mapping`` does not touch the names of silos. Without a plan
        the labels found are those of the axes, and the outcome has two, of which the last in order is
        the positive one, such as 1 or true.
    plan : Plan, optional
        Instead of the settings that follow.
    levels, sketch, estimator, order, trim, thresholds, favorable
        As in :class:`fedparity.Plan`.
    review_level, review_unit, score_range, score_step
        As in :class:`fedparity.Plan`.
    confidence : float
        Confidence level of the intervals.
    seed : int
        Random seed of the bootstrap; equal seeds give equal results.
    redraws : int, optional
        Number of bootstrap samples; see :func:`fedparity.assess`.
    progress : bool or callable, optional
        True draws a bar. A callback is called with the steps done, their total, and what is being done.

    Raises
    ------
    MessageError
        If a message is not valid, does not answer the plan, or comes twice.
    TableError
        If the table cannot be read, or has silos that the plan's roster does not have.
    LabelError
        If its labels do not fit the groups of the plan.
    GroupError
        If fewer than two groups have records, or were released.
    OptionError
        If a setting is given together with a plan, or is out of its range.

    Examples
    --------
    >>> table = {
    ...     "risk": [0.1, 0.2, 0.6, 0.9, 0.3, 0.8],
    ...     "sex": ["f", "f", "m", "m", "f", "m"],
    ...     "hospital": ["aurora"] * 4 + ["bayside"] * 2,
    ... }
    >>> result = audit(table, silo="hospital", score="risk", group="sex", redraws=100)
    >>> result.silos_received, round(result.disparity.value, 4)
    (('aurora', 'bayside'), 0.0808)

    The cells of a federation:

    >>> from fedparity import Federation
    >>> cells = Federation.from_scores(table["risk"], groups=table["sex"], silos=table["hospital"])
    >>> round(audit(cells, redraws=100).disparity.value, 4)
    0.0808
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
    options = AuditOptions(
        confidence=confidence, seed=seed, redraws=redraws, progress=callback(progress)
    )
    if isinstance(data, Plan) or plan is not None:
        settings.refuse_beside_plan()
    if isinstance(data, Plan | Federation):
        columns: dict[str, Any] = {
            "silo": silo,
            "score": score,
            "group": group,
            "weight": weight,
            "where": where,
        }
        columns |= {"axes": axes, "outcome": outcome}
        _refuse_columns(type(data).__name__, [name for name in columns if columns[name]])
    if isinstance(data, Plan):
        if sketches is None:
            raise OptionError(
                "a plan was given without messages.",
                fix="pass the messages of the silos as well, audit(plan, messages); or a table, "
                "audit(table, plan=plan, score=…, group=…, silo=…).",
            )
        return audit_messages(data, sketches, options)
    if sketches is not None:
        raise OptionError(
            f"messages were given with an object of type {type(data).__name__} instead of their plan.",
            fix="pass the plan that the messages answer first: audit(plan, messages).",
        )
    if isinstance(data, Federation):
        result = audit_federation(plan or settings.plan_for_cells(data), data, options)
        guessed = plan is None and score_range is None and data.score_range is None
        warnings = (_RANGE_FROM_DATA,) if guessed else ()
        return replace(result, warnings=(*warnings, *result.warnings))
    named = LabelColumns.from_plan(plan, group=group, axes=axes, outcome=outcome)
    table = read_pooled(
        data,
        silo=silo,
        score=score,
        group=named.columns,
        groups=None if plan is None else plan.record_labels,
        weight=weight,
        where=where,
        mapping=mapping,
        missing=missing,
        other=other,
    )
    return audit_pooled(table, settings if plan is None else plan, options, columns=named)


simulate = audit


def audit_scores(
    scores: object,
    *,
    sensitive_features: object,
    silos: object = None,
    sample_weight: object = None,
    **options: Any,  # noqa: ANN401 -- those of audit
) -> AuditResult:
    """Audit scores that come as arrays, as metrics take them; ``options`` are those of :func:`audit`.

    Examples
    --------
    >>> audit_scores([0.1, 0.2, 0.6, 0.9], sensitive_features=list("aabb"), redraws=100).groups
    Parts(2 × GroupResult: 'a', 'b')
    """
    values = as_scores(scores)
    cells = Federation.from_scores(
        scores,
        groups=sensitive_features,
        silos=[ONE_SILO] * values.size if silos is None else silos,
        weights=sample_weight,
    )
    return audit(cells, **{"score_range": _range_of(values), **options})


def _refuse_columns(given: str, columns: Sequence[str]) -> None:
    if columns:
        raise OptionError(
            f"a {given} was given together with {listed(columns)}, which only a table has.",
            fix="leave them out, or pass the table.",
        )


def audit_pooled(
    table: PooledTable,
    requested: Plan | Settings,
    options: AuditOptions | None = None,
    *,
    columns: LabelColumns | None = None,
) -> AuditResult:
    """Sketch every silo of a table and audit the messages.

    The groups of the table are those of the plan, if there is one, in its order; ``columns`` say which
    of their parts are axes and outcome where there is no plan.
    """
    options = options or AuditOptions()
    plan, warnings = _settled(table, requested, columns)
    if isinstance(requested, Settings) and plan.releases_tables:
        table = table.in_groups(plan.record_labels)
    messages = mode_of(plan).collect(_PooledSilos(table, plan, options.progress))
    result = audit_messages(plan, messages, options)
    summary = replace(result.plan, simulated=isinstance(requested, Settings))
    return replace(result, plan=summary, warnings=(*warnings, *result.warnings))


def _settled(
    table: PooledTable, requested: Plan | Settings, columns: LabelColumns | None = None
) -> tuple[Plan, list[AuditWarning]]:
    """The plan that silos get, and what the result has to say of it."""
    if isinstance(requested, Settings):
        guessed = [_RANGE_FROM_DATA] if requested.score_range is None else []
        return requested.plan_for(table, columns), [*_alike(table.groups), *guessed]
    if requested.silos is not None:
        strangers = [silo for silo in table.silos if silo not in requested.silo_set]
        if strangers:
            raise TableError(
                f"the table has silos that are not among the {len(requested.silos):,} of the plan: "
                f"{listed(strangers)}.",
                fix="leave their rows out with where=, or add them to silos in the plan.",
            )
    if requested.keys:
        return replace(requested, keys={}, signature=None), [_KEYS_LEFT_OUT]
    return requested, []


def _alike(groups: Sequence[Group]) -> list[AuditWarning]:
    """A warning of labels that may be spellings of one group; none if there are no such labels."""
    parts = (part for group in groups for part in (group if isinstance(group, tuple) else [group]))
    texts = sorted({part for part in parts if isinstance(part, str)})
    # of all spellings one is kept: one without spaces around it, if there is one
    kept = sorted(texts, key=lambda text: text != text.strip())
    pairs = [
        (text, first) for text in texts if (first := look_alike(text, kept)) not in (text, None)
    ]
    if not pairs:
        return []
    options = " ".join(f"--map {shlex.quote(f'{text}={first}')}" for text, first in pairs)
    return [
        AuditWarning(
            code="labels_alike",
            text=f"{counted(len(pairs), 'group')} may be another group in another spelling: only case or "
            f"spaces differ. To count both as one, pass {options} (mapping={dict(pairs)!r}).",
        )
    ]


class _PooledSilos(LocalSilos):
    """The silos of a table, which answer every request of the plan's mode."""

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


def _range_of(scores: FloatArray) -> tuple[float, float]:
    check_magnitude(scores, "scores")
    low, high = float(np.min(scores)), float(np.max(scores))
    if low == high:
        raise OptionError(
            "all scores are the same, so the data show no score range.",
            fix="pass score_range=, the lowest and the highest score there can be.",
        )
    return low, high
