"""Common refinement: intervals of levels on which several quantile functions are constant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError
from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law

__all__ = ["QuantileTable", "check_trim", "common_refinement"]


class QuantileTable(NamedTuple):
    """Quantile functions read on consecutive intervals of levels, on which they are constant.

    An integral over levels of any function of them is a sum over columns.
    """

    widths: FloatArray
    """Length of each interval, zero where levels of two laws coincide."""
    values: FloatArray
    """One row per law, one column per interval."""


def common_refinement(laws: Sequence[Law], *, trim: float = 0.0) -> QuantileTable:
    r"""Return the quantile functions of ``laws`` on the intervals cut by all their cdf values.

    :math:`Q_\nu` is constant on :math:`(F(x_{i-1}), F(x_i)]`, so between two consecutive cdf
    values of any of the laws all of them are constant and an integral over :math:`u` is a
    finite sum: exact for laws of any sizes, with no grid. With ``trim`` the intervals are
    those inside :math:`[\varepsilon, 1 - \varepsilon]` (paper, `rem:trimmed`).

    Examples
    --------
    >>> widths, values = common_refinement([Law([0.0, 1.0], [1, 1]), Law([5.0], [1])])
    >>> widths[widths > 0], values[:, widths > 0]
    (array([0.5, 0.5]), array([[0., 1.],
           [5., 5.]]))
    """
    check_trim(trim)
    if all(law.is_uniform and len(law) == len(laws[0]) for law in laws):
        size = len(laws[0])
        widths = _widths(laws[0].cumulative, trim) if trim else np.broadcast_to(1 / size, size)
        return QuantileTable(widths, np.stack([law.atoms for law in laws]))
    sizes = [len(law) for law in laws]
    levels = np.concatenate([law.cumulative for law in laws])
    order = np.argsort(levels, kind="stable")  # a merge of sorted runs: linear
    values = np.empty((len(laws), levels.size))
    counter: npt.DTypeLike = np.int32 if levels.size < 2**31 else np.int64  # half the traffic
    end = 0
    for row, law in enumerate(laws):
        start, end = end, end + sizes[row]
        own = (order >= start) & (order < end)
        passed = np.cumsum(own, dtype=counter)
        passed -= own
        np.take(law.atoms, passed, out=values[row], mode="clip")
    return QuantileTable(_widths(levels[order], trim), values)


def check_trim(trim: float) -> None:
    """Raise unless ``trim`` is a share in [0, 0.5)."""
    if not 0 <= trim < 0.5:
        raise OptionError(
            f"trim must be at least 0 and below 0.5, not {trim!r}.",
            fix="pass trim=0 for the whole law, or for example trim=0.01.",
        )


def _widths(levels: FloatArray, trim: float) -> FloatArray:
    if trim:
        levels = np.clip(levels, trim, 1 - trim)
    widths = np.empty_like(levels)
    widths[0] = levels[0] - trim
    np.subtract(levels[1:], levels[:-1], out=widths[1:])
    return widths
