r"""Groups that no silo released: what they could do to the numbers of all groups together.

Nothing is known of their scores, and at most how many records they have. Let :math:`\rho` be the
largest share of all records that can be theirs, and w the width of the score range.

**Disparity.** :math:`G_p = \min_\mu \sum_s \alpha_s W_p^p(\nu_s, \mu)`. Leaving the groups set aside
out of the sum makes it smaller, and what is left is at least :math:`1 - \rho` times the disparity of
the others. Keeping the center of the others as :math:`\mu` makes it larger, and no law in the range is
further than w from another. Hence

.. math:: (1 - \rho) \, G_p^{others} \le G_p \le (1 - \rho) \, G_p^{others} + \rho \, w^p .

**Worst pair.** The distance of the two groups furthest apart is at least that of the others, and at
most w.

**Burden.** Quantiles of the center move by at most :math:`\rho w`, so that no group's distance from
it changes by more.

**Deviation.** The mean variance within groups is at least :math:`1 - \rho` times that of the others,
and the groups set aside add at most :math:`\rho w^2 / 4`.

**Equal weights.** :math:`S^{-2} \sum_{s<t} W_2^2(s, t)` has the same sum and more, over a larger
number S of groups, and is at most :math:`w^2 / 4`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fedparity.auditing.parts import SetAside
from fedparity.diagnostics.certificate import Certificate
from fedparity.diagnostics.intervals import Interval

__all__ = ["Beyond"]


@dataclass(frozen=True, kw_only=True)
class Beyond:
    """How far groups that were set aside can move the numbers of all groups together."""

    share: float
    """The largest share of all records that can be theirs; 0 where none is set aside."""
    groups: int
    """How many of them can have records."""
    width: float
    """Of the score range."""
    order: int

    @classmethod
    def of(
        cls,
        aside: Sequence[SetAside],
        *,
        seen: float,
        score_range: tuple[float, float],
        order: int,
    ) -> Beyond:
        """Return what these groups can do next to ``seen`` records of others.

        Examples
        --------
        >>> few = SetAside(group="C", withheld=1, most=10.0, known="at most 10 records")
        >>> Beyond.of([few], seen=190.0, score_range=(0, 2), order=2)
        Beyond(share=0.05, groups=1, width=2, order=2)
        """
        most = math.fsum(math.inf if each.most is None else each.most for each in aside)
        share = most / (seen + most) if math.isfinite(most) else 1.0
        low, high = score_range
        groups = sum(each.most != 0 for each in aside)
        return cls(share=share, groups=groups, width=high - low, order=order)

    def disparity(self, others: Certificate) -> Certificate:
        """Return what the disparity of all groups can be, given bounds of that of the others."""
        if not self.share:
            return others
        widest = self.width**self.order / (2 if self.order == 1 else 4)
        upper = (1 - self.share) * others.upper + self.share * self.width**self.order
        return Certificate(
            lower=(1 - self.share) * others.lower, upper=max(others.upper, min(widest, upper))
        )

    def largest_distance(self, others: Interval) -> Interval:
        """Return what the distance of the groups furthest apart can be."""
        return Interval(others.lower, max(others.upper, self.width)) if self.share else others

    def burden(self, others: Interval) -> Interval:
        """Return what the distance of a group from the center can be."""
        moved = self.share * self.width
        return Interval(max(0.0, others.lower - moved), others.upper + moved)

    def deviation(self, others: Interval) -> Interval:
        """Return what the standard deviation within groups can be."""
        upper = (1 - self.share) * others.upper**2 + self.share * self.width**2 / 4
        return Interval(
            math.sqrt(1 - self.share) * others.lower, max(others.upper, math.sqrt(upper))
        )

    def equal_weights(self, others: Interval, groups: int) -> Interval:
        """Return what the disparity in points of equally large groups can be."""
        if not self.groups:
            return others
        lower = others.lower * groups / (groups + self.groups)
        return Interval(lower, max(others.upper, self.width / 2))

    def part(self, others: Interval) -> Interval:
        """Return what a share of a variance or a disparity can be: anything, once there are more."""
        return Interval(0.0, 1.0) if self.share else others
