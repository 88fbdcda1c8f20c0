"""What a sketch and its reading are where nobody says otherwise: the best that is known."""

from __future__ import annotations

from typing import Final

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.kinds import Kind

__all__ = ["DEFAULT_ESTIMATOR", "DEFAULT_LEVELS", "DEFAULT_SKETCH", "default_kind"]

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
