"""Messages against the plan they answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fedparity.documents.fields import typed_label
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import (
    HistogramCell,
    SketchedCell,
    SketchedTable,
    table_keys,
)
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import OUTCOMES
from fedparity.documents.signing import check_signature
from fedparity.errors import MessageError
from fedparity.errors.base import listed
from fedparity.errors.document_errors import RESEND, shown
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray
from fedparity.privacy.count_merging import run_minimum
from fedparity.privacy.disclosure import (
    TAIL,
    allowed_levels,
    largest_mean_square,
    mean_square_error,
    round_mean_square,
    round_values,
    smallest_cell,
)

__all__ = ["check_message", "check_messages"]

_SUMMED = 1e-9
"""How far sums of weights in floats may be apart, as a share."""
_CELLS_AT_ONCE = 1_000
"""Cells whose numbers are compared at once."""


class _Sent(NamedTuple):
    """A cell whose values and mean square are still to be compared with the plan's rounding."""

    plan: Plan
    silo: str
    cell: SketchedCell
    values: FloatArray


def check_messages(plan: Plan, sketches: Iterable[SiloSketch]) -> None:
    """Raise unless every message answers the plan, and no silo answers twice.

    Raises
    ------
    MessageError
        For the first one that does not, or the second one of a silo, be it the same again.

    Examples
    --------
    >>> import fedparity as fp
    >>> plan = fp.Plan(title="Q4", groups=("A", "B"), score_range=(0, 1), levels=2)
    >>> table = {"score": [0.1, 0.2, 0.4, 0.8] * 10, "group": ["A", "B"] * 20}
    >>> message = fp.sketch(table, plan=plan, silo="north", ledger=False)
    >>> check_messages(plan, [message])
    >>> check_messages(plan, [message, message])
    Traceback (most recent call last):
        ...
    fedparity.errors.document_errors.MessageError: the message of silo 'north' was given twice.
    fix: give each file only once.
    """
    seen: dict[str, SiloSketch] = {}
    sent: list[_Sent] = []
    try:
        for sketch in sketches:
            _check_terms(plan, sketch, sent)
            _check_only(sketch, seen.get(sketch.silo))
            seen[sketch.silo] = sketch
            if len(sent) >= _CELLS_AT_ONCE:
                _check_numbers(sent)
                sent.clear()
    except Exception:
        _check_numbers(sent)  # the first message that is wrong is the one to name
        raise
    _check_numbers(sent)


def _check_only(sketch: SiloSketch, earlier: SiloSketch | None) -> None:
    """Raise if there is an earlier message of the silo."""
    if earlier is not None:
        same = earlier == sketch
        raise (MessageError.same_twice if same else MessageError.silo_twice)(sketch.silo)


def check_message(plan: Plan, sketch: SiloSketch) -> None:
    """Raise unless a message answers the plan.

    Its plan digest, its silo, its signature if the plan has keys, its kind, its groups and the
    rules that it says were applied; and that they were, as far as the message itself can show it:
    enough records in each cell, behind each value and between thresholds, the range, the points of
    the grid, rounding, the mean square, and which cells are withheld.

    Raises
    ------
    MessageError
        If it does not; a SignatureError if it is not signed as the plan asks.

    Examples
    --------
    >>> import fedparity as fp
    >>> plan = fp.Plan(title="Q4", groups=("A", "B"), score_range=(0, 1), levels=2)
    >>> table = {"score": [0.1, 0.2, 0.4, 0.8] * 10, "group": ["A", "B"] * 20}
    >>> check_message(plan, fp.sketch(table, plan=plan, silo="north", ledger=False))
    """
    sent: list[_Sent] = []
    try:
        _check_terms(plan, sketch, sent)
    except MessageError:
        _check_numbers(sent)
        raise
    _check_numbers(sent)


