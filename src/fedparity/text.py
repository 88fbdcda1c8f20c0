"""Numbers and names as text, and text fitted to the columns of a terminal."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np

__all__ = [
    "DIGITS",
    "FOUR_FIFTHS",
    "NOTHING",
    "OneLine",
    "amount",
    "brief",
    "counted",
    "cut",
    "left",
    "named",
    "number",
    "one_line",
    "percent",
    "percents",
    "pointer",
    "points",
    "right",
    "share_of",
    "span",
    "stated",
    "told_apart",
    "width_of",
    "wrapped",
    "written",
]

DIGITS = 3
_NO_SHARE = 1e-9
"""A share below this one is 0 to a reader."""
_LEAST_SHARE = 1e-6
"""A share below this one is too small to be worth its digits."""


def number(value: float, digits: int = DIGITS) -> str:
    """Return a number with a few digits; with an exponent only where it would be long.

    Examples
    --------
    >>> number(0.0421053), number(-123456.0), number(4.2e-9), number(0.0)
    ('0.0421', '−123,456', '4.2e-09', '0')
    """
    size = abs(value)
    if size == math.inf:
        return "∞" if value > 0 else "−∞"
    if size == 0:
        return "0"
    if not 1e-4 <= size < 1e7:
        text = _with_exponent(size, digits)
    elif size >= 10**digits:
        text = f"{size:,.0f}"
    else:
        text = np.format_float_positional(size, precision=digits, fractional=False, trim="-")
    return f"−{text}" if value < 0 else text


def _with_exponent(size: float, digits: int) -> str:
    if digits <= DIGITS:  # an exponent takes four places by itself
        return f"{size:.1e}"
    mantissa, _, power = f"{size:.{digits - 1}e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{power}"


def span(ends: Iterable[float]) -> str:
    """Return an interval in words, which no minus sign can confuse.

    Examples
    --------
    >>> span((-0.0012, 0.0359))
    '−0.0012 to 0.0359'
    """
    lower, upper = ends
    return f"{number(lower)} to {number(upper)}"


_MOST_DIGITS = 17
"""Enough to distinguish any two doubles."""


def stated(value: float) -> str:
    """Return a number that somebody chose, such as a review level, with the digits it has.

    Examples
    --------
    >>> stated(0.02), stated(0.0123456), stated(0.95)
    ('0.02', '0.0123456', '0.95')
    """
    return number(value, 12)


def told_apart(value: float, other: float) -> str:
    """Return a number with enough digits to differ from another one.

    Examples
    --------
    >>> told_apart(0.0323, 0.02), told_apart(0.0200041, 0.02), told_apart(0.02, 0.02)
    ('0.0323', '0.020004', '0.02')
    """
    if value == other:
        return stated(value)
    for digits in range(DIGITS, _MOST_DIGITS):
        if number(value, digits) != number(other, digits):
            return number(value, digits)
    return number(value, _MOST_DIGITS)


def percent(share: float) -> str:
    """Return a share in percent: two digits if it is small, three otherwise.

    Less than a record in a thousand million is 0: sums of floats leave as much.

    Examples
    --------
    >>> percent(0.8712), percent(0.0196), percent(-0.0123), percent(1.0), percent(2e-13)
    ('87.1 %', '2 %', '−1.2 %', '100 %', '0 %')
    """
    return f"{points(share, 2 if abs(share) < 0.1 else DIGITS)} %"


def points(share: float, digits: int = DIGITS) -> str:
    """Return a share in percentage points, without the words.

    Examples
    --------
    >>> points(0.28412), points(2e-13), points(4.1e-9)
    ('28.4', '0', '<0.0001')
    """
    if _NO_SHARE <= abs(share) < _LEAST_SHARE:  # where a number would have an exponent
        return "<0.0001" if share > 0 else ">−0.0001"
    return number(0.0 if abs(share) < _NO_SHARE else 100 * share, digits)


def percents(ends: Iterable[float]) -> str:
    """Return an interval of shares in percent.

    Examples
    --------
    >>> percents((0.689, 0.7141))
    '68.9 % to 71.4 %'
    """
    lower, upper = ends
    return f"{percent(lower)} to {percent(upper)}"


def share_of(part: float, whole: float) -> str:
    """Return a part in percent of a whole; of a positive whole, where even a trace has a sign.

    Examples
    --------
    >>> share_of(0.028, 0.032), share_of(1e-9, 0.032), share_of(-0.001, 0.032)
    ('87.5 %', '<0.1 %', '−3.1 %')
    """
    share = part / whole
    return "<0.1 %" if 0 < abs(share) < 0.0005 else percent(share)


def amount(value: float) -> str:
    """Return a number of records, or their weight, in full.

    Examples
    --------
    >>> amount(17390), amount(1234.5)
    ('17,390', '1,234.5')
    """
    return f"{value:,.12g}"


def counted(count: int, thing: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "cell"), counted(2500, "cell")
    ('1 cell', '2,500 cells')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


_MOST_NAMED = 8
"""Groups and silos that are named; of more, the rest is counted."""


def named(names: Sequence[str]) -> str:
    """Return names separated by commas, cut after a few.

    Examples
    --------
    >>> named("abc")
    'a, b, c'
    """
    shown = ", ".join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def pointer(*steps: str | int) -> str:
    """Return the JSON pointer (RFC 6901) that takes these steps from the top.

    Examples
    --------
    >>> pointer("silos", 3, "n", "a/b~c")
    '/silos/3/n/a~1b~0c'
    """
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


NOTHING: Final = "–"
"""The text where the result has no number."""


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)


def _ends(ends: list[float | None]) -> tuple[float, float]:
    """An interval; JSON writes an end without limit as null."""
    lower, upper = ends
    return -math.inf if lower is None else lower, math.inf if upper is None else upper


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


FOUR_FIFTHS: Final[Mapping[str, str]] = {
    "below four fifths": "below",
    "at least four fifths": "at least",
    "undetermined": "cannot be told",
}
"""Answers on four fifths as a column of that name has them."""

_FORMS: Final[Mapping[str, Callable[[Any], str]]] = {
    "number": number,
    "signed": _signed,
    "stated": stated,
    "percent": percent,
    "amount": amount,
    "span": lambda ends: span(_ends(ends)),
    "percents": lambda ends: percents(_ends(ends)),
    "text": _text,
    "four fifths": lambda answer: FOUR_FIFTHS[answer],
}
"""Ways to write what JSON holds, by the name that ``data-as`` gives them in a page."""


def written(value: Any, form: str) -> str:  # noqa: ANN401 -- JSON holds anything
    """Return a value of the JSON as a report shows it.

    Examples
    --------
    >>> written(0.0421053, "number"), written([0, 0.5], "span"), written(None, "number")
    ('0.0421', '0 to 0.5', '–')
    >>> written([0.621, None], "span")
    '0.621 to ∞'
    """
    return NOTHING if value is None else _FORMS[form](value)


def width_of(text: str) -> int:
    """Return how many columns a text takes.

    Examples
    --------
    >>> width_of("Aurora"), width_of("東京"), width_of("e\u0301")
    (6, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """Return the text, or its beginning and an ellipsis where it does not fit.

    Examples
    --------
    >>> cut("Bayside", 7), cut("Bayside", 5)
    ('Bayside', 'Bays…')
    """
    if width_of(text) <= width:
        return text
    return _beginning(text, width - 1) + "…"


def _beginning(text: str, width: int) -> str:
    taken = 0
    for position, character in enumerate(text):
        taken += _columns(character)
        if taken > width:
            return text[:position]
    return text


def left(text: str, width: int) -> str:
    """Return the text in exactly ``width`` columns, from the left."""
    fitted = cut(text, width)
    return fitted + " " * (width - width_of(fitted))


def right(text: str, width: int) -> str:
    """Return the text in exactly ``width`` columns, to the right."""
    fitted = cut(text, width)
    return " " * (width - width_of(fitted)) + fitted


def wrapped(text: str, width: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """Return the text on lines of at most ``width`` columns, broken at spaces where there are.

    ``first`` is put before the first line, ``rest`` (spaces of the same width if absent) before others.

    Examples
    --------
    >>> wrapped("two silos sent nothing", 12, first="! ")
    ['! two silos', '  sent', '  nothing']
    """
    rest = " " * width_of(first) if rest is None else rest
    lines, line, empty = [], first, True
    for word in _pieces(text, width - max(width_of(first), width_of(rest))):
        if not empty and width_of(line) + 1 + width_of(word) > width:
            lines.append(line)
            line, empty = rest, True
        line += word if empty else f" {word}"
        empty = False
    return [*lines, line]


def _pieces(text: str, width: int) -> list[str]:
    """The words of a text, those longer than a line cut into several."""
    pieces = []
    for word in text.split():
        remaining = word
        while width_of(remaining) > width:
            head = _beginning(remaining, width)
            pieces.append(head)
            remaining = remaining[len(head) :]
        pieces.append(remaining)
    return pieces


_FEW = 4
"""Entries of a sequence or a mapping that are shown one by one."""
_LONGEST = 60
"""Characters of a text that are shown."""


def one_line(thing: object) -> str:
    """Return a dataclass on one line, however much it holds: of a long field only its size.

    Examples
    --------
    >>> from fedparity.laws.bounds import Bracket
    >>> one_line(Bracket(lower=1 / 3, value=0.5, upper=2 / 3))
    'Bracket(lower=0.333333, upper=0.666667, value=0.5)'
    """
    held: Any = thing
    shown = (f"{each.name}={brief(getattr(held, each.name))}" for each in fields(held))
    return f"{type(thing).__name__}({', '.join(shown)})"


def brief(value: Any) -> str:  # noqa: ANN401 -- a field may hold anything
    """Return what a field holds in a few words, on one line, and never another part in full.

    Examples
    --------
    >>> brief((0.5, "a")), brief(list(range(1000)))
    ("(0.5, 'a')", '<1,000 entries>')
    """
    if isinstance(value, float):
        return f"{value:.6g}"
    if is_dataclass(value):
        return _brief_part(value)
    if hasattr(value, "__len__") and not isinstance(value, str):
        return _brief_entries(value)
    text = str(getattr(value, "__name__", "…")) if callable(value) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _brief_part(part: Any) -> str:  # noqa: ANN401
    if hasattr(part, "value"):
        return f"{type(part).__name__}({brief(part.value)})"
    if hasattr(part, "lower"):
        return f"[{brief(part.lower)}, {brief(part.upper)}]"
    return f"{type(part).__name__}(…)"


def _brief_entries(entries: Any) -> str:  # noqa: ANN401
    if len(entries) > _FEW or not isinstance(entries, Mapping | tuple | list):
        return f"<{len(entries):,} entries>"
    if isinstance(entries, Mapping):
        return f"{{{', '.join(f'{key!r}: {brief(held)}' for key, held in entries.items())}}}"
    inside = ", ".join(map(brief, entries))
    return f"({inside},)" if len(entries) == 1 else f"({inside})"


class OneLine:
    """A dataclass whose ``repr`` is :func:`one_line`."""

    def __init_subclass__(cls, **options: Any) -> None:  # noqa: ANN401 -- of other bases
        super().__init_subclass__(**options)
        if "__repr__" not in vars(
            cls
        ):  # the decorator, which comes next, leaves one that is there
            cls.__repr__ = OneLine.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return one_line(self)
