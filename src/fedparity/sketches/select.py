"""Exact sketches of all groups of a table, in two passes and little memory, by the strategy that its source allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from fedparity.errors import ScoreError
from fedparity.laws.law import FloatArray, IntArray
from fedparity.laws.progress import RowProgress
from fedparity.sketches.accumulators import (
    Bag,
    Bounds,
    ExtraSums,
    Moments,
    SketchRequest,
    Tally,
    Tuning,
)
from fedparity.sketches.exact_sums import LOWEST_EXPONENT
from fedparity.sketches.kinds import Kind, MassTargets, RankTargets, Targets
from fedparity.sketches.passes import (
    KernelName,
    Run,
    choose_kernel,
    count_all,
    count_parts,
    gather,
)
from fedparity.sketches.records import (
    Batch,
    Records,
    RowCounts,
    available_threads,
    cache_records,
    default_memory,
    map_batches,
)
from fedparity.sketches.resolve import Resolved, Resolver, Values
from fedparity.sketches.stages import (
    FirstBuckets,
    Stage,
    choose_windows,
    first_map,
    narrow,
    score_sample,
    split,
    within_windows,
)

__all__ = [
    "Census",
    "ComputeOptions",
    "MayRank",
    "Measurement",
    "QueriedSource",
    "RankedRecords",
    "Selected",
    "Strategy",
    "measure_records",
    "select",
    "where_sketched",
]

Entry = TypeVar("Entry")


@dataclass(frozen=True, eq=False)
class Census:
    """How many records each group has, before anything of their scores is known."""

    counts: IntArray
    """Records of each group that have a positive weight."""
    masses: FloatArray
    """Their total weight, correctly rounded."""
    effective: FloatArray
    """The number of equally weighted records that would vary as much, correctly rounded."""
    rows: RowCounts
    """What became of the rows of the table."""

    @classmethod
    def from_moments(cls, counts: IntArray, moments: Moments, rows: RowCounts) -> Census:
        r"""Return the census of groups whose weights, if they have any, were added up.

        Weights that sum to W amount to :math:`W^2 / \sum_i w_i^2` records.
        """
        if moments.weights is None:
            whole = counts.astype(np.float64)
            return cls(counts, whole, whole, rows)
        weights = [sum(own) for own in moments.between()]
        effective = [
            weight * weight / squares if squares else 0.0
            for weight, squares in zip(weights, moments.weight_squares.settle(), strict=True)
        ]
        masses = [weight / (1 << LOWEST_EXPONENT) for weight in weights]
        return cls(counts, np.array(masses), np.array(effective), rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class Selected:
    """The sketches of all groups, and how they were computed.

    The entry of a group is None if no levels were requested for it, or if it has no records.
    """

    census: Census
    totals: tuple[int | float, ...]
    """The count of each group, or its total weight, correctly rounded."""
    values: tuple[Values | None, ...]
    """The numbers of each group's sketch."""
    inside: tuple[float | None, ...]
    """For bin means the variance inside the bins, correctly rounded: what they leave out."""
    above: tuple[tuple[int | float, ...] | None, ...]
    """Records, or their weight, at or above each threshold."""
    records: tuple[IntArray | None, ...]
    """How many records lie below, between and above thresholds, or, for counts, at each point; None
    where there are neither."""
    kernel: str
    passes: int
    moments: Moments | None = None
    """The exact sums behind them, where records were read: those of several chunks can be added up."""


