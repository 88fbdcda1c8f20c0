"""Cramér distance between laws on the line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedparity.functionals.curves import CDFTable, check_order, checked_power, integral, power
from fedparity.laws.law import Law

__all__ = ["cdf_table", "cramer", "cramer_power"]


def cdf_table(laws: Sequence[Law]) -> CDFTable:
    """Return the cdfs of ``laws`` between all their atoms (paper, `eq:Cp-step-computation`)."""
    atoms = np.concatenate([law.atoms for law in laws])
    order = np.argsort(atoms, kind="stable")  # a merge of sorted runs: linear
    values = np.empty((len(laws), atoms.size))
    end = 0
    for row, law in enumerate(laws):
        start, end = end, end + len(law)
        passed = np.cumsum((order >= start) & (order < end), dtype=np.int64)
        np.take(np.concatenate(([0.0], law.cumulative)), passed, out=values[row])
    return CDFTable(np.diff(atoms[order]), values[:, :-1])


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
