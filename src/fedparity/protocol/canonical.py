"""Canonical JSON: one sequence of bytes for one document (RFC 8785)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import Any

from fedparity.errors import DocumentError

__all__ = ["LARGEST_INTEGER", "canonical_bytes", "number_text"]

LARGEST_INTEGER = 2**53 - 1
"""The largest whole number that every JSON reader keeps exactly."""


def canonical_bytes(document: object) -> bytes:
    r"""Return the canonical bytes of a document, as RFC 8785 defines them.

    No space between tokens; members sorted by the UTF-16 code units of their names; numbers as
    ECMAScript prints them; text in UTF-8, escaped only where JSON asks for it. Two documents
    have the same bytes exactly when they are equal, so that bytes can be hashed and signed.

    Raises
    ------
    DocumentError
        If a number is not finite, a whole number is beyond :math:`2^{53} - 1`, a text has a lone
        surrogate, or a value has no JSON form.

    Examples
    --------
    >>> canonical_bytes({"b": [1.0, 1e-7, True], "a": None})
    b'{"a":null,"b":[1,1e-7,true]}'
    """
    try:
        return _text(document).encode()
    except UnicodeEncodeError:
        raise DocumentError.lone_surrogate() from None


def number_text(number: float) -> str:
    """Return a number as ECMAScript prints it (RFC 8785, section 3.2.2.3).

    Examples
    --------
    >>> [number_text(x) for x in (1e21, 1e20, 0.000001, 1.5e-7, -0.0)]
    ['1e+21', '100000000000000000000', '0.000001', '1.5e-7', '0']
    """
    if isinstance(number, int):
        if abs(number) > LARGEST_INTEGER:
            raise DocumentError.number_too_large()
        return str(number)
    if not isfinite(number):
        raise DocumentError.not_a_number()
    sign = "-" if number < 0 else ""
    return sign + _laid_out(*_shortest(abs(number)))


def _shortest(number: float) -> tuple[str, int]:
    """The digits of the shortest decimal that reads back as ``number``; where its point stands.

    ``repr`` finds those digits; 0.00123 gives ("123", -2), for 0.123 times ten to the -2.
    """
    mantissa, _, exponent = repr(float(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    point = len(whole) - leading + int(exponent or 0)
    return digits.rstrip("0") or "0", point


def _laid_out(digits: str, point: int) -> str:
    """The digits with a point or an exponent, where ECMAScript puts them."""
    size = len(digits)
    if digits == "0":
        return "0"
    if size <= point <= 21:
        return digits + "0" * (point - size)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    fraction = f".{digits[1:]}" if size > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"


def _text(value: Any) -> str:  # noqa: ANN401 -- whatever a document holds
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted()(value)
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, Mapping):
        return _object_text(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return _array_text(value)
    raise DocumentError.not_canonical(type(value))


@cache
def _quoted() -> Callable[[str], str]:
    """What quotes a text: JSON's own escapes, in the form that RFC 8785 asks for."""
    from json.encoder import encode_basestring  # noqa: PLC0415 -- not at start

    return encode_basestring


def _object_text(members: Mapping[str, object]) -> str:
    for name in members:
        if not isinstance(name, str):
            raise DocumentError.not_canonical(type(name))
    names = sorted(members, key=lambda name: name.encode("utf-16-be"))
    pairs = (f"{_quoted()(name)}:{_text(members[name])}" for name in names)
    return "{" + ",".join(pairs) + "}"


def _array_text(items: Sequence[object]) -> str:
    if set(map(type, items)) == {float}:
        return f"[{_floats_text(items)}]"
    return "[" + ",".join(map(_text, items)) + "]"


def _floats_text(numbers: Sequence[Any]) -> str:
    """Many floats at once: where no exponent is needed, ``repr`` differs only by a final .0."""
    text = ",".join(map(repr, numbers)) + ","
    if "e" in text or "n" in text or "-0.0," in text:  # an exponent, inf or nan, a negative zero
        return ",".join(map(number_text, numbers))
    return text.replace(".0,", ",")[:-1]
