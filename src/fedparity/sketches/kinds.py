"""The kinds of sketch."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import numpy as np

from fedparity.errors import OptionError
from fedparity.laws.arrays import FloatArray

__all__ = [
    "DEFAULT_ESTIMATOR",
    "DEFAULT_LEVELS",
    "DEFAULT_SKETCH",
    "Kind",
    "check_kind",
    "default_kind",
]

Kind: TypeAlias = Literal["quantile", "mean", "counts"]
"""What the numbers are: ``quantile`` values Q(u_l), the ``mean`` of Q over each bin, or the
``counts`` of records at the points of a public grid."""


def check_kind(kind: str) -> None:
    """Raise unless ``kind`` is one of :data:`Kind`."""
    if kind not in get_args(Kind):
        raise OptionError.unknown("kind", kind, get_args(Kind))


DEFAULT_SKETCH: Final = "mean"
"""Bin means, with the mean square of what they leave out."""
DEFAULT_ESTIMATOR: Final = "exact"
"""Mixtures are integrated exactly."""
DEFAULT_LEVELS: Final = 100
"""The k of a sketch, at most."""


def default_kind(scores: FloatArray, levels: int) -> Kind:
    """Return ``counts`` where no more than ``levels`` scores are different, else the default.

    Examples
    --------
    >>> default_kind(np.array([1.0, 2.0, 2.0, 1.0]), 100), default_kind(np.arange(9.0), 8)
    ('counts', 'mean')
    """
    few = np.unique(scores[: 64 * levels]).size <= levels and np.unique(scores).size <= levels
    return "counts" if few else DEFAULT_SKETCH
