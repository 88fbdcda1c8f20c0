"""The federated path, written out in rational numbers from the cells alone.

Mixtures of step laws, their disparity on the grid or exactly, the terms of its decomposition,
the two counterfactuals, leave-one-out and local audits. Nothing here calls the library; it only
reads the count and the values of each cell, and the options of a method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from tests.oracles import rational
from tests.oracles.rational import Steps

from fedparity import Cell, Method


@dataclass(frozen=True)
class Silos:
    """The counts n_{j,s} and step laws nu_{j,s} of the cells, by silo and group."""

    counts: dict[tuple[Any, Any], Fraction]
    laws: dict[tuple[Any, Any], Steps]
    levels: int
    """The largest k among the cells of the whole federation."""

    @classmethod
    def of(cls, cells: Mapping[tuple[Any, Any], Cell]) -> Silos:
        """The silos that released these ``cells``."""
        return cls(
            {key: Fraction(cell.count) for key, cell in cells.items()},
            {key: rational.law(cell.values.tolist()) for key, cell in cells.items()},
            max(cell.values.size for cell in cells.values()),
        )

    @cached_property
    def groups(self) -> list[Any]:
        """The groups, in the order they are met."""
        return list(dict.fromkeys(group for _, group in self.counts))

    @cached_property
    def silos(self) -> list[Any]:
        """The silos, in the order they are met."""
        return list(dict.fromkeys(silo for silo, _ in self.counts))

    @cached_property
    def sizes(self) -> dict[Any, Fraction]:
        """The number n_j of records of each silo."""
        return {j: sum(n for (silo, _), n in self.counts.items() if silo == j) for j in self.silos}

    @cached_property
    def totals(self) -> dict[Any, Fraction]:
        """The number n_s of records of each group."""
        return {
            s: sum(n for (_, group), n in self.counts.items() if group == s) for s in self.groups
        }

    def inside(self, silo: Any) -> dict[Any, Steps]:
        """The law of each group that the silo holds."""
        return {s: steps for (j, s), steps in self.laws.items() if j == silo}

    def pooled(self, silo: Any) -> Steps:
        """The law nu_j of all records of the silo."""
        return rational.mixture(
            (self.counts[silo, s], steps) for s, steps in self.inside(silo).items()
        )

    def mixtures(self) -> dict[Any, Steps]:
        """The law of each group over the silos."""
        return {
            s: rational.mixture(
                (self.counts[j, s], self.laws[j, s]) for j in self.silos if (j, s) in self.laws
            )
            for s in self.groups
        }

    def without_selection(self) -> dict[Any, Steps]:
        """The groups if each were spread over the silos as the whole population is.

        The pooled law of a silo stands in for a group that it lacks.
        """
        return {
            s: rational.mixture(
                (self.sizes[j], self.laws[j, s] if (j, s) in self.laws else self.pooled(j))
                for j in self.silos
            )
            for s in self.groups
        }

    def with_local_parity(self) -> dict[Any, Steps]:
        """The groups if each had, in every silo, the pooled law of that silo."""
        return {
            s: rational.mixture(
                (self.counts[j, s], self.pooled(j)) for j in self.silos if (j, s) in self.counts
            )
            for s in self.groups
        }

    def without(self, silo: Any) -> Silos:
        """The other silos, to be read on the same grid of levels."""
        kept = [key for key in self.counts if key[0] != silo]
        return Silos(
            {key: self.counts[key] for key in kept},
            {key: self.laws[key] for key in kept},
            self.levels,
        )

    def integral(
        self,
        laws: list[Steps],
        integrand: Callable[[list[Fraction]], Fraction],
        method: Method,
    ) -> Fraction:
        """Over levels, as ``method`` says: exactly, or on its grid."""
        low = rational.decimal(method.trim)
        if method.estimator == "exact":
            return rational.over_levels(laws, integrand, low, 1 - low)
        return rational.over_grid(laws, integrand, method.levels or self.levels, low, 1 - low)

    def disparity(
        self, laws: Mapping[Any, Steps], sizes: Mapping[Any, Fraction], method: Method
    ) -> Fraction:
        """G_p of these laws, each group having its number of records in ``sizes``."""
        spread = rational.dispersion([sizes[s] for s in laws], method.order)
        return self.integral(list(laws.values()), spread, method)


@dataclass(frozen=True)
class Terms:
    """V_mix, V_bar and R; the last only means something for order 2."""

    v_mix: Fraction
    v_bar: Fraction
    remainder: Fraction


def decomposition(silos: Silos, method: Method) -> Terms:
    """The terms of the disparity around the transport centers of the groups."""
    keys = list(silos.laws)
    own = {s: [i for i, key in enumerate(keys) if key[1] == s] for s in silos.groups}
    weights = {s: [silos.counts[keys[i]] / silos.totals[s] for i in own[s]] for s in own}
    mixed = silos.mixtures()
    shares = [silos.totals[s] / sum(silos.totals.values()) for s in mixed]

    def term(pick: Callable[[Fraction, Fraction, Fraction], Fraction]) -> Fraction:
        def integrand(q: list[Fraction]) -> Fraction:
            cells, tops = q[: len(keys)], q[len(keys) :]
            whole = rational.center(tops, shares, method.order)
            centers = [
                rational.center([cells[i] for i in own[s]], weights[s], method.order)
                for s in mixed
            ]
            return sum(
                share * pick(top, central, whole)
                for share, top, central in zip(shares, tops, centers, strict=True)
            )

        return silos.integral([*silos.laws.values(), *mixed.values()], integrand, method)

    return Terms(
        v_mix=term(lambda top, central, _: abs(top - central) ** method.order),
        v_bar=term(lambda _, central, whole: abs(central - whole) ** method.order),
        remainder=term(lambda top, central, whole: 2 * (top - central) * (central - whole)),
    )
