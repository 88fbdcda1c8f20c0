"""The audits that are simulated: how many silos and groups, which laws, which sketches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Protocol

import numpy as np

from fedparity.errors import OptionError
from fedparity.federated.estimate import Estimator, Method
from fedparity.functionals.curves import disparities
from fedparity.laws.law import FloatArray, Law, QuantileTable
from fedparity.laws.progress import Progress
from fedparity.planning.provable import Bounds
from fedparity.sketches.kinds import Kind, check_kind
from fedparity.text import OneLine
from fedparity.uncertainty.checks import check_confidence

__all__ = [
    "SHAPES",
    "DensityLaw",
    "Purpose",
    "Scenario",
    "ScoreLaw",
    "Shape",
    "Steps",
    "check_at_least",
    "check_power",
    "checked_shape",
    "checked_shares",
    "disparity_between",
    "farthest_distance",
    "fewest_replicates",
    "upper_limit",
]


class Steps:
    """Counts the steps done, and reports them to a callback.

    Examples
    --------
    >>> steps = Steps(print, total=3)
    >>> steps.advance()
    1 3
    >>> steps.finish()
    3 3
    """

    def __init__(self, progress: Progress | None, *, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def advance(self) -> None:
        """One more step is done."""
        self._report(self._done + 1)

    def finish(self) -> None:
        """Say that everything is done, skipped steps included."""
        if self._done < self._total:
            self._report(self._total)

    def _report(self, done: int) -> None:
        self._done = done
        if self._progress is not None:
            self._progress(done, self._total)


_ROUNDING = 1e-9


def upper_limit(values: FloatArray, confidence: float) -> float:
    r"""Return what a further value stays within with this probability.

    It is the order statistic of rank :math:`\lceil c (B + 1) \rceil` of B: a further audit,
    equally likely to have any rank among them, is below it with probability at least c.
    Precondition: at least :func:`fewest_replicates` independent ``values``.

    Examples
    --------
    >>> upper_limit(np.arange(1.0, 20.0), 0.9)
    18.0
    """
    rank = math.ceil(confidence * (values.size + 1) - _ROUNDING)
    return float(np.partition(values, rank - 1)[rank - 1])


def fewest_replicates(confidence: float) -> int:
    """Return how many values it takes for a limit with this confidence.

    Examples
    --------
    >>> fewest_replicates(0.95)
    19
    """
    return math.ceil(confidence / (1 - confidence) - _ROUNDING)


def checked_shape(shape: str | Shape, score_range: tuple[float, float] | None) -> Shape:
    """Return the shape, or the one of this name, on this score range or else on its own.

    Raises
    ------
    OptionError
        If no shape has this name, or if the range is not one.
    """
    if not isinstance(shape, Shape):
        if shape not in SHAPES:
            raise OptionError.unknown("shape", shape, SHAPES)
        shape = SHAPES[shape]
    return shape if score_range is None else shape.on(*score_range)


def checked_shares(groups: int, shares: Sequence[float] | None) -> tuple[float, ...]:
    """Return the shares of the groups, positive and with sum one; equal if absent.

    Examples
    --------
    >>> checked_shares(2, (3, 1)), checked_shares(2, None)
    ((0.75, 0.25), (0.5, 0.5))
    """
    check_at_least(2, groups, "groups")
    sizes = [1.0] * groups if shares is None else [float(share) for share in shares]
    if len(sizes) != groups or not all(0 < size < math.inf for size in sizes):
        raise OptionError(
            f"shares must be {groups} positive numbers, one per group.",
            fix="pass shares=(0.7, 0.3) for two groups, or leave them out for equal ones.",
        )
    return tuple(size / sum(sizes) for size in sizes)


def check_power(power: float) -> None:
    """Raise unless ``power`` lies strictly between 0 and 1."""
    if not 0 < power < 1:
        raise OptionError(
            f"power must lie strictly between 0 and 1, not {power!r}.",
            fix="pass for example power=0.8.",
        )


def check_at_least(least: int, value: object, name: str) -> None:
    """Raise unless ``value`` is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(
            f"{name} must be a whole number of at least {least}, not {value!r}.",
            fix=f"pass {name}={least} or more.",
        )


