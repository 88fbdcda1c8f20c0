"""Records to sketches by the way that suits them: where they are, in memory, in scans, in a pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fedparity.sketches.holding import hold
from fedparity.sketches.memory import default_memory
from fedparity.sketches.ranked import MayRank
from fedparity.sketches.records import Batch, Records
from fedparity.sketches.selection.asked import Asked
from fedparity.sketches.selection.dealing import Progress, available_threads, deal
from fedparity.sketches.selection.kernels import KernelName
from fedparity.sketches.selection.select import Census, Selected, select
from fedparity.sketches.streaming import StreamSketch

__all__ = ["Effort", "Measured", "Way", "measure"]

Way: TypeAlias = Literal["in memory", "several scans", "one pass", "where they are"]
"""``where they are``: ranked by a database or by Spark, and not read; ``in memory``: read once and held;
``several scans``: read twice or more, with little memory; ``one pass``: read once and not held, with a
stated error of the ranks beyond the first chunk, where ranks are asked for."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """What a measurement may use; a matter of speed and memory, never of result."""

    memory: int | None = None
    """Bytes of records that may be held; a quarter of the machine's memory if absent."""
    threads: int | None = None
    kernel: KernelName = "auto"
    resolution: int = 4096
    """Values of a summary, where records come once: the error of ranks is about 1/(2m)."""
    progress: Progress | None = None


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The sketches of all groups, their errors, and how they came about."""

    selected: Selected
    rank_errors: tuple[float, ...]
    way: Way


def measure(
    records: Records,
    levels: Callable[[Census], Sequence[int]],
    asked: Asked,
    *,
    score_range: tuple[float, float] | None,
    levels_hint: int = 100,
    effort: Effort | None = None,
) -> Measured:
    """Return the sketch of every group: exact, unless the records can be read only once.

    A source that can rank scores itself is asked first: its records then stay where they are.
    Of records that can be read only once, those beyond the first chunk are summarised, and the
    rank error says by how much the result may be off. Counts need one pass, and are always exact.
    """
    effort = effort or Effort()
    if isinstance(records, MayRank):
        found = _where_they_are(records, levels, asked, score_range, effort)
        if found is not None:
            return found
    if not records.rescannable:
        return _in_one_pass(records, levels, asked, score_range, effort)
    limit = default_memory() if effort.memory is None else effort.memory
    threads = available_threads() if effort.threads is None else effort.threads
    held = None
    once = asked.kind == "counts"
    if records.worth_holding and not once:
        held = hold(records, limit, threads=threads, progress=effort.progress)
    selected = select(
        records if held is None else held,
        levels,
        kind=asked.kind,
        thresholds=asked.thresholds,
        points=asked.points,
        score_range=score_range,
        levels_hint=levels_hint,
        threads=threads,
        kernel=effort.kernel,
        progress=effort.progress,
    )
    resident = held is not None or records.resident or not records.worth_holding
    read: Way = "one pass" if once else "several scans"
    return Measured(
        selected=selected,
        rank_errors=(0.0,) * len(records.groups),
        way="in memory" if resident else read,
    )


def _where_they_are(
    records: MayRank,
    levels: Callable[[Census], Sequence[int]],
    asked: Asked,
    score_range: tuple[float, float] | None,
    effort: Effort,
) -> Measured | None:
    """The same numbers, found by the source itself; None if it cannot."""
    ranked = records.ranked(asked)
    census = None if ranked is None else ranked.census(score_range)
    if ranked is None or census is None:
        return None
    wanted = levels(census)
    if effort.progress is not None:
        effort.progress(0, int(census.counts.sum()), f"ranking in {ranked.place}")
    selected = ranked.selected(census, wanted)
    if selected is None:
        return None
    errors = (0.0,) * census.counts.size
    return Measured(selected=selected, rank_errors=errors, way="where they are")


def _in_one_pass(
    records: Records,
    levels: Callable[[Census], Sequence[int]],
    asked: Asked,
    score_range: tuple[float, float] | None,
    effort: Effort,
) -> Measured:
    stream = StreamSketch(
        groups=records.groups,
        asked=asked,
        weighted=records.weighted,
        resolution=effort.resolution,
        score_range=score_range,
        kernel=effort.kernel,
        threads=effort.threads,
    )
    done = 0

    def seen(rows: int) -> None:
        nonlocal done
        done += rows
        if effort.progress is not None:
            effort.progress(done, records.rows, "reading")

    def work(_: None, batch: Batch) -> None:
        stream.update(batch)

    deal(records, lambda: None, work, threads=1, seen=seen)
    selected, errors = stream.finish(levels, records.accept)
    return Measured(selected=selected, rank_errors=errors, way="one pass")
