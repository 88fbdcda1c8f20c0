"""The parameters of the disclosure rules: what a plan says may not leave a silo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedparity.errors import OptionError
from fedparity.sketches.kinds import Kind

__all__ = ["Disclosure", "default_rounding"]

_MOST_RECORDS = 10**12
"""More than any silo holds, as in a cell's count."""
_COARSEST = 0.1


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """The rules that a silo's sketches obey before they leave; valid once built.

    The rules are public and travel with the plan; what they did to a silo's data is not.

    Parameters
    ----------
    minimum_cell : int, default 11
        A cell with fewer records is withheld; 1 turns the rule off.
    records_per_level : int, default 10
        The k of a cell of n records is cut to n // ``records_per_level``, and further if fewer
        than five records would lie in a tail; 0 turns both rules off.
    rounding : float, optional
        Values are rounded to multiples of this share of the score range; 0 turns the rule off. A
        plan states the default of its sketch, see :func:`default_rounding`.

    Raises
    ------
    OptionError
        If a number of records is not a whole number, or the share is not between 0 and 0.1.

    Examples
    --------
    >>> Disclosure(minimum_cell=20, rounding=0.01).to_dict()
    {'minimum_cell': 20, 'records_per_level': 10, 'rounding': 0.01}
    """

    minimum_cell: int = 11
    records_per_level: int = 10
    rounding: float | None = None

    def __post_init__(self) -> None:
        settled = {
            "minimum_cell": _whole("minimum_cell", self.minimum_cell, least=1),
            "records_per_level": _whole("records_per_level", self.records_per_level, least=0),
            "rounding": None if self.rounding is None else _share(self.rounding),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @classmethod
    def off(cls) -> Disclosure:
        """Return no rule at all, for data that do not leave the building."""
        return cls(minimum_cell=1, records_per_level=0, rounding=0.0)

    def to_dict(self) -> dict[str, int | float | None]:
        """Return the rules as a plan's ``[disclosure]`` table holds them."""
        return {
            "minimum_cell": self.minimum_cell,
            "records_per_level": self.records_per_level,
            "rounding": self.rounding,
        }


def default_rounding(sketch: Kind, *, stepped: bool) -> float:
    """Return the rounding of a sketch where the rules state none, as a share of the score range.

    A mean gives away more of a record than a quantile does to whoever knows all others, so it is
    rounded more. Quantiles of scores on a public grid are points of it, and stay there; counts at
    its points are protected by merging.

    Examples
    --------
    >>> default_rounding("mean", stepped=True), default_rounding("quantile", stepped=False)
    (0.005, 0.001)
    """
    if sketch == "mean":
        return 0.005
    return 0.0 if stepped or sketch == "counts" else 0.001


def _whole(name: str, value: object, *, least: int) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (whole and least <= value <= _MOST_RECORDS):  # type: ignore[operator]
        raise OptionError(
            f"{name} must be a whole number of records of at least {least}, not {value!r}.",
            fix=f"set {name} to 10 or so, or to {least} to turn the rule off.",
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def _share(value: object) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not (number and not isinstance(value, bool) and 0 <= value <= _COARSEST):  # type: ignore[operator]
        raise OptionError(
            f"rounding must be a share of the score range from 0 to {_COARSEST}, not {value!r}.",
            fix="set rounding to 0.001 or so, or to 0 to turn the rule off.",
        )
    return abs(float(value))  # type: ignore[arg-type]  # -0.0 is 0
