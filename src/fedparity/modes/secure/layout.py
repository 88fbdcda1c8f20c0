"""Which number of a secure sum is where: the same for every silo and the auditor, from the plan.

Every number is a count of a silo's records, so that the vector of two disjoint tables together is the
sum of their vectors. **Nothing else may be added here.** A number that is not additive in this sense (a
histogram times a ratio of sizes, a quantile times a size) distinguishes the silos in a sum: a bin
of one record shows the ratio of its silo, and every other bin is then a small equation in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.documents.plan import Plan
from fedparity.modes.secure.round_checks import secure_terms

__all__ = ["Layout"]

Part = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """The parts of the vector that silos add up, with the shape of each.

    Examples
    --------
    >>> layout = Layout({"counts": (2, 3), "dropped": (1,)})
    >>> packed = layout.pack({"counts": np.arange(6).reshape(2, 3), "dropped": np.array([9])})
    >>> packed.tolist(), layout.unpack(packed)["dropped"].tolist()
    ([0, 1, 2, 3, 4, 5, 9], [9])
    """

    shapes: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, plan: Plan) -> Layout:
        """Return the layout of a plan: records by group and bin; without noise also rows left out.

        With an outcome, by group, outcome and bin: each record is counted once, as the theorem requires.
        The thresholds of the plan are edges of its bins, so that counts at them are sums of these.
        """
        shapes: dict[str, tuple[int, ...]] = {"counts": (len(plan.record_labels), plan.grid.bins)}
        if not secure_terms(plan).noisy:
            shapes["dropped"] = (1,)
        return cls(shapes)

    @property
    def length(self) -> int:
        """How many numbers there are."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def pack(self, parts: Mapping[str, Part]) -> Part:
        """Return the parts as one vector."""
        return np.concatenate([parts[name].ravel() for name in self.shapes])

    def unpack(self, vector: Part) -> dict[str, Part]:
        """Return the parts of a vector."""
        parts: dict[str, Any] = {}
        start = 0
        for name, shape in self.shapes.items():
            end = start + math.prod(shape)
            parts[name], start = vector[start:end].reshape(shape), end
        return parts
