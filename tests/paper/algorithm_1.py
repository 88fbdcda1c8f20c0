r"""Algorithm 1 of the paper, line by line, in fractions.

Slow and literal on purpose: it shares no code and no idea with the library. A cdf is a function
that counts, an inverse is an infimum over the points where the cdf jumps, and no number is ever
rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

Cdf = Callable[[Fraction], Fraction]


@dataclass(frozen=True)
class Sketch:
    r"""What one silo releases for one group: :math:`n_{j,s}` and :math:`\hat q_{j,s,\ell}`."""

    count: int
    quantiles: tuple[Fraction, ...]


@dataclass(frozen=True)
class Audit:
    r"""The outputs of Algorithm 1.

    For p = 1 ``v_mix`` and ``v_bar`` are the two terms of `rem:p1` and there is no remainder.
    """

    disparity: Fraction
    heterogeneity: Fraction
    v_mix: Fraction
    v_bar: Fraction
    remainder: Fraction | None


def grid(k: int) -> list[Fraction]:
    r"""Return the midpoint grid :math:`u_\ell = (\ell - \tfrac12)/k`."""
    return [Fraction(2 * ell - 1, 2 * k) for ell in range(1, k + 1)]


def sketch(scores: Sequence[float], k: int) -> Sketch:
    r"""Return the count and the k empirical quantiles of one cell.

    The left-continuous inverse of the empirical cdf: the smallest score with at least a share
    :math:`u_\ell` of the scores at or below it.
    """
    exact = [Fraction(score) for score in scores]

    def empirical(x: Fraction) -> Fraction:
        return Fraction(sum(score <= x for score in exact), len(exact))

    return Sketch(len(exact), tuple(_inverse(empirical, exact, u) for u in grid(k)))


def one_shot_audit(sketches: Mapping[tuple[Hashable, Hashable], Sketch], p: int) -> Audit:
    """Run Algorithm 1 on one sketch per silo and group; a silo may lack a group."""
    groups = sorted({group for _, group in sketches})
    cells = {s: [cell for (_, group), cell in sketches.items() if group == s] for s in groups}
    k = len(cells[groups[0]][0].quantiles)
    levels = grid(k)

    totals = {s: sum(cell.count for cell in cells[s]) for s in groups}
    alpha = {s: Fraction(totals[s], sum(totals.values())) for s in groups}
    pi = {s: [Fraction(cell.count, totals[s]) for cell in cells[s]] for s in groups}

    mixture_cdf = {s: _mixture(pi[s], [_step_cdf(c) for c in cells[s]]) for s in groups}
    knots = {s: [q for cell in cells[s] for q in cell.quantiles] for s in groups}
    mixed = {s: [_inverse(mixture_cdf[s], knots[s], u) for u in levels] for s in groups}
    shares = [alpha[s] for s in groups]
    whole = [_center([mixed[s][ell] for s in groups], shares, p) for ell in range(k)]

    def average(term: Callable[[Hashable, int], Fraction]) -> Fraction:
        return sum(alpha[s] * term(s, ell) for s in groups for ell in range(k)) / k

    pooled_cdf = _mixture(shares, [mixture_cdf[s] for s in groups])
    jumps = sorted({q for s in groups for q in knots[s]})
    heterogeneity = sum(
        alpha[s] * (right - left) * abs(mixture_cdf[s](left) - pooled_cdf(left)) ** p
        for s in groups
        for left, right in pairwise(jumps)
    )
    central = {
        s: [_center([c.quantiles[ell] for c in cells[s]], pi[s], p) for ell in range(k)]
        for s in groups
    }
    return Audit(
        disparity=average(lambda s, ell: abs(mixed[s][ell] - whole[ell]) ** p),
        heterogeneity=Fraction(heterogeneity),
        v_mix=average(lambda s, ell: abs(mixed[s][ell] - central[s][ell]) ** p),
        v_bar=average(lambda s, ell: abs(central[s][ell] - whole[ell]) ** p),
        remainder=2
        * average(
            lambda s, ell: (mixed[s][ell] - central[s][ell]) * (central[s][ell] - whole[ell])
        )
        if p == 2
        else None,
    )


def _step_cdf(cell: Sketch) -> Cdf:
    def cdf(x: Fraction) -> Fraction:
        return Fraction(sum(q <= x for q in cell.quantiles), len(cell.quantiles))

    return cdf


def _mixture(shares: Sequence[Fraction], cdfs: Sequence[Cdf]) -> Cdf:
    def cdf(x: Fraction) -> Fraction:
        return sum(share * part(x) for share, part in zip(shares, cdfs, strict=True))

    return cdf


def _inverse(cdf: Cdf, jumps: Sequence[Fraction], u: Fraction) -> Fraction:
    """The infimum of the x with cdf(x) >= u: a cdf reaches a level where it jumps."""
    return min(x for x in jumps if cdf(x) >= u)


def _center(values: Sequence[Fraction], shares: Sequence[Fraction], p: int) -> Fraction:
    """The mean for p = 2; for p = 1 the lower weighted median, one of the minimizers."""
    pairs = list(zip(values, shares, strict=True))
    if p == 2:
        return sum(share * value for value, share in pairs)
    return min(
        z for z in values if sum(share for value, share in pairs if value <= z) >= Fraction(1, 2)
    )
