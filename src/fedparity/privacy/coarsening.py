"""How many values a cell may send: enough records behind each, and in each tail."""

from __future__ import annotations

from fedparity.privacy.disclosure import Disclosure
from fedparity.sketches.kinds import Kind

__all__ = ["allowed_levels", "smallest_cell", "tail_levels"]

TAIL = 5
"""Records that lie at or beyond the lowest value, and at or beyond the highest, at least."""


def allowed_levels(
    records: int, levels: int, disclosure: Disclosure, *, kind: Kind = "quantile"
) -> int:
    r"""Return the k of a cell of n records, or 0 if the cell is withheld.

    It is the largest :math:`k' \le k` with :math:`k' \le \lfloor n / m \rfloor`, where m is
    ``records_per_level``, and with five records in each tail. ``minimum_cell`` decides whether a
    cell leaves, m only how finely: where :math:`n < m` one value is sent, if the tails allow it.
    How many counts a cell of kind ``counts`` sends is known once they are merged; until then k stands.

    Examples
    --------
    >>> allowed_levels(423, 100, Disclosure()), allowed_levels(10, 100, Disclosure())
    (42, 0)
    """
    if records < smallest_cell(disclosure, kind=kind):
        return 0
    if kind == "counts" or not disclosure.records_per_level:
        return levels if records else 0
    most = min(records // disclosure.records_per_level, tail_levels(records, kind=kind))
    return min(levels, max(most, 1))


def tail_levels(records: int, *, kind: Kind = "quantile") -> int:
    r"""Return the largest k that leaves five records in each tail, 0 if none does.

    The lowest of k quantiles has rank :math:`r_1 = \lceil n/(2k) \rceil`, so that many records
    are at most as large; the highest has rank :math:`r_k = n - \lfloor n/(2k) \rfloor`, so
    :math:`\lfloor n/(2k) \rfloor + 1` are at least as large. Both are at least 5 if and only if
    :math:`n > 8k`. An outer bin mean averages n/k records.
    """
    return (records - 1) // (2 * (TAIL - 1)) if kind == "quantile" else records // TAIL


def smallest_cell(disclosure: Disclosure, *, kind: Kind = "quantile") -> int:
    """Return the number of records from which a cell is sent: all smaller ones are withheld.

    It is ``minimum_cell``, or the smallest number that leaves five records in the tails of a
    single value where that is larger; counts have no tails.

    Examples
    --------
    >>> smallest_cell(Disclosure()), smallest_cell(Disclosure(minimum_cell=3))
    (11, 9)
    """
    if kind == "counts" or not disclosure.records_per_level:
        return disclosure.minimum_cell
    return max(disclosure.minimum_cell, 2 * TAIL - 1 if kind == "quantile" else TAIL)
