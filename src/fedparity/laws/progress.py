"""Callbacks that report progress: one type for each signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["LabeledProgress", "Progress", "RowProgress"]

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the steps done and their total."""
LabeledProgress: TypeAlias = Callable[[int, int, str], None]
"""Called with the steps done, their total, and what is being done."""
RowProgress: TypeAlias = Callable[[int, int | None, str], None]
"""Called with the rows read so far, the rows to read if known, and what is being done."""
