"""One table with the records of all silos, dealt to the silos they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group, canonical_order
from fedparity.sketches.records import ArrayRecords, Codes, Faults

__all__ = ["PooledTable"]

IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledTable:
    """The records of all silos in memory: those of one silo lie side by side.

    Build it with :meth:`of`. Scores are finite, and weights, where there are any, positive.
    """

    groups: tuple[Group, ...]
    silos: tuple[str, ...]
    """Their names, in canonical order."""
    starts: IntArray
    """Where the records of each silo start, and where the last ones end."""
    scores: FloatArray
    codes: Codes
    """The position of each record's group."""
    weights: FloatArray | None
    dropped: IntArray
    """Rows of each silo without a score, which were left out."""

    @classmethod
    def of(
        cls,
        *,
        groups: Sequence[Group],
        codes: Codes,
        silos: Sequence[str],
        silo_codes: npt.NDArray[Any],
        scores: FloatArray,
        weights: FloatArray | None = None,
        dropped: npt.NDArray[Any] | None = None,
    ) -> PooledTable:
        """Return the table of these records.

        ``codes`` and ``silo_codes`` are positions in ``groups`` and ``silos``, one per record;
        ``dropped`` holds the silos of rows that were left out. Records without weight count
        nowhere, and are not kept.
        """
        names = canonical_order(silos)
        place = _places(silos, names)
        where = place[silo_codes]
        if weights is not None:
            counted = np.flatnonzero(weights > 0)
            where, codes = where[counted], codes[counted]
            scores, weights = scores[counted], weights[counted]
        order = np.argsort(where.astype(_smallest(len(names))), kind="stable")
        sizes = np.bincount(where, minlength=len(names))
        none = np.zeros(0, dtype=np.int64)
        return cls(
            groups=tuple(groups),
            silos=names,
            starts=np.concatenate(([0], np.cumsum(sizes))),
            scores=scores[order],
            codes=codes[order],
            weights=None if weights is None else weights[order],
            dropped=np.bincount(place[none if dropped is None else dropped], minlength=len(names)),
        )

    def with_found_groups(self) -> PooledTable:
        """Return the same records with only the groups that have one, in canonical order."""
        met = np.bincount(self.codes, minlength=len(self.groups)) > 0
        found = canonical_order(
            group for group, has_records in zip(self.groups, met, strict=True) if has_records
        )
        place = _places(self.groups, found)
        return replace(self, groups=found, codes=place.astype(_smallest(len(found)))[self.codes])

    def in_canonical_order(self) -> PooledTable:
        """Return the same records in an order that does not depend on how they came.

        By silo, score, group and weight; an allocation of them is then the same for every source.
        """
        silos = np.repeat(np.arange(len(self.silos)), np.diff(self.starts))
        weights = () if self.weights is None else (self.weights,)
        order = np.lexsort((*weights, self.codes, self.scores, silos))
        return replace(
            self,
            scores=self.scores[order],
            codes=self.codes[order],
            weights=None if self.weights is None else self.weights[order],
        )

    def records(self, silo: int) -> ArrayRecords:
        """Return the records of the silo at this position, as it would read them itself."""
        rows = slice(int(self.starts[silo]), int(self.starts[silo + 1]))
        dropped = int(self.dropped[silo])

        def accept(_: Faults) -> int:
            return dropped

        return ArrayRecords(
            self.groups,
            self.scores[rows],
            self.codes[rows],
            None if self.weights is None else self.weights[rows],
            accepting=accept,
        )


def _places(labels: Sequence[Group], ordered: Sequence[Group]) -> IntArray:
    """The position of each label in another order; 0 where it has none."""
    at = {label: position for position, label in enumerate(ordered)}
    return np.array([at.get(label, 0) for label in labels], dtype=np.int64)


def _smallest(labels: int) -> npt.DTypeLike:
    """The type of the codes: sorting small whole numbers takes one pass per byte."""
    return np.min_scalar_type(max(labels - 1, 0))
