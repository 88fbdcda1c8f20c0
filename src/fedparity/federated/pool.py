"""All values of a federation in one sorted order, from which every mixture is read.

A mixture of cells differs from another only by the masses of its cells, so the values are
sorted once and each mixture is one running sum over them. Masses that are whole numbers are
summed and compared as whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.functionals.curves import CDFTable
from fedparity.laws.law import FloatArray, IntArray, Law, sort_order
from fedparity.sketches.kinds import midpoints, ranks

__all__ = ["Pool", "level_positions", "unit_masses"]

_BLOCK = 1 << 14  # a few rows of this many doubles stay in the cache
_INT64_MAX = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class Pool:
    """The values of all cells, sorted, each with the cell it came from."""

    atoms: FloatArray
    cells: npt.NDArray[np.int32]
    order: IntArray
    """Where each atom lies among the values before sorting."""
    parts: npt.NDArray[Any] | None
    """How many units of its cell's mass each atom has; one each if None."""

    @classmethod
    def from_values(cls, values: FloatArray, levels: IntArray, parts: npt.NDArray[Any]) -> Pool:
        """Return the pool of cells whose ``levels`` values lie one after the other."""
        order = sort_order(values)
        owner = np.repeat(np.arange(levels.size, dtype=np.int32), levels)
        return cls(
            atoms=values[order],
            cells=owner[order],
            order=order,
            parts=None if (parts == 1).all() else parts[order],
        )

    def spread(self, masses: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the mass of every atom, given that of one unit of each cell (last axis)."""
        owned: npt.NDArray[Any] = masses[..., self.cells]
        return owned if self.parts is None else owned * self.parts

    def running(self, masses: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the running mass over the atoms, given the mass of one unit of each cell."""
        return np.cumsum(self.spread(masses))

    def quantiles(self, masses: npt.NDArray[Any], levels: int, trim: float) -> FloatArray:
        r"""Return :math:`\inf\{x : F(x) \ge u_\ell\}` of the mixture, on the midpoint grid."""
        return self.atoms[level_positions(self.running(masses), levels, trim)]

    def law(self, masses: npt.NDArray[Any]) -> Law:
        """Return the mixture itself."""
        weights = self.spread(masses)
        positive = weights > 0
        return Law.from_sorted(self.atoms[positive], weights[positive])

    def cdfs(self, masses: npt.NDArray[Any]) -> Iterator[CDFTable]:
        """Yield the cdfs of several mixtures (rows of ``masses``), block by block of atoms."""
        units = np.bincount(self.cells, self.parts, minlength=masses.shape[1])
        totals = np.einsum("rc,c->r", masses, units.astype(masses.dtype))  # BLAS: bits by threads
        carried = np.zeros((masses.shape[0], 1), dtype=masses.dtype)
        for start in range(0, self.atoms.size - 1, _BLOCK):
            atoms = self.atoms[start : start + _BLOCK + 1]
            part = slice(start, start + atoms.size - 1)
            owned = masses[:, self.cells[part]]
            if self.parts is not None:
                owned = owned * self.parts[part]
            running = carried + np.cumsum(owned, axis=1)
            carried = running[:, -1:]
            yield CDFTable(np.diff(atoms), running / totals[:, None])


def unit_masses(
    weights: npt.NDArray[Any], units: npt.NDArray[Any], grid_levels: int
) -> npt.NDArray[Any]:
    r"""Return the mass of one unit of each cell, :math:`w_c / k_c` up to a common factor.

    Whole-number weights give whole-number masses wherever the running sums fit 64 bits: as
    they are where every weight is a multiple of its units, else multiplied by the least common
    multiple of the units; floats otherwise.

    Parameters
    ----------
    weights : array, one row per mixture and one column per cell
    units : what the atoms of each cell weigh together: their number, or the records counted
    grid_levels : the k of the grid on which the mixtures will be inverted
    """
    masses: npt.NDArray[Any] = weights / units
    if weights.dtype.kind == "i" and units.dtype.kind == "i":
        total = 2 * grid_levels * int(weights.sum(axis=1).max())
        multiple = math.lcm(*np.unique(units).tolist())
        if total <= _INT64_MAX and not (weights % units).any():
            masses = weights // units
        elif total * multiple <= _INT64_MAX:
            masses = weights * (multiple // units)
    return masses


def level_positions(running: npt.NDArray[Any], levels: int, trim: float = 0.0) -> IntArray:
    r"""Return where a running mass first reaches each level of the midpoint grid.

    Whole numbers are compared as whole numbers, :math:`2k \cdot cum \ge (2\ell - 1) \cdot T`.
    Floats count as reaching a level up to the rounding of their own sum, so that a level that
    is met exactly in real numbers is met here too.
    """
    if running.dtype.kind == "i" and not trim:
        return np.searchsorted(running, ranks(int(running[-1]), levels), side="left")
    rounding = running.size * float(np.finfo(np.float64).eps)
    targets = (midpoints(levels, trim=trim) - rounding) * float(running[-1])
    return np.searchsorted(running, targets, side="left")
