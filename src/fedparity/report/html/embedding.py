r"""The result inside the page: a data block that no browser runs, and from which it is saved."""

from __future__ import annotations

__all__ = ["embedded"]


def embedded(document: str) -> str:
    r"""Return JSON that may stand between ``<script>`` tags, whatever names it holds.

    Only ``<`` can end such a block or change how its rest is read. It occurs in strings only,
    where ``\u003c`` means the same.

    Examples
    --------
    >>> embedded('{"silo":"</script>"}')
    '{"silo":"\\u003c/script>"}'
    """
    return document.replace("<", "\\u003c")
