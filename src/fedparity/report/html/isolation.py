"""Names in running text: one written from right to left must not turn the words around it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from fedparity.report.html.markup import Markup, escaped

__all__ = ["Isolation"]

_TURNING = {"R", "AL", "AN", "RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"}
"""Classes of characters of Unicode's bidirectional algorithm that reorder their neighbours."""


class Isolation:
    """Escapes sentences, and keeps apart the names in them that would disturb their order.

    Parameters
    ----------
    names : iterable of str
        Of groups and silos.

    Examples
    --------
    >>> Isolation(["Aurora", "דרום"])("Aurora and דרום: 3 < 4.")
    'Aurora and <bdi>דרום</bdi>: 3 &lt; 4.'
    """

    def __init__(self, names: Iterable[str]) -> None:
        turning = sorted({n for n in names if _turns(n)}, key=lambda name: (-len(name), name))
        self._names = re.compile("|".join(map(re.escape, turning))) if turning else None

    def __call__(self, sentence: str) -> Markup:
        """Return the sentence as HTML."""
        if self._names is None:
            return escaped(sentence)
        pieces, end = [], 0
        for found in self._names.finditer(sentence):
            before = escaped(sentence[end : found.start()])
            pieces += [before, f"<bdi>{escaped(found[0])}</bdi>"]
            end = found.end()
        return Markup("".join([*pieces, escaped(sentence[end:])]))


def _turns(name: str) -> bool:
    if name.isascii():
        return False
    return any(unicodedata.bidirectional(character) in _TURNING for character in name)
