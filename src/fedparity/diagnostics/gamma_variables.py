"""Gamma variables, fast: the spacings between the levels of redrawn records."""

from __future__ import annotations

import numpy as np

from fedparity.laws.arrays import FloatArray

__all__ = ["GammaVariables"]


class GammaVariables:
    r"""Gamma variables of given shapes, by the cube of a normal one (Wilson and Hilferty).

    :math:`a (1 - \frac{1}{9a} + \frac{z}{3\sqrt a})^3` has the mean, the variance and the skewness
    of Gamma(a) to within a few per cent even for a = 1, at a tenth of the cost. Gamma(0) is 0.
    """

    def __init__(self, shapes: FloatArray) -> None:
        positive = np.maximum(shapes, 1e-9)
        root = np.cbrt(shapes)
        self.location = root * (1 - 1 / (9 * positive))
        self.scale = root / (3 * np.sqrt(positive))

    def draw(self, random: np.random.Generator) -> FloatArray:
        """Return one variable of each shape."""
        return self.of(self.normal(random))

    def normal(self, random: np.random.Generator) -> FloatArray:
        """Return one standard normal variable for each shape."""
        normal: FloatArray = random.standard_normal(self.scale.size)
        return normal

    def of(self, draws: FloatArray) -> FloatArray:
        """Return the variable of each shape that these normal ones give; they are used up."""
        draws *= self.scale
        draws += self.location
        np.maximum(draws, 0.0, out=draws)
        cubes: FloatArray = draws * draws * draws
        return cubes
