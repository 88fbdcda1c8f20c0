"""Text that is HTML already, which the template engine leaves as it is."""

from __future__ import annotations

from html import escape

__all__ = ["Markup", "escaped"]


class Markup(str):
    """Finished HTML; Jinja asks ``__html__`` for it and does not escape it again."""

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
