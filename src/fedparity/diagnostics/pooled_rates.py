"""Shares of each group above a quantile of the whole population, from sketches alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from fedparity.diagnostics.brackets import (
    Bracket,
    bracketed_quantile,
    bracketed_share,
    known_laws,
    pooled_law,
)
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
from fedparity.laws.weights import Weights

__all__ = ["TailReport", "scoring_rates", "tail_rates"]

_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class TailReport:
    """Shares above a quantile of the whole population, bracketed by the sketches."""

    level: float
    """The level of the quantile: 0.5 for the median."""
    cutoff: Bracket
    """The quantile itself."""
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
            "level": self.level,
            "cutoff": self.cutoff.to_dict(),
            "largest": label,
            "groups": [group.to_dict() for group in self.groups],
            "widest_gap": self.widest_gap.to_dict(),
            "four_fifths": self.four_fifths,
        }


def scoring_rates(
    federation: Federation,
    *,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None = None,
) -> TailReport:
    """Return the share of each group above the median of all records.

    It is the *scoring rate* of New York City's Local Law 144, and ``ratio_to_best`` its impact
    ratio. Which of the medians of an even number of records is taken makes no difference to the
    share strictly above it. Options are those of :func:`tail_rates`.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.2, 0.4, 0.6, 0.8, 0.1, 0.3, 0.5, 0.9],
    ...     groups=list("aaaabbbb"), silos=[1] * 8, levels=4,
    ... )
    >>> [row.rate.value for row in scoring_rates(federation, score_range=(0, 1)).groups]
    [0.5, 0.5]
    """
    return tail_rates(federation, 0.5, score_range=score_range, unseen=unseen)


def tail_rates(
    federation: Federation,
    level: float,
    *,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None = None,
) -> TailReport:
    r"""Return the share of each group strictly above a quantile of all records together.

    .. math:: p_s = \nu_s^\times((Q(u), \infty)), \qquad Q(u) = \inf\{x : F(x) \ge u\},

    with F the cdf of all records. The quantile is itself known up to an interval only; a share is
    at most the largest possible above its lower end, at least the smallest possible above its
    upper end, and all shares together leave at most 1 - u above it.

    Parameters
    ----------
    level : float in (0, 1)
        The u: 0.9 for the highest tenth.
    score_range, unseen
        As in :func:`fedparity.at_threshold`.

    Raises
    ------
    OptionError
        If an option is out of its range.
    """
    asked = _checked_level(level)
    known = known_laws(federation, mixtures(federation), score_range, unseen)
    cutoff = bracketed_quantile(pooled_law(known, federation.weights), asked)
    rates = {group: bracketed_share(law, cutoff, ">") for group, law in known.items()}
    if not any((unseen or {}).values()):
        rates = _tightened(rates, federation.weights, 1 - asked)
    largest = largest_group(federation)
    groups = compare_rates(rates, largest)
    return TailReport(
        level=asked,
        cutoff=cutoff,
        largest=largest,
        groups=groups,
        widest_gap=widest_gap(rates),
        four_fifths=overall_state(groups),
    )


def _checked_level(level: object) -> float:
    if not (isinstance(level, float | np.floating) and 0 < level < 1):
        raise OptionError(
            f"level must be above 0 and below 1, not {level!r}.",
            fix="pass level=0.5 for the median, or 0.9 for the highest tenth.",
        )
    return float(level)


def _tightened(
    rates: Mapping[Group, Bracket], weights: Weights, together: float
) -> dict[Group, Bracket]:
    """Lower the upper bounds: all groups together have at most a share ``together`` above."""
    least = sum(weights[group] * rate.lower for group, rate in rates.items())
    tight = {}
    for group, rate in rates.items():
        room = (together - least) / weights[group] + rate.lower + _ROUNDING
        upper = max(rate.lower, min(rate.upper, room))
        tight[group] = replace(rate, value=min(rate.value, upper), upper=upper)
    return tight
