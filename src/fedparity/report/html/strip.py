"""The strip of the first screen: each silo alone, the review level, all together, on one line.

Positions are percentages of the width, so that the drawing fits a phone without its text shrinking.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fedparity.auditing.result import AuditResult
from fedparity.plots.headline import headline_of

__all__ = ["Dot", "Strip", "strip"]

_ALL = 60
"""Up to so many silos each has its dot; beyond, dots stand for several."""
_STEP = 0.5
"""Dots nearer than so many percent become one."""
_SMALLEST, _LARGEST = 2.5, 7.0
"""Radii in pixels."""
_LANES = 0, -11, 11
"""Dots that would cover each other move up or down by so many pixels."""
_PIXELS = 8.0
"""Of one percent of the width, roughly: where dots would cover each other."""
_FARTHEST = 2.5
"""Bounds that lie farther out than so many times everything else are cut, with an arrow."""


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A silo, or several at nearly the same place."""

    x: float
    radius: float
    path: str
    """Of its number in the result; empty for several silos."""
    lane: int = 0
    """Pixels below the line of dots."""


@dataclass(frozen=True, kw_only=True)
class Strip:
    """Where everything stands, in percent from the left."""

    dots: tuple[Dot, ...]
    gathered: bool
    """Whether dots stand for several silos."""
    value: float
    interval: tuple[float, float]
    combined: tuple[float, float]
    beyond: bool
    """Whether the combined interval goes on to the right of the drawing."""
    review: float | None
    ticks: tuple[tuple[float, float], ...]
    """Place and number."""

    @property
    def dots_label(self) -> float:
        """Where the word for all dots stands: above their middle."""
        places = [dot.x for dot in self.dots]
        return round((min(places) + max(places)) / 2, 2)


def strip(result: AuditResult) -> Strip:
    """Return the strip of a result."""
    shown = headline_of(result)
    found, limit = shown.found, _limit(result)

    def place(number: float) -> float:
        return round(min(100.0, 100 * number / limit), 2)

    step = _round_step(limit)
    ticks = tuple(
        (place(index * step), index * step) for index in range(math.floor(limit / step) + 1)
    )
    gathered = len(result.silos) > _ALL
    dots = _gathered(result, limit) if gathered else _each(result, limit)
    return Strip(
        dots=_spread(dots),
        gathered=gathered,
        value=place(found.corrected),
        interval=(place(found.interval.lower), place(found.interval.upper)),
        combined=(place(found.combined.lower), place(found.combined.upper)),
        beyond=found.combined.upper > limit,
        review=None if shown.level is None else place(shown.level),
        ticks=ticks,
    )


def _limit(result: AuditResult) -> float:
    """The number at the right end: a little more than the largest that is shown."""
    shown = headline_of(result)
    found = shown.found
    silos = [value for value in _alone(result) if value is not None]
    largest = max(found.corrected, found.interval.upper, shown.level or 0.0, *silos, 0.0)
    if found.combined.upper <= _FARTHEST * largest:
        largest = max(largest, found.combined.upper)
    return 1.06 * largest if largest > 0 else 1.0


def _alone(result: AuditResult) -> list[float | None]:
    """What each silo shows alone, in the headline's unit."""
    name = headline_of(result).alone
    return [getattr(silo, name) for silo in result.silos]


def _round_step(limit: float) -> float:
    """A round distance of ticks, so that there are about five."""
    rough = limit / 4
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough)


def _each(result: AuditResult, limit: float) -> Iterator[Dot]:
    """One dot per silo, its area as its number of records."""
    sizes = [sum(count or 0 for count in silo.n.values()) for silo in result.silos]
    largest = max(sizes, default=0) or 1
    name = headline_of(result).alone
    for index, (value, size) in enumerate(zip(_alone(result), sizes, strict=True)):
        if value is not None:
            radius = max(_SMALLEST, _LARGEST * math.sqrt(size / largest))
            yield Dot(
                x=round(100 * value / limit, 2),
                radius=round(radius, 1),
                path=f"/silos/{index}/{name}",
            )


def _spread(dots: Iterable[Dot]) -> tuple[Dot, ...]:
    """The same dots, each in the first lane where it covers no other, or where there is most room."""
    ends = dict.fromkeys(_LANES, -math.inf)
    placed = []
    for dot in sorted(dots, key=lambda dot: (dot.x, -dot.radius)):
        start, end = dot.x * _PIXELS - dot.radius, dot.x * _PIXELS + dot.radius
        free = [lane for lane in _LANES if ends[lane] <= start]
        lane = free[0] if free else min(_LANES, key=ends.__getitem__)
        ends[lane] = end
        placed.append(replace(dot, lane=lane))
    return tuple(placed)


def _gathered(result: AuditResult, limit: float) -> Iterator[Dot]:
    """One dot per place, its area as the number of silos there."""
    known = [value for value in _alone(result) if value is not None]
    places = Counter(round(100 * value / limit / _STEP) for value in known)
    most = max(places.values(), default=1)
    for place, count in sorted(places.items()):
        radius = max(_SMALLEST, _LARGEST * math.sqrt(count / most))
        yield Dot(x=place * _STEP, radius=round(radius, 1), path="")
