"""The kinds of sketch."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from fedparity.errors import OptionError

__all__ = ["Kind", "check_kind"]

Kind: TypeAlias = Literal["quantile", "mean", "counts"]
"""What the numbers are: ``quantile`` values Q(u_l), the ``mean`` of Q over each bin, or the
``counts`` of records at the points of a public grid."""


def check_kind(kind: str) -> None:
    """Raise unless ``kind`` is one of :data:`Kind`."""
    if kind not in get_args(Kind):
        raise OptionError.unknown("kind", kind, get_args(Kind))
