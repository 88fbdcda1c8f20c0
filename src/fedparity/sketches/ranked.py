"""Records whose source finds ranks itself, so that they stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from fedparity.sketches.selection.asked import Asked
from fedparity.sketches.selection.select import Census, Selected

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

    def selected(self, census: Census, levels: Sequence[int]) -> Selected | None:
        """Return the sketches, with so many levels each: the bits are those of the kernels.

        None if the source cannot find them after all.

        Raises
        ------
        ScoreError
            If a score is none of the points of the grid, where they are counted.
        """
        ...  # pragma: no cover


@runtime_checkable
class MayRank(Protocol):
    """Records that know whether their source can rank them."""

    def ranked(self, asked: Asked) -> RankedRecords | None:
        """Return the same records, ranked where they are; None if they have to be read."""
        ...  # pragma: no cover
