"""Complementary suppression: what must be withheld as well when a total is public.

If one cell of a silo is withheld and the silo's number of records is public, the cell's count is
the total minus the others. So more cells are withheld, the smallest first, until somebody who
knows the total, the other counts, the rule and this order could still believe every number
below the minimum of each small cell. Then the withheld cells are not told apart: which of them is the
small one would narrow it down again.
"""

from __future__ import annotations

from collections.abc import Mapping

from fedparity.laws.labels import Group

__all__ = ["complementary_cells"]


def complementary_cells(records: Mapping[Group, int], minimum: int) -> tuple[Group, ...]:
    r"""Return the cells to withhold besides those of fewer than ``minimum`` records.

    Let m be the minimum, S the number of records in s small cells and j others, and c the
    smallest count that is still sent. Someone who knows that the others have at least m and
    at most c records can exclude no number from 0 to m - 1 for a small cell if and only if

    .. math:: j m + (m - 1) \le S \le j c + (s - 1)(m - 1).

    Cells are added until this holds and :math:`S \ge m`, or none is left. That a further cell had
    to be added says a little too; whoever takes it into account still cannot recover a
    small count (tested by enumeration).

    Examples
    --------
    >>> complementary_cells({"a": 3, "b": 40, "c": 500}, 11)
    ('b',)
    """
    small = [group for group, count in records.items() if count < minimum]
    if minimum == 1 or not small:
        return ()
    rest = sorted(
        (group for group, count in records.items() if count >= minimum), key=records.__getitem__
    )
    hidden = sum(records[group] for group in small)
    for added, group in enumerate(rest):
        least = max(minimum, (added + 1) * minimum - 1)
        most = added * records[group] + (len(small) - 1) * (minimum - 1)
        if least <= hidden <= most:
            return tuple(rest[:added])
        hidden += records[group]
    return tuple(rest)
