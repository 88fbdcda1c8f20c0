"""What can be proved about the error of an audit, and about what it detects."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fedparity.federated.estimate import Estimator
from fedparity.sketches.kinds import Kind
from fedparity.uncertainty.guarantees import dkw_band

__all__ = ["Bounds"]


@dataclass(frozen=True, kw_only=True)
class Bounds:
    r"""What can be promised of :math:`\hat G_{k,2}`, with proofs.

    Scores lie in a range of length R, and :math:`\Lambda = 1 - \sum_s \alpha_s^2`. Write
    :math:`\hat Q_s` for the quantile functions that the audit compares and :math:`Q_s` for
    those of the group laws. Since :math:`G_2 = \frac{1}{2} \sum_{s,t} \alpha_s \alpha_t \int
    (Q_s - Q_t)^2`, everything follows from the gaps :math:`D = Q_s - Q_t` and :math:`\hat D`.

    **The sketch moves a cdf by at most** :math:`1/2k`. For :math:`q_\ell \le x < q_{\ell+1}` the
    step cdf is :math:`\ell/k`, and :math:`q_\ell = \inf\{F \ge u_\ell\}` gives :math:`(\ell -
    \frac{1}{2})/k \le F(x) < (\ell + \frac{1}{2})/k`, for any law, with atoms or without (the
    paper's `lem:stepcdf` has :math:`1/k`). Averages of cdfs keep the bound, so mixtures have
    it. The ``grid`` estimator sketches the mixture again: another :math:`1/2k`. Bin means move
    a cdf by at most :math:`1/k`, but in :math:`W_1 = \int |\bar q - Q|` by at most
    :math:`R/2k`: inside a bin the mean distance to the mean is at most half of the
    oscillation, and the oscillations add up to at most R.

    **Range.** :math:`W_1 = \int |\hat F - F| \le R \sup |\hat F - F|` on the range, and
    :math:`|\hat D^2 - D^2| \le 2R |\hat D - D|`. With :math:`W_1(\hat\nu_s, \nu_s) \le R \Delta`
    for all groups,

    .. math:: |\hat G - G| \le 2 \Lambda R^2 \Delta, \qquad \Delta = \frac{c}{2k} + \varepsilon,

    where c is 1 for ``exact`` and 2 for ``grid``. Against the same records :math:`\varepsilon =
    0` and the bound is :math:`c \Lambda R^2 / k`, whatever the records are. Against the laws,
    DKW–Massart and a union over the d·S cells give :math:`\varepsilon = \sqrt{\log(2dS/\delta) /
    2n}` with probability :math:`1 - \delta`, n being the smallest cell
    (:func:`~fedparity.uncertainty.guarantees.dkw_band`; paper, `lem:dkw:massart`).

    **Density.** Where every law has an interval as its support, the same for all cells of a
    group, and there a density of at least m, :math:`Q_s` is Lipschitz with constant 1/m and
    :math:`|\hat Q_s - Q_s| \le \eta = (c'/2k + \varepsilon)/m` at every level, because no value
    leaves the support; c' is c, plus 1 for bin means. Then :math:`|\hat D - D| \le 2\eta`,
    :math:`|\hat D^2 - D^2| \le 2\eta (2|D| + 2\eta)`, and by Cauchy–Schwarz
    :math:`\sum_{s \ne t} \alpha_s \alpha_t \int |D| \le \sqrt{2 \Lambda G}`, so that

    .. math:: |\hat G - G| \le 2\eta (\sqrt{2 \Lambda G} + \Lambda \eta).

    **Detection.** At parity D = 0, hence :math:`\hat G \le \Lambda R^2 \Delta` (range) and
    :math:`\hat G \le 2 \Lambda \eta^2` (density): a threshold g that is passed with probability
    at most :math:`\delta`. Elsewhere :math:`\hat G \ge G - 2 \Lambda R^2 \Delta'` (range) and
    :math:`\hat G \ge G - 2 \eta' \sqrt{2 \Lambda G}` (density), with :math:`\Delta'` and
    :math:`\eta'` for the probability 1 − power. The disparity is detected where the right side
    reaches g.

    Parameters
    ----------
    width : float
        The length R of the score range.
    density : float
        The m, or 0 without a positive density: then only the range counts. The sharper bound holds.
    shares : tuple of numbers
        The shares :math:`\alpha_s`.
    cells : int
        The number d·S of cells.
    kind : "quantile" or "mean"
    estimator : "grid" or "exact"

    Examples
    --------
    >>> bounds = Bounds(
    ...     width=1.0, density=0.0, shares=(0.5, 0.5), cells=10, kind="quantile", estimator="exact"
    ... )
    >>> bounds.sketch(100), bounds.levels_for(0.001)
    (0.005, 500)
    """

    width: float
    density: float
    shares: tuple[float, ...]
    cells: int
    kind: Kind
    estimator: Estimator

    @property
    def diversity(self) -> float:
        r"""The :math:`\Lambda`: the probability that two records are of different groups."""
        return 1 - sum(share * share for share in self.shares)

    def sketch(self, levels: int) -> float:
        """Return what the sketch adds at most, against the same records."""
        return self._by_range(levels, 0.0)

    def audit(self, levels: int, records: int, *, disparity: float, confidence: float) -> float:
        """Return what the error against the laws stays within with this confidence."""
        band = self._band(records, confidence)
        by_range = self._by_range(levels, band)
        if not self.density:
            return by_range
        eta = self._eta(levels, band)
        return min(by_range, 2 * eta * (self._gap(disparity) + self.diversity * eta))

    def levels_for(self, error: float) -> int:
        """Return the smallest k whose sketch adds at most ``error``."""
        return math.ceil(self.sketch(1) / error)

    def records_for(
        self, levels: int, *, error: float, disparity: float, confidence: float
    ) -> int | None:
        """Return the records per cell for this error, or None if the sketch alone may exceed it."""
        band = error / (2 * self.diversity * self.width**2) - self._transport(levels)
        if self.density:
            by_density = self.density * self._eta_for(error, disparity) - self._ranks(levels)
            band = max(band, by_density)
        return math.ceil((self._band(1, confidence) / band) ** 2) if band > 0 else None

    def detectable(
        self, levels: int, records: int, *, confidence: float, power: float
    ) -> float | None:
        """Return a disparity that is found with this power, or None if none on the range is."""
        threshold = self._threshold(levels, self._band(records, confidence))
        band = self._band(records, power)
        found = threshold + self._by_range(levels, band)
        if self.density:
            half = math.sqrt(2 * self.diversity) * self._eta(levels, band)
            found = min(found, (half + math.hypot(half, math.sqrt(threshold))) ** 2)
        return found if found <= self.diversity * self.width**2 / 2 else None

    def _threshold(self, levels: int, band: float) -> float:
        """What the estimate stays within at parity."""
        by_range = self._by_range(levels, band) / 2
        if not self.density:
            return by_range
        return min(by_range, 2 * self.diversity * self._eta(levels, band) ** 2)

    def _by_range(self, levels: int, band: float) -> float:
        return 2 * self.diversity * self.width**2 * (self._transport(levels) + band)

    def _eta(self, levels: int, band: float) -> float:
        """The error of quantiles, where there is a density."""
        return (self._ranks(levels) + band) / self.density

    def _eta_for(self, error: float, disparity: float) -> float:
        """The error of quantiles at which the density bound is ``error``."""
        gap = self._gap(disparity)
        root = math.hypot(gap, math.sqrt(2 * self.diversity * error))
        return (root - gap) / (2 * self.diversity)

    def _gap(self, disparity: float) -> float:
        return math.sqrt(2 * self.diversity * disparity)

    def _transport(self, levels: int) -> float:
        r""":math:`W_1` between a law and its sketch, over the width."""
        return (1 + (self.estimator == "grid")) / (2 * levels)

    def _ranks(self, levels: int) -> float:
        """Largest difference between a cdf and that of its sketch."""
        return self._transport(levels) + (self.kind == "mean") / (2 * levels)

    def _band(self, records: int, confidence: float) -> float:
        return dkw_band(records, confidence=confidence, cells=self.cells)
