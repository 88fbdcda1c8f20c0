"""Simulate worlds with known truth in several processes, and print how often intervals hold."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

__all__ = ["main"]

World = TypeVar("World")
Row = TypeVar("Row")


def main(
    worlds: Iterable[World],
    run: Callable[[World, int], Row],
    table: Callable[[list[Row], int], str],
    failures: Callable[[list[Row]], list[str]],
    *,
    page: Path,
    description: str | None,
) -> None:
    """Simulate every world, print the table, and fail if a number is out of its limits."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    options = parser.parse_args()
    with ProcessPoolExecutor(max_workers=options.workers) as pool:
        jobs = [pool.submit(run, world, options.replicates) for world in worlds]
        rows = [job.result() for job in jobs]
    text = table(rows, options.replicates)
    print(text)
    if options.write:
        page.write_text(text + "\n", encoding="utf-8")
    if failed := failures(rows):
        sys.exit(f"out of their limits: {'; '.join(failed)}")
