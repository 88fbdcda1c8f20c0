"""Names of files made from names of silos."""

from __future__ import annotations

__all__ = ["FileNames", "file_name"]


def file_name(silo: str) -> str:
    """Return the silo's name with what a file's name may not hold replaced.

    Examples
    --------
    >>> file_name("St. Mary's / North")
    'St.-Mary-s---North'
    """
    kept = "".join(c if c.isalnum() or c in "._-" else "-" for c in silo)
    return kept.strip(".-")[:80] or "silo"


class FileNames:
    """A file name for each silo that no other one has, on a disk that may not tell cases apart.

    Examples
    --------
    >>> names = FileNames()
    >>> [names.of(silo) for silo in ("a", "A", "a-2", "a")]
    ['a', 'A-2', 'a-2-2', 'a']
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, silo: str) -> str:
        """Return the name of a silo: the same one whenever it is asked for."""
        if silo not in self._names:
            plain = name = file_name(silo)
            number = 1
            while name.lower() in self._taken:
                number += 1
                name = f"{plain}-{number}"
            self._taken.add(name.lower())
            self._names[silo] = name
        return self._names[silo]
