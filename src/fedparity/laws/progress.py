"""Progress of long work: the callbacks that report it, and a bar for terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from html import escape
from typing import Any, ParamSpec, TypeAlias, TypeVar

__all__ = ["LabeledProgress", "Progress", "RowProgress", "callback", "shows_progress"]

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the steps done and their total."""
LabeledProgress: TypeAlias = Callable[[int, int, str], None]
"""Called with the steps done, their total, and what is being done."""
RowProgress: TypeAlias = Callable[[int, int | None, str], None]
"""Called with the rows read so far, the rows to read if known, and what is being done."""

Options = ParamSpec("Options")
Result = TypeVar("Result")
Reports = TypeVar("Reports", bound=Callable[..., None])

_SECONDS = 0.1
"""Between two updates of a notebook: each is a message."""


def callback(progress: Reports | bool | None) -> Reports | None:  # noqa: FBT001 -- a user's option
    """Return the callback that a user passed as ``progress``, or None if it is a boolean."""
    return None if isinstance(progress, bool) else progress


def shows_progress(function: Callable[Options, Result]) -> Callable[Options, Result]:
    """Let ``progress=True`` draw a bar while a function runs; it reports to a callback."""

    @wraps(function)
    def run(*args: Options.args, **options: Options.kwargs) -> Result:
        if options.get("progress") is not True:
            return function(*args, **options)
        with _bar() as report:
            options["progress"] = report
            return function(*args, **options)

    return run


@contextmanager
def _bar() -> Iterator[Callable[..., None]]:
    shell = sys.modules.get("IPython")
    kernel = None if shell is None else shell.get_ipython()
    if type(kernel).__name__ == "ZMQInteractiveShell":  # a notebook; rich would need ipywidgets
        with _notebook_bar() as report:
            yield report
        return
    from rich.console import Console  # noqa: PLC0415 -- a third of the start-up time
    from rich.progress import Progress as Bars  # noqa: PLC0415

    console = Console(stderr=True)
    with Bars(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("working")

        def report(done: int, total: int | None, doing: str = "working") -> None:
            bars.update(task, completed=done, total=total, description=doing)

        yield report


@contextmanager
def _notebook_bar() -> Iterator[Callable[..., None]]:
    """A bar of plain HTML in the output of a cell, which disappears when the work is done."""
    from IPython.display import display  # noqa: PLC0415 -- a notebook has it

    shown: Any = display({"text/plain": "working …"}, raw=True, display_id=True)  # type: ignore[no-untyped-call]
    last = 0.0

    def report(done: int, total: int | None, doing: str = "working") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _SECONDS:
            return
        last = now
        size = "" if total is None else f' max="{total}" value="{done}"'
        label = escape(f"{doing} {done:,}" + ("" if total is None else f" of {total:,}"))
        bar = f'<label>{label} <progress{size} style="vertical-align:middle"></progress></label>'
        shown.update({"text/html": bar, "text/plain": label}, raw=True)

    try:
        yield report
    finally:
        shown.update({"text/html": "", "text/plain": ""}, raw=True)
