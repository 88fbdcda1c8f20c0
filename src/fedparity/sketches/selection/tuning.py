"""The sizes that decide which way a selection takes: of no effect on its result."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Tuning"]


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Sizes calibrated by ``benchmarks/silo.py``; tests use tiny ones to reach every path."""

    few: int = 1 << 15
    """So few records are all kept, and sorted."""
    sample: int = 1 << 15
    """Scores that choose the first map."""
    buckets: int = 1 << 18
    """Buckets of all groups of the first map: their counts should stay in a core's cache."""
    kept: int = 1 << 21
    """Records kept at once; where more would be, their buckets are cut first."""
    parts: int = 1 << 18
    """Parts of all buckets that are cut."""
    candidate: int = 8
    """A score that a sample shows so often is counted instead of kept."""
    crowded: int = 1 << 10
    """A part of so many records is looked at: if it can hold one score only, it is an atom."""
    window: int = 1 << 8
    """A bucket of so many records is kept only around its wanted rank."""
    ties: float = 0.001
    """Share of a sample that is tied, above which buckets are not filled evenly."""
    stages: int = 64
    """Each stage after the first cuts at least one of the 64 bits of a key's range."""
