r"""The law of the noise in a sum of noisy counts: what an auditor knows of it.

A full dose is discrete Laplace, :math:`P(z) \propto p^{|z|}` with :math:`p = e^{-\varepsilon}`: the
difference of two geometric variables. The sum of r of them is the difference of two negative
binomial ones of shape r; with a split dose r need not be a whole number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fedparity.privacy.histograms import Counts

__all__ = ["NoiseLaw"]


@dataclass(frozen=True)
class NoiseLaw:
    r"""The noise of one count that holds ``doses`` doses at ``epsilon``.

    Only for statements about noise: what protects records comes from
    :mod:`fedparity.privacy.discrete_laplace` and :mod:`fedparity.privacy.polya`.

    Examples
    --------
    >>> round(NoiseLaw(1.0).deviation, 3), round(NoiseLaw(1.0, doses=4).deviation, 3)
    (1.357, 2.714)
    """

    epsilon: float
    doses: float = 1.0

    @property
    def variance(self) -> float:
        r"""The variance, :math:`2 r p / (1 - p)^2`."""
        p = math.exp(-self.epsilon)
        return 2 * self.doses * p / math.expm1(-self.epsilon) ** 2

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    def draw(self, random: np.random.Generator, shape: tuple[int, ...]) -> Counts:
        """Return simulated noise; equal generators give equal noise."""
        success = -math.expm1(-self.epsilon)
        plus = random.negative_binomial(self.doses, success, shape)
        return plus - random.negative_binomial(self.doses, success, shape)
