"""Counts at the thresholds of a plan: which of them may be sent."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedparity.privacy.disclosure import Disclosure
from fedparity.privacy.merging import counted_sizes, merged_ends

__all__ = ["counts_above"]


def counts_above(
    records: npt.ArrayLike,
    disclosure: Disclosure,
    *,
    weights: npt.ArrayLike | None = None,
    effective: float | None = None,
) -> tuple[int | float | None, ...]:
    """Return for each threshold how many records lie at or above it, or None if it is not sent.

    Thresholds count as levels: where fewer than ``minimum_cell`` records lie between two of them,
    or beyond the lowest or the highest, a threshold is left out, so that no difference of what
    is sent, the count of the cell included, is a smaller number. Which one is left out follows the
    rule of :func:`~fedparity.privacy.merging.merged_ends`.

    Parameters
    ----------
    records : array of whole numbers, one more than there are thresholds
        Records below the lowest threshold, between neighbours, and from the highest upwards; a
        score equal to a threshold is above it.
    weights : array of numbers, optional
        Their weight, which is then what is sent.
    effective : float, optional
        How many equally weighted records the weights of the cell amount to.

    Examples
    --------
    >>> counts_above([40, 30, 25], Disclosure())
    (55, 25)
    >>> counts_above([40, 3, 25], Disclosure()), counts_above([4, 60], Disclosure())
    ((28, None), (None,))
    """
    sizes = counted_sizes(records, weights, effective)
    ends = set(merged_ends(sizes, disclosure.minimum_cell).tolist())
    amounts = np.asarray(records if weights is None else weights)
    above = np.cumsum(amounts[::-1])[::-1][1:].tolist()
    return tuple(number if place in ends else None for place, number in enumerate(above))
