"""Cramér distance between laws on the line."""

from __future__ import annotations

import numpy as np

from fedparity.functionals.curves import cdf_table, check_order, checked_power, integral, power
from fedparity.laws.law import Law

__all__ = ["cramer", "cramer_power"]


def cramer_power(mu: Law, nu: Law, *, order: int = 2) -> float:
    r"""Return :math:`C_p^p(\mu, \nu)`, the p-th power of the Cramér distance.

    .. math:: C_p(\mu, \nu)^p = \int_{\mathbb R} |F_\mu(x) - F_\nu(x)|^p \, dx

    (paper, `eq:Cp-cdf`), exactly, as a sum over the atoms of both laws. It is an integral over
    scores, never divided by their range. Zero means that the two laws are equal. For
    ``order=1`` it is the Wasserstein distance :math:`W_1`.

    Examples
    --------
    >>> cramer_power(Law([0.0, 1.0], [1, 1]), Law([1.0], [1]))
    0.25
    """
    check_order(order)
    widths, values = cdf_table([mu, nu])
    value = float(integral(power(values[0] - values[1], order), widths))
    return checked_power(value, values, widths, f"the Cramér distance to the power {order}")


def cramer(mu: Law, nu: Law, *, order: int = 2) -> float:
    r"""Return :math:`C_p(\mu, \nu) = (C_p^p)^{1/p}`.

    Examples
    --------
    >>> cramer(Law([0.0, 1.0], [1, 1]), Law([1.0], [1]))
    0.5
    """
    value = cramer_power(mu, nu, order=order)
    return value if order == 1 else float(np.sqrt(value))
