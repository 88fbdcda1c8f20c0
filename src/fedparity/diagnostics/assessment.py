"""How sure are we: one object that keeps the three errors of a disparity apart, and adds them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from fedparity.diagnostics.attribution import attribute
from fedparity.diagnostics.block_bootstrap import MANY_VALUES, RECOMBINED, block_bootstrap
from fedparity.diagnostics.bootstrap import Draws, Progress, bootstrap, default_redraws
from fedparity.diagnostics.cautions import cautions
from fedparity.diagnostics.certificate import Certificate, certify
from fedparity.diagnostics.checks import check_confidence
from fedparity.diagnostics.decomposition import Decomposition, decompose
from fedparity.diagnostics.intervals import (
    Interval,
    basic_interval,
    p_value,
)
from fedparity.diagnostics.length_assessment import LengthAssessment, assess_length
from fedparity.diagnostics.local_assessment import (
    assess_silos,
    assess_some_silos,
    largest_silos,
)
from fedparity.errors import OptionError
from fedparity.federated.estimate import estimate
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group, Silo

__all__ = ["Assessment", "DisparityAssessment", "LengthAssessment", "Verdict", "assess"]

Verdict: TypeAlias = Literal["below", "above", "inconclusive", "none"]
"""Where a disparity lies with respect to a review level, as far as the errors tell."""


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
    """Intervals of ``v_mix``, ``v_bar`` and, for order 2, ``remainder``.

    Empty for order 1 in federations of very many values.
    """
    attribution: Mapping[str, Interval]
    """Intervals of ``selection`` and ``within``."""
    local: Mapping[Silo, LengthAssessment | None]
    """The disparity inside each silo; ``None`` where it has fewer than two groups.

    In federations of very many values, only of some silos: see :func:`assess`.
    """
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
    local: Collection[Silo] | None = None,
    progress: Progress | None = None,
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
        Bootstrap redraws; 1,000, or fewer for many values. Beyond 300,000 values a few redraws
        are recombined (:mod:`fedparity.diagnostics.block_bootstrap`), and a warning says so.
    seed : int
        Equal seeds give equal numbers, on any number of threads.
    local : collection of silos, optional
        Beyond 300,000 values, the silos that get an interval of their own; the 200 with most
        records if absent. With fewer values every silo gets one.
    progress : callable, optional
        Told the redraws done and their total.

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
    many = redraws is None and federation.values.size > MANY_VALUES
    redraws = _default(federation, many=many) if redraws is None else _checked_redraws(redraws)
    certain = partial(
        certify,
        federation,
        score_range=score_range,
        order=method.order,
        trim=method.trim,
    )
    certificate = certain()
    draw = block_bootstrap if many else bootstrap
    draws = draw(federation, method, redraws=redraws, seed=seed, progress=progress)
    if many:
        chosen = largest_silos(federation) if local is None else local
        alone = assess_some_silos(federation, method, chosen, confidence, seed)
    else:
        alone = assess_silos(federation, method, draws["local"], confidence)
    found = estimate(federation, method)
    disparity = _disparity_assessment(
        assess_length(found.disparity, draws["disparity"], confidence, method.order),
        draws["disparity"].null,
        certificate,
        certain(unseen=unseen) if unseen else certificate,
    )
    return Assessment(
        disparity=disparity,
        heterogeneity=assess_length(
            found.heterogeneity, draws["heterogeneity"], confidence, method.order
        ),
        decomposition=_term_intervals(federation, method, draws, confidence),
        attribution=_part_intervals(federation, method, draws, confidence),
        local=alone,
        confidence=confidence,
        redraws=redraws,
        seed=seed,
        warnings=cautions(federation, certified=disparity.value in certificate)
        + (_recombined_words(federation, alone) if many else ()),
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
        if name in draws
    }
    for name in intervals.keys() & {"v_mix", "v_bar"}:
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


def _default(federation: Federation, *, many: bool) -> int:
    return RECOMBINED if many else default_redraws(federation)


def _recombined_words(
    federation: Federation, local: Mapping[Silo, LengthAssessment | None]
) -> tuple[str, ...]:
    words = (
        f"the sketches hold {federation.values.size:,} values: intervals come from recombined "
        f"redraws of blocks of silos, and {len(local):,} of {len(federation.silos):,} silos have "
        "an interval of their own; pass redraws=1000 for plain ones, which take longer."
    )
    return (words,)


def _checked_redraws(redraws: object) -> int:
    if isinstance(redraws, bool) or not isinstance(redraws, int) or redraws < 20:
        raise OptionError(
            f"redraws must be a whole number of at least 20, not {redraws!r}.",
            fix="pass redraws=1000, or leave it out.",
        )
    return redraws
