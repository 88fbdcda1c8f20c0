"""Powers of ten taken out of an axis, so that its numbers are short and can be drawn at all.

Matplotlib does not draw ranges near the ends of the floats: at 1e-300 an axis collapses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Units"]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Units:
    """An axis in units of a power of ten.

    Examples
    --------
    >>> units = Units.for_values([0.0, 2.5e-7])
    >>> units.label("disparity"), units.place(2.5e-7)
    ('disparity (×10⁻⁷)', 2.5)
    """

    exponent: int = 0

    @classmethod
    def for_values(cls, values: Iterable[float | None]) -> Units:
        """Return the units for an axis that shows these numbers: plain ones if they are short."""
        largest = max((abs(value) for value in values if value is not None), default=0.0)
        if largest == 0 or 1e-3 <= largest < 1e6:
            return cls()
        return cls(min(max(math.floor(math.log10(largest)), -323), 308))

    @property
    def size(self) -> float:
        """What one unit of the axis is."""
        return 10.0**self.exponent

    def place(self, value: float) -> float:
        """Return where on the axis a number stands."""
        return value / self.size

    def places(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return where on the axis numbers stand."""
        placed: npt.NDArray[np.float64] = np.asarray(values, dtype=np.float64) / self.size
        return placed

    def label(self, name: str) -> str:
        """Return the name of the axis with its unit."""
        if self.exponent == 0:
            return name
        return f"{name} (×10{str(self.exponent).translate(_SUPERSCRIPTS)})"
