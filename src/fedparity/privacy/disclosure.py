"""The disclosure rules, what a plan says may not leave a silo; and rounding of what leaves to public grids."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError
from fedparity.laws.labels import Group
from fedparity.laws.law import BoolArray, FloatArray
from fedparity.sketches.kinds import Kind
from fedparity.text import counted

__all__ = [
    "MODES",
    "NOISY_MODES",
    "SECURE_MODES",
    "SHARED",
    "Decision",
    "Disclosure",
    "Grid",
    "Mode",
    "Withheld",
    "allowed_levels",
    "complementary_cells",
    "decide",
    "decimal",
    "default_rounding",
    "grid_of_shares",
    "grid_of_steps",
    "largest_mean_square",
    "mean_square_error",
    "mean_square_step",
    "round_mean_square",
    "round_to_points",
    "round_values",
    "rounding_error",
    "score_points",
    "smallest_cell",
    "tail_levels",
    "whole_effective",
    "whole_steps",
]

Mode: TypeAlias = Literal["none", "dp", "secure", "secure+dp"]
"""How single records are protected; ``none`` is a plan without ``[privacy]``."""
MODES: tuple[Mode, ...] = get_args(Mode)
NOISY_MODES: tuple[Mode, ...] = ("dp", "secure+dp")
SECURE_MODES: tuple[Mode, ...] = ("secure", "secure+dp")


_MOST_RECORDS = 10**12
"""More than any silo holds, as in a cell's count."""
_COARSEST = 0.1


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """The rules that a silo's sketches obey before they leave; valid once built.

    The rules are public and travel with the plan; what they did to a silo's data is not.

    Parameters
    ----------
    minimum_cell : int, default 11
        A cell with fewer records is withheld; 1 turns the rule off.
    records_per_level : int, default 10
        The k of a cell of n records is cut to n // ``records_per_level``, and further if fewer
        than five records would lie in a tail; 0 turns both rules off.
    rounding : float, optional
        Values are rounded to multiples of this share of the score range; 0 turns the rule off. A
        plan states the default of its sketch, see :func:`default_rounding`.

    Raises
    ------
    OptionError
        If a number of records is not a whole number, or the share is not between 0 and 0.1.

    Examples
    --------
    >>> Disclosure(minimum_cell=20, rounding=0.01).to_dict()
    {'minimum_cell': 20, 'records_per_level': 10, 'rounding': 0.01}
    """

    minimum_cell: int = 11
    records_per_level: int = 10
    rounding: float | None = None

    def __post_init__(self) -> None:
        settled = {
            "minimum_cell": _whole("minimum_cell", self.minimum_cell, least=1),
            "records_per_level": _whole("records_per_level", self.records_per_level, least=0),
            "rounding": None if self.rounding is None else _share(self.rounding),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @classmethod
    def off(cls) -> Disclosure:
        """Return no rule at all, for data that do not leave the building."""
        return cls(minimum_cell=1, records_per_level=0, rounding=0.0)

    def to_dict(self) -> dict[str, int | float | None]:
        """Return the rules as a plan's ``[disclosure]`` table holds them."""
        return {
            "minimum_cell": self.minimum_cell,
            "records_per_level": self.records_per_level,
            "rounding": self.rounding,
        }


def default_rounding(sketch: Kind, *, stepped: bool) -> float:
    """Return the rounding of a sketch where the rules state none, as a share of the score range.

    A mean gives away more of a record than a quantile does to whoever knows all others, so it is
    rounded more. Quantiles of scores on a public grid are points of it, and stay there; counts at
    its points are protected by merging.

    Examples
    --------
    >>> default_rounding("mean", stepped=True), default_rounding("quantile", stepped=False)
    (0.005, 0.001)
    """
    if sketch == "mean":
        return 0.005
    return 0.0 if stepped or sketch == "counts" else 0.001


def _whole(name: str, value: object, *, least: int) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (whole and least <= value <= _MOST_RECORDS):  # type: ignore[operator]
        raise OptionError(
            f"{name} must be a whole number of records of at least {least}, not {value!r}.",
            fix=f"set {name} to 10 or so, or to {least} to turn the rule off.",
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def _share(value: object) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not (number and not isinstance(value, bool) and 0 <= value <= _COARSEST):  # type: ignore[operator]
        raise OptionError(
            f"rounding must be a share of the score range from 0 to {_COARSEST}, not {value!r}.",
            fix="set rounding to 0.001 or so, or to 0 to turn the rule off.",
        )
    return abs(float(value))  # type: ignore[arg-type]  # -0.0 is 0


TAIL = 5
"""Records that lie at or beyond the lowest value, and at or beyond the highest, at least."""


def allowed_levels(
    records: int, levels: int, disclosure: Disclosure, *, kind: Kind = "quantile"
) -> int:
    r"""Return the k of a cell of n records, or 0 if the cell is withheld.

    It is the largest :math:`k' \le k` with :math:`k' \le \lfloor n / m \rfloor`, where m is
    ``records_per_level``, and with five records in each tail. ``minimum_cell`` decides whether a
    cell leaves, m only how finely: where :math:`n < m` one value is sent, if the tails allow it.
    How many counts a cell of kind ``counts`` sends is known once they are merged; until then k stands.

    Examples
    --------
    >>> allowed_levels(423, 100, Disclosure()), allowed_levels(10, 100, Disclosure())
    (42, 0)
    """
    if records < smallest_cell(disclosure, kind=kind):
        return 0
    if kind == "counts" or not disclosure.records_per_level:
        return levels if records else 0
    most = min(records // disclosure.records_per_level, tail_levels(records, kind=kind))
    return min(levels, max(most, 1))


def tail_levels(records: int, *, kind: Kind = "quantile") -> int:
    r"""Return the largest k that leaves five records in each tail, 0 if none does.

    The lowest of k quantiles has rank :math:`r_1 = \lceil n/(2k) \rceil`, so that many records
    are at most as large; the highest has rank :math:`r_k = n - \lfloor n/(2k) \rfloor`, so
    :math:`\lfloor n/(2k) \rfloor + 1` are at least as large. Both are at least 5 if and only if
    :math:`n > 8k`. An outer bin mean averages n/k records.
    """
    return (records - 1) // (2 * (TAIL - 1)) if kind == "quantile" else records // TAIL


def smallest_cell(disclosure: Disclosure, *, kind: Kind = "quantile") -> int:
    """Return the number of records from which a cell is sent: all smaller ones are withheld.

    It is ``minimum_cell``, or the smallest number that leaves five records in the tails of a
    single value where that is larger; counts have no tails.

    Examples
    --------
    >>> smallest_cell(Disclosure()), smallest_cell(Disclosure(minimum_cell=3))
    (11, 9)
    """
    if kind == "counts" or not disclosure.records_per_level:
        return disclosure.minimum_cell
    return max(disclosure.minimum_cell, 2 * TAIL - 1 if kind == "quantile" else TAIL)


# Complementary suppression: what must be withheld as well when a total is public.
#
# If one cell of a silo is withheld and the silo's number of records is public, the cell's count is
# the total minus the others. So more cells are withheld, the smallest first, until somebody who
# knows the total, the other counts, the rule and this order could still believe every number
# below the minimum of each small cell. Then the withheld cells are not told apart: which of them is the
# small one would narrow it down again.


def complementary_cells(records: Mapping[Group, int], minimum: int) -> tuple[Group, ...]:
    r"""Return the cells to withhold besides those of fewer than ``minimum`` records.

    Let m be the minimum, S the number of records in s small cells and j others, and c the
    smallest count that is still sent. Someone who knows that the others have at least m and
    at most c records can exclude no number from 0 to m - 1 for a small cell if and only if

    .. math:: j m + (m - 1) \le S \le j c + (s - 1)(m - 1).

    Cells are added until this holds and :math:`S \ge m`, or none is left. That a further cell had
    to be added says a little too; whoever takes it into account still cannot recover a
    small count (tested by enumeration).

    Examples
    --------
    >>> complementary_cells({"a": 3, "b": 40, "c": 500}, 11)
    ('b',)
    """
    small = [group for group, count in records.items() if count < minimum]
    if minimum == 1 or not small:
        return ()
    rest = sorted(
        (group for group, count in records.items() if count >= minimum), key=records.__getitem__
    )
    hidden = sum(records[group] for group in small)
    for added, group in enumerate(rest):
        least = max(minimum, (added + 1) * minimum - 1)
        most = added * records[group] + (len(small) - 1) * (minimum - 1)
        if least <= hidden <= most:
            return tuple(rest[:added])
        hidden += records[group]
    return tuple(rest)


Withheld: TypeAlias = Literal["small", "complementary"]
"""``small``: fewer records than a cell needs; ``complementary``: withheld, small or not."""

_EXTRA = "withheld as well: the public total would give away a smaller cell"
_ROUNDING = 1e-9
"""Eleven records of weight 0.1 amount to 10.999999999999998 in floats."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What one cell may send."""

    levels: int
    """The k of its sketch; 0 if nothing is sent."""
    withheld: Withheld | None
    """What the message says of a cell that is withheld."""
    reasons: tuple[str, ...]
    """The rules that changed something, for the operator; they stay in the building."""


def decide(
    records: Mapping[Group, int],
    *,
    levels: int,
    disclosure: Disclosure,
    kind: Kind = "quantile",
    public_total: int | None = None,
    effective: Mapping[Group, float] | None = None,
) -> dict[Group, Decision]:
    r"""Return what each cell of a silo may send, from its number of records alone.

    No value is looked at, so that the decision itself says nothing about scores. A cell without
    records is treated like any small one: their absence is not to be seen either.

    Parameters
    ----------
    records : mapping of group to int
        Number of records of each group of the plan (of positive weight); 0 where there is none.
    levels : int
        The k that the plan requests.
    public_total : int, optional
        The silo's number of records if it is public; a single withheld cell could then be
        recovered, see :mod:`fedparity.privacy.disclosure`.
    effective : mapping of group to float, optional
        For weighted records: how many equally weighted ones they amount to,
        :math:`W^2 / \sum_i w_i^2`, or, stricter, W over the largest weight, with which the rule of
        five records in each tail holds for weighted quantiles too. The rules then count the
        smaller of the two numbers, and a withheld cell is never called small: what is small is
        not its weight.

    Examples
    --------
    >>> decisions = decide({"a": 423, "b": 7}, levels=100, disclosure=Disclosure())
    >>> decisions["a"].levels, decisions["a"].reasons
    (42, ('42 values instead of 100 (one per 10 records)',))
    >>> decisions["b"].withheld, decisions["b"].reasons
    ('small', ('fewer than 11 records',))
    """
    counted = {group: _counted(number, group, effective) for group, number in records.items()}
    minimum = smallest_cell(disclosure, kind=kind)
    extra = () if public_total is None else complementary_cells(counted, minimum)
    none_sent = all(number < minimum or group in extra for group, number in counted.items())
    nameless = bool(extra) or effective is not None or (public_total is not None and none_sent)
    decisions = {}
    for group, number in counted.items():
        if number < minimum and minimum > 1:
            reason = _too_few(number, records[group], minimum, disclosure)
            named: Withheld = "complementary" if nameless else "small"
            decisions[group] = Decision(levels=0, withheld=named, reasons=(reason,))
        elif group in extra:
            decisions[group] = Decision(levels=0, withheld="complementary", reasons=(_EXTRA,))
        else:
            decisions[group] = _sent(number, levels, disclosure, kind)
    return decisions


def _counted(number: int, group: Group, effective: Mapping[Group, float] | None) -> int:
    """The records that the rules count: no more than their weights amount to."""
    if effective is None:
        return number
    return min(number, whole_effective(effective.get(group, 0.0)))


def whole_effective(effective: float) -> int:
    """Return how many whole records weights amount to, whatever their sums in floats lost."""
    return math.floor(effective * (1 + _ROUNDING))


def _too_few(number: int, records: int, minimum: int, disclosure: Disclosure) -> str:
    if number < disclosure.minimum_cell <= records:
        return f"the weights amount to fewer than {disclosure.minimum_cell} records"
    if number < disclosure.minimum_cell:
        return f"fewer than {disclosure.minimum_cell} records"
    return f"fewer than {minimum} records: no value leaves {TAIL} in each tail"


def _sent(number: int, levels: int, disclosure: Disclosure, kind: Kind) -> Decision:
    allowed = allowed_levels(number, levels, disclosure, kind=kind)
    if not number or allowed == levels:
        return Decision(levels=allowed, withheld=None, reasons=())
    per_level = disclosure.records_per_level
    by_level = allowed == max(number // per_level, 1)
    rule = f"one per {per_level} records" if by_level else f"{TAIL} records beyond each end"
    reason = f"{counted(allowed, 'value')} instead of {levels} ({rule})"
    return Decision(levels=allowed, withheld=None, reasons=(reason,))


_EXACT = 2**53
"""Whole numbers up to here are floats, and the quotient of two is rounded once."""
_NEAR_TIE = 1e-4
"""Nearer to a tie than this, a float's position between two points of the grid is not trusted."""
Number = TypeVar("Number", float, FloatArray)

SHARED = 10
"""The mean square is rounded so that it discloses no more of a record than a mean of this many records does."""


def round_values(
    values: FloatArray, score_range: tuple[float, float], rounding: float
) -> FloatArray:
    r"""Return the values moved to the nearest point of the grid, ties to the even one.

    The grid has the points :math:`a + i \, \rho (b - a)` for whole i, and the end b where a value
    would be moved beyond it. All three numbers are read as the decimals they print as, so that
    the result is the float of a decimal number: 0.123, not 0.12300000000000001. No value moves
    by more than :func:`rounding_error`; order is kept; rounding twice changes nothing.

    Parameters
    ----------
    values : array of numbers in the range
    score_range : pair of numbers
        The public bounds a and b.
    rounding : float
        The share :math:`\rho` of the range; 0 leaves the values as they are.

    Examples
    --------
    >>> round_values(np.array([0.12345, 0.9996]), (0.0, 1.0), 0.001)
    array([0.123, 1.   ])
    """
    if not rounding:
        return values
    return grid_of_shares(score_range, rounding).nearest(values, score_range)


def rounding_error(score_range: tuple[float, float], rounding: float) -> float:
    """Return how far from its value a rounded one may be: half a step, rounded upwards.

    Examples
    --------
    >>> rounding_error((0.0, 1.0), 0.0), round(rounding_error((0.0, 1.0), 0.001), 12)
    (0.0, 0.0005)
    """
    if not rounding:
        return 0.0
    low, high = score_range
    return rounding * (high - low) / 2 + 4 * math.ulp(max(abs(low), abs(high)))


def whole_steps(score_range: tuple[float, float], step: float) -> int | None:
    """Return how many steps the range is long, or None if that is not a whole number.

    All three numbers are read as the decimals they print as.

    Examples
    --------
    >>> whole_steps((1.0, 10.0), 1.0), whole_steps((0.0, 1.0), 0.1), whole_steps((0.0, 1.0), 0.3)
    (9, 10, None)
    """
    low, high = map(decimal, score_range)
    steps = (high - low) / decimal(step)
    return int(steps) if steps.denominator == 1 else None


def score_points(score_range: tuple[float, float], step: float) -> FloatArray:
    """Return the scores low, low + step, ... up to high: the float of each decimal number.

    Examples
    --------
    >>> score_points((0.0, 0.5), 0.1)
    array([0. , 0.1, 0.2, 0.3, 0.4, 0.5])
    """
    grid = grid_of_steps(score_range, step)
    return grid.points(np.arange((grid.high - grid.low) // grid.step + 1))


def round_to_points(
    values: FloatArray, score_range: tuple[float, float], step: float
) -> FloatArray:
    """Return the nearest of the :func:`score_points` to each value in the range.

    Examples
    --------
    >>> round_to_points(np.array([0.1 + 0.2, 0.44]), (0.0, 1.0), 0.1).tolist()
    [0.3, 0.4]
    """
    return grid_of_steps(score_range, step).nearest(values, score_range)


def round_mean_square(
    value: Number,
    *,
    values: FloatArray,
    count: float | FloatArray,
    score_range: tuple[float, float],
    rounding: float,
) -> Number:
    r"""Return the mean square of a cell moved to a multiple of its step.

    The step is :math:`20 \, \rho (b - a) w / n`, where w is the farthest that a record can be from
    the value of its bin: bins follow each other, so no record lies beyond the values of the bins
    beside its own, or beyond the ends of the range. Somebody who knows all records but one, and all
    bins, finds from the sum of the squares that :math:`(x - v)^2` lies in an interval of length
    :math:`20 \rho (b - a) w`; with :math:`|x - v| \le w` that is :math:`10 \rho (b - a)` of x at least, as
    from the rounded mean of ten records. The step depends only on what the message says anyway.

    Parameters
    ----------
    value : float
        The mean squared distance of the records from the values of their bins.
    values : array of k numbers
        The bin means as they are sent; those of several cells lie along the last axis.
    count : float
        The n: the cell's number of records, or what its weights amount to.
    score_range : pair of numbers
        The public bounds a and b.
    rounding : float
        The share :math:`\rho` of the range; 0 leaves the value as it is.

    Examples
    --------
    >>> values = np.array([0.25, 0.5, 0.75])
    >>> step = dict(values=values, count=30, score_range=(0.0, 1.0), rounding=0.005)
    >>> round(float(round_mean_square(0.0123, **step)), 9)
    0.012625
    """
    step = mean_square_step(values, count, score_range, rounding)
    steps = np.rint(np.divide(value, step, out=np.zeros(step.shape), where=step > 0))
    return np.where(step > 0, steps * step, value)[()]  # type: ignore[return-value]  # as many as given


def mean_square_error(
    *,
    values: FloatArray,
    count: float | FloatArray,
    score_range: tuple[float, float],
    rounding: float,
) -> FloatArray:
    """Return how far from the true one a rounded mean square may be: half a step, rounded upwards.

    Several cells have their values along the last axis, and one entry each of ``count``.
    """
    low, high = score_range
    step = mean_square_step(values, count, score_range, rounding)
    return np.where(step > 0, step / 2 + 4 * math.ulp((high - low) ** 2), 0.0)


def largest_mean_square(
    *,
    values: FloatArray,
    count: float | FloatArray,
    score_range: tuple[float, float],
    rounding: float,
    ordered: bool | BoolArray = True,
) -> FloatArray:
    r"""Return the largest mean square that can be sent with these bin means.

    Bins follow each other, so the records of bin l lie between the means of its neighbors, or the
    ends of the range; with mean :math:`m_l` their mean square is at most :math:`(m_l - m_{l-1})
    (m_{l+1} - m_l)` (Bhatia and Davis). Each mean may have been moved by half a step of rounding. It
    is never above a quarter of the squared range; where bins may overlap, since their ranks are not
    exact, that alone is known.

    Several cells have their values along the last axis, and one entry each of ``count`` and ``ordered``.

    Examples
    --------
    >>> exact = dict(values=np.array([0.2, 0.6]), count=20, score_range=(0.0, 1.0), rounding=0.0)
    >>> round(float(largest_mean_square(**exact)), 6)
    0.12
    """
    low, high = score_range
    moved = rounding_error(score_range, rounding)
    widest = (high - low) ** 2 / 4
    gaps = np.diff(values, prepend=low, append=high, axis=-1) + 2 * moved
    own = np.mean(gaps[..., :-1] * gaps[..., 1:], axis=-1)
    largest = np.where(ordered, np.minimum(widest, own), widest)
    error = mean_square_error(
        values=values, count=count, score_range=score_range, rounding=rounding
    )
    return np.asarray(largest + moved**2 + error + 1e-9 * (high - low) ** 2)


def mean_square_step(
    values: FloatArray,
    count: float | FloatArray,
    score_range: tuple[float, float],
    rounding: float,
    *,
    shared: float = SHARED,
) -> FloatArray:
    """Return the step of the mean square for the values in the last axis; 0 if there is no rounding."""
    low, high = score_range
    ends = np.maximum(values[..., 0] - low, high - values[..., -1])
    inner = np.max(values[..., 1:] - values[..., :-1], axis=-1, initial=-np.inf)
    gaps = np.maximum(ends, inner)
    farthest = np.minimum(gaps + rounding_error(score_range, rounding), high - low)
    return np.asarray(2 * shared * rounding * (high - low) * farthest / count)


@dataclass(frozen=True)
class Grid:
    """The points low + i·step, as whole numbers over a common denominator."""

    low: int
    high: int
    step: int
    denominator: int

    @classmethod
    def of(cls, score_range: tuple[float, float], step: Fraction) -> Grid:
        """Return the grid from the low end of the range on."""
        low, high = map(decimal, score_range)
        denominator = math.lcm(low.denominator, high.denominator, step.denominator)
        low, high, step = low * denominator, high * denominator, step * denominator
        return cls(int(low), int(high), int(step), denominator)

    @property
    def fits(self) -> bool:
        """Whether floats hold the whole numbers, and positions to far below ``_NEAR_TIE``."""
        largest = max(abs(self.low), abs(self.high)) + self.step
        return max(largest, self.denominator) < _EXACT and largest < self.step << 32

    def nearest(self, values: FloatArray, score_range: tuple[float, float]) -> FloatArray:
        """Round to the points, and to an end of the range what would be moved beyond it."""
        rounded = self.fast(values) if self.fits else self.exact(values)
        return np.clip(rounded, *score_range) + 0.0  # no negative zero

    def points(self, steps: npt.NDArray[np.int64]) -> FloatArray:
        """Return the points that are this many steps above the lowest."""
        if self.fits:
            return (self.low + steps * self.step) / self.denominator
        numbers = [
            Fraction(self.low + step * self.step, self.denominator) for step in steps.tolist()
        ]
        return np.array([float(number) for number in numbers])

    def fast(self, values: FloatArray) -> FloatArray:
        """Round all values at once, and those near a tie one by one."""
        position = (values - self.low / self.denominator) / (self.step / self.denominator)
        rounded: FloatArray = (self.low + np.rint(position) * self.step) / self.denominator
        unsure = np.abs(position - np.floor(position) - 0.5) < _NEAR_TIE
        rounded[unsure] = self.exact(values[unsure])
        return rounded

    def exact(self, values: FloatArray) -> FloatArray:
        """Round one by one, in whole numbers."""
        nearest = [self._nearest(value) for value in values.ravel().tolist()]
        return np.array(nearest, dtype=np.float64).reshape(values.shape)

    def _nearest(self, value: float) -> float:
        steps = round((decimal(value) * self.denominator - self.low) / self.step)
        return float(Fraction(self.low + steps * self.step, self.denominator))


@lru_cache(maxsize=64)  # a plan has one, and every cell of every message is compared with it
def grid_of_shares(score_range: tuple[float, float], rounding: float) -> Grid:
    """Return the grid whose step is this share of the range."""
    low, high = map(decimal, score_range)
    return Grid.of(score_range, decimal(rounding) * (high - low))


def grid_of_steps(score_range: tuple[float, float], step: float) -> Grid:
    """Return the grid of this step."""
    return Grid.of(score_range, decimal(step))


def decimal(number: float) -> Fraction:
    """Return the decimal number that a float prints as."""
    return Fraction(repr(float(number)))
