r"""Two by two tables, one per silo: a test of their sum, and the odds ratio common to all of them.

A row of a table is ``(selected, not selected, selected of the other, not selected of the other)``,
written a, b, c, d as in the literature, with n their sum. Adding the tables of silos up can hide a
difference, or invent one, where silos differ in both rates and groups. Mantel and Haenszel compare
inside silos only.

References
----------
.. [1] Mantel, Haenszel (1959). Statistical aspects of the analysis of data from retrospective
   studies of disease. Journal of the National Cancer Institute 22.
.. [2] Robins, Breslow, Greenland (1986). Estimators of the Mantel-Haenszel variance consistent in
   both sparse data and large-strata limiting models. Biometrics 42.
.. [3] Tarone (1985). On heterogeneity tests based on efficient scores. Biometrika 72.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from fedparity.documents.outcome_parts import BreslowDay, MantelHaenszel, ZTest
from fedparity.laws.bounds import Bounds
from fedparity.laws.law import FloatArray
from fedparity.outcomes.tail_probabilities import chi_square_tail, normal_tails

__all__ = ["breslow_day", "informative", "mantel_haenszel", "z_test"]


def z_test(
    selected: float,
    total: float,
    other_selected: float,
    other_total: float,
    *,
    noise: float = 0.0,
) -> ZTest | None:
    """Return the two-sample z test of equal proportions with the pooled variance.

    ``noise`` is the variance that noise adds to the difference of the proportions. ``None`` where everybody or nobody is selected: there is nothing to tell apart.

    Examples
    --------
    >>> found = z_test(48, 80, 12, 40)
    >>> round(found.statistic, 4), round(found.p_value, 5)
    (3.0984, 0.00195)
    """
    pooled = (selected + other_selected) / (total + other_total)
    variance = pooled * (1 - pooled) * (1 / total + 1 / other_total) + noise
    if variance <= 0:
        return None
    statistic = (selected / total - other_selected / other_total) / math.sqrt(variance)
    return ZTest(statistic=statistic, p_value=normal_tails(statistic))


def informative(tables: FloatArray) -> FloatArray:
    """Return the tables that say something about an odds ratio: none of whose margins is zero."""
    a, b, c, d = tables.T
    kept: FloatArray = tables[(a + b > 0) & (c + d > 0) & (a + c > 0) & (b + d > 0)]
    return kept


def mantel_haenszel(tables: FloatArray, confidence: float) -> MantelHaenszel | None:
    r"""Return the odds ratio common to all strata, with its interval and test.

    .. math:: \hat\psi = \frac{\sum_j a_j d_j / n_j}{\sum_j b_j c_j / n_j}

    The interval is that of Robins, Breslow and Greenland on the logarithm; the test is that of Cochran,
    Mantel and Haenszel without continuity correction. ``None`` if no stratum is informative.

    Examples
    --------
    >>> found = mantel_haenszel(np.array([[8.0, 2, 4, 6], [10, 5, 7, 8]]), 0.95)
    >>> round(found.odds_ratio, 4), [round(end, 3) for end in found.interval], found.strata
    (3.234, [1.002, 10.443], 2)
    """
    strata = informative(tables)
    if not len(strata):
        return None
    a, b, c, d = strata.T
    n = strata.sum(axis=1)
    r, s = a * d / n, b * c / n
    expected = (a + b) * (a + c) / n
    variance = (a + b) * (c + d) * (a + c) * (b + d) / (n**2 * np.maximum(n - 1, 1))
    statistic = float((a - expected).sum() ** 2 / variance.sum())
    above, below = float(r.sum()), float(s.sum())
    interval = Bounds(0.0, math.inf)
    if above > 0 and below > 0:
        p, q = (a + d) / n, (b + c) / n
        spread = (
            np.sum(p * r) / (2 * above**2)
            + np.sum(p * s + q * r) / (2 * above * below)
            + np.sum(q * s) / (2 * below**2)
        )
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(float(spread))
        interval = Bounds(above / below * math.exp(-reach), above / below * math.exp(reach))
    return MantelHaenszel(
        odds_ratio=above / below if below else None,
        interval=interval,
        statistic=statistic,
        p_value=chi_square_tail(statistic, 1),
        strata=len(strata),
    )


def breslow_day(tables: FloatArray) -> BreslowDay | None:
    r"""Return Breslow and Day's test that all strata have the same odds ratio, with Tarone's correction.

    Each stratum's a is compared with the A that the common odds ratio :math:`\psi` fits to its
    margins, a root of a quadratic equation,

    .. math:: \frac{A (D - B + A)}{(N_1 - A)(M_1 - A)} = \psi .

    ``None`` with fewer than two informative strata, or without a common odds ratio.

    Examples
    --------
    >>> found = breslow_day(np.array([[8.0, 2, 4, 6], [10, 5, 7, 8]]))
    >>> round(found.statistic, 4), found.degrees, round(found.p_value, 4)
    (0.5826, 1, 0.4453)
    """
    strata = informative(tables)
    common = mantel_haenszel(strata, 0.95)
    if len(strata) < 2 or common is None or not common.odds_ratio:
        return None
    a, b, c, _ = strata.T
    rows, columns, n = a + b, a + c, strata.sum(axis=1)
    fitted = _fitted(common.odds_ratio, rows, columns, n)
    cells = np.stack([fitted, rows - fitted, columns - fitted, n - rows - columns + fitted])
    variance = 1 / np.sum(1 / cells, axis=0)
    off = a - fitted
    tarone = float(off.sum() ** 2 / variance.sum())
    statistic = max(0.0, float(np.sum(off**2 / variance)) - tarone)
    degrees = len(strata) - 1
    return BreslowDay(
        statistic=statistic, degrees=degrees, p_value=chi_square_tail(statistic, degrees)
    )


def _fitted(odds: float, rows: FloatArray, columns: FloatArray, n: FloatArray) -> FloatArray:
    """The number selected that the margins have at an odds ratio: a root of a quadratic equation.

    Written so that nothing cancels: the root is the smaller of two quotients with the same discriminant.
    """
    if abs(odds - 1) < 1e-12:
        independent: FloatArray = rows * columns / n
        return independent
    linear = odds * (rows + columns) + n - rows - columns
    root = np.sqrt(linear**2 - 4 * (odds - 1) * odds * rows * columns)
    fitted: FloatArray = 2 * odds * rows * columns / (linear + root)
    return fitted
