"""The midpoint grid of levels, and ranks on it computed in whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError
from fedparity.laws.arrays import FloatArray

__all__ = ["check_levels", "midpoints", "ranks"]


def check_levels(levels: object) -> int:
    """Return ``levels`` as an int, or raise unless it is a whole number of at least one."""
    if isinstance(levels, bool) or not isinstance(levels, int | np.integer) or levels < 1:
        raise OptionError.levels(levels)
    return int(levels)


def midpoints(levels: int, *, trim: float = 0.0) -> FloatArray:
    r"""Return the grid :math:`u_\ell = (\ell - \frac{1}{2})/k` (paper, `eq:u-grid`).

    With ``trim`` the grid covers :math:`[\varepsilon, 1-\varepsilon]` (`rem:trimmed`):
    :math:`u_\ell = \varepsilon + (\ell - \frac{1}{2})(1 - 2\varepsilon)/k`.

    Examples
    --------
    >>> midpoints(2)
    array([0.25, 0.75])
    """
    odd = 2 * np.arange(1, check_levels(levels) + 1, dtype=np.int64) - 1
    return trim + (1 - 2 * trim) * (odd / (2 * levels))


def ranks(count: int, levels: int) -> npt.NDArray[Any]:
    r"""Return :math:`\lceil n u_\ell \rceil`, the rank of each level among ``count`` records.

    In whole numbers: :math:`\lceil n (2\ell - 1) / (2k) \rceil`. In floats n·u = 55 can become
    55.00000000000001 and the rank one too high.

    Examples
    --------
    >>> ranks(100, 10)
    array([ 5, 15, 25, 35, 45, 55, 65, 75, 85, 95])
    """
    odd = 2 * np.arange(1, check_levels(levels) + 1, dtype=np.int64) - 1
    if count > np.iinfo(np.int64).max // (2 * levels):  # beyond int64: whole numbers of any size
        return np.array([-(-count * step // (2 * levels)) for step in odd.tolist()], dtype=object)
    return -(-count * odd // (2 * levels))
