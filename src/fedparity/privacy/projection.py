r"""Noisy counts made masses of a law: what comes next cannot read negative numbers.

Post-processing of what was released: it costs no privacy.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray

__all__ = ["monotone_masses"]


def monotone_masses(noisy: npt.NDArray[np.generic]) -> FloatArray:
    r"""Return masses of at least 0, the running sums of which are nearest to those of ``noisy``.

    Among all non-decreasing functions from 0 to the (noisy) total N, this one is nearest to the
    running sums :math:`Y_i` in the largest difference: the mean of
    :math:`\max_{j \le i} Y_j` and :math:`\min_{j \ge i} Y_j`, cut to [0, N]. Clipping single counts
    at 0 instead adds mass wherever there is none, and so pulls groups together; see
    :doc:`/decisions/0020-differential-privacy` for the errors of both, and of others.

    Parameters
    ----------
    noisy : array (..., bins)
        A row whose sum is not positive has no law: all its masses are 0.

    Examples
    --------
    >>> monotone_masses(np.array([[5, -2, 3, 4]]))
    array([[4., 0., 2., 4.]])
    """
    running = np.cumsum(noisy, axis=-1, dtype=np.float64)
    total = np.maximum(running[..., -1:], 0.0)
    inner = running[..., :-1]
    highest = np.maximum.accumulate(inner, axis=-1)
    lowest = np.minimum.accumulate(inner[..., ::-1], axis=-1)[..., ::-1]
    middle = np.clip((highest + lowest) / 2, 0.0, total)
    ends = np.zeros_like(total)
    masses: FloatArray = np.diff(np.concatenate((ends, middle, total), axis=-1), axis=-1)
    return masses
