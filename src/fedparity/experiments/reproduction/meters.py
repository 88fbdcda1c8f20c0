"""Progress counted across threads, under a label."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeAlias

__all__ = ["Meter", "Progress"]

Progress: TypeAlias = Callable[[int, int | None, str], None]
"""Called with what is done, the total if it is known, and what is being done."""


class Meter:
    """Counts steps; work that turns up late makes the total larger."""

    def __init__(self, progress: Progress | None, label: str) -> None:
        self._progress, self._label = progress, label
        self._done = self._total = 0
        self._lock = Lock()

    def expect(self, steps: int) -> None:
        """Announce so many more steps."""
        with self._lock:
            self._total += steps

    def step(self) -> None:
        """Count one step."""
        with self._lock:
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._total, self._label)
