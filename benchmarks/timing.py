"""Time several functions fairly: in turn, in one process, the best of several rounds."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from time import perf_counter

__all__ = ["best_times"]


def best_times(methods: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Return the shortest wall time of each method in seconds.

    Methods take turns, so that a neighbor's load falls on all of them; the minimum is the
    time least disturbed.
    """
    best = dict.fromkeys(methods, float("inf"))
    for _ in range(rounds):
        for name, method in methods.items():
            gc.collect()
            start = perf_counter()
            method()
            best[name] = min(best[name], perf_counter() - start)
    return best
