"""Many draws on several threads, in their order, and given up at once when interrupted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_threads"]

Made = TypeVar("Made")


def in_threads(draw: Callable[[int], Made], number: int, *, workers: int) -> list[Made]:
    """Return what ``draw`` makes of 0, 1, 2 and so on.

    Examples
    --------
    >>> in_threads(lambda replicate: replicate**2, 4, workers=2)
    [0, 1, 4, 9]
    """
    pool = ThreadPoolExecutor(max(1, workers))
    try:
        return list(pool.map(draw, range(number)))
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C does not wait for what has not begun
