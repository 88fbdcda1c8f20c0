"""Logistic regression by maximum likelihood: the scores of the paper's Adult and Law data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.errors import InputError
from fedparity.laws.arrays import FloatArray

__all__ = ["Column", "LogisticFit", "design", "fit_logistic"]

Column: TypeAlias = npt.NDArray[Any]
"""Numbers enter as they are; texts as one column of zeros and ones for each but the first level."""

_STEPS = 100
_HALVINGS = 40
_SMALL = 1e-10
"""Largest mean score (gradient per record) at the maximum, in columns of unit variance."""
_ALIASED = 1e-9
"""Share of a column's variance that earlier columns must leave unexplained."""


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """The maximum of the likelihood."""

    probabilities: FloatArray
    """Fitted probability of each record."""
    gradient: float
    """Largest derivative of the mean log-likelihood that is left."""
    steps: int
    rank: int
    """Columns of the design that are no combination of those before them."""


def design(columns: Sequence[Column]) -> FloatArray:
    """Return a constant, the numbers, and indicators of all levels of texts but the first.

    Numbers are centred and scaled, which changes no fitted probability.

    Examples
    --------
    >>> design([np.array([1.0, 3.0]), np.array(["b", "a"])])
    array([[ 1., -1.,  1.],
           [ 1.,  1.,  0.]])
    """
    parts = [np.ones(columns[0].size)]
    for column in columns:
        if column.dtype.kind in "fiub":
            spread = column.std()
            parts.append((column - column.mean()) / (spread if spread > 0 else 1.0))
        else:
            parts.extend((column == level).astype(float) for level in np.unique(column)[1:])
    return np.stack(parts, axis=1)


def fit_logistic(matrix: FloatArray, outcomes: npt.NDArray[np.bool_]) -> LogisticFit:
    r"""Return the fit that maximises the likelihood of :math:`P(Y=1|x) = 1/(1+e^{-x'b})`.

    Newton's method with halved steps where a full one would lower the likelihood. Columns that are
    combinations of those before them are left out: the fitted probabilities are the same.

    Raises
    ------
    InputError
        If the likelihood has no maximum, as when a column tells the outcomes apart.

    Examples
    --------
    >>> texts = np.array(["a", "a", "a", "a", "b", "b"])
    >>> outcomes = np.array([True, False, False, False, True, False])
    >>> fit_logistic(design([texts]), outcomes).probabilities.round(6)
    array([0.25, 0.25, 0.25, 0.25, 0.5 , 0.5 ])
    """
    kept = np.asfortranarray(matrix[:, _independent(matrix)])  # read by columns
    coefficients = np.zeros(kept.shape[1])
    value = _log_likelihood(kept, coefficients, outcomes)
    for step in range(_STEPS):
        fitted = _probabilities(kept, coefficients)
        slope = kept.T @ (outcomes - fitted) / outcomes.size
        left = float(np.abs(slope).max())
        if left <= _SMALL:
            return LogisticFit(fitted, left, step, kept.shape[1])
        curvature = (kept.T * (fitted * (1 - fitted))) @ kept / outcomes.size
        try:
            direction: FloatArray = np.linalg.solve(curvature, slope).astype(np.float64)
        except np.linalg.LinAlgError:
            break
        moved = _climb(kept, coefficients, direction, outcomes, value)
        if moved is None:
            break
        coefficients, value = moved
    raise InputError(
        "the logistic regression does not converge: some column may tell the outcomes apart.",
        fix="check that the file is the one that `fedparity datasets check` expects.",
    )


def _climb(
    matrix: FloatArray,
    start: FloatArray,
    direction: FloatArray,
    outcomes: npt.NDArray[np.bool_],
    value: float,
) -> tuple[FloatArray, float] | None:
    """The first of the halved steps that does not go down, beyond rounding."""
    slack = 1e-13 * max(1.0, abs(value))
    for halving in range(_HALVINGS):
        reached = start + direction * 0.5**halving
        found = _log_likelihood(matrix, reached, outcomes)
        if found >= value - slack:
            return reached, found
    return None


def _linear(matrix: FloatArray, coefficients: FloatArray) -> FloatArray:
    """The linear predictor, column by column: equal records have equal bits, in any place.

    A matrix product may add up in another order at the end of a block.
    """
    predictor = np.zeros(matrix.shape[0])
    for column, coefficient in zip(matrix.T, coefficients.tolist(), strict=True):
        predictor += column * coefficient
    return predictor


def _probabilities(matrix: FloatArray, coefficients: FloatArray) -> FloatArray:
    predictor = _linear(matrix, coefficients)
    small = np.exp(-np.abs(predictor))
    fitted: FloatArray = np.where(predictor >= 0, 1.0, small) / (1.0 + small)
    return fitted


def _log_likelihood(
    matrix: FloatArray, coefficients: FloatArray, outcomes: npt.NDArray[np.bool_]
) -> float:
    predictor = _linear(matrix, coefficients)
    return float(np.mean(np.where(outcomes, predictor, 0.0) - np.logaddexp(0.0, predictor)))


def _independent(matrix: FloatArray) -> list[int]:
    """The columns that are no combination of those before them, by Gram and Schmidt."""
    kept: list[int] = []
    basis: list[FloatArray] = []
    for position, column in enumerate(matrix.T):
        rest = column / np.sqrt(np.sum(column * column)) if column.any() else column
        for _ in range(2):  # twice is enough (Kahan)
            for direction in basis:
                rest = rest - direction * np.sum(direction * rest)
        length = float(np.sum(rest * rest))
        if length > _ALIASED:
            kept.append(position)
            basis.append(rest / np.sqrt(length))
    return kept
