"""Text that Markdown shows as it is: no markup, no mention, no link."""

from __future__ import annotations

import re

__all__ = ["code", "plain", "table"]

_MARKUP = re.compile(r"([\\`*_\[\]<>|~&$#])")
_START = re.compile(r"^(\d{0,9})([-+=.)])(?=[-=\s]|$)")
"""What makes a line a list, a rule or the underline of a heading."""
_SPLIT = "\u200b"
"""A space of no width: forges look for mentions after Markdown's own escapes are gone."""
_LINKS = re.compile(r"(@|#(?=\d)|(?<=:)(?=//)|(?<=www)(?=\.))", re.IGNORECASE)


def plain(text: str) -> str:
    r"""Return a text as one line of Markdown that shows just this text.

    Examples
    --------
    >>> plain("a|b <b>\n*x*")
    'a\\|b \\<b\\> \\*x\\*'
    >>> plain("# 1 & 2 #"), plain("1. a"), plain("- a"), plain("-0.5")
    ('\\# 1 \\& 2 \\#', '1\\. a', '\\- a', '-0.5')
    >>> plain("@team") == "@\u200bteam"
    True
    """
    line = _START.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", " ".join(text.split())))
    return _LINKS.sub(lambda found: found[0] + _SPLIT, line)


def code(text: str) -> str:
    """Return a text as a span of code; the fence is longer than any run of backticks in it.

    Examples
    --------
    >>> code("sha256:ab")
    '`sha256:ab`'
    """
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{room}{line}{room}{fence}"


def table(heading: list[str], rows: list[list[str]], sides: str) -> list[str]:
    """Return a table of cells that are Markdown already; each column is l(eft) or r(ight).

    Examples
    --------
    >>> table(["silo", "n"], [["a", "3"]], "lr")
    ['| silo | n |', '|:---|---:|', '| a | 3 |']
    """
    rule = [{"l": ":---", "r": "---:"}[side] for side in sides]
    return [
        _row(heading),
        f"|{'|'.join(rule)}|",
        *(_row(row) for row in rows),
    ]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
