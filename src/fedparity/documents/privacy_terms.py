"""The privacy terms of a plan: its ``[privacy]`` table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from fedparity.documents.fields import as_increasing
from fedparity.documents.plan_fields import (
    MOST_POINTS,
    MOST_VALUES,
    Problem,
    one_of,
    positive,
    whole,
)
from fedparity.errors import PlanError
from fedparity.laws.law import FloatArray
from fedparity.privacy.disclosure import (
    MODES,
    NOISY_MODES,
    SECURE_MODES,
    Mode,
    score_points,
    whole_steps,
)
from fedparity.privacy.noise import SECURE_BINS, UNPLANNED_BINS, bins_of_points, planned_bins

__all__ = [
    "MOST_SILOS",
    "PRIVACY_KEYS",
    "UNIT",
    "Dose",
    "PrivacyTerms",
    "settle_terms",
]

Dose: TypeAlias = Literal["full", "split"]
"""``full``: the noise of each silo suffices; ``split``: that of ``honest`` silos together."""

UNIT = "one record, add or remove"
"""The unit of privacy that epsilon protects."""

_MOST_RECORDS = 10**12
_MOST_BINS = 4096
MOST_SILOS = 1000
"""Of a secure sum: every two of them agree on a key."""


def _edges(value: object) -> tuple[float, ...]:
    """Return the inner edges of the bins, which increase."""
    edges = as_increasing(value, _MOST_BINS - 1)
    if not edges:
        raise PlanError.wrong(
            "edges",
            f"a list of 1 to {_MOST_BINS - 1:,} numbers that increase",
            value,
            fix="write the scores at which one bin ends and the next begins, without the ends of "
            "score_range; or leave edges out for bins of equal width.",
        )
    return edges


PRIVACY_KEYS: Mapping[str, Callable[[object], Any]] = {
    "mode": one_of("mode", *MODES[1:]),
    "epsilon": positive("epsilon", 1.0),
    "bins": whole("bins", 2, _MOST_BINS, 32),
    "edges": _edges,
    "records": whole("records", 1, _MOST_RECORDS, 10_000),
    "budget": positive("budget", 1.0),
    "threshold": whole("threshold", 2, MOST_SILOS, 3),
    "dose": one_of("dose", *get_args(Dose)),
    "honest": whole("honest", 1, MOST_SILOS, 3),
}
"""The check of each key of the table, in the order in which it is written."""


@dataclass(frozen=True, kw_only=True)
class PrivacyTerms:
    """How a plan protects single records beyond the disclosure rules.

    Each term is valid once built. A plan checks them together, and states every default: see
    :func:`~fedparity.documents.privacy_terms.settle_terms`.

    Parameters
    ----------
    mode : "dp", "secure" or "secure+dp"
        Noise in each silo; only sums over silos; or both.
    epsilon : float, optional
        The privacy loss that one release may cost; needed with ``dp``, absent without.
    bins : int, optional
        Bins of the histograms; by default from ``records`` where noise is added, else 256.
    edges : sequence of float, optional
        Where bins meet: public numbers inside the score range, in increasing order.
    records : int, optional
        Public planning size: records of the smallest group in all silos together.
    budget : float, optional
        The loss that all releases of a silo from one data set may cost together; epsilon if absent.
    threshold : int, optional
        Silos whose shares are needed to open a secure sum: more than two thirds of them.
    dose : "full" or "split", optional
        Of the noise inside a secure sum; full if absent.
    honest : int, optional
        With a split dose, silos whose noise must suffice; ``threshold`` if absent.

    Examples
    --------
    >>> PrivacyTerms(mode="dp", epsilon=1, bins=32).to_dict()
    {'mode': 'dp', 'epsilon': 1.0, 'bins': 32}
    """

    mode: Mode
    epsilon: float | None = None
    bins: int | None = None
    edges: Sequence[float] | None = None
    records: int | None = None
    budget: float | None = None
    threshold: int | None = None
    dose: Dose | None = None
    honest: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None or field.name == "mode":
                object.__setattr__(self, field.name, PRIVACY_KEYS[field.name](value))

    @property
    def noisy(self) -> bool:
        """Whether noise is added, so that there is an epsilon."""
        return self.mode in NOISY_MODES

    @property
    def secure(self) -> bool:
        """Whether only sums over silos are seen."""
        return self.mode in SECURE_MODES

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as the plan's table holds them: those that are set."""
        stated = {name: getattr(self, name) for name in PRIVACY_KEYS}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in stated.items()
            if value is not None
        }

    @property
    def guarantee(self) -> dict[str, Any]:
        """What a message states of the terms; the plan, whose digest it carries, has the edges."""
        terms = {name: value for name, value in self.to_dict().items() if name != "edges"}
        return {**terms, "unit": UNIT} if self.noisy else terms


