"""Tail probabilities of the normal, chi-square and hypergeometric laws, and Holm's correction.

The core has no SciPy. Each function is a few lines on :mod:`math`; tests compare them with SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from fedparity.laws.law import FloatArray

__all__ = ["chi_square_tail", "fisher_exact", "holm", "normal_tails"]

_TERMS = 10_000
_CLOSE = 1e-16
_TINY = 1e-300
_SAME = 1e-7
"""Tables this much more probable than the observed one, relatively, are as probable: sums round."""


def normal_tails(deviations: float) -> float:
    """Return the probability that a standard normal variable is at least this far from zero.

    Examples
    --------
    >>> round(normal_tails(1.959964), 6)
    0.05
    """
    return math.erfc(abs(deviations) / math.sqrt(2))


def chi_square_tail(statistic: float, degrees: int) -> float:
    r"""Return :math:`P(\chi^2_d \ge x)`, the upper regularized incomplete gamma function.

    By its power series left of the mean, by Lentz's continued fraction right of it.

    Examples
    --------
    >>> round(chi_square_tail(3.841459, 1), 6), round(chi_square_tail(7.814728, 3), 6)
    (0.05, 0.05)
    """
    if statistic <= 0:
        return 1.0
    shape, x = degrees / 2, statistic / 2
    scale = math.exp(-x + shape * math.log(x) - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        for n in range(1, _TERMS):
            term *= x / (shape + n)
            total += term
            if term < total * _CLOSE:
                break
        return max(0.0, 1.0 - scale * total)
    b = x + 1 - shape
    c, d = 1 / _TINY, 1 / b
    fraction = d
    for n in range(1, _TERMS):
        a = -n * (n - shape)
        b += 2
        d = 1 / (a * d + b or _TINY)
        c = b + a / c or _TINY
        fraction *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return min(1.0, scale * fraction)


def fisher_exact(selected: int, total: int, other_selected: int, other_total: int) -> float:
    """Return the two-sided p-value of Fisher's exact test of equal rates.

    Given both margins, the number selected is hypergeometric if the rates are equal; the p-value is
    the probability of all tables that are at most as probable as the observed one.

    Examples
    --------
    >>> round(fisher_exact(8, 10, 1, 6), 6)
    0.034965
    """
    both, everyone = selected + other_selected, total + other_total
    least, most = max(0, both - other_total), min(both, total)
    possible = np.arange(least, most + 1)
    logs = _log_choose(total, possible) + _log_choose(other_total, both - possible)
    chances = np.exp(logs - _log_choose(everyone, np.array([both]))[0])
    as_extreme = chances <= chances[selected - least] * (1 + _SAME)
    return min(1.0, math.fsum(chances[as_extreme].tolist()))


_log_gamma = np.vectorize(math.lgamma, otypes=[np.float64])


def _log_choose(n: int, k: np.ndarray[tuple[int], np.dtype[np.int64]]) -> FloatArray:
    found: FloatArray = math.lgamma(n + 1) - _log_gamma(k + 1) - _log_gamma(n - k + 1)
    return found


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values that hold for all hypotheses at once (Holm, 1979), in their order.

    The smallest is multiplied by their number, the next by one less, and so on, and none is below
    one before it. Nothing is assumed about how the tests depend on each other.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    raised = accumulate(
        (min(1.0, p_values[i] * (len(p_values) - rank)) for rank, i in enumerate(order)), max
    )
    return tuple(p for _, p in sorted(zip(order, raised, strict=True)))