def _check_terms(plan: Plan, sketch: SiloSketch, sent: list[_Sent]) -> None:
    """Check all but the numbers of cells that are compared many at once, which join those ``sent``."""
    if sketch.plan != plan.digest:
        raise MessageError.other_plan(sketch.silo, sketch.plan, plan.digest)
    if plan.silos is not None and sketch.silo not in plan.silo_set:
        raise MessageError.not_in_roster(sketch.silo, plan.silos)
    if plan.keys:
        check_signature(sketch, plan.keys)
    if plan.privacy is not None and plan.privacy.secure:
        raise MessageError(
            f"silo {sketch.silo!r} sent a sketch of its own, but the plan asks for a secure sum.",
            fix="leave the file out, and collect the messages of fedparity secure.",
        )
    if sketch.kind != plan.message_kind:
        raise MessageError(
            f"silo {sketch.silo!r} sent {sketch.kind} sketches, but the plan asks for {plan.message_kind}.",
            fix=RESEND,
        )
    _check_groups(plan, sketch)
    _check_guarantee(plan, sketch)
    if plan.privacy is not None and (sketch.rows_dropped or sketch.rows_filtered):
        raise MessageError(
            f"silo {sketch.silo!r} says how many rows it left out, an exact number that the plan's "
            "privacy mode keeps in the building.",
            fix=RESEND,
        )
    _check_withheld(plan, sketch)
    _check_tables(plan, sketch, sent)
    for cell in sketch.cells:
        if isinstance(cell, HistogramCell):
            _check_histogram(plan, sketch.silo, cell, every=plan.releases_tables)
            continue
        if cell.values is not None and _is_weighted(sketch) != (cell.effective is not None):
            raise MessageError.contradiction(
                cell.group,
                "says what its weights amount to, or its message that it has some; not both",
            )
        _check_cell(plan, sketch.silo, cell, sent)


def _is_weighted(sketch: SiloSketch) -> bool:
    return bool(sketch.guarantee.get("weighted"))


def _check_groups(plan: Plan, sketch: SiloSketch) -> None:
    if [typed_label(group) for group in sketch.groups] != plan.typed_groups:
        raise MessageError(
            f"silo {sketch.silo!r} sent the groups {listed(sketch.groups)}, but the plan has {listed(plan.groups)}, "
            "in this order.",
            fix=RESEND,
        )


def _check_guarantee(plan: Plan, sketch: SiloSketch) -> None:
    """Raise unless the message states what the plan asks for; it may state more."""
    for name, expected in plan.guarantee.items():
        found = sketch.guarantee.get(name)
        if found != expected or isinstance(found, bool):
            raise MessageError(
                f"silo {sketch.silo!r} applied {name} = {shown(found)}, but the plan asks for "
                f"{shown(expected)}.",
                fix=RESEND,
            )


def _check_withheld(plan: Plan, sketch: SiloSketch) -> None:
    """Raise unless the rules can have withheld what is, and its number does not follow from a total."""
    reasons = {cell.withheld for cell in sketch.cells} - {None}
    number = sum(cell.withheld is not None for cell in sketch.cells)
    if number and smallest_cell(plan.disclosure, kind=plan.sketch) == 1:
        raise MessageError(
            f"silo {sketch.silo!r} withheld {number:,} cells, but the rules of the plan withhold "
            "none.",
            fix=RESEND,
        )
    if plan.privacy is not None or _is_weighted(sketch):
        return
    if sketch.silo not in plan.totals:
        if "complementary" in reasons and not plan.axes:
            raise MessageError(
                f"silo {sketch.silo!r} withheld a cell to protect another from its public total, "
                "but the plan has no total of it.",
                fix=RESEND,
            )
        return
    if len(reasons) > 1 or (number == 1 and len(sketch.cells) > 1):
        raise MessageError(
            f"silo {sketch.silo!r} has a public total in the plan, from which a cell that it "
            "withheld can be computed.",
            fix=RESEND,
        )


def _check_cell(plan: Plan, silo: str, cell: SketchedCell, sent: list[_Sent]) -> None:
    if cell.levels > plan.most_values:
        raise MessageError(
            f"silo {silo!r} sent {cell.levels:,} levels for group {cell.group!r}, "
            f"but the plan allows {plan.most_values:,}.",
            fix=RESEND,
        )
    if cell.count == 0 and plan.disclosure.minimum_cell > 1:
        raise MessageError(
            f"silo {silo!r} says that it has no record of group {cell.group!r}, but under "
            f"minimum_cell = {plan.disclosure.minimum_cell} that must look like any small cell.",
            fix=RESEND,
        )
    if cell.values is None:
        return
    lowest, highest = plan.score_range
    values = cell.values
    if values[0] < lowest or values[-1] > highest:
        outside = int(np.count_nonzero((values < lowest) | (values > highest)))
        raise MessageError(
            f"{outside:,} values of silo {silo!r}, group {cell.group!r}, lie outside the plan's "
            "score range.",
            fix="check the score column of the silo, or the score_range of the plan.",
        )
    if len(cell.above) != len(plan.thresholds):
        raise MessageError(
            f"silo {silo!r} sent counts at {len(cell.above):,} thresholds for group {cell.group!r}, but the plan "
            f"has {len(plan.thresholds):,}.",
            fix=RESEND,
        )
    _check_size(plan, silo, cell)
    _check_differences(plan, silo, cell)
    if plan.score_step is not None and plan.sketch != "mean":
        _check_points(plan, silo, cell, values)
    if cell.counts is None:
        sent.append(_Sent(plan, silo, cell, values))
    else:
        _check_runs(plan, silo, cell, cell.counts)


