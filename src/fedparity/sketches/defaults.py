"""What a sketch and its reading are where nobody says otherwise: the best that is known."""

from __future__ import annotations

from typing import Final

__all__ = ["DEFAULT_ESTIMATOR", "DEFAULT_LEVELS", "DEFAULT_SKETCH"]

DEFAULT_SKETCH: Final = "mean"
"""Bin means, with the mean square of what they leave out."""
DEFAULT_ESTIMATOR: Final = "exact"
"""Mixtures are integrated exactly."""
DEFAULT_LEVELS: Final = 100
"""The k of a sketch, at most."""
