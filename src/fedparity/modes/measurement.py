"""Records to the sketches of their groups, by the strategy that their source allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fedparity.sketches.buffers import cache_records, default_memory
from fedparity.sketches.records import Batch, Records
from fedparity.sketches.selection.moments import Asked
from fedparity.sketches.selection.passes import (
    KernelName,
    Progress,
    available_threads,
    map_batches,
)
from fedparity.sketches.selection.select import Census, MayRank, Selected, select

__all__ = ["ComputeOptions", "Measurement", "Strategy", "measure_records"]

Strategy: TypeAlias = Literal["in memory", "several scans", "one pass", "where they are"]
"""``where they are``: ranked by a database or by Spark, and not read; ``in memory``: read once and cached;
``several scans``: read twice or more, with little memory; ``one pass``: read once and not cached, with a
stated error of the ranks beyond the first chunk, where ranks are requested."""


@dataclass(frozen=True, kw_only=True)
class ComputeOptions:
    """What a measurement may use; a matter of speed and memory, never of result."""

    memory: int | None = None
    """Bytes of records that may be cached; a quarter of the machine's memory if absent."""
    threads: int | None = None
    kernel: KernelName = "auto"
    resolution: int = 4096
    """Values of a summary, where records come once: the error of ranks is about 1/(2m)."""
    progress: Progress | None = None


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The sketches of all groups, their errors, and how they came about."""

    selected: Selected
    rank_errors: tuple[float, ...]
    strategy: Strategy


def measure_records(
    records: Records,
    levels: Callable[[Census], Sequence[int]],
    asked: Asked,
    *,
    score_range: tuple[float, float] | None,
    levels_hint: int = 100,
    options: ComputeOptions | None = None,
) -> Measurement:
    """Return the sketch of every group: exact, unless the records can be read only once.

    A source that can rank scores itself does so: its records then stay where they are.
    Of records that can be read only once, those beyond the first chunk are summarized, and the
    rank error says by how much the result may be off. Counts need one pass, and are always exact.
    """
    options = options or ComputeOptions()
    if isinstance(records, MayRank):
        found = _where_they_are(records, levels, asked, score_range, options)
        if found is not None:
            return found
    if not records.rescannable:
        return _in_one_pass(records, levels, asked, score_range, options)
    limit = default_memory() if options.memory is None else options.memory
    threads = available_threads() if options.threads is None else options.threads
    cached = None
    once = asked.kind == "counts"
    if records.worth_caching and not once:
        cached = cache_records(records, limit, threads=threads, progress=options.progress)
    selected = select(
        records if cached is None else cached,
        levels,
        kind=asked.kind,
        thresholds=asked.thresholds,
        points=asked.points,
        score_range=score_range,
        levels_hint=levels_hint,
        threads=threads,
        kernel=options.kernel,
        progress=options.progress,
    )
    resident = cached is not None or records.resident or not records.worth_caching
    read: Strategy = "one pass" if once else "several scans"
    return Measurement(
        selected=selected,
        rank_errors=(0.0,) * len(records.groups),
        strategy="in memory" if resident else read,
    )


def _where_they_are(
    records: MayRank,
    levels: Callable[[Census], Sequence[int]],
    asked: Asked,
    score_range: tuple[float, float] | None,
    options: ComputeOptions,
) -> Measurement | None:
    """The same numbers, found by the source itself; None if it cannot."""
    ranked = records.ranked(asked)
    census = None if ranked is None else ranked.census(score_range)
    if ranked is None or census is None:
        return None
    requested = levels(census)
    if options.progress is not None:
        options.progress(0, int(census.counts.sum()), f"ranking in {ranked.place}")
    selected = ranked.selected(census, requested)
    if selected is None:
        return None
    errors = (0.0,) * census.counts.size
    return Measurement(selected=selected, rank_errors=errors, strategy="where they are")


def _in_one_pass(
    records: Records,
    levels: Callable[[Census], Sequence[int]],
    asked: Asked,
    score_range: tuple[float, float] | None,
    options: ComputeOptions,
) -> Measurement:
    from fedparity.sketches.streaming import StreamSketch  # noqa: PLC0415 -- read once only

    stream = StreamSketch(
        groups=records.groups,
        asked=asked,
        weighted=records.weighted,
        resolution=options.resolution,
        score_range=score_range,
        kernel=options.kernel,
        threads=options.threads,
    )
    done = 0

    def seen(rows: int) -> None:
        nonlocal done
        done += rows
        if options.progress is not None:
            options.progress(done, records.rows, "reading")

    def work(_: None, batch: Batch) -> None:
        stream.update(batch)

    map_batches(records, lambda: None, work, threads=1, seen=seen)
    selected, errors = stream.finish(levels, records.accept)
    return Measurement(selected=selected, rank_errors=errors, strategy="one pass")
