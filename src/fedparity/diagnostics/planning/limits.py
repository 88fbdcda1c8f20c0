r"""What a further audit stays within, read from audits that were simulated.

The limit is the order statistic of rank :math:`\lceil c (B + 1) \rceil` of B: a further audit,
equally likely to have any rank among them, is below it with probability at least c.
"""

from __future__ import annotations

import math

import numpy as np

from fedparity.laws.arrays import FloatArray

__all__ = ["fewest_replicates", "upper_limit"]

_ROUNDING = 1e-9


def upper_limit(values: FloatArray, confidence: float) -> float:
    """Return what a further value stays within with this probability.

    Precondition: at least :func:`fewest_replicates` independent ``values``.

    Examples
    --------
    >>> upper_limit(np.arange(1.0, 20.0), 0.9)
    18.0
    """
    rank = math.ceil(confidence * (values.size + 1) - _ROUNDING)
    return float(np.partition(values, rank - 1)[rank - 1])


def fewest_replicates(confidence: float) -> int:
    """Return how many values it takes for a limit with this confidence.

    Examples
    --------
    >>> fewest_replicates(0.95)
    19
    """
    return math.ceil(confidence / (1 - confidence) - _ROUNDING)
