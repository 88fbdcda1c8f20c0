"""The two kinds of sketch."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from fedparity.errors import OptionError

__all__ = ["Kind", "check_kind"]

Kind: TypeAlias = Literal["quantile", "mean"]
"""What the k numbers are: ``quantile`` values Q(u_l), or the ``mean`` of Q over each bin."""


def check_kind(kind: str) -> None:
    """Raise unless ``kind`` is one of :data:`Kind`."""
    if kind not in get_args(Kind):
        raise OptionError.unknown("kind", kind, get_args(Kind))
