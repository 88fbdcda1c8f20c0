"""How large a disparity is, in units that people can read, given bounds of what was not seen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from fedparity.diagnostics.brackets import Bracket
from fedparity.diagnostics.certificate import Certificate, certify_pairs
from fedparity.diagnostics.intervals import Interval
from fedparity.diagnostics.magnitudes import Magnitudes, magnitudes
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.federated.mixtures import mixtures
from fedparity.laws.labels import Group

__all__ = ["Sizes", "sampled_deviation"]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Magnitudes with bounds, and bounds of the distances that the plan has compared."""

    magnitudes: Magnitudes
    pairs: tuple[Interval, ...]
    """What the distance of every two groups can be, of the plan's order and trim."""

    @classmethod
    def of(
        cls,
        federation: Federation,
        method: Method,
        *,
        score_range: tuple[float, float],
        unseen: Mapping[Group, float] | None = None,
        unseen_total: float | None = None,
    ) -> Sizes:
        """Return them for a federation; options are those of :func:`fedparity.certify`."""
        found = magnitudes(
            federation, method, score_range=score_range, unseen=unseen, unseen_total=unseen_total
        )
        bounds: Iterable[Bracket | Certificate] = (pair.distance for pair in found.pairs)
        if method.order == 1 or method.trim:
            bounds = certify_pairs(
                federation,
                score_range=score_range,
                order=method.order,
                trim=method.trim,
                unseen=unseen,
                unseen_total=unseen_total,
            )
        return cls(
            magnitudes=found, pairs=tuple(Interval(each.lower, each.upper) for each in bounds)
        )


def sampled_deviation(federation: Federation, known: Bracket, confidence: float) -> Interval:
    r"""Return what the standard deviation within groups could be in the population.

    The mean V of the squares :math:`(Z - \mu_s)^2` of n independent records has the variance
    :math:`(E(Z - \mu_s)^4 - V^2) / n`, and its root that over 4 V. The moments are those of the
    mixtures; bounds of the raw data's deviation are added.
    """
    laws = mixtures(federation)
    centered = [law.atoms - law.mean for law in laws.values()]
    squares, fourths = (
        float(
            np.dot(
                federation.shares,
                [
                    law.masses @ part**power
                    for law, part in zip(laws.values(), centered, strict=True)
                ],
            )
        )
        for power in (2, 4)
    )
    weight = federation.counts.astype(np.float64)
    records = weight.sum() ** 2 / np.sum(weight**2 / federation.effective)
    error = math.sqrt(max(0.0, fourths - squares**2) / records)
    error = NormalDist().inv_cdf((1 + confidence) / 2) * error / (2 * math.sqrt(squares or 1.0))
    return Interval(max(0.0, known.lower - error), known.upper + error)
