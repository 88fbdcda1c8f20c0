"""Records whose source finds ranks itself, so that they stay where they are."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy.typing as npt

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.selection.select import Census

__all__ = ["MayRank", "RankedRecords"]


class RankedRecords(Protocol):
    """The scores of all groups, of which only order statistics are asked."""

    @property
    def place(self) -> str:
        """Where the scores are ranked, in one word."""
        ...  # pragma: no cover

    def census(self, score_range: tuple[float, float] | None) -> Census | None:
        """Count the groups, or return None if the source cannot rank these records after all.

        Raises
        ------
        FedparityError
            If a record may not be counted, or its score is outside the range: as the kernels do.
        """
        ...  # pragma: no cover

    def order_statistics(self, group: int, ranks: npt.NDArray[Any]) -> FloatArray:
        """Return the scores of these ranks, from 1, among those of a group."""
        ...  # pragma: no cover


@runtime_checkable
class MayRank(Protocol):
    """Records that know whether their source can rank them."""

    @property
    def ranked(self) -> RankedRecords | None:
        """The same records, ranked where they are; None if they have to be read."""
        ...  # pragma: no cover
