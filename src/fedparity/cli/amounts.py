"""Options that are typed with a unit or as a pair."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

__all__ = ["byte_count", "mapping_of"]

_UNITS = "", "K", "M", "G", "T"
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)


def byte_count(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Return the number of bytes of a text such as 500MB, 2GB or 1.5GiB; as click calls it.

    Raises
    ------
    click.BadParameter
        If it is none.
    """
    if text is None:
        return None
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise click.BadParameter(f"{text!r} is not a size such as 500MB or 2GB.", param=parameter)
    amount, unit, binary = found.groups()
    base = 1024 if binary else 1000
    return int(float(amount) * base ** _UNITS.index(unit.upper()))


def mapping_of(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return the pairs of several ``A=B``.

    Raises
    ------
    click.BadParameter
        If one is not a pair, or two have the same left side.
    """
    pairs: dict[str, str] = {}
    for text in texts:
        left, sign, right = text.partition("=")
        if not (sign and right):
            raise click.BadParameter(f"{text!r} is not of the form A=B.", param_hint=option)
        if left in pairs:
            raise click.BadParameter(f"{left!r} is given twice.", param_hint=option)
        pairs[left] = right
    return pairs
