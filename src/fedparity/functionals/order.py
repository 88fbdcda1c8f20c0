"""The order p of a distance, and what it does to numbers."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from fedparity.errors import MagnitudeError, OptionError
from fedparity.laws.arrays import FloatArray

__all__ = ["Order", "check_order", "checked_power", "power"]

Order: TypeAlias = Literal[1, 2]
"""The order p: 1 or 2."""

_SMALLEST = 1e-290
"""Powers below this have lost digits to gradual underflow, or soon will when averaged."""


def check_order(order: int) -> None:
    """Raise unless ``order`` is 1 or 2."""
    if isinstance(order, bool) or order not in (1, 2):
        raise OptionError(f"order must be 1 or 2, not {order!r}.", fix="pass order=1 or order=2.")


def power(differences: FloatArray, order: int, *, out: FloatArray | None = None) -> FloatArray:
    r"""Return :math:`|x|^p` elementwise, written into ``out`` if given."""
    return (np.abs if order == 1 else np.square)(differences, out=out)


def checked_power(value: float, rows: FloatArray, widths: FloatArray, what: str) -> float:
    """Return ``value``, a measure of how the ``rows`` differ, if a float could hold it.

    Zero must mean equality: a mean square that underflowed to zero is refused, not returned.

    Raises
    ------
    MagnitudeError
        If it underflowed although the rows differ on a width that is not zero.
    """
    if value < _SMALLEST and (rows[:, widths > 0] != rows[:1, widths > 0]).any():
        raise MagnitudeError(
            f"{what} is not zero but too small for a 64-bit float.",
            fix="rescale the scores (for example to [0, 1]) before measuring.",
        )
    return value
