"""How sure are we: one object that keeps the three errors of a disparity apart, and adds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from fedparity.diagnostics.attribution import attribute
from fedparity.diagnostics.bootstrap import Draws, bootstrap, default_redraws
from fedparity.diagnostics.certificate import Certificate, certify
from fedparity.diagnostics.checks import check_confidence
from fedparity.diagnostics.decomposition import Decomposition, decompose
from fedparity.diagnostics.intervals import (
    Interval,
    basic_interval,
    interval_of_length,
    p_value,
)
from fedparity.diagnostics.local import local_audits
from fedparity.errors import OptionError
from fedparity.federated.estimate import estimate
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group, Silo

__all__ = ["Assessment", "DisparityAssessment", "LengthAssessment", "Verdict", "assess"]

Verdict: TypeAlias = Literal["below", "above", "inconclusive", "none"]
"""Where a disparity lies with respect to a review level, as far as the errors tell."""

_SMALL_CELL = 100
_HEAVY_TIE, _FEW_WITH_TIES = 0.25, 1_000
"""Where the measured coverage fell below 92 %: half of the scores at one value, 400 per group."""


@dataclass(frozen=True, kw_only=True)
class LengthAssessment:
    """A measure that cannot be negative, with its sampling error."""

    value: float
    """The estimate."""
    corrected: float
    """The estimate without the part that sampling noise adds on average; never below 0."""
    interval: Interval
    """What the population could be, given the data."""


@dataclass(frozen=True, kw_only=True)
class DisparityAssessment(LengthAssessment):
    """The global disparity with its three errors, kept apart."""

    certificate: Certificate
    """What the raw data could be, given the sketches."""
    outer: Certificate
    """The same if records that nobody described are counted: withheld cells, missing silos."""
    p_value: float
    """How often sampling noise alone would show at least this much."""
    null: tuple[float, ...]
    """The null distribution behind the p-value: disparities of redrawn noise, sorted."""

    @property
    def combined(self) -> Interval:
        """What the population could be, all errors counted.

        The sampling interval describes an estimate from all the raw data; the raw data could
        have given anything inside ``outer``, so its distances to the estimate are added.
        """
        return Interval(
            max(0.0, self.interval.lower - max(0.0, self.value - self.outer.lower)),
            self.interval.upper + max(0.0, self.outer.upper - self.value),
        )

    def verdict(self, review_level: float | None) -> Verdict:
        """Return where the disparity lies, *inconclusive* if the errors straddle the level."""
        if review_level is None:
            return "none"
        if self.combined.lower > review_level:
            return "above"
        return "below" if self.combined.upper <= review_level else "inconclusive"


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """All measures of a federation with their errors, and what to keep in mind."""

    disparity: DisparityAssessment
    heterogeneity: LengthAssessment
    decomposition: Mapping[str, Interval]
    """Intervals of ``v_mix``, ``v_bar`` and, for order 2, ``remainder``."""
    attribution: Mapping[str, Interval]
    """Intervals of ``selection`` and ``within``."""
    local: Mapping[Silo, LengthAssessment | None]
    """The disparity inside each silo; ``None`` where it has fewer than two groups."""
    confidence: float
    redraws: int
    seed: int
    warnings: tuple[str, ...]


def assess(
    federation: Federation,
    method: Method | None = None,
    *,
    score_range: tuple[float, float],
    confidence: float = 0.95,
    unseen: Mapping[Group, float] | None = None,
    redraws: int | None = None,
    seed: int = 0,
) -> Assessment:
    """Measure a federation, and say how far each number may be from the truth.

    Three errors are kept apart: what the raw data could be given the sketches (the certificate),
    what the population could be given the data (the interval, by a seeded bootstrap from the
    sketches alone), and what is missing (``unseen`` records).

    Parameters
    ----------
    score_range : pair of numbers
        Public bounds of the scores.
    confidence : float
        Of the intervals.
    unseen : mapping of group to number, optional
        At most so many further records exist; see :func:`fedparity.certify`.
    redraws : int, optional
        Bootstrap redraws; 1,000, or fewer for very many values.
    seed : int
        Equal seeds give equal numbers, on any number of threads.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> groups = np.repeat(["a", "b"], 1000)
    >>> scores = np.where(groups == "a", random.beta(3, 4, 2000), random.beta(6, 4, 2000))
    >>> federation = Federation.from_scores(
    ...     scores, groups=groups, silos=random.integers(0, 3, 2000), levels=50
    ... )
    >>> found = assess(federation, score_range=(0.0, 1.0), redraws=200).disparity
    >>> found.interval.lower < found.value < found.interval.upper
    True
    >>> found.verdict(0.001), found.verdict(0.0076), found.verdict(0.1)
    ('above', 'inconclusive', 'below')
    """
    method = method or Method()
    check_confidence(confidence)
    redraws = default_redraws(federation) if redraws is None else _checked_redraws(redraws)
    draws = bootstrap(federation, method, redraws=redraws, seed=seed)
    found = estimate(federation, method)
    certain = partial(
        certify, federation, score_range=score_range, order=method.order, trim=method.trim
    )
    certificate = certain()
    disparity = _disparity_assessment(
        _length(found.disparity, draws["disparity"], confidence, method.order),
        draws["disparity"].null,
        certificate,
        certain(unseen=unseen) if unseen else certificate,
    )
    return Assessment(
        disparity=disparity,
        heterogeneity=_length(
            found.heterogeneity, draws["heterogeneity"], confidence, method.order
        ),
        decomposition=_term_intervals(federation, method, draws, confidence),
        attribution=_part_intervals(federation, method, draws, confidence),
        local=_local_assessments(federation, method, draws["local"], confidence),
        confidence=confidence,
        redraws=redraws,
        seed=seed,
        warnings=_warnings(federation, disparity),
    )


def _disparity_assessment(
    length: LengthAssessment, null: FloatArray, certificate: Certificate, outer: Certificate
) -> DisparityAssessment:
    return DisparityAssessment(
        value=length.value,
        corrected=length.corrected,
        interval=length.interval,
        certificate=certificate,
        outer=outer,
        p_value=p_value(length.value, null),
        null=tuple(np.sort(null).tolist()),
    )


def _length(value: float, draws: Draws, confidence: float, order: int) -> LengthAssessment:
    added_by_noise = float(draws.values.mean() - draws.base)
    return LengthAssessment(
        value=value,
        corrected=max(0.0, value - added_by_noise),
        interval=interval_of_length(
            value,
            float(draws.base),
            draws.values,
            draws.noise,
            draws.null,
            confidence=confidence,
            order=order,
        ),
    )


def _term_intervals(
    federation: Federation, method: Method, draws: dict[str, Draws], confidence: float
) -> dict[str, Interval]:
    terms = decompose(federation, method)
    values = {"v_mix": terms.v_mix, "v_bar": terms.v_bar}
    if isinstance(terms, Decomposition):
        values["remainder"] = terms.remainder
    intervals = {
        name: basic_interval(value, float(draws[name].base), draws[name].values, confidence)
        for name, value in values.items()
    }
    for name in ("v_mix", "v_bar"):
        lower, upper = intervals[name]
        intervals[name] = Interval(max(lower, 0.0), max(upper, 0.0))
    return intervals


def _part_intervals(
    federation: Federation, method: Method, draws: dict[str, Draws], confidence: float
) -> dict[str, Interval]:
    parts = attribute(federation, method)
    return {
        name: basic_interval(value, float(draws[name].base), draws[name].values, confidence)
        for name, value in (("selection", parts.selection), ("within", parts.within))
    }


def _local_assessments(
    federation: Federation, method: Method, draws: Draws, confidence: float
) -> dict[Silo, LengthAssessment | None]:
    local: dict[Silo, LengthAssessment | None] = {}
    for i, audit in enumerate(local_audits(federation, method)):
        noise = draws.noise[:, i]
        own = Draws(draws.base[i], draws.values[:, i], noise, noise)
        local[audit.silo] = (
            None
            if audit.disparity is None
            else _length(audit.disparity, own, confidence, method.order)
        )
    return local


def _warnings(federation: Federation, disparity: DisparityAssessment) -> tuple[str, ...]:
    warnings = []
    small = int(np.count_nonzero(federation.counts < _SMALL_CELL))
    if small:
        warnings.append(
            f"{small} of {federation.counts.size} cells have fewer than {_SMALL_CELL} records: "
            "intervals may cover less often than stated."
        )
    if _largest_tie(federation) > _HEAVY_TIE and min(_records(federation)) < _FEW_WITH_TIES:
        warnings.append(
            f"one score holds more than {_HEAVY_TIE:.0%} of a cell, and a group has fewer than "
            f"{_FEW_WITH_TIES:,} records: intervals may cover less often than stated."
        )
    if federation.counts.dtype.kind != "i":
        warnings.append("counts are weights: intervals take their total for a number of records.")
    if disparity.value not in disparity.certificate:
        warnings.append(
            "the estimate lies outside its certificate: "
            "use estimator 'exact', or ask for more levels."
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


def _checked_redraws(redraws: object) -> int:
    if isinstance(redraws, bool) or not isinstance(redraws, int) or redraws < 20:
        raise OptionError(
            f"redraws must be a whole number of at least 20, not {redraws!r}.",
            fix="pass redraws=1000, or leave it out.",
        )
    return redraws
