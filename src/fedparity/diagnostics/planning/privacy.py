"""What noise will cost an audit, before anybody spends a budget: by simulation on stated shapes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from fedparity.diagnostics.checks import check_confidence
from fedparity.diagnostics.planning.options import check_at_least, checked_shape, checked_shares
from fedparity.diagnostics.planning.private_simulation import PrivateAudit, Simulated
from fedparity.diagnostics.planning.progress import Progress
from fedparity.diagnostics.planning.score_laws import disparity_between
from fedparity.diagnostics.planning.shapes import Shape
from fedparity.diagnostics.planning.strengths import strength_at
from fedparity.errors import OptionError
from fedparity.laws.arrays import FloatArray
from fedparity.privacy.noise_law import NoiseLaw

__all__ = ["NoiseMode", "PrivacyPlan", "PrivacyRow", "plan_privacy"]

NoiseMode: TypeAlias = Literal["dp", "secure+dp"]
_MULTIPLES = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
"""Of the epsilon asked about: where the curve of errors is drawn."""


@dataclass(frozen=True, kw_only=True)
class PrivacyRow:
    r"""What an audit at one epsilon can be expected to show, in the units of :math:`G_2`."""

    epsilon: float
    bins: int
    error: float
    """Mean distance of the estimate from the raw data's disparity: noise and bins."""
    large_error: float
    """What that distance exceeds with probability 1 − confidence only."""
    interval: float
    """Half the width of the interval for the raw data, on average: noise, and bins on top."""
    population: float
    """The same for the population: sampling too."""


@dataclass(frozen=True, kw_only=True)
class PrivacyPlan:
    """The price of noise in accuracy, for planned settings."""

    epsilon: float
    records: int
    """Of each group in all silos together."""
    silos: int
    groups: int
    mode: NoiseMode
    doses: float
    """Doses of noise in the sum over all silos."""
    disparity: float
    """Of the laws that were simulated."""
    shape: str
    meaning: str
    score_range: tuple[float, float]
    sampling: float
    """Half the width of the interval for the population if no noise were added."""
    confidence: float
    replicates: int
    seed: int
    by_epsilon: tuple[PrivacyRow, ...]

    @property
    def answer(self) -> PrivacyRow:
        """The row of the epsilon asked about."""
        return next(row for row in self.by_epsilon if row.epsilon == self.epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON holds it."""
        return {**asdict(self), "answer": asdict(self.answer)}


def plan_privacy(
    *,
    epsilon: float,
    records: int,
    silos: int = 5,
    groups: int = 2,
    bins: int | None = None,
    mode: NoiseMode = "dp",
    honest: int | None = None,
    disparity: float | None = None,
    shape: str | Shape = "beta",
    score_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    replicates: int = 400,
    seed: int = 0,
    progress: Progress | None = None,
) -> PrivacyPlan:
    r"""Return the error that noise adds to :math:`G_2`, at this epsilon and others around it.

    Audits are simulated: records of every group from its law, dealt to the silos at random and
    counted in bins; then noise, the projection and the estimate of a real audit.

    Parameters
    ----------
    epsilon : float
    records : int
        Of each group in all silos together.
    bins : int, optional
        By the rule of plans if absent; at most as many as there are scores.
    mode : "dp" or "secure+dp"
        Noise in the histogram of each silo, or in the sum over them.
    honest : int, optional
        With ``secure+dp``, silos whose shares of noise make one dose; a full dose each if absent.
    disparity : float, optional
        The shape's own at strength 1 if absent.
    shape : str or Shape
        ``beta``, ``uniform``, ``normal`` or ``deciles``.

    Raises
    ------
    OptionError
        If an option is out of its range.

    Examples
    --------
    >>> found = plan_privacy(epsilon=1.0, records=5000, replicates=50)
    >>> found.answer.bins, found.answer.error < 0.05 * found.disparity
    (32, True)
    """
    _check_epsilon(epsilon)
    check_at_least(1, records, "records")
    check_at_least(1, silos, "silos")
    check_at_least(10, replicates, "replicates")
    check_confidence(confidence)
    chosen = checked_shape(shape, score_range)
    shares = checked_shares(groups, None)
    strength = 1.0 if disparity is None else strength_at(chosen, shares, disparity)
    laws = chosen.laws(groups, strength)
    doses = _doses(silos, mode, honest)
    rows: list[PrivacyRow] = []
    epsilons = [epsilon * multiple for multiple in _MULTIPLES]
    audit = PrivateAudit(
        laws=laws, score_range=(chosen.low, chosen.high), records=records, silos=silos
    )
    for number, each in enumerate(epsilons):
        found = audit.simulate(
            bins=bins or audit.planned_bins(each, doses),
            noise=NoiseLaw(each, 1.0 if mode == "dp" else doses),
            summed=mode != "dp",
            replicates=replicates,
            seed=seed,
        )
        rows.append(_row(each, found, confidence))
        if progress is not None:
            progress(number + 1, len(epsilons))
    return PrivacyPlan(
        epsilon=epsilon,
        records=records,
        silos=silos,
        groups=groups,
        mode=mode,
        doses=doses,
        disparity=disparity_between(laws, shares),
        shape=chosen.name,
        meaning=chosen.meaning,
        score_range=(chosen.low, chosen.high),
        sampling=_half_width(found.raw, confidence),
        confidence=confidence,
        replicates=replicates,
        seed=seed,
        by_epsilon=tuple(rows),
    )


def _row(epsilon: float, found: Simulated, confidence: float) -> PrivacyRow:
    sizes = np.abs(found.errors)
    return PrivacyRow(
        epsilon=epsilon,
        bins=found.bins,
        error=float(sizes.mean()),
        large_error=float(np.quantile(sizes, confidence)),
        interval=_half_width(found.errors, confidence) + found.binning,
        population=_half_width(found.raw + found.errors, confidence) + found.binning,
    )


def _half_width(values: FloatArray, confidence: float) -> float:
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(high - low) / 2


def _doses(silos: int, mode: str, honest: int | None) -> float:
    if honest is None:
        return float(silos)
    if mode != "secure+dp" or not 1 <= honest <= silos:
        raise OptionError(
            f"honest must be a number of the {silos} silos, with mode 'secure+dp'; not {honest!r}.",
            fix="leave honest out for a full dose of noise from each silo.",
        )
    return silos / honest


def _check_epsilon(epsilon: float) -> None:
    if not 1e-3 <= epsilon <= 1e3:
        raise OptionError(
            f"epsilon must lie between 0.001 and 1,000, not {epsilon!r}.",
            fix="pass epsilon=1.0, say; smaller protects more.",
        )