def _check_size(plan: Plan, silo: str, cell: SketchedCell) -> None:
    """Raise unless there are enough records for a cell, and for its number of values."""
    if cell.effective is None and not isinstance(cell.count, int):
        raise MessageError(
            f"silo {silo!r} states a number of records of group {cell.group!r} that is not whole, "
            "and no weights.",
            fix=RESEND,
        )
    least = smallest_cell(plan.disclosure, kind=plan.sketch)
    if cell.amount < least:
        raise MessageError.below_minimum(silo, cell.group, least)
    most = allowed_levels(int(cell.amount), plan.levels, plan.disclosure, kind=plan.sketch)
    if cell.counts is None and cell.levels > most:
        raise MessageError(
            f"silo {silo!r} sent {cell.levels:,} values for group {cell.group!r}, but its records "
            f"allow {most:,}: records_per_level = {plan.disclosure.records_per_level}, and {TAIL} "
            "records in each tail.",
            fix=RESEND,
        )


def _check_differences(plan: Plan, silo: str, cell: SketchedCell) -> None:
    """Raise if a number of records below the minimum is sent, or a difference of two.

    Of weights it is known what they amount to in all, up to one record; each part of them
    amounts to its share of it.
    """
    total = cell.count or 0
    each = 1.0 if cell.effective is None else (cell.effective + 1) / total
    places: Sequence[float] = plan.thresholds
    if plan.score_step is not None:  # no score lies between thresholds of the same gap
        places = np.searchsorted(plan.score_points, plan.thresholds).tolist()
    told = dict.fromkeys(zip(places, cell.above, strict=True))
    stated = [number for _, number in told if number is not None]
    least = plan.disclosure.minimum_cell
    if stated and least > 1 and _below(min(-np.diff([total, *stated, 0])) * each, least):
        raise MessageError.below_minimum(silo, cell.group, least)
    least = run_minimum(plan.disclosure)
    counts = [number for number in cell.counts or () if number is not None]
    if len(counts) > 1 and least > 1 and _below(min(counts) * each, least):
        raise MessageError(
            f"silo {silo!r} sent counts of fewer than {least} records for group {cell.group!r}, which "
            "must be merged with their neighbors.",
            fix=RESEND,
        )
    for number, after in pairwise(cell.counts or ()):
        if after is None and number is not None and _below(number * each, 2 * least - 1):
            raise MessageError(
                f"silo {silo!r} tells runs of scores of group {cell.group!r} apart that together "
                f"hold fewer than {2 * least - 1} records.",
                fix=RESEND,
            )


def _below(amount: float, least: int) -> bool:
    return bool(amount < least * (1 - _SUMMED))


def _check_points(plan: Plan, silo: str, cell: SketchedCell, values: FloatArray) -> None:
    """Raise unless every value is a point of the grid, and the runs of counts reach its top."""
    points = plan.score_points
    off = int(np.count_nonzero(points[np.searchsorted(points, values)] != values))
    if off:
        raise MessageError(
            f"{off:,} values of silo {silo!r}, group {cell.group!r}, are not scores that the plan's "
            "score_step leaves.",
            fix="check the score column of the silo, or the score_step of the plan.",
        )
    if cell.counts is not None and values[-1] != points[-1]:
        raise MessageError.contradiction(cell.group, "has counts that end below the highest score")


def _check_runs(
    plan: Plan, silo: str, cell: SketchedCell, counts: Sequence[int | float | None]
) -> None:
    """Raise unless counts at thresholds are sums of the counts of runs: they tell nothing more."""
    values = np.zeros(0) if cell.values is None else cell.values
    ends = np.searchsorted(plan.score_points, values)
    starts = [0, *(ends[:-1] + 1).tolist()]
    above = np.cumsum([number or 0 for number in reversed(counts)])[::-1].tolist()
    counted = zip(starts, counts, above, strict=True)
    known = {start: total for start, number, total in counted if number is not None}
    cuts = np.searchsorted(plan.score_points, plan.thresholds, side="left").tolist()
    for cut, stated in zip(cuts, cell.above, strict=True):
        if stated is not None and not np.isclose(stated, known.get(cut, -1.0), rtol=_SUMMED):
            raise MessageError(
                f"silo {silo!r} sent a count at a threshold for group {cell.group!r} that is not a "
                "sum of its counts at scores.",
                fix=RESEND,
            )


