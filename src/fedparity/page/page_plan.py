"""What the page that sketches is told of a plan: all that follows from it, so that nothing is derived twice."""

from __future__ import annotations

from typing import Any

from fedparity.documents.fields import json_label
from fedparity.documents.message import SCHEMA
from fedparity.documents.plan import Plan
from fedparity.privacy.disclosure import (
    SHARED,
    Grid,
    grid_of_shares,
    grid_of_steps,
    rounding_error,
)
from fedparity.tables.csv_files import MISSING_MARKS
from fedparity.tables.groups import Listing
from fedparity.version import SOFTWARE

__all__ = ["page_plan"]


def page_plan(plan: Plan) -> dict[str, Any]:
    """Return a plan as the engine of the page reads it: an object of JSON.

    ``declined`` says why the page cannot answer the plan; None if it can.

    Examples
    --------
    >>> plan = Plan(title="Q4", groups=("A", True), score_range=(0, 1))
    >>> page_plan(plan)["groupKeys"], page_plan(plan)["declined"]
    ([['A'], ['true']], None)
    """
    low, high = plan.score_range
    rounding = plan.rounding
    listing = Listing(plan.groups, _columns(plan))
    return {
        "digest": plan.digest,
        "title": plan.title,
        "declined": _declined(plan),
        "messageSchema": SCHEMA,
        "software": SOFTWARE,
        "kind": plan.sketch,
        "groups": [json_label(group) for group in plan.groups],
        "groupKeys": [list(key) for key in listing.keys],
        "parts": [
            {"texts": part.texts, "readAs": list(part.read_as.items()), "missing": part.missing}
            for part in listing.parts
        ],
        "scoreRange": [low, high],
        "levels": plan.levels,
        "thresholds": list(plan.thresholds),
        "pointGrid": _grid(
            None if plan.score_step is None else grid_of_steps(plan.score_range, plan.score_step)
        ),
        "roundingGrid": _grid(grid_of_shares(plan.score_range, rounding) if rounding else None),
        "roundingError": rounding_error(plan.score_range, rounding),
        "meanSquareFactor": 2 * SHARED * rounding * (high - low),
        "disclosure": plan.disclosure.to_dict(),
        "guarantee": plan.guarantee,
        "silos": None if plan.silos is None else list(plan.silos),
        "totals": list(plan.totals),
        "signed": bool(plan.keys),
        "marks": sorted(MISSING_MARKS),
    }


def _columns(plan: Plan) -> list[str]:
    """A name for each part of a group."""
    first = plan.groups[0]
    return [str(place) for place in range(len(first) if isinstance(first, tuple) else 1)]


def _declined(plan: Plan) -> str | None:
    if plan.privacy is not None:
        return "it asks for noise or secure sums ([privacy])"
    if plan.axes:
        return "it has axes"
    return None if plan.outcome is None else "it asks for an outcome"


def _grid(grid: Grid | None) -> dict[str, Any] | None:
    """Whole numbers as texts: they may be larger than a float holds."""
    if grid is None:
        return None
    numbers = {
        "low": grid.low,
        "high": grid.high,
        "step": grid.step,
        "denominator": grid.denominator,
    }
    return {**{name: str(number) for name, number in numbers.items()}, "fits": grid.fits}
