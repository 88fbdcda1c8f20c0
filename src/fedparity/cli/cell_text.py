"""Every number that a silo would send, group by group, in plain words; for its operator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from fedparity.cli.fitting import counted, wrapped
from fedparity.cli.plan_words import group_words
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.protocol.sketched_cell import SketchedCell

__all__ = ["numbers_text", "numbers_words"]

_VALUES = {"mean": "bin means", "quantile": "quantiles"}


def numbers_words(sketch: SiloSketch) -> str:
    """Return how many numbers leave, and what they are.

    Examples
    --------
    >>> from fedparity.protocol.message import SiloSketch
    >>> cells = [SketchedCell(group="A", count=40, values=[0.1, 0.5], mean_square=0.02, above=[17])]
    >>> numbers_words(SiloSketch(plan="sha256:" + 64 * "0", silo="a", kind="mean", cells=cells))
    '5 numbers: 1 count, 2 values, 1 mean square and 1 threshold count'
    """
    cells = [cell for cell in sketch.cells if isinstance(cell, SketchedCell)]
    kinds = {
        "count": sum(cell.count is not None for cell in cells),
        "effective number": sum(cell.effective is not None for cell in cells),
        "value": sum(cell.levels for cell in cells),
        "count at scores": sum(_stated(cell.counts or ()) for cell in cells),
        "mean square": sum(cell.mean_square is not None for cell in cells),
        "threshold count": sum(_stated(cell.above) for cell in cells),
        "rank error": sum(bool(cell.rank_error) for cell in cells),
    }
    named = [_counted(number, kind) for kind, number in kinds.items() if number]
    *most, last = named or ["none"]
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"{counted(sum(kinds.values()), 'number')}: {listed}"


def numbers_text(sketch: SiloSketch, plan: Plan, width: int) -> list[str]:
    """Return the numbers themselves, of every group that sends some."""
    lines: list[str] = []
    for cell in sketch.cells:
        if isinstance(cell, SketchedCell) and cell.values is not None:
            lines += ["", *wrapped(f"{group_words(cell.group)}: {_records(cell)}", width)]
            for sentence in _sentences(cell, plan):
                lines += wrapped(sentence, width, first="  ", rest="    ")
    return lines


def _records(cell: SketchedCell) -> str:
    number = _amount(cell.count or 0)
    if cell.effective is None:
        return f"{number} record{'' if cell.count == 1 else 's'}"
    return f"weight {number}, which amounts to {counted(cell.effective, 'record')}"


def _sentences(cell: SketchedCell, plan: Plan) -> Iterator[str]:
    if cell.counts is not None:
        yield f"counts at scores: {', '.join(_runs(cell, plan))}"
    elif cell.values is not None:
        values = " ".join(map(_exact, cell.values.tolist()))
        yield f"{cell.levels:,} {_VALUES.get(plan.sketch, 'values')}: {values}"
    if cell.mean_square is not None:
        yield f"mean squared distance from them: {_exact(cell.mean_square)}"
    for threshold, number in zip(plan.thresholds, cell.above, strict=True):
        yield f"at or above {_exact(threshold)}: {'not sent' if number is None else _amount(number)}"
    if cell.rank_error:
        yield f"ranks may be off by a share of {_exact(cell.rank_error)}"


def _runs(cell: SketchedCell, plan: Plan) -> Iterator[str]:
    """The count of each run of scores; one without a count is counted with the run before."""
    points = plan.score_points.tolist()
    ends = [points.index(value) for value in (cell.values if cell.values is not None else ())]
    for (before, end), number in zip(pairwise([-1, *ends]), cell.counts or (), strict=True):
        low, high = _exact(points[before + 1]), _exact(points[end])
        scores = low if low == high else f"{low} to {high}"
        yield f"{scores}: {'with those before' if number is None else _amount(number)}"


def _stated(numbers: object) -> int:
    return sum(number is not None for number in numbers)  # type: ignore[attr-defined]


def _counted(number: int, kind: str) -> str:
    if kind == "count at scores":
        return f"{number:,} count{'' if number == 1 else 's'} at scores"
    return counted(number, kind)


def _amount(number: float) -> str:
    """A number of records, or their weight, in full."""
    return f"{number:,}" if isinstance(number, int) else _exact(number)


def _exact(value: float) -> str:
    """A number with all the digits that it leaves with."""
    return repr(float(value)).removesuffix(".0")
