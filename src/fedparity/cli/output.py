"""A progress bar on the standard error stream, if somebody is looking at it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shlex import quote
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias

from fedparity.errors.base import printable

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

__all__ = [
    "Progress",
    "progress_bar",
    "quoted",
]


def quoted(*words: object) -> str:
    """Return the words as a shell reads them.

    Examples
    --------
    >>> quoted("fedparity", "audit", "my plan.toml")
    "fedparity audit 'my plan.toml'"
    """
    return printable(" ".join(quote(str(word)) for word in words))


Progress: TypeAlias = Callable[[int, int | None, str], None]
"""Called with what is done, the total if it is known, and what is being done."""

_PATIENCE = 0.5
"""Seconds before a bar appears: what takes less needs none."""


@contextmanager
def progress_bar(unit: str) -> Iterator[Progress | None]:
    """Give a callback that draws a bar, or None off a terminal.

    The bar shows what is done, how much per second, and the time left, and disappears when all
    is done.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with _Bar(unit) as bar:
        yield bar


class _Bar:
    """A bar that is drawn once the wait has become long."""

    def __init__(self, unit: str) -> None:
        self._unit, self._start = unit, time.monotonic()
        self._drawn: RichProgress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn is not None:
            self._drawn.stop()

    def __call__(self, done: int, total: int | None, label: str) -> None:
        if self._drawn is None:
            if time.monotonic() - self._start < _PATIENCE:
                return
            self._drawn = _drawing(self._unit)
            self._drawn.start()
        if label not in self._tasks:
            self._tasks[label] = self._drawn.add_task(label, total=total)
        self._drawn.update(self._tasks[label], completed=done, total=total)


def _drawing(unit: str) -> RichProgress:
    from rich.console import Console  # noqa: PLC0415 -- a third of the start-up time
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as RichProgress  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    class Amount(ProgressColumn):
        """What is done and how fast."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            rate = "" if speed is None else f", {speed:,.0f} {unit}/s"
            return Text(f"{task.completed:,.0f} {unit}{rate}")

    return RichProgress(
        TextColumn("{task.description}"),
        BarColumn(),
        Amount(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
