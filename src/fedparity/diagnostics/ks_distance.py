"""The Kolmogorov-Smirnov distance of two groups, from sketches alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedparity.diagnostics.brackets import Bracket, Known, known_laws
from fedparity.errors import OptionError
from fedparity.errors.base import listed
from fedparity.federated.federation import Federation
from fedparity.federated.mixtures import mixtures
from fedparity.laws.labels import Group
from fedparity.laws.law import Law

__all__ = ["ks_distance"]


def ks_distance(
    federation: Federation,
    first: Group,
    second: Group,
    *,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None = None,
) -> Bracket:
    r"""Return the largest difference between the cdfs of two groups, bracketed.

    .. math:: \sup_x |F_1(x) - F_2(x)|

    It is the largest difference of selection rates over all thresholds; 0 means equal laws. Each
    cdf lies between those of its envelope, hence the difference at every x between two numbers.

    Parameters
    ----------
    first, second : labels of groups
    score_range, unseen
        As in :func:`fedparity.at_threshold`.

    Raises
    ------
    OptionError
        If there is no such group, or an option is out of its range.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.2, 0.4, 0.6, 0.8, 0.1, 0.3, 0.5, 0.9],
    ...     groups=list("aaaabbbb"), silos=[1] * 8, levels=4, kind="quantile",
    ... )
    >>> ks_distance(federation, "a", "b", score_range=(0, 1))
    Bracket(value=0.25, lower=0.25, upper=0.25)
    """
    for group in (first, second):
        if group not in federation.groups:
            raise OptionError(
                f"group {group!r} is not in this federation.",
                fix=f"name two of its groups: {listed(federation.groups)}.",
            )
    known = known_laws(federation, mixtures(federation), score_range, unseen)
    one, other = known[first], known[second]
    slack = one.slack + other.slack
    lower = max(0.0, _excess(one, other), _excess(other, one)) - slack
    upper = max(_reach(one, other), _reach(other, one)) + slack
    lower, upper = max(0.0, lower), min(1.0, upper)
    value = max(_largest_gap(one.law, other.law), _largest_gap(other.law, one.law))
    return Bracket(value=min(max(value, lower), upper), lower=lower, upper=upper)


def _excess(one: Known, other: Known) -> float:
    """How far the first cdf must exceed the second somewhere."""
    return _largest_gap(one.envelope.upper, other.envelope.lower)


def _reach(one: Known, other: Known) -> float:
    """How far the first cdf can exceed the second anywhere."""
    return _largest_gap(one.envelope.lower, other.envelope.upper)


def _largest_gap(one: Law, other: Law) -> float:
    """The supremum of the first cdf minus the second, attained at an atom of the first or 0."""
    return max(0.0, float(np.max(one.cumulative - other.cdf(one.atoms))))
