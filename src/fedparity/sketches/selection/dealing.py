"""Batches dealt to threads, one after the other, so that a busy core delays nobody."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from itertools import chain, islice
from typing import Any, TypeVar

from fedparity.sketches.records import Batch, BatchTask, Records

__all__ = ["Progress", "available_threads", "deal"]

State = TypeVar("State")

_STEP = 0.1
"""Seconds between two looks at an interrupt."""

Progress = Callable[[int, int | None, str], None]
"""Called with the rows read so far, the rows to read if known, and what is being done."""


def available_threads() -> int:
    """Return the number of cores that this process may use."""
    return (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )


def deal(
    records: Records,
    make: Callable[[], State],
    work: Callable[[State, Batch], None],
    *,
    threads: int,
    seen: Callable[[int], None],
) -> list[State]:
    """Read all batches, and return what each thread has gathered in a state of its own.

    A thread takes the next batch when it is done with its last one. An error in one of them
    stops the others at their next batch, and is raised. No more threads are started than there
    are batches; a single one needs none, and is too small to keep Ctrl-C waiting.
    """
    batches = records.batches()
    first = list(islice(batches, threads))
    threads = max(1, len(first))
    tasks = _Deck(chain(first, batches))

    def thread() -> State:
        state = make()
        for task in tasks:
            try:
                batch = task()
                work(state, batch)
            except BaseException:
                tasks.stop()
                raise
            seen(batch.scores.size)
        return state

    if threads == 1:
        return [thread()]
    with ThreadPoolExecutor(threads) as pool:
        try:  # from the first thread on: it reads while the others are started
            futures = [pool.submit(thread) for _ in range(threads)]
            _wait(futures)
        except BaseException:  # Ctrl-C: nobody starts another batch
            tasks.stop()
            raise
    return [future.result() for future in futures]


def _wait(futures: Sequence[Future[Any]]) -> None:
    """Wait for all, or for an error, in short steps: some libraries make long waits deaf to Ctrl-C."""
    while wait(futures, timeout=_STEP, return_when=FIRST_EXCEPTION).not_done:
        if any(future.done() and future.exception() for future in futures):
            return


class _Deck:
    """An iterator of tasks that several threads draw from."""

    def __init__(self, tasks: Iterator[BatchTask]) -> None:
        self._tasks = tasks
        self._lock = threading.Lock()
        self._stopped = False

    def __iter__(self) -> _Deck:
        return self

    def __next__(self) -> BatchTask:
        with self._lock:
            if self._stopped:
                raise StopIteration
            return next(self._tasks)

    def stop(self) -> None:
        """Give out no further task."""
        self._stopped = True
