"""What commands print: JSON, notes and commands to type next, and a progress bar."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeAlias

import click

from fedparity.cli.main import is_quiet
from fedparity.errors.base import printable

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


__all__ = [
    "Progress",
    "note",
    "open_page",
    "print_json",
    "progress_bar",
    "quoted",
]


def print_json(document: object) -> None:
    """Print a document as JSON for people and programs."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def note(text: str) -> None:
    """Print what was done, or what to do next, on the standard error stream; nothing with ``--quiet``.

    Warnings and errors are not notes: they are printed anyway.
    """
    if not is_quiet():
        click.echo(text, err=True)


def open_page(path: str | os.PathLike[str]) -> None:
    """Open a page in the browser of this user, or print that there is none."""
    import webbrowser  # noqa: PLC0415 -- few commands open a page

    address = Path(path).absolute().as_uri()
    if not webbrowser.open(address):
        click.echo(f"warning: no browser can be started here; open {printable(path)}", err=True)


def quoted(*words: object) -> str:
    """Return the words as a shell reads them.

    Examples
    --------
    >>> quoted("fedparity", "audit", "my plan.toml")
    "fedparity audit 'my plan.toml'"
    """
    return printable(" ".join(quote(str(word)) for word in words))


Progress: TypeAlias = Callable[[int, int | None, str], None]
"""A callback: the amount done, the total if it is known, and a label of the work."""

_PATIENCE = 0.5
"""Seconds before a bar appears: what takes less needs none."""


@contextmanager
def progress_bar(unit: str) -> Iterator[Progress | None]:
    """Give a callback that draws a bar on the standard error stream, or None off a terminal or with ``--quiet``.

    The bar shows the amount done, the rate and the time left, and disappears at the end.
    """
    if is_quiet() or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(unit)
    try:
        yield bar
    finally:
        bar.stop()


class _Bar:
    """A bar that appears when the work takes long."""

    def __init__(self, unit: str) -> None:
        self._unit, self._start = unit, time.monotonic()
        self._drawn: RichProgress | None = None
        self._tasks: dict[str, TaskID] = {}

    def stop(self) -> None:
        """Remove the bar."""
        if self._drawn is not None:
            self._drawn.stop()

    def __call__(self, done: int, total: int | None, label: str) -> None:
        if self._drawn is None:
            if time.monotonic() - self._start < _PATIENCE:
                return
            self._drawn = _rich_bar(self._unit)
            self._drawn.start()
        if label not in self._tasks:
            self._tasks[label] = self._drawn.add_task(label, total=total)
        self._drawn.update(self._tasks[label], completed=done, total=total)


def _rich_bar(unit: str) -> RichProgress:
    from rich import progress  # noqa: PLC0415 -- a third of the start-up time
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    class Amount(progress.ProgressColumn):
        """The amount done, and the rate."""

        def render(self, task: progress.Task) -> Text:
            speed = task.finished_speed or task.speed
            rate = "" if speed is None else f", {speed:,.0f} {unit}/s"
            return Text(f"{task.completed:,.0f} {unit}{rate}")

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        Amount(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