_FEWEST_SILOS = 3
"""With two, each would find the other's histogram by subtracting its own from the sum."""


def settle_terms(
    terms: PrivacyTerms,
    *,
    silos: int | None,
    groups: int,
    score_range: tuple[float, float] | None,
    score_step: float | None = None,
    thresholds: Sequence[float] = (),
) -> tuple[PrivacyTerms, list[Problem]]:
    """Return the terms with every default stated, and all that is wrong with them.

    Parameters
    ----------
    silos : int or None
        The number of silos of the roster, or None.
    groups : int
        The groups of the plan, or their parts by outcome: how many histograms there are.
    score_range : pair of numbers or None
        None where the plan's is not valid, so that nothing can be compared with it.
    score_step : float, optional
        Where scores lie on a public grid, every bin holds points of it, and whole ones.
    thresholds : sequence of float
        No bin may hold scores on both sides of one: they cost no further count, and no epsilon. Edges
        of calibration are among them.

    Examples
    --------
    >>> terms, _ = settle_terms(
    ...     PrivacyTerms(mode="dp", epsilon=1, records=10_000),
    ...     silos=5,
    ...     groups=2,
    ...     score_range=(0.0, 1.0),
    ... )
    >>> terms.to_dict()
    {'mode': 'dp', 'epsilon': 1.0, 'bins': 32, 'records': 10000, 'budget': 1.0}
    """
    mistakes = [*_noise_mistakes(terms), *_sum_mistakes(terms, silos)]
    if mistakes:
        return terms, mistakes
    points = _points(score_range, score_step)
    inside = _inside(thresholds, score_range, points)
    settled = _with_defaults(terms, silos, points, len(inside) + 1)
    of_points = () if points is None else _point_mistakes(settled, points)
    of_bins = of_points or [*_grid_mistakes(settled, groups, score_range)]
    return settled, [
        *_quorum_mistakes(settled, silos),
        *(of_bins or _threshold_mistakes(settled, inside, points)),
    ]


def _inside(
    thresholds: Sequence[float],
    score_range: tuple[float, float] | None,
    points: FloatArray | None,
) -> list[float]:
    """The thresholds at which bins must meet; of those between the same two points, the first."""
    if score_range is None:
        return []
    low, high = score_range
    if points is None:
        return [score for score in thresholds if low < score < high]
    gaps = {int(np.searchsorted(points, score)): score for score in reversed(thresholds)}
    return sorted(score for gap, score in gaps.items() if 0 < gap < points.size)


def _points(score_range: tuple[float, float] | None, step: float | None) -> FloatArray | None:
    """The possible scores; None if any score is possible, or if range and step contradict each other."""
    if score_range is None or step is None:
        return None
    steps = whole_steps(score_range, step)
    if steps is None or steps >= MOST_POINTS:
        return None
    return score_points(score_range, step)