class ScoreLaw(Protocol):
    """A law that can be sampled: records are its quantiles at uniform levels."""

    @property
    def cumulative(self) -> FloatArray:
        """The cdf at the points between which the quantile function is constant or linear."""

    def quantile(self, levels: FloatArray) -> FloatArray:
        """Return the quantiles at ``levels``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DensityLaw:
    """A law whose density is constant between points: its quantile function is linear there.

    Examples
    --------
    >>> law = DensityLaw.from_masses(np.array([0.0, 1.0, 3.0]), np.array([1.0, 1.0]))
    >>> law.quantile(np.array([0.25, 0.75]))
    array([0.5, 2. ])
    """

    points: FloatArray
    cumulative: FloatArray
    """The cdf at each point: from 0 to 1, strictly increasing."""

    @classmethod
    def from_masses(cls, points: FloatArray, masses: FloatArray) -> DensityLaw:
        """Return the law with these masses, up to a factor, between consecutive ``points``."""
        running = np.concatenate(([0.0], np.cumsum(masses)))
        cumulative, first = np.unique(running / running[-1], return_index=True)
        return cls(points=points[first], cumulative=cumulative)

    def quantile(self, levels: FloatArray) -> FloatArray:
        """Return the quantiles at ``levels`` in [0, 1]."""
        values: FloatArray = np.interp(levels, self.cumulative, self.points)
        return values


def disparity_between(laws: Sequence[ScoreLaw], shares: Sequence[float]) -> float:
    r"""Return :math:`U_2` of the laws themselves, not of samples of them.

    Between cdf values of any of the laws all quantile functions are linear (or constant), so
    that two Gauss points per interval integrate their squared differences exactly.
    """
    ends = np.unique(np.concatenate([[0.0, 1.0], *(law.cumulative for law in laws)]))
    halves = np.diff(ends) / 2
    middles, offsets = ends[:-1] + halves, halves / math.sqrt(3)
    nodes = np.concatenate([middles - offsets, middles + offsets])
    values = np.stack([law.quantile(nodes) for law in laws])
    table = QuantileTable(np.tile(halves, 2), values)
    return float(disparities(table, np.asarray(shares, dtype=np.float64), 2))


def farthest_distance(laws: Sequence[ScoreLaw]) -> float:
    r"""Return :math:`W_2` between the first and the last law: the two farthest of a shape."""
    return 2 * math.sqrt(disparity_between([laws[0], laws[-1]], [0.5, 0.5]))


_PIECES = 2048
"""Pieces of constant density that approximate a Beta law: six digits of its disparities are right."""


@dataclass(frozen=True, kw_only=True)
class Shape(OneLine):
    """A family of score laws on a range, from which a planned audit is simulated.

    The law at position 0 is the one that all groups share at parity, and laws drift to higher scores
    as the position grows. No law is clipped or reflected at the ends of the range: each stays a law of
    its family.

    Parameters
    ----------
    name : str
    meaning : str
        The law at position 0 and where it moves, in words.
    family : callable of (position, low, high)
        Returns the law at a position on a score range.
    furthest : float
        The largest position.
    low, high : float
        The score range.
    density : float
        What the densities times the length of the range are never below on their supports;
        0 where there is no such number.

    Examples
    --------
    >>> low, high = SHAPES["uniform"].laws(groups=2, strength=1.0)
    >>> low.quantile(np.array([0.0, 1.0])), high.quantile(np.array([0.0, 1.0]))
    (array([0. , 0.5]), array([0.175, 0.675]))
    """

    name: str
    meaning: str
    family: Callable[[float, float, float], ScoreLaw]
    furthest: float
    low: float = 0.0
    high: float = 1.0
    density: float = 0.0

    @property
    def width(self) -> float:
        """The length R of the score range."""
        return self.high - self.low

    @property
    def least_density(self) -> float:
        """The density that no law is below on its support, on this range; 0 if there is none."""
        return self.density / self.width

    def on(self, low: float, high: float) -> Shape:
        """Return the same shape on another score range."""
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise OptionError(
                f"a score range must be two finite numbers, low < high, not {low!r} and {high!r}.",
                fix="pass score_range=(0.0, 1.0), or the range of your scores.",
            )
        return replace(self, low=float(low), high=float(high))

    def laws(self, groups: int, strength: float) -> list[ScoreLaw]:
        """Return one law per group, evenly from position 0 to position ``strength``."""
        return [
            self.family(strength * group / (groups - 1), self.low, self.high)
            for group in range(groups)
        ]


def _beta(a: float, b: float, low: float, high: float) -> DensityLaw:
    """The Beta(a, b) law on a range, by the density in the middle of many pieces."""
    middles = (np.arange(_PIECES) + 0.5) / _PIECES
    logs = (a - 1) * np.log(middles) + (b - 1) * np.log1p(-middles)
    return DensityLaw.from_masses(np.linspace(low, high, _PIECES + 1), np.exp(logs - logs.max()))


def _skewed_beta(position: float, low: float, high: float) -> ScoreLaw:
    return _beta(3 + 3 * position, 4, low, high)


def _bell_beta(position: float, low: float, high: float) -> ScoreLaw:
    """Mean 0.4 + 0.175 t of the range, the sum of both parameters kept at 20."""
    return _beta(8 + 3.5 * position, 12 - 3.5 * position, low, high)


def _shifted_uniform(position: float, low: float, high: float) -> ScoreLaw:
    """Uniform on half of the range, shifted by 0.175 t of it."""
    start = low + 0.175 * position * (high - low)
    return DensityLaw.from_masses(np.array([start, start + (high - low) / 2]), np.array([1.0]))


_FALLING = np.array([28.0, 15, 11, 11, 10, 8, 6, 5, 4, 2])
"""Per cent of each decile in a group whose scores are mostly low."""


def _tilted_deciles(position: float, low: float, high: float) -> ScoreLaw:
    """Ten equally spaced scores, falling at 0, level at 1, rising beyond."""
    return Law(np.linspace(low, high, 10), _FALLING ** (1 - position))


_SHAPES = (
    Shape(
        name="beta",
        meaning="from Beta(3, 4) towards Beta(6, 4)",
        family=_skewed_beta,
        furthest=15.0,
    ),
    Shape(
        name="uniform",
        meaning="on half of the range, shifted",
        family=_shifted_uniform,
        furthest=0.5 / 0.175,
        density=2.0,
    ),
    Shape(
        name="normal",
        meaning="bell-shaped, from Beta(8, 12) towards Beta(11.5, 8.5)",
        family=_bell_beta,
        furthest=3.0,
    ),
    Shape(
        name="deciles",
        meaning="ten scores, their shares from falling towards level",
        family=_tilted_deciles,
        furthest=3.0,
        low=1.0,
        high=10.0,
    ),
)
SHAPES: dict[str, Shape] = {shape.name: shape for shape in _SHAPES}
"""The shapes by name."""


class Purpose(IntEnum):
    """What random numbers are for: each purpose has its own stream."""

    SKETCHES = 0
    ERRORS = 1
    PARITY = 2
    POWER = 3


@dataclass(frozen=True, kw_only=True)
class Scenario(OneLine):
    """The audits that are simulated: valid once built.

    All cells of a group have the same law and the same number of records.

    Parameters
    ----------
    shape : Shape
        The family of score laws.
    silos : int
    shares : tuple of numbers
        One per group; they add up to one.
    kind : "quantile" or "mean"
    estimator : "grid" or "exact"
    confidence : float in (0, 1)
    replicates : int
        Simulated audits of each size.
    seed : int
    """

    shape: Shape
    silos: int
    shares: tuple[float, ...]
    kind: Kind
    estimator: Estimator
    confidence: float
    replicates: int
    seed: int

    def __post_init__(self) -> None:
        check_kind(self.kind)
        if self.kind == "counts":
            raise OptionError(
                "an audit by counts at every score cannot be simulated.",
                fix='pass kind="mean" or kind="quantile"; counts at every score have no error of the sketch.',
            )
        Method(estimator=self.estimator)
        check_at_least(1, self.silos, "silos")
        check_at_least(0, self.seed, "seed")
        check_confidence(self.confidence)
        check_at_least(fewest_replicates(self.confidence), self.replicates, "replicates")

    @property
    def cells(self) -> int:
        """The number of cells: silos times groups."""
        return self.silos * len(self.shares)

    def counts(self, records: int) -> list[int]:
        """Return the records of a cell of each group, ``records`` for the smallest group."""
        smallest = min(self.shares)
        return [round(records * share / smallest) for share in self.shares]

    def observed_shares(self, records: int) -> tuple[float, ...]:
        """Return the shares that whole numbers of records give."""
        counts = self.counts(records)
        return tuple(count / sum(counts) for count in counts)

    def laws(self, strength: float) -> list[ScoreLaw]:
        """Return the law of each group."""
        return self.shape.laws(len(self.shares), strength)

    def random(self, purpose: Purpose, records: int) -> np.random.Generator:
        """Return a generator that depends on the seed and on what it is for, on nothing else."""
        return np.random.default_rng([self.seed, purpose, records])

    def bounds(self, shares: Sequence[float] | None = None) -> Bounds:
        """Return what can be promised for any laws on the score range."""
        return Bounds(
            width=self.shape.width,
            density=self.shape.least_density,
            shares=self.shares if shares is None else tuple(shares),
            cells=self.cells,
            kind=self.kind,
            estimator=self.estimator,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "shape": self.shape.name,
            "score_range": [self.shape.low, self.shape.high],
            "silos": int(self.silos),
            "groups": len(self.shares),
            "shares": list(self.shares),
            "sketch": self.kind,
            "estimator": self.estimator,
            "confidence": self.confidence,
            "replicates": int(self.replicates),
            "seed": int(self.seed),
        }
