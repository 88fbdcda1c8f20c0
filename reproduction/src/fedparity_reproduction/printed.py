"""What the paper prints: its tables and the numbers of its text, digit by digit."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["PrintedBlock", "PrintedNumber", "printed_blocks", "printed_numbers", "unit_of"]


@dataclass(frozen=True)
class PrintedBlock:
    """One regime of one table: a row per measure, its columns the whole and the silos."""

    label: str
    """The table's label in the paper's source."""
    dataset: str
    regime: str
    rows: dict[str, tuple[str, ...]]
    """As printed: 0.0000 says more than 0."""


@dataclass(frozen=True)
class PrintedNumber:
    """A number of the running text."""

    place: str
    dataset: str
    quote: str
    """How the paper's source writes it."""
    measure: str
    value: str


@cache
def printed_blocks() -> tuple[PrintedBlock, ...]:
    """Return the blocks of all tables, in the paper's order.

    Examples
    --------
    >>> first = printed_blocks()[0]
    >>> first.label, first.regime, first.rows["U2"][:2]
    ('tab:compas_random', 'positive', ('0.7609', '0.0748'))
    """
    return tuple(
        PrintedBlock(
            label=block["label"],
            dataset=block["dataset"],
            regime=block["regime"],
            rows={measure: tuple(values.split()) for measure, values in block["rows"].items()},
        )
        for block in _document()["block"]
    )


@cache
def printed_numbers() -> tuple[PrintedNumber, ...]:
    """Return the numbers of the running text.

    Examples
    --------
    >>> {number.measure for number in printed_numbers() if number.dataset == "synthetic"}
    {'U2'}
    """
    return tuple(PrintedNumber(**number) for number in _document()["text"])


def unit_of(printed: str) -> float:
    """Return what one unit of the last printed digit is worth.

    Examples
    --------
    >>> unit_of("0.7609"), unit_of("3696")
    (0.0001, 1.0)
    """
    return float(10 ** -len(printed.partition(".")[2]))


@cache
def _document() -> dict[str, Any]:
    text = files(__package__).joinpath("printed.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