def _check_numbers(sent: Sequence[_Sent]) -> None:
    """Raise for the first cell whose values or whose mean square are not rounded, or not possible.

    Cells of as many values are compared at once: a message has few cells, and an audit very many.
    """
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, (plan, _, cell, _) in enumerate(sent):
        terms = cell.levels, plan.score_range, plan.rounding, cell.mean_square is None
        alike[terms].append(place)
    errors: dict[int, MessageError] = {}
    for places in alike.values():
        for place, error in _wrong_numbers([sent[place] for place in places]):
            errors[places[place]] = error
    if errors:
        raise errors[min(errors)] from None


def _wrong_numbers(sent: Sequence[_Sent]) -> Iterator[tuple[int, MessageError]]:
    """Yield the first cell that is wrong, of cells of as many values; none if all are right."""
    score_range, rounding = sent[0].plan.score_range, sent[0].plan.rounding
    values = np.stack([each.values for each in sent])
    off = np.count_nonzero(round_values(values, score_range, rounding) != values, axis=1)
    too_large = unrounded = np.zeros(len(sent), dtype=bool)
    if sent[0].cell.mean_square is not None:
        squares = np.array([each.cell.mean_square for each in sent])
        terms: dict[str, Any] = {
            "values": values,
            "count": np.array([each.cell.amount for each in sent]),
            "score_range": score_range,
            "rounding": rounding,
        }
        ordered = np.array([not each.cell.rank_error for each in sent])
        too_large = squares > largest_mean_square(**terms, ordered=ordered)
        nearest = round_mean_square(squares, **terms)
        unrounded = np.abs(squares - nearest) > _SUMMED * (mean_square_error(**terms) + nearest)
    wrong = np.flatnonzero((off > 0) | too_large | unrounded)
    if not wrong.size:
        return
    place = int(wrong[0])
    _, silo, cell, _ = sent[place]
    if off[place]:
        what = (
            f"{off[place]:,} values of silo {silo!r}, group {cell.group!r}, are not rounded to "
            f"{rounding:g} of the score range."
        )
    elif too_large[place]:
        what = (
            f"the mean square of silo {silo!r}, group {cell.group!r}, is larger than any scores in the "
            "plan's score range have."
        )
    else:
        what = (
            f"the mean square of silo {silo!r}, group {cell.group!r}, is not rounded as the plan "
            "asks."
        )
    yield place, MessageError(what, fix=RESEND)


def _check_histogram(plan: Plan, silo: str, cell: HistogramCell, *, every: bool) -> None:
    """Raise unless a histogram has the bins of the plan; ``every`` one is sent where there are tables."""
    bins = plan.grid.bins
    if every and cell.withheld is not None:
        raise MessageError.contradiction(cell.group, "is withheld, where every cell is sent")
    if cell.values is not None and cell.levels != bins:
        raise MessageError(
            f"silo {silo!r} sent {cell.levels:,} bins for group {cell.group!r}, but the plan has {bins:,}.",
            fix=RESEND,
        )
    smallest = 1 if every else plan.disclosure.minimum_cell
    if cell.count is not None and cell.count < smallest and smallest > 1:
        raise MessageError.below_minimum(silo, cell.group, smallest)


Cells = Mapping[Group, SketchedCell]


def _check_tables(plan: Plan, sketch: SiloSketch, sent: list[_Sent]) -> None:
    """Raise unless the further tables of a message are those that the plan asks for.

    Every cell must obey the rules on its own, the tables must count the same people, and no difference
    of what is sent may tell of fewer people than a cell needs.
    """
    expected = list(table_keys(plan))
    found = [(table.by, table.outcome) for table in sketch.tables]
    if found != [(table.by, outcome) for table, outcome in expected]:
        raise MessageError(
            f"silo {sketch.silo!r} sent {len(found)} further tables, but the plan asks for "
            f"{len(expected)}, in its order.",
            fix=RESEND,
        )
    for (table, outcome), found_table in zip(expected, sketch.tables, strict=True):
        groups = [typed_label(cell.group) for cell in found_table.cells]
        if groups != [typed_label(group) for group in table.groups]:
            raise _wrong(sketch, "has a table with other rows than the plan's")
        own = plan.table_plan(table, by_outcome=outcome is not None)
        _check_table(own, sketch, found_table, sent)
    if plan.axes and plan.privacy is None:
        _check_remainders(plan, sketch)
    if plan.outcome is not None and plan.privacy is None:
        _check_outcomes(plan, sketch)


