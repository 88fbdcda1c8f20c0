"""Text that is HTML already, which the template engine leaves as it is."""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape
from typing import Any

from fedparity.report.tables import Cell, cell_text

__all__ = [
    "Isolation",
    "Markup",
    "Values",
    "embedded",
    "escaped",
    "hash_source",
]


class Markup(str):
    """Finished HTML, which Jinja gets from ``__html__`` and does not escape again."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def escaped(text: object) -> Markup:
    """Return a text as HTML, for use between tags or between double quotes.

    Examples
    --------
    >>> escaped('<b> & "c"')
    '&lt;b&gt; &amp; &quot;c&quot;'
    """
    return Markup(escape(str(text)))


_TURNING = {"R", "AL", "AN", "RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"}
"""Classes of characters of Unicode's bidirectional algorithm that reorder their neighbors."""


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


class Values:
    """Shows numbers of one result.

    Examples
    --------
    >>> Values({"disparity": {"value": 0.0421053}})("/disparity/value")
    '<span data-path="/disparity/value">0.0421</span>'
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def __call__(self, path: str, form: str = "number") -> Markup:
        """Return the number at a path together with the path, so that anyone can check it."""
        shown = escaped(self.text(Cell(path, form)))
        how = "" if form == "number" else f' data-as="{form}"'
        return Markup(f'<span data-path="{escaped(path)}"{how}>{shown}</span>')

    def cell(self, cell: Cell) -> str:
        """Return what a cell of a table shows, with its path if it has one."""
        return self(cell.path, cell.form) if cell.path else self.text(cell)

    def text(self, cell: Cell) -> str:
        """Return what a cell of a table shows, as text."""
        return cell_text(cell, self._document)


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


def hash_source(text: str) -> str:
    """Return how a Content-Security-Policy names one text of script or style.

    Examples
    --------
    >>> hash_source("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
