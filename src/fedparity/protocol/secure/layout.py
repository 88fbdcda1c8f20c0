"""Which number of a secure sum is where: the same for every silo and the auditor, from the plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import secure_terms

__all__ = ["CENTER_LEVELS", "Layout"]

Part = npt.NDArray[np.int64]
CENTER_LEVELS = 1000
"""Levels at which the centers are summed: as many as an auditor reads off a histogram."""


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
        """Return the layout of a plan.

        Always the histograms. Unless noise is split over the silos, also what the decomposition and
        the attribution need; a sum of quantiles changes a lot with one record, so that a split dose
        cannot cover it. For order 1 the centers are medians, which no sum gives.
        """
        terms = secure_terms(plan)
        groups, bins = len(plan.groups), plan.grid.bins
        shapes: dict[str, tuple[int, ...]] = {"counts": (groups, bins)}
        if terms.dose != "split":
            shapes |= {"totals": (groups,), "lacking": (groups,)}
            shapes |= {"unselected": (groups, bins), "parity": (groups, bins)}
            if plan.order == 2:
                shapes["centers"] = (groups, CENTER_LEVELS)
        if not terms.noisy:
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