def _with_defaults(
    terms: PrivacyTerms, silos: int | None, points: FloatArray | None, fewest: int
) -> PrivacyTerms:
    if terms.noisy:
        terms = replace(terms, budget=terms.budget or terms.epsilon)
    if terms.secure and silos is not None:
        terms = replace(terms, threshold=terms.threshold or 2 * silos // 3 + 1)
    if terms.mode == "secure+dp":
        terms = replace(terms, dose=terms.dose or "full")
    if terms.dose == "split":
        terms = replace(terms, honest=terms.honest or terms.threshold)
    bins = _bins(terms, silos or 1)
    if points is not None and terms.bins is None and terms.edges is None:
        bins = bins_of_points(points.size, bins)
    if terms.bins is None and terms.edges is None:
        bins = max(bins, fewest)
    return replace(terms, bins=bins)


def _bins(terms: PrivacyTerms, silos: int) -> int:
    if terms.edges is not None:
        return terms.bins or len(terms.edges) + 1
    if terms.bins is not None:
        return terms.bins
    if terms.epsilon is None:
        return SECURE_BINS
    if terms.records is None:
        return UNPLANNED_BINS
    doses = silos if terms.honest is None else max(silos / terms.honest, 1.0)
    return planned_bins(terms.records, terms.epsilon, doses)


def _noise_mistakes(terms: PrivacyTerms) -> Iterator[Problem]:
    mode = f'[privacy] mode = "{terms.mode}"'
    if terms.noisy and terms.epsilon is None:
        yield Problem(
            ("privacy", "mode"),
            PlanError(
                f"{mode} needs an epsilon.", fix="add epsilon = 1.0, say; smaller protects more."
            ),
        )
    for name in () if terms.noisy else ("epsilon", "budget", "records"):
        if getattr(terms, name) is not None:
            problem = f"{mode} adds no noise, so it has no {name}."
            fix = f'remove {name}, or set mode = "secure+dp".'
            yield Problem(("privacy", name), PlanError(problem, fix=fix))
    if terms.epsilon is not None and terms.budget is not None and terms.budget < terms.epsilon:
        problem = "the budget is smaller than epsilon, so that no release could be made."
        fix = "set budget to epsilon, or to a multiple of it for several releases."
        yield Problem(("privacy", "budget"), PlanError(problem, fix=fix))


def _sum_mistakes(terms: PrivacyTerms, silos: int | None) -> Iterator[Problem]:
    mode = f'[privacy] mode = "{terms.mode}"'
    if terms.secure and (silos or 0) < _FEWEST_SILOS:
        problem = f"{mode} needs a roster of {_FEWEST_SILOS} silos or more."
        fix = 'list them: silos = ["aurora", "bayside", "court"].'
        yield Problem(("privacy", "mode"), PlanError(problem, fix=fix))
    if terms.secure and (silos or 0) > MOST_SILOS:
        problem = f"{mode} adds up at most {MOST_SILOS:,} silos: every two of them agree on a key."
        fix = "let silos of one owner answer as one, or write several plans."
        yield Problem(("privacy", "mode"), PlanError(problem, fix=fix))
    if not terms.secure and terms.threshold is not None:
        problem = f"{mode} opens no sum, so it has no threshold."
        yield Problem(("privacy", "threshold"), PlanError(problem, fix="remove threshold."))
    if terms.mode != "secure+dp" and terms.dose is not None:
        problem = f"{mode} has no dose: it is for noise inside a secure sum."
        fix = 'remove dose, or set mode = "secure+dp".'
        yield Problem(("privacy", "dose"), PlanError(problem, fix=fix))
    if terms.dose != "split" and terms.honest is not None:
        problem = 'honest goes with dose = "split": a full dose needs no other silo.'
        yield Problem(
            ("privacy", "honest"), PlanError(problem, fix='remove honest, or set dose = "split".')
        )


def _quorum_mistakes(terms: PrivacyTerms, silos: int | None) -> Iterator[Problem]:
    """Of t and d: 2t - d silos together with the auditor open another's numbers."""
    if terms.threshold is None or silos is None:
        return
    if not 2 * silos < 3 * terms.threshold <= 3 * silos:
        problem = (
            f"the threshold must be more than two thirds of the {silos:,} silos, and at most all: "
            f"with {terms.threshold:,} an auditor needs the help of "
            f"{max(0, 2 * terms.threshold - silos):,} silos to see another's numbers."
        )
        if terms.threshold > silos:
            problem = f"the threshold is more than the {silos:,} silos there are."
        fix = f"set threshold to {2 * silos // 3 + 1}, or leave it out."
        yield Problem(("privacy", "threshold"), PlanError(problem, fix=fix))
    elif terms.honest is not None and terms.honest > terms.threshold:
        problem = (
            f"honest = {terms.honest} is more than the threshold, {terms.threshold}: a sum of so "
            "few silos would hold too little noise."
        )
        fix = f"lower honest to {terms.threshold}, or raise the threshold."
        yield Problem(("privacy", "honest"), PlanError(problem, fix=fix))


def _grid_mistakes(
    terms: PrivacyTerms, groups: int, score_range: tuple[float, float] | None
) -> Iterator[Problem]:
    bins = terms.bins or 0
    if terms.edges is not None:
        if bins != len(terms.edges) + 1:
            problem = (
                f"{len(terms.edges):,} edges make {len(terms.edges) + 1:,} bins, not {bins:,}."
            )
            yield Problem(
                ("privacy", "bins"), PlanError(problem, fix="remove bins: the edges say it.")
            )
        if score_range and not score_range[0] < terms.edges[0] <= terms.edges[-1] < score_range[1]:
            problem = "the edges must lie inside the score range, without its ends."
            yield Problem(
                ("privacy", "edges"), PlanError(problem, fix="remove the edges outside.")
            )
    elif score_range and not _distinct(bins, *score_range):
        problem = f"the score range is too narrow for {bins:,} bins of floats."
        yield Problem(
            ("privacy", "bins"), PlanError(problem, fix="lower bins, or rescale the score.")
        )
    if groups * bins > MOST_VALUES:
        yield Problem(("privacy", "bins"), PlanError.too_many_values(groups, bins, MOST_VALUES))


def _point_mistakes(terms: PrivacyTerms, points: FloatArray) -> list[Problem]:
    """What is wrong with bins of scores that can only be these ``points``."""
    if terms.edges is None:
        if (terms.bins or 0) <= points.size:
            return []
        problem = f"{terms.bins:,} bins are more than the {points.size:,} scores there can be."
        fix = "remove bins: then each bin is one score, or several scores together."
        return [Problem(("privacy", "bins"), PlanError(problem, fix=fix))]
    cuts = np.searchsorted(points, terms.edges)
    inside = bool((cuts > 0).all() and (cuts < points.size).all())
    if inside and (np.diff(cuts) > 0).all() and not np.isin(terms.edges, points).any():
        return []
    problem = "the edges must lie between scores that there can be, no two in the same gap."
    fix = "move each edge halfway between two neighboring scores, or leave edges out."
    return [Problem(("privacy", "edges"), PlanError(problem, fix=fix))]


def _threshold_mistakes(
    terms: PrivacyTerms, thresholds: Sequence[float], points: FloatArray | None
) -> Iterator[Problem]:
    if terms.edges is None:
        if len(thresholds) >= (terms.bins or 0):
            problem = f"{len(thresholds):,} thresholds need {len(thresholds) + 1:,} bins or more."
            yield Problem(
                ("privacy", "bins"), PlanError(problem, fix="raise bins, or leave it out.")
            )
        return
    edges, at = np.array(terms.edges), np.array(thresholds)
    if points is not None:
        edges, at = np.searchsorted(points, edges), np.searchsorted(points, at)
    missing = [score for score, met in zip(thresholds, np.isin(at, edges), strict=True) if not met]
    if missing:
        problem = f"bins must meet at the plan's thresholds, and no edge is at {missing[0]:g}."
        yield Problem(
            ("privacy", "edges"), PlanError(problem, fix="add the thresholds to the edges.")
        )


def _distinct(bins: int, low: float, high: float) -> bool:
    """Whether the edges of equal bins are different floats, with many in between."""
    step = (high - low) / bins
    return step > 1e-12 * max(abs(low), abs(high))