def _check_table(plan: Plan, sketch: SiloSketch, table: SketchedTable, sent: list[_Sent]) -> None:
    """Raise unless every cell of a further table answers the plan of that table."""
    for cell in table.cells:
        if isinstance(cell, HistogramCell):
            _check_histogram(plan, sketch.silo, cell, every=True)
            continue
        if cell.effective is not None:
            raise _wrong(sketch, "has weights in a table by axis or outcome")
        if cell.count != 0:
            _check_cell(plan, sketch.silo, cell, sent)


def _tables(sketch: SiloSketch) -> dict[tuple[tuple[str, ...], str | None], Cells]:
    """The cells of each table by group; those of the message itself first."""
    listed: list[tuple[tuple[tuple[str, ...], str | None], Sequence[SketchedCell]]] = [
        (((), None), [cell for cell in sketch.cells if isinstance(cell, SketchedCell)]),
        *(
            (
                (tuple(table.by), table.outcome),
                [cell for cell in table.cells if isinstance(cell, SketchedCell)],
            )
            for table in sketch.tables
        ),
    ]
    return {key: {cell.group: cell for cell in cells} for key, cells in listed}


def _check_remainders(plan: Plan, sketch: SiloSketch) -> None:
    """Raise unless each intersection is sent, or counted in a remainder of each of its categories.

    If no remainder is sent at all, the cells stand alone.
    """
    tables = _tables(sketch)
    cells = tables[(), None]
    remainders = [tables[(name,), None] for name in plan.axes]
    if all(state.withheld is not None for each in remainders for state in each.values()):
        return
    for group, cell in cells.items():
        states = [remainder[label] for remainder, label in zip(remainders, group, strict=True)]
        hidden = any(state.withheld is not None for state in states)
        left = all(state.values is not None for state in states)
        if cell.withheld is None and hidden:
            raise _wrong(sketch, "has a cell of a category that is withheld as a whole")
        if cell.withheld is not None and not hidden and not left:
            raise _wrong(sketch, "withheld a cell that follows from the table of an axis")
    totals = {sum(state.count or 0 for state in remainder.values()) for remainder in remainders}
    if len(totals) > 1:
        raise _wrong(sketch, "counts different people in the tables of its axes")


def _check_outcomes(plan: Plan, sketch: SiloSketch) -> None:
    """Raise unless both outcomes of a cell are sent or neither, and what they leave is enough."""
    tables = _tables(sketch)
    least = smallest_cell(plan.disclosure, kind=plan.sketch)
    for table in plan.tables:
        positive, negative = (tables[table.by, outcome] for outcome in OUTCOMES)
        split = set()
        for group, cell in tables[table.by, None].items():
            counts = positive[group].count, negative[group].count
            if (counts[0] is None) != (counts[1] is None):
                raise _wrong(sketch, "has one outcome of a cell without the other")
            if cell.values is not None:
                split.add(counts[0] is not None)
            if counts[0] is None or counts[1] is None:
                continue
            if all(counts):
                _check_cuts(sketch, cell, (positive[group], negative[group]))
            without = (cell.count or 0) - counts[0] - counts[1]
            if cell.count is None or without < 0 or 0 < without < least:
                raise _wrong(sketch, "has outcomes that leave too few records of a cell")
        if table.by and len(split) > 1:
            raise _wrong(sketch, "has some remainders by outcome, which tell of the others")


def _check_cuts(
    sketch: SiloSketch, cell: SketchedCell, parts: tuple[SketchedCell, SketchedCell]
) -> None:
    """Raise if one outcome follows, at some score, from the whole cell and the other outcome."""
    if cell.counts is None:
        stated = [[number is None for number in part.above] for part in parts]
        if stated[0] != stated[1]:
            raise _wrong(sketch, "counts the outcomes of a cell at different thresholds")
        return
    whole, *both = (_counted_after(each) for each in (cell, *parts))
    if not whole <= both[0] & both[1]:
        raise _wrong(sketch, "counts a cell at scores where one of its outcomes is not counted")


def _counted_after(cell: SketchedCell) -> set[float]:
    """The values after which a run with a count of its own starts."""
    values = [] if cell.values is None else cell.values.tolist()
    following = pairwise(zip(values, cell.counts or (), strict=True))
    return {value for (value, _), (_, number) in following if number is not None}


def _wrong(sketch: SiloSketch, what: str) -> MessageError:
    return MessageError(f"the message of silo {sketch.silo!r} {what}.", fix=RESEND)
