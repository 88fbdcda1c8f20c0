"""The settings of a Monte Carlo study: which allocations, which sketches, which seeds."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from fedparity.errors import OptionError
from fedparity.experiments.allocations import Cut, Regime, check_allocation
from fedparity.experiments.datasets.dataset import Dataset
from fedparity.sketches.levels import check_levels
from fedparity.version import __version__

__all__ = ["ESTIMATORS", "LEVELS", "REGIMES", "SILOS", "Study"]

ESTIMATORS = ("paper grid", "quantiles, exact", "bin means, exact")
"""Algorithm 1; the same sketches, integrated exactly; bin means, integrated exactly."""
SILOS = (2, 5, 10, 20, 50)
LEVELS = (5, 10, 15, 20, 30, 50, 75, 100, 150, 200)
REGIMES: tuple[Regime, ...] = ("random", "positive", "negative")

_ENGINE = 2
"""Raised whenever the numbers of a study change: results of another engine are not resumed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    r"""Allocations of one data set to silos, and sketches of them: valid once built.

    Parameters
    ----------
    dataset : Dataset
    silos : sequence of int
        Numbers d of silos.
    levels : sequence of int
        Numbers k that a silo sends for a group.
    regimes : sequence of "random", "positive", "negative"
    rho : float in [0, 1)
        How strongly the silo depends on the score.
    cut : "paper" or "margins"
    replicates : int
        Allocations of each regime and d.
    seed : int
    """

    dataset: Dataset
    silos: Sequence[int] = SILOS
    levels: Sequence[int] = LEVELS
    regimes: Sequence[Regime] = REGIMES
    rho: float = 0.8
    cut: Cut = "paper"
    replicates: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("silos", "levels", "regimes"):
            values = tuple(getattr(self, name))
            if not values or len(set(values)) < len(values):
                raise OptionError(
                    f"{name} must name at least one value, and none twice.",
                    fix=f"pass {name}= with different values.",
                )
            object.__setattr__(self, name, values)
        for number in self.silos:
            for regime in self.regimes:
                check_allocation(number, regime, self.rho, self.cut)
        for number in self.levels:
            check_levels(number)
        for name, least in (("replicates", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise OptionError(
                    f"{name} must be a whole number of at least {least}, not {value!r}.",
                    fix=f"pass {name}={least} or more.",
                )

    def seed_of(self, silos: int, replicate: int) -> tuple[int, ...]:
        """Return the seed of one allocation, as :func:`fedparity.allocate` takes it.

        The regimes share it: then they share the baseline and the noise, as in the paper, and
        differ by the selection alone.
        """
        return (self.seed, zlib.crc32(self.dataset.name.encode()), silos, replicate)

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the numbers, as plain values."""
        return {
            "dataset": self.dataset.name,
            "data": self.dataset.digest,
            "silos": list(self.silos),
            "levels": list(self.levels),
            "regimes": list(self.regimes),
            "rho": float(self.rho),
            "cut": self.cut,
            "replicates": self.replicates,
            "seed": self.seed,
            "version": __version__,
            "engine": _ENGINE,
        }

    @property
    def digest(self) -> str:
        """The sha256 of the settings: equal digests, equal numbers."""
        return sha256(repr(self.settings).encode()).hexdigest()
