"""All figures drawn, in several processes: matplotlib is no friend of threads."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fedparity.experiments.reproduction.figures.writing import figure_files
from fedparity.experiments.reproduction.meters import Meter
from fedparity.experiments.reproduction.parts import Plot

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

__all__ = ["draw_all"]


def draw_all(plots: Sequence[Plot], *, workers: int, meter: Meter) -> list[dict[str, bytes]]:
    """Return the files of each figure by format; the same bytes for any number of workers."""
    meter.expect(len(plots))
    if workers < 2 or len(plots) < 4:  # a process takes as long to start as a figure to draw
        return list(_counted((_draw(plot) for plot in plots), meter))
    with _processes(workers) as pool:
        return list(_counted(pool.map(_draw, plots), meter))


def _draw(plot: Plot) -> dict[str, bytes]:
    return figure_files(plot.draw)


def _counted(files: Iterator[dict[str, bytes]], meter: Meter) -> Iterator[dict[str, bytes]]:
    for each in files:
        meter.step()
        yield each


@contextmanager
def _processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that leave Ctrl-C to us, and do not outlive it."""
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415
    from multiprocessing import get_context  # noqa: PLC0415

    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_ignore)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