def select(
    records: Records,
    levels: Callable[[Census], Sequence[int]],
    *,
    kind: Kind = "quantile",
    thresholds: Sequence[float] = (),
    points: FloatArray | None = None,
    extra: ExtraSums | None = None,
    score_range: tuple[float, float] | None = None,
    levels_hint: int = 100,
    threads: int | None = None,
    kernel: KernelName = "auto",
    progress: RowProgress | None = None,
    tuning: Tuning | None = None,
) -> Selected:
    r"""Return the exact quantiles, bin means or counts of every group, without sorting the records.

    A monotone map sends scores to buckets. The first pass counts them, which yields the bucket
    of every requested rank; the second keeps the records of those buckets only, and they are
    sorted. Sums that means, squares and weights need are kept as whole numbers. So the result does
    not depend on the order of the records, on threads, or on the kernel: every bit is the same.

    Parameters
    ----------
    levels : function of a census to one number of levels per group
        Called after the first pass; it returns 0 for a group of which no sketch is needed.
    kind : "quantile", "mean" or "counts"
        For ``counts`` the values are the records, or their weight, at all ``points``, whatever
        the number of levels; one pass finds them.
    thresholds : sequence of numbers
        Scores at or above which records are counted as well.
    points : increasing array, for kind ``counts``
        The scores there can be, see :class:`~fedparity.sketches.kinds.ScoreGrid`.
    extra : ExtraSums, optional
        What is added up; only what the sketch needs if absent.
    score_range : pair of numbers, optional
        Scores outside are refused.
    levels_hint : int
        About how many levels will be requested; a matter of speed.

    Raises
    ------
    ScoreError
        If a score is missing, infinite, outside the range, or none of the points.
    RecordsError
        If a later pass finds other records than the first.

    Notes
    -----
    Precondition: ``records`` can be read more than once. Postcondition: for kind ``quantile``
    value l is the lowest score up to which at least the share :math:`u_\ell` of the mass lies;
    for kind ``mean`` it is the float nearest to the mean of bin l.
    """
    request = SketchRequest(kind=kind, thresholds=thresholds, points=points)
    run = Run(
        records=records,
        bounds=Bounds() if score_range is None else Bounds(*score_range),
        kernel=choose_kernel(kernel, records.rows),
        threads=available_threads() if threads is None else threads,
        means=kind == "mean",
        extra=request.extra_sums() if extra is None else extra,
        progress=progress,
        tuning=tuning or Tuning(),
    )
    ranked = kind != "counts"
    sample = score_sample(records, run.bounds, run.tuning) if ranked else np.zeros(0)
    buckets = FirstBuckets(
        first_map(sample, records, levels_hint, run.tuning), len(records.groups)
    )
    tally, moments = count_all(run, buckets)
    census = _census(run, tally, moments, buckets)
    request.check(moments)
    wanted = [int(number) for number in levels(census)]
    if ranked:
        targets = [
            _targets(run, census, group, number, kind) for group, number in enumerate(wanted)
        ]
        stage = _first_stage(run, buckets, tally, targets)
        found = _resolved(run, kind, stage, sample, moments).sketches(census.counts, wanted)
    else:
        found = _counted(request, wanted, census, moments)
    values = tuple(each.values for each in found)
    return Selected(
        census=census,
        totals=tuple(each.total for each in found),
        values=values,
        inside=tuple(each.inside for each in found),
        above=where_sketched(values, request.above(moments)),
        records=where_sketched(values, request.records(moments)),
        kernel=run.kernel.name,
        passes=run.passes,
        moments=moments,
    )


def where_sketched(values: Sequence[object], entries: Iterable[Entry]) -> tuple[Entry | None, ...]:
    """Return the entry of each group, and None where the group has no sketch."""
    return tuple(None if own is None else one for own, one in zip(values, entries, strict=True))


def _counted(
    request: SketchRequest, wanted: Sequence[int], census: Census, moments: Moments
) -> list[Resolved]:
    """The counts of each group at the points of a grid."""
    totals = (census.counts if moments.weights is None else census.masses).tolist()
    return [
        Resolved(total, values if number and count else None)
        for total, values, number, count in zip(
            totals, request.counts(moments), wanted, census.counts.tolist(), strict=True
        )
    ]


def _first_stage(
    run: Run, buckets: FirstBuckets, tally: Tally, targets: Sequence[Targets | None]
) -> Stage:
    """The buckets that contain a requested rank."""
    run.sum_rows = sum(target.size + 1 for target in targets if target is not None)
    return narrow(buckets, tally.counts[:-1], _masses(tally), targets, sums=run.needs_sums)


def _resolved(
    run: Run, kind: Kind, first: Stage, sample: FloatArray, moments: Moments
) -> Resolver:
    """Resolve the requested ranks: gather records, in further passes."""
    last, sums = _narrowed(run, first)
    last, atoms, atom_places = last.with_candidates(sample, run.tuning)
    last, bag = _gathered(run, first, last, atoms, sample)
    bag.add_earlier_sums(sums)
    return Resolver(run, kind, last, bag, atoms, atom_places, moments.squares.settle())


def _masses(tally: Tally) -> FloatArray | None:
    return None if tally.masses is None else tally.masses[:-1]


