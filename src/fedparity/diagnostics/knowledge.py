"""What is known besides the sketches: the score range, unseen records, rounding; checked once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedparity.diagnostics.checks import check_score_range
from fedparity.errors import OptionError
from fedparity.federated.federation import Federation
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group

__all__ = ["checked_range", "checked_unseen"]


def checked_range(federation: Federation, score_range: tuple[float, float]) -> tuple[float, float]:
    """Return the public bounds of the score, or raise if a value of the sketches is outside."""
    low, high = check_score_range(score_range)
    outside = int(np.count_nonzero((federation.values < low) | (federation.values > high)))
    if outside:
        raise OptionError(
            f"{outside} values of the sketches lie outside the score range.",
            fix="pass the public bounds that every score respects, or check those silos.",
        )
    return low, high


def checked_unseen(federation: Federation, unseen: Mapping[Group, float] | None) -> FloatArray:
    """Return the most further records of each group, 0 where nothing is said."""
    given = unseen or {}
    for group in given:
        if group not in federation.groups:
            raise OptionError(
                f"unseen names group {group!r}, which the sketches do not hold.",
                fix="spell it as the cells do; 1 and '1' are different labels.",
            )
    extra = np.array([float(given.get(group, 0.0)) for group in federation.groups])
    if not (extra >= 0).all():
        raise OptionError(
            "unseen records must be numbers of at least 0.",
            fix="pass an upper bound for each group, or math.inf where there is none.",
        )
    return extra
