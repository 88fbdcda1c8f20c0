"""How far a simulation has come, told to whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress", "Steps"]

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the steps done and their total."""


class Steps:
    """Counts the steps done, and tells the caller.

    Examples
    --------
    >>> steps = Steps(print, total=3)
    >>> steps.advance()
    1 3
    >>> steps.finish()
    3 3
    """

    def __init__(self, progress: Progress | None, *, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def advance(self) -> None:
        """One more step is done."""
        self._tell(self._done + 1)

    def finish(self) -> None:
        """Say that everything is done, skipped steps included."""
        if self._done < self._total:
            self._tell(self._total)

    def _tell(self, done: int) -> None:
        self._done = done
        if self._progress is not None:
            self._progress(done, self._total)
