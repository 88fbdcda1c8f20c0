"""The figures of the page: each drawing with its words, and with what a pointer reads in it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from fedparity.auditing.result import AuditResult
from fedparity.report.html.markup import Markup
from fedparity.report.sentences.naming import group_words, groups_words

if TYPE_CHECKING:
    from fedparity.plots.display import Display
    from fedparity.plots.svg import Drawing

__all__ = ["Figure", "are_few", "page_figures", "silos_were_seen"]

_WHOLE, _HALF = 6.2, 3.4
"""Inches of a figure, and of one that stands beside another: small, so that a phone shows them."""
_FEW, _SHORT = 3, 10
"""Groups, and letters of their names, that fit a figure beside another."""
_PIXELS = 1.55
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
    drawn: dict[str, Display] = {
        "cdf": plots.GroupCDFDisplay.from_audit(result, width=_WHOLE),
        "quantiles": plots.GroupQuantileDisplay.from_audit(result, width=beside),
        "densities": plots.GroupDensityDisplay.from_audit(result, width=beside),
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
    titles = _titles(groups_words(result))
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


def _titles(groups: str) -> dict[str, str]:
    """What each figure shows, for those who do not see it."""
    return {
        "cdf": f"Share of {groups} at or below each score",
        "quantiles": f"Scores of {groups} at each rank",
        "densities": f"Densities of the scores of {groups}",
        "sketches": f"Sketches of {groups}, silo by silo",
        "forest": "Each silo's own disparity with its interval, beside that of all together",
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
    return f'width="{round(_PIXELS * float(view[1]))}" {view[0]}'
