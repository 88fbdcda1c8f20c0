r"""Redraws that allow for not knowing in which direction curves differ.

The interval of a length (:mod:`fedparity.diagnostics.intervals`) takes the curves to differ in the
direction that was estimated: a redraw is :math:`g + 2 \sqrt g \, \langle u, \varepsilon \rangle +
\|\varepsilon\|^2` with u that direction. Where noise is as large as what is measured, u is mostly
noise itself. Worse, if the noise happens to cancel the difference, what is left lies where noise is
smallest: the interval is then short just when it should be long, and its upper end is too low.

How much noise lies in a direction is at most the largest eigenvalue :math:`\lambda_1` of its
covariance, and :math:`\lambda_1 \le (\sum_i \lambda_i^2)^{1/2}`, which is nearly attained by cumulative
counts. The variance of :math:`\|\varepsilon\|^2` is :math:`2 \sum_i \lambda_i^2`, so the null tells
it. The share of the estimate that is not noise says how far the estimated direction is believed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fedparity.diagnostics.bootstrap import Draws

__all__ = ["allow_for_direction"]

_TINY = 1e-300
_ROUNDING = 1e-12


def allow_for_direction(draws: Draws) -> Draws:
    r"""Return the draws of a squared length with as much scatter as its direction may have.

    With v the variance per squared length that redraws show, and r the share of the estimate that
    the bias leaves, it becomes :math:`r v + (1 - r) \lambda_1`, but no less than v. The mean of the
    redraws stays, and so does the null.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> noise = random.normal(size=(5000, 2)) * [1.0, 0.1]
    >>> null = (noise**2).sum(axis=1)

    The two curves differ by (0, 1): noise mostly lies elsewhere, and the estimate is weak.

    >>> values = (noise**2 + [0, 1] * (1 + 2 * noise)).sum(axis=1)
    >>> draws = Draws(np.float64(1.0), values, null, null)
    >>> wider = allow_for_direction(draws)
    >>> bool(wider.values.std() > 1.3 * values.std()), np.isclose(wider.values.mean(), values.mean())
    (True, np.True_)
    """
    product = draws.values - draws.base - draws.null
    center = product.mean(axis=0)
    base = np.maximum(draws.base, _TINY)
    corrected = draws.base - (draws.values.mean(axis=0) - draws.base)
    believed = np.clip(corrected / base, 0.0, 1.0)
    shown = product.var(axis=0) / 4 / base
    most = np.sqrt(draws.null.var(axis=0) / 2)
    scatter = np.maximum(shown, believed * shown + (1 - believed) * most)
    scattered = shown > _ROUNDING * most  # where nothing is drawn, rounding is not blown up
    factor = np.sqrt(np.where(scattered, scatter / np.maximum(shown, _TINY), 1.0))
    return replace(draws, values=draws.values + (factor - 1) * (product - center))
