"""Silos for a table that has none: records assigned at random, or by their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fedparity.errors import GroupError, OptionError, ScoreError
from fedparity.laws.labels import Group, check_aligned, encode_labels
from fedparity.laws.law import FloatArray, IntArray, as_scores, check_magnitude
from fedparity.text import OneLine

__all__ = ["Allocation", "Cut", "Regime", "allocate", "check_allocation"]

Regime: TypeAlias = Literal["random", "positive", "negative"]
"""``random``: scores play no part; ``positive``: every group is sorted the same way;
``negative``: one group the other way round."""
Cut: TypeAlias = Literal["paper", "margins"]
"""``paper``: the latent variable is cut; ``margins``: its ranks within the group are."""


@dataclass(frozen=True, eq=False)
class Allocation(OneLine):
    """The silo of each record, and how strongly it depends on the score."""

    silos: IntArray
    """The silo of each record, from 0."""
    number: int
    """Number of silos; one of them may have no record."""
    scores: FloatArray = field(repr=False)

    @cached_property
    def pearson(self) -> float | None:
        """Pearson's correlation of score and silo; None if all scores, or all silos, are equal."""
        return _correlation(self.scores, self.silos)

    @cached_property
    def spearman(self) -> float | None:
        """Spearman's correlation: Pearson's of the ranks, equal values sharing their mean rank."""
        return _correlation(_mean_ranks(self.scores), _mean_ranks(self.silos))

    @property
    def names(self) -> npt.NDArray[Any]:
        """The name of each record's silo: ``silo 1``, ``silo 2``, with zeros so that they sort."""
        width = len(str(self.number))
        names = np.array([f"silo {j:0{width}}" for j in range(1, self.number + 1)])
        named: npt.NDArray[Any] = names[self.silos]
        return named


def allocate(
    scores: object,
    *,
    silos: int,
    regime: Regime = "random",
    rho: float = 0.8,
    groups: object = None,
    flipped: Group | None = None,
    cut: Cut = "paper",
    seed: int | Sequence[int] = 0,
) -> Allocation:
    r"""Assign the records of one table to silos, as the paper's experiments do.

    A baseline assigns every record to one of d silos, uniformly; it fixes how many records of each
    group a silo has, :math:`N_{\ell,g}`. ``random`` keeps it. The other regimes tie the silo to
    the score through a Gaussian copula,

    .. math:: U_i = \Phi\bigl(\rho\,\Phi^{-1}(R_i) + \sqrt{1-\rho^2}\,\varepsilon_i\bigr), \qquad
        R_i = \mathrm{rank}(Z_i)/(n+1),

    with ranks among all records, equal scores in random order, and cut :math:`U` into silos in
    the proportions :math:`N_{\cdot,g}`, group by group. ``negative`` replaces :math:`U` by
    :math:`1-U` in one group.

    :math:`U` is uniform over all records and not within a group, so that cutting it (``paper``)
    does not preserve :math:`N_{\ell,g}`: a group with high scores fills the last silos. Cutting
    its ranks within the group (``margins``) does, to the record.

    Parameters
    ----------
    scores : array of numbers
    silos : int
        How many, d.
    regime : "random", "positive" or "negative"
    rho : float in [0, 1), default 0.8
        How strongly the silo depends on the score; 0 is not at all. 0.8 gives the paper's tables.
    groups : labels, optional
        One per score; all records are one group if absent. ``negative`` needs two groups.
    flipped : label, optional
        The group that ``negative`` sorts the other way; the last in the order of labels if absent.
    cut : "paper" or "margins"
    seed : int or sequence of int
        Equal seeds give equal silos; the regimes of one seed share their baseline and their noise.

    Raises
    ------
    OptionError
        If an option is out of its range.
    GroupError
        If ``negative`` has no group to flip.

    References
    ----------
    The paper, appendix `app:compas:alloc`; the synthetic example, `sec:exp:synthetic`, uses the
    same.

    Examples
    --------
    >>> scores = np.linspace(0, 1, 1000)
    >>> made = allocate(scores, silos=5, regime="positive", seed=1)
    >>> made.silos[:3], round(made.spearman, 1)
    (array([0, 0, 0]), 0.7)
    >>> abs(allocate(scores, silos=5, seed=1).spearman) < 0.1
    True
    """
    check_allocation(silos, regime, rho, cut)
    random = _generator(seed)
    values = as_scores(scores)
    check_magnitude(values, "scores")
    labels, codes = _groups(groups, values.size)
    check_aligned({"scores": scores, "groups": groups})
    baseline = random.integers(0, silos, values.size)
    if regime == "random":
        return Allocation(_frozen(baseline), silos, values)
    latent = _latent(values, rho, random)
    if regime == "negative":
        turned = codes == _flipped_code(labels, flipped)
        latent[turned] *= -1.0  # Φ(-x) = 1 - Φ(x)
    dealt = np.empty_like(baseline)
    for code in range(len(labels)):
        own = np.flatnonzero(codes == code)
        counts = np.bincount(baseline[own], minlength=silos)
        dealt[own] = (_cut_values if cut == "paper" else _cut_ranks)(latent[own], counts)
    return Allocation(_frozen(dealt), silos, values)


