"""JSON pointers (RFC 6901): where in the result a number of the page stands."""

from __future__ import annotations

from typing import Any

__all__ = ["looked_up", "pointer"]


def pointer(*steps: str | int) -> str:
    """Return the pointer that takes these steps from the top.

    Examples
    --------
    >>> pointer("silos", 3, "n", "a/b~c")
    '/silos/3/n/a~1b~0c'
    """
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def looked_up(document: Any, path: str) -> Any:  # noqa: ANN401 -- JSON holds anything
    """Return what a pointer points at.

    Raises
    ------
    LookupError
        If there is nothing: the page names a field that the result does not have.

    Examples
    --------
    >>> looked_up({"silos": [{"n": {"a/b": 7}}]}, "/silos/0/n/a~1b")
    7
    """
    found = document
    for step in path.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found
