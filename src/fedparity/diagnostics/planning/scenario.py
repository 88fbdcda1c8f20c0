"""The audits that are simulated: how many silos and groups, which laws, which sketches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from fedparity.diagnostics.checks import check_confidence
from fedparity.diagnostics.planning.bounds import Bounds
from fedparity.diagnostics.planning.limits import fewest_replicates
from fedparity.diagnostics.planning.options import check_at_least
from fedparity.diagnostics.planning.score_laws import ScoreLaw
from fedparity.diagnostics.planning.shapes import Shape
from fedparity.federated.method import Estimator, Method
from fedparity.sketches.kinds import Kind, check_kind

__all__ = ["Purpose", "Scenario"]


class Purpose(IntEnum):
    """What random numbers are for: each purpose has its own stream."""

    SKETCHES = 0
    ERRORS = 1
    PARITY = 2
    POWER = 3


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The audits that are simulated: valid once built.

    All cells of a group have the same law and the same number of records.

    Parameters
    ----------
    shape : Shape
        The family of score laws.
    silos : int
    shares : tuple of numbers
        One per group; they add up to one.
    kind : "quantile" or "mean"
    estimator : "grid" or "exact"
    confidence : float in (0, 1)
    replicates : int
        Simulated audits of each size.
    seed : int
    """

    shape: Shape
    silos: int
    shares: tuple[float, ...]
    kind: Kind
    estimator: Estimator
    confidence: float
    replicates: int
    seed: int

    def __post_init__(self) -> None:
        check_kind(self.kind)
        Method(estimator=self.estimator)
        check_at_least(1, self.silos, "silos")
        check_at_least(0, self.seed, "seed")
        check_confidence(self.confidence)
        check_at_least(fewest_replicates(self.confidence), self.replicates, "replicates")

    @property
    def cells(self) -> int:
        """The number of cells: silos times groups."""
        return self.silos * len(self.shares)

    def counts(self, records: int) -> list[int]:
        """Return the records of a cell of each group, ``records`` for the smallest group."""
        smallest = min(self.shares)
        return [round(records * share / smallest) for share in self.shares]

    def observed_shares(self, records: int) -> tuple[float, ...]:
        """Return the shares that whole numbers of records give."""
        counts = self.counts(records)
        return tuple(count / sum(counts) for count in counts)

    def laws(self, strength: float) -> list[ScoreLaw]:
        """Return the law of each group."""
        return self.shape.laws(len(self.shares), strength)

    def random(self, purpose: Purpose, records: int) -> np.random.Generator:
        """Return a generator that depends on the seed and on what it is for, on nothing else."""
        return np.random.default_rng([self.seed, purpose, records])

    def bounds(self, shares: Sequence[float] | None = None) -> Bounds:
        """Return what can be promised for any laws on the score range."""
        return Bounds(
            width=self.shape.width,
            density=self.shape.least_density,
            shares=self.shares if shares is None else tuple(shares),
            cells=self.cells,
            kind=self.kind,
            estimator=self.estimator,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "shape": self.shape.name,
            "score_range": [self.shape.low, self.shape.high],
            "silos": int(self.silos),
            "groups": len(self.shares),
            "shares": list(self.shares),
            "sketch": self.kind,
            "estimator": self.estimator,
            "confidence": self.confidence,
            "replicates": int(self.replicates),
            "seed": int(self.seed),
        }
