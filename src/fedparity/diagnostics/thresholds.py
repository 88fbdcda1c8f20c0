"""Rates at a threshold, from sketches alone: what selection rules look at.

A sketch leaves a group's law between two others (:mod:`fedparity.diagnostics.envelopes`), so a
share of the group is known up to an interval. All numbers here are such brackets: an estimate,
and bounds that the raw data cannot leave. Sampling error is not in them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from fedparity.diagnostics.brackets import Bracket, Tail, bracketed_share, known_laws
from fedparity.diagnostics.rates import (
    FourFifths,
    GroupRate,
    compare_rates,
    largest_group,
    overall_state,
    widest_gap,
)
from fedparity.errors import OptionError
from fedparity.federated.federation import Federation
from fedparity.federated.mixtures import mixtures
from fedparity.laws.labels import Group

__all__ = ["Favourable", "ThresholdReport", "at_threshold"]

Favourable: TypeAlias = Literal["above", "below"]
"""Who is selected: those at or ``above`` the threshold, or those strictly ``below`` it."""


@dataclass(frozen=True, kw_only=True)
class ThresholdReport:
    """Selection rates at a threshold and their comparison, bracketed by the sketches."""

    threshold: float
    favourable: Favourable
    largest: Group
    """The group with the most records."""
    groups: tuple[GroupRate, ...]
    widest_gap: Bracket
    """The highest rate minus the lowest."""
    four_fifths: FourFifths
    """Where the smallest ratio to the highest rate lies."""

    def to_dict(self) -> dict[str, object]:
        """Return the fields by name, as JSON holds them."""
        label = list(self.largest) if isinstance(self.largest, tuple) else self.largest
        return {
            "threshold": self.threshold,
            "favourable": self.favourable,
            "largest": label,
            "groups": [group.to_dict() for group in self.groups],
            "widest_gap": self.widest_gap.to_dict(),
            "four_fifths": self.four_fifths,
        }


def at_threshold(
    federation: Federation,
    threshold: float,
    *,
    score_range: tuple[float, float],
    favourable: Favourable = "above",
    unseen: Mapping[Group, float] | None = None,
) -> ThresholdReport:
    r"""Return the selection rates of all groups at a threshold, and how they compare.

    The rate of group s is the share of its records with a score of at least t,

    .. math:: p_s = \nu_s^\times([t, \infty)),

    or, with ``favourable="below"``, of those with a score strictly below t. With k quantiles
    per cell it is known up to about 1/k, and the bounds are attained: some data with these
    sketches have that rate. With bin means it is known up to 2/k.

    Parameters
    ----------
    threshold : float
        The t from which, or below which, a record is selected.
    score_range : pair of numbers
        Public bounds of the scores.
    unseen : mapping of group to number, optional
        At most so many further records exist; see :func:`fedparity.certify`.

    Raises
    ------
    OptionError
        If an option is out of its range.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.2, 0.4, 0.6, 0.8, 0.1, 0.3, 0.5, 0.9],
    ...     groups=list("aaaabbbb"), silos=[1] * 8, levels=4,
    ... )
    >>> report = at_threshold(federation, 0.6, score_range=(0, 1))
    >>> [(row.group, row.rate.lower, row.rate.upper) for row in report.groups]
    [('a', 0.5, 0.5), ('b', 0.25, 0.25)]
    >>> report.groups[1].ratio_to_best.value, report.four_fifths
    (0.5, 'below four fifths')
    """
    cut = _checked_threshold(threshold)
    if favourable not in get_args(Favourable):
        raise OptionError.unknown("favourable", favourable, get_args(Favourable))
    known = known_laws(federation, mixtures(federation), score_range, unseen)
    tail: Tail = ">=" if favourable == "above" else "<"
    exactly = Bracket(value=cut, lower=cut, upper=cut)
    rates = {group: bracketed_share(law, exactly, tail) for group, law in known.items()}
    largest = largest_group(federation)
    groups = compare_rates(rates, largest)
    return ThresholdReport(
        threshold=cut,
        favourable=favourable,
        largest=largest,
        groups=groups,
        widest_gap=widest_gap(rates),
        four_fifths=overall_state(groups),
    )


def _checked_threshold(threshold: float) -> float:
    number = isinstance(threshold, int | float | np.integer | np.floating)
    if isinstance(threshold, bool) or not (number and math.isfinite(threshold)):
        raise OptionError(
            f"threshold must be a finite number, not {threshold!r}.",
            fix="pass the score from which a record is selected, for example 0.5.",
        )
    return float(threshold)
