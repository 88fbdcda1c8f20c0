"""The strip of the first screen: each silo alone, the review level, all together, on one line.

Positions are percentages of the width, so that the drawing fits a phone without its text shrinking.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult, headline_of
from fedparity.report.html.markup import Markup
from fedparity.report.sentences.naming import groups_words

if TYPE_CHECKING:
    from fedparity.plots.style import Display
    from fedparity.plots.svg import Drawing

__all__ = [
    "Dot",
    "Figure",
    "Strip",
    "are_few",
    "page_figures",
    "silos_were_seen",
    "strip",
]

_ALL = 60
"""Up to this many silos each has its dot; beyond, a dot represents several."""
_STEP = 0.5
"""Dots nearer than this many percent become one."""
_SMALLEST, _LARGEST = 2.5, 7.0
"""Radii in pixels."""
_LANES = 0, -11, 11
"""Dots that would cover each other move up or down by this many pixels."""
_PIXELS = 8.0
"""Of one percent of the width, roughly: where dots would cover each other."""
_FARTHEST = 2.5
"""Bounds that lie farther out than this many times everything else are cut, with an arrow."""


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
    """The positions of all marks, in percent from the left."""

    dots: tuple[Dot, ...]
    gathered: bool
    """Whether a dot represents several silos."""
    value: float
    combined: tuple[float, float]
    beyond: bool
    """Whether the combined interval goes on to the right of the drawing."""
    review: float | None
    ticks: tuple[tuple[float, float], ...]
    """Place and number."""

    @property
    def dots_label(self) -> float:
        """The position of the label of all dots: above their middle."""
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
    return list(map(headline_of(result).of_silo, result.silos))


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


_WHOLE, _HALF = 6.2, 3.4
"""Inches of a figure, and of one next to another: small, so that a phone shows them."""
_FEW, _SHORT = 3, 10
"""Groups, and letters of their names, that fit a figure next to another."""
_FIGURE_PIXELS = 1.55
"""Of a drawing's unit, where there is room: then its words are as large as the page's captions."""
_VIEW = re.compile(r'viewBox="\S+ \S+ (\S+) \S+"')
_READS = {"cdf": "cdf", "densities": "cdf", "quantiles": "quantiles"}


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A drawing in the page."""

    name: str
    title: str
    reads: str
    """What the page's script reads from it: ``cdf``, ``quantiles`` or single ``marks``."""
    svg: Markup
    axes: str
    """JSON: from drawn units to data, one object per axes; none where marks are read."""


def page_figures(result: AuditResult) -> dict[str, Figure]:
    """Return the figures by name; one of which the result holds no number is not among them.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    from fedparity import plots  # noqa: PLC0415 -- matplotlib is not light
    from fedparity.plots.svg import drawing  # noqa: PLC0415

    beside = _HALF if are_few(result) else _WHOLE
    bars, steps = (_WHOLE, beside) if result.plan.score_step is not None else (beside, _WHOLE)
    drawn: dict[str, Display] = {
        "cdf": plots.GroupCDFDisplay.from_audit(result, width=steps),
        "quantiles": plots.GroupQuantileDisplay.from_audit(result, width=beside),
        "densities": plots.GroupDensityDisplay.from_audit(result, width=bars),
        "uncertainty": plots.UncertaintyDisplay.from_audit(result, width=_WHOLE),
    }
    if result.attribution.selection is not None:
        drawn["attribution"] = plots.AttributionDisplay.from_audit(result, width=_WHOLE)
    if result.decomposition.v_mix is not None:
        drawn["decomposition"] = plots.DecompositionDisplay.from_audit(result, width=_WHOLE)
    if silos_were_seen(result):
        drawn |= {
            "forest": plots.LocalForestDisplay.from_audit(result, width=_WHOLE),
            "sketches": plots.SiloSketchDisplay.from_audit(result, width=_WHOLE),
            "influence": plots.InfluenceDisplay.from_audit(result, width=_WHOLE),
            "counts": plots.CellCountDisplay.from_audit(result),
        }
    titles = _titles(result)
    return {
        name: _figure(drawing(display, alt=titles[name], name=name), name, titles[name])
        for name, display in drawn.items()
    }


def silos_were_seen(result: AuditResult) -> bool:
    """Return whether a single silo is described at all; a secure sum describes none."""
    return any(released is not None for silo in result.silos for released in silo.n.values())


def are_few(result: AuditResult) -> bool:
    """Return whether the names of the groups leave room for two figures side by side."""
    names = [group_words(each.group) for each in result.groups]
    return len(names) <= _FEW and max(map(len, names)) <= _SHORT


def _titles(result: AuditResult) -> dict[str, str]:
    """What each figure shows, for those who do not see it."""
    groups = groups_words(result)
    forest = "Each silo's own disparity with its interval, beside that of all together"
    if headline_of(result).in_points:
        forest = (
            "Score points between the two groups furthest apart in each silo, beside all together"
        )
    return {
        "cdf": f"Share of {groups} at or below each score",
        "quantiles": f"Scores of {groups} at each rank",
        "densities": f"Densities of the scores of {groups}",
        "sketches": f"Sketches of {groups}, silo by silo",
        "forest": forest,
        "decomposition": "The terms of the disparity, step by step",
        "attribution": "Selection and within-silo parts of the disparity, with intervals",
        "influence": "What each silo adds to the disparity",
        "counts": "Records released, by silo and group",
        "uncertainty": "Interval, certificate and bounds of the disparity",
    }


def _figure(drawn: Drawing, name: str, title: str) -> Figure:
    reads = _READS.get(name, "marks")
    boxes = [] if reads == "marks" else [asdict(box) for box in drawn.axes]
    return Figure(
        name=name,
        title=title,
        reads=reads,
        svg=Markup(_VIEW.sub(_sized, drawn.svg, count=1)),
        axes=json.dumps(boxes, separators=(",", ":")),
    )


def _sized(view: re.Match[str]) -> str:
    """The same with a natural width in pixels: no figure is drawn larger than its words need."""
    return f'width="{round(_FIGURE_PIXELS * float(view[1]))}" {view[0]}'
