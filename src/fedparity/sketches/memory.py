"""How much memory a sketch may use when nobody says so."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["default_memory"]

_CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")
_FALLBACK = 1 << 31


def default_memory() -> int:
    """Return a quarter of the machine's memory, or of what this process may use, in bytes."""
    return min(_physical(), _allowed()) // 4


def _physical() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _FALLBACK


def _allowed() -> int:
    """The limit of a container; none where there is no such file, or it says so."""
    try:
        return int(_CONTROL_GROUP.read_text())
    except (OSError, ValueError):
        return 1 << 62
