"""Records whose source finds ranks itself, so that they stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.kinds import Kind
from fedparity.sketches.selection.select import Census

__all__ = ["AskedPlace", "MayRank", "RankedRecords"]


class AskedPlace(Protocol):
    """Where records are, and are asked about instead of read."""

    @property
    def place(self) -> str:
        """Where the scores are ranked, in one word."""
        ...  # pragma: no cover

    @property
    def questions(self) -> int:
        """How often that place was asked something so far."""
        ...  # pragma: no cover


class RankedRecords(AskedPlace, Protocol):
    """The scores of all groups, of which only the numbers of a sketch are asked."""

    def census(self, score_range: tuple[float, float] | None) -> Census | None:
        """Count the groups, or return None if the source cannot rank these records after all.

        Raises
        ------
        FedparityError
            If a record may not be counted, or its score is outside the range: as the kernels do.
        """
        ...  # pragma: no cover

    def values(self, levels: Sequence[int]) -> tuple[FloatArray | None, ...]:
        """Return the numbers of every group's sketch, with so many levels each.

        None where no level is wanted, or the group has no record. The bits are those of the
        kernels.
        """
        ...  # pragma: no cover


@runtime_checkable
class MayRank(Protocol):
    """Records that know whether their source can rank them."""

    def ranked(self, kind: Kind) -> RankedRecords | None:
        """Return the same records, ranked where they are; None if they have to be read."""
        ...  # pragma: no cover
