"""Memory that arrays free, kept for the next ones: redraws need the same sizes again and again."""

from __future__ import annotations

from functools import cache

import numpy as np

__all__ = ["keep_freed_memory"]

_LARGEST = 31 << 20
"""Bytes; glibc learns no size above 32 MB."""


@cache
def keep_freed_memory() -> None:
    """Let the C library reuse what large arrays free, once for this process.

    glibc takes an array above some size from the system and gives it back when it is freed, so
    that every page of the next one is faulted in again, which took a third of an audit's time. The
    size is 128 kB until a larger block is freed; so one is freed here, untouched. Other C libraries
    take no notice.
    """
    np.empty(_LARGEST, dtype=np.uint8)
