"""The definitions, written out in rational numbers: slow, exact, and with no array in sight.

A float is taken for the fraction it is, and a trim such as 0.1 for the decimal that was
written. Nothing here calls the library.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any


@dataclass(frozen=True)
class Steps:
    """A law with finitely many atoms: where they are, and the cdf there."""

    atoms: list[Fraction]
    reached: list[Fraction]

    def quantile(self, level: Fraction) -> Fraction:
        """The smallest atom at which the cdf reaches ``level``."""
        return self.atoms[bisect_left(self.reached, level)]

    def cdf(self, point: Fraction) -> Fraction:
        """The mass at or below ``point``."""
        return ([Fraction(0), *self.reached])[bisect_right(self.atoms, point)]

    @property
    def masses(self) -> list[Fraction]:
        """The mass of each atom."""
        return [after - before for before, after in pairwise([Fraction(0), *self.reached])]

    @property
    def mean(self) -> Fraction:
        """Its expectation."""
        return sum(atom * mass for atom, mass in zip(self.atoms, self.masses, strict=True))


def law(atoms: Iterable[Any], masses: Iterable[Any] | None = None) -> Steps:
    """The law with these masses, up to a common factor; one each if absent."""
    places = [Fraction(atom) for atom in atoms]
    amounts = [Fraction(1)] * len(places) if masses is None else [Fraction(m) for m in masses]
    merged: dict[Fraction, Fraction] = {}
    for place, amount in zip(places, amounts, strict=True):
        if amount:
            merged[place] = merged.get(place, Fraction(0)) + amount
    ordered = sorted(merged)
    total = sum(amounts)
    return Steps(ordered, [mass / total for mass in accumulate(merged[x] for x in ordered)])


def mixture(weighted: Iterable[tuple[Fraction, Steps]]) -> Steps:
    """The mean of several laws, each with a weight."""
    parts = [
        (atom, weight * mass)
        for weight, steps in weighted
        for atom, mass in zip(steps.atoms, steps.masses, strict=True)
    ]
    return law([atom for atom, _ in parts], [mass for _, mass in parts])


def decimal(number: float) -> Fraction:
    """The decimal that was written: 0.1 is one tenth."""
    return Fraction(str(number))


def center(values: Sequence[Fraction], shares: Sequence[Fraction], order: int) -> Fraction:
    """The mean for order 2, the lower weighted median for order 1."""
    if order == 1:
        return law(values, shares).quantile(Fraction(1, 2))
    return sum(s * v for s, v in zip(shares, values, strict=True)) / sum(shares)


def around(
    middle: Fraction, values: Sequence[Fraction], shares: Sequence[Fraction], order: int
) -> Fraction:
    """The mean p-th power of the distance to ``middle``."""
    return sum(s * abs(v - middle) ** order for s, v in zip(shares, values, strict=True))


def over_levels(
    laws: Sequence[Steps],
    integrand: Callable[[list[Fraction]], Fraction],
    low: Fraction = Fraction(0),
    high: Fraction = Fraction(1),
) -> Fraction:
    """The integral from ``low`` to ``high`` of a function of the quantiles of ``laws``."""
    ends = {end for steps in laws for end in steps.reached if low < end < high}
    cuts = sorted(ends | {low, high})
    return sum(
        (right - left) * integrand([steps.quantile(right) for steps in laws])
        for left, right in pairwise(cuts)
    )


def over_grid(
    laws: Sequence[Steps],
    integrand: Callable[[list[Fraction]], Fraction],
    levels: int,
    low: Fraction = Fraction(0),
    high: Fraction = Fraction(1),
) -> Fraction:
    """The midpoint sum over ``levels`` bins of a function of the quantiles of ``laws``."""
    width = (high - low) / levels
    grid = [low + (step + Fraction(1, 2)) * width for step in range(levels)]
    return sum(width * integrand([steps.quantile(u) for steps in laws]) for u in grid)


def over_scores(
    laws: Sequence[Steps], integrand: Callable[[list[Fraction]], Fraction]
) -> Fraction:
    """The integral over scores of a function of the cdfs of ``laws``."""
    atoms = sorted({atom for steps in laws for atom in steps.atoms})
    parts = [
        (right - left) * integrand([steps.cdf(left) for steps in laws])
        for left, right in pairwise(atoms)
    ]
    return sum(parts, Fraction(0))


def wasserstein_power(mu: Steps, nu: Steps, order: int, trim: float = 0.0) -> Fraction:
    """W_p^p, as an integral over levels."""
    low = decimal(trim)
    return over_levels([mu, nu], lambda q: abs(q[0] - q[1]) ** order, low, 1 - low)


def cramer_power(mu: Steps, nu: Steps, order: int) -> Fraction:
    """C_p^p, as an integral over scores."""
    return over_scores([mu, nu], lambda f: abs(f[0] - f[1]) ** order)


def dispersion(shares: Iterable[Any], order: int) -> Callable[[list[Fraction]], Fraction]:
    """The p-th power dispersion of several numbers around their center of the same order."""
    amounts = [Fraction(share) for share in shares]
    parts = [amount / sum(amounts) for amount in amounts]
    return lambda q: around(center(q, parts, order), q, parts, order)


def disparity(
    laws: Mapping[Any, Steps], shares: Mapping[Any, Any], order: int, trim: float = 0.0
) -> Fraction:
    """U_p: the mean W_p^p to the barycenter, level by level."""
    low = decimal(trim)
    spread = dispersion([shares[group] for group in laws], order)
    return over_levels(list(laws.values()), spread, low, 1 - low)


def heterogeneity(laws: Mapping[Any, Steps], shares: Mapping[Any, Any], order: int) -> Fraction:
    """H_p: the mean C_p^p to the mixture, score by score."""
    amounts = [Fraction(shares[group]) for group in laws]
    parts = [amount / sum(amounts) for amount in amounts]
    return over_scores(list(laws.values()), lambda f: around(center(f, parts, 2), f, parts, order))


def bin_means(steps: Steps, levels: int) -> list[Fraction]:
    """The mean of the quantile function over each of ``levels`` equal bins."""
    edges = [Fraction(step, levels) for step in range(levels + 1)]
    return [levels * over_levels([steps], lambda q: q[0], *bin_) for bin_ in pairwise(edges)]
