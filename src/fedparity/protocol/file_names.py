"""Names of files made from names of silos."""

from __future__ import annotations

__all__ = ["file_name"]


def file_name(silo: str) -> str:
    """Return the silo's name with what a file's name may not hold replaced.

    Examples
    --------
    >>> file_name("St. Mary's / North")
    'St.-Mary-s---North'
    """
    kept = "".join(c if c.isalnum() or c in "._-" else "-" for c in silo)
    return kept.strip(".-")[:80] or "silo"