def _census(run: Run, tally: Tally, moments: Moments, buckets: FirstBuckets) -> Census:
    """Count the groups; raise where a record may not be counted."""
    rows = run.records.accept(tally.faults)
    if tally.outside:
        total = int(tally.counts.sum())
        raise ScoreError.outside_range(tally.outside, total, run.bounds.low, run.bounds.high)
    shape = (len(run.records.groups), buckets.chosen.width)
    return Census.from_moments(tally.counts[:-1].reshape(shape).sum(axis=1), moments, rows)


def _targets(run: Run, census: Census, group: int, levels: int, kind: Kind) -> Targets | None:
    count = int(census.counts[group])
    if not levels or not count:
        return None
    if run.records.weighted:
        return MassTargets.from_mass(count, float(census.masses[group]), levels, kind)
    return RankTargets.from_count(count, levels, kind)


def _narrowed(run: Run, first: Stage) -> tuple[Stage, Bag]:
    """Divide buckets until the kept records fit in memory; return the last stage and the sums so far."""
    sums, last = run.bag(), first
    for _ in range(run.tuning.stages):
        parts = split(last, run.tuning.parts) if last.volume > run.tuning.kept else None
        if parts is None:
            break
        tally, more = count_parts(run, first, last, parts)
        sums.add(more)
        last = narrow(parts, tally.counts[:-1], _masses(tally), last.targets, sums=run.needs_sums)
    return last, sums


def _gathered(
    run: Run, first: Stage, last: Stage, atoms: FloatArray, sample: FloatArray
) -> tuple[Stage, Bag]:
    """Gather the kept records: only windows of buckets if that helps; everything if it does not, or if a window misses its rank."""
    chosen = None
    if run.kernel.windows and not run.needs_sums and last.buckets is first.buckets:
        chosen = choose_windows(last, sample, run.tuning)
    if chosen is not None:
        stage, windows = chosen
        bag = gather(run, first, stage, atoms, windows)
        found = within_windows(stage, windows, *bag.sides[::2])
        if found is not None:
            return found, bag
    return last, gather(run, first, last, atoms)


class QueriedSource(Protocol):
    """A source that answers queries about its records, so that they are not read."""

    @property
    def place(self) -> str:
        """Where the scores are ranked, in one word."""
        ...

    @property
    def queries(self) -> int:
        """The number of queries so far."""
        ...


class RankedRecords(QueriedSource, Protocol):
    """The scores of all groups, of which only the numbers of a sketch are requested."""

    def census(self, score_range: tuple[float, float] | None) -> Census | None:
        """Count the groups, or return None if the source cannot rank these records after all.

        Raises
        ------
        FedparityError
            If a record may not be counted, or its score is outside the range: as the kernels do.
        """
        ...

    def selected(self, census: Census, levels: Sequence[int]) -> Selected | None:
        """Return the sketches, with the given number of levels each: the bits are those of the kernels.

        None if the source cannot find them after all.

        Raises
        ------
        ScoreError
            If a score is not a point of the grid, where they are counted.
        """
        ...


@runtime_checkable
class MayRank(Protocol):
    """Records that know whether their source can rank them."""

    def ranked(self, request: SketchRequest) -> RankedRecords | None:
        """Return the same records, ranked where they are; None if they have to be read."""
        ...


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
    progress: RowProgress | None = None


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The sketches of all groups, their errors, and the strategy that computed them."""

    selected: Selected
    rank_errors: tuple[float, ...]
    strategy: Strategy


def measure_records(
    records: Records,
    levels: Callable[[Census], Sequence[int]],
    request: SketchRequest,
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
        found = _where_they_are(records, levels, request, score_range, options)
        if found is not None:
            return found
    if not records.rescannable:
        return _in_one_pass(records, levels, request, score_range, options)
    limit = default_memory() if options.memory is None else options.memory
    threads = available_threads() if options.threads is None else options.threads
    cached = None
    once = request.kind == "counts"
    if records.worth_caching and not once:
        cached = cache_records(records, limit, threads=threads, progress=options.progress)
    selected = select(
        records if cached is None else cached,
        levels,
        kind=request.kind,
        thresholds=request.thresholds,
        points=request.points,
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
    request: SketchRequest,
    score_range: tuple[float, float] | None,
    options: ComputeOptions,
) -> Measurement | None:
    """The same numbers, found by the source itself; None if it cannot."""
    ranked = records.ranked(request)
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
    request: SketchRequest,
    score_range: tuple[float, float] | None,
    options: ComputeOptions,
) -> Measurement:
    from fedparity.sketches.streaming import StreamSketch  # noqa: PLC0415 -- read once only

    stream = StreamSketch(
        groups=records.groups,
        request=request,
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
