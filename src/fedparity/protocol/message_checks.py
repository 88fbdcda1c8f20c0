"""Messages against the plan they answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fedparity.errors import MessageError
from fedparity.laws.arrays import FloatArray
from fedparity.privacy.merging import run_minimum
from fedparity.privacy.rounding import largest_mean_square
from fedparity.protocol.histogram_cell import HistogramCell
from fedparity.protocol.labels import typed_label
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.protocol.signature import check_signature
from fedparity.protocol.sketched_cell import SketchedCell

__all__ = ["check_message", "check_messages"]


def check_messages(plan: Plan, sketches: Iterable[SiloSketch]) -> None:
    """Raise unless every message answers the plan, and no silo answers twice.

    Raises
    ------
    MessageError
        For the first one that does not, or the second one of a silo, be it the same again.
    """
    seen: dict[str, SiloSketch] = {}
    for sketch in sketches:
        check_message(plan, sketch)
        if sketch.silo in seen:
            same = seen[sketch.silo] == sketch
            raise (MessageError.same_twice if same else MessageError.silo_twice)(sketch.silo)
        seen[sketch.silo] = sketch


def check_message(plan: Plan, sketch: SiloSketch) -> None:
    """Raise unless a message answers the plan.

    Its plan digest, its silo, its signature if the plan has keys, its kind, its groups, the
    rules that it says were applied, and in each cell the number of levels and of thresholds, the
    range, the points of the grid, and the mean square.

    Raises
    ------
    MessageError
        If it does not; a SignatureError if it is not signed as the plan asks.
    """
    if sketch.plan != plan.digest:
        raise MessageError.other_plan(sketch.silo, sketch.plan, plan.digest)
    if plan.silos is not None and sketch.silo not in plan.silo_set:
        raise MessageError.not_in_roster(sketch.silo, plan.silos)
    if plan.keys:
        check_signature(sketch, plan.keys)
    if plan.privacy is not None and plan.privacy.secure:
        raise MessageError.sketch_in_secure_mode(sketch.silo)
    if sketch.kind != plan.message_kind:
        raise MessageError.other_kind(sketch.silo, sketch.kind, plan.message_kind)
    _check_groups(plan, sketch)
    _check_guarantee(plan, sketch)
    if plan.privacy is not None and sketch.rows_dropped:
        raise MessageError.tells_dropped(sketch.silo)
    for cell in sketch.cells:
        if isinstance(cell, HistogramCell):
            _check_histogram(plan, sketch.silo, cell)
        else:
            _check_cell(plan, sketch.silo, cell)


def _check_groups(plan: Plan, sketch: SiloSketch) -> None:
    if [typed_label(group) for group in sketch.groups] != plan.typed_groups:
        raise MessageError.other_groups(sketch.silo, sketch.groups, plan.groups)


def _check_guarantee(plan: Plan, sketch: SiloSketch) -> None:
    """Raise unless the message states what the plan asks for; it may state more."""
    for name, expected in plan.guarantee.items():
        found = sketch.guarantee.get(name)
        if found != expected or isinstance(found, bool):
            raise MessageError.other_guarantee(sketch.silo, name, found, expected)


def _check_cell(plan: Plan, silo: str, cell: SketchedCell) -> None:
    if cell.levels > plan.most_values:
        raise MessageError.too_many_levels(silo, cell.group, cell.levels, plan.most_values)
    if cell.count == 0 and plan.disclosure.minimum_cell > 1:
        raise MessageError.shows_empty(silo, cell.group, plan.disclosure.minimum_cell)
    if cell.values is None:
        return
    lowest, highest = plan.score_range
    values = cell.values
    if values[0] < lowest or values[-1] > highest:
        outside = int(np.count_nonzero((values < lowest) | (values > highest)))
        raise MessageError.outside_range(silo, cell.group, outside)
    if len(cell.above) != len(plan.thresholds):
        raise MessageError.other_thresholds(
            silo, cell.group, len(cell.above), len(plan.thresholds)
        )
    if cell.effective is None:
        _check_differences(plan, silo, cell)
    if plan.score_step is not None and plan.sketch != "mean":
        _check_points(plan, silo, cell, values)
    if cell.mean_square is not None:
        _check_mean_square(plan, silo, cell, values, cell.mean_square)


def _check_differences(plan: Plan, silo: str, cell: SketchedCell) -> None:
    """Raise if a number of records below the minimum is sent, or a difference of two."""
    places: Sequence[float] = plan.thresholds
    if plan.score_step is not None:  # no score lies between thresholds of the same gap
        places = np.searchsorted(plan.score_points, plan.thresholds).tolist()
    told = dict.fromkeys(zip(places, cell.above, strict=True))
    stated = [number for _, number in told if number is not None]
    least = plan.disclosure.minimum_cell
    if stated and least > 1 and min(-np.diff([cell.count or 0, *stated, 0])) < least:
        raise MessageError.below_minimum(silo, cell.group, least)
    least = run_minimum(plan.disclosure)
    counts = [number for number in cell.counts or () if number is not None]
    if len(counts) > 1 and least > 1 and min(counts) < least:
        raise MessageError.small_run(silo, cell.group, least)


def _check_points(plan: Plan, silo: str, cell: SketchedCell, values: FloatArray) -> None:
    """Raise unless every value is a point of the grid, and the runs of counts reach its top."""
    points = plan.score_points
    off = int(np.count_nonzero(points[np.searchsorted(points, values)] != values))
    if off:
        raise MessageError.off_grid(silo, cell.group, off)
    if cell.counts is not None and values[-1] != points[-1]:
        raise MessageError.contradiction(cell.group, "has counts that end below the highest score")


def _check_mean_square(
    plan: Plan, silo: str, cell: SketchedCell, values: FloatArray, mean_square: float
) -> None:
    largest = largest_mean_square(
        values=values,
        count=cell.amount,
        score_range=plan.score_range,
        rounding=plan.rounding,
    )
    if mean_square > largest:
        raise MessageError.mean_square_too_large(silo, cell.group)


def _check_histogram(plan: Plan, silo: str, cell: HistogramCell) -> None:
    bins = plan.grid.bins
    if cell.values is not None and cell.levels != bins:
        raise MessageError.other_bins(silo, cell.group, cell.levels, bins)
    smallest = plan.disclosure.minimum_cell
    if cell.count is not None and cell.count < smallest and smallest > 1:
        raise MessageError.below_minimum(silo, cell.group, smallest)