def _frozen(silos: IntArray) -> IntArray:
    silos.flags.writeable = False
    return silos


def _latent(scores: FloatArray, rho: float, random: np.random.Generator) -> FloatArray:
    r"""Return :math:`\Phi^{-1}(U)`: cutting it saves :math:`\Phi`, which only changes the scale."""
    order = np.lexsort((random.random(scores.size), scores))
    noise = random.normal(size=scores.size)
    latent = np.empty(scores.size)
    latent[order] = rho * _normal_scores(scores.size)
    latent += np.sqrt(1 - rho**2) * noise
    return latent


@lru_cache(maxsize=4)  # simulations allocate the same table again and again
def _normal_scores(size: int) -> FloatArray:
    r"""Return :math:`\Phi^{-1}(r/(n+1))` for the ranks r from 1 to n."""
    return _normal_quantiles(np.arange(1, size + 1) / (size + 1))


def _normal_quantiles(levels: FloatArray) -> FloatArray:
    r"""Return :math:`\Phi^{-1}` of levels from 0 to 1, infinite at both ends."""
    from statistics import NormalDist  # noqa: PLC0415 -- slow to import

    quantiles = np.where(levels > 0, np.inf, -np.inf)
    inside = (levels > 0) & (levels < 1)
    quantiles[inside] = np.fromiter(map(NormalDist().inv_cdf, levels[inside].tolist()), float)
    return quantiles


def _cut_values(latent: FloatArray, counts: IntArray) -> IntArray:
    """Return the silo of each record of a group, cut where the share of the baseline is reached."""
    ends = _normal_quantiles(np.cumsum(counts[:-1]) / counts.sum())
    return np.searchsorted(ends, latent, side="left")


def _cut_ranks(latent: FloatArray, counts: IntArray) -> IntArray:
    """Return the silo of each record of a group, each silo as large as in the baseline."""
    dealt = np.empty(latent.size, dtype=np.int64)
    dealt[np.argsort(latent, kind="stable")] = np.repeat(np.arange(counts.size), counts)
    return dealt


def _correlation(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float | None:
    """Return Pearson's correlation, or None if one of the columns is constant."""
    columns = []
    for values in (first, second):
        if values.min() == values.max():
            return None
        centered = values - values.mean(dtype=np.float64)
        columns.append(centered / np.abs(centered).max())  # a tiny difference squared would be 0
    x, y = columns
    return float(np.clip(np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y)), -1.0, 1.0))


def _mean_ranks(values: npt.NDArray[Any]) -> FloatArray:
    """Return the rank of each value from 1; equal values have the mean of their ranks."""
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle: FloatArray = np.cumsum(counts) - (counts - 1) / 2
    return middle[position]


def _groups(groups: object, size: int) -> tuple[tuple[Group, ...], IntArray]:
    if groups is None:
        return (None,), np.zeros(size, dtype=np.int64)
    labels, codes = encode_labels(groups)
    if codes.size != size:
        raise ScoreError.lengths_differ("groups", codes.size, "scores", size)
    return labels, codes


def _flipped_code(labels: Sequence[Group], flipped: Group | None) -> int:
    if len(labels) < 2:
        raise GroupError(
            "the negative regime sorts one group the other way round, but there is only one.",
            fix="pass groups= with two labels or more, or choose the regime 'positive'.",
        )
    if flipped is None:
        return len(labels) - 1
    if flipped not in labels:
        raise OptionError.unknown("flipped", flipped, map(str, labels))
    return labels.index(flipped)


def _generator(seed: object) -> np.random.Generator:
    try:
        if seed is not None:  # None would be another allocation every time
            return np.random.default_rng(seed)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        pass
    raise OptionError(
        f"seed must be a whole number of at least 0, or several, not {seed!r}.",
        fix="pass seed=0, or for many allocations seed=(0, 0), seed=(0, 1) and so on.",
    )


def check_allocation(silos: object, regime: str, rho: object, cut: str) -> None:
    """Raise an OptionError if an option of an allocation is out of its range."""
    if isinstance(silos, bool) or not isinstance(silos, int | np.integer) or silos < 1:
        raise OptionError(
            f"silos must be a whole number of at least 1, not {silos!r}.",
            fix="pass silos=5, or another number of silos.",
        )
    if regime not in get_args(Regime):
        raise OptionError.unknown("regime", regime, get_args(Regime))
    if cut not in get_args(Cut):
        raise OptionError.unknown("cut", cut, get_args(Cut))
    if not (isinstance(rho, int | float | np.floating) and 0 <= rho < 1):
        raise OptionError(
            f"rho must be at least 0 and below 1, not {rho!r}.",
            fix="pass rho=0.8, or another strength; the regime 'negative' sets the direction.",
        )
