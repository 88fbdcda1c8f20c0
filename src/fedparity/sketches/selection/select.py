"""Exact sketches of all groups of a table in two passes and little memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fedparity.errors import ScoreError
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.kinds import Kind, check_kind
from fedparity.sketches.records import Records
from fedparity.sketches.selection.bucket_maps import Integers
from fedparity.sketches.selection.dealing import Progress, available_threads
from fedparity.sketches.selection.kernels import KernelName, choose_kernel
from fedparity.sketches.selection.moments import Beside, Moments
from fedparity.sketches.selection.passes import count_all, count_parts, gather
from fedparity.sketches.selection.resolve import Resolver
from fedparity.sketches.selection.run import Run
from fedparity.sketches.selection.sampling import first_map, score_sample
from fedparity.sketches.selection.stages import FirstBuckets, Stage, narrow, split
from fedparity.sketches.selection.state import Bag, Bounds, Tally
from fedparity.sketches.selection.targets import MassTargets, RankTargets, Targets
from fedparity.sketches.selection.tuning import Tuning
from fedparity.sketches.selection.windows import choose_windows, within_windows

__all__ = ["Census", "Selected", "select"]


@dataclass(frozen=True, eq=False)
class Census:
    """How many records each group has, before anything of their scores is known."""

    counts: Integers
    """Records of each group that have a positive weight."""
    masses: FloatArray
    """Their total weight, rounded."""
    effective: FloatArray
    """The number of equally weighted records that would vary as much."""
    dropped: int
    """Rows that were left out, as allowed."""


@dataclass(frozen=True, eq=False)
class Selected:
    """The sketches of all groups, and how they were found."""

    census: Census
    totals: tuple[int | float, ...]
    """The count of each group, or its total weight, correctly rounded."""
    values: tuple[FloatArray | None, ...]
    """The numbers of each group's sketch; None where none were asked for, or it has no record."""
    inside: tuple[float | None, ...]
    """For bin means, the variance inside the bins: what they leave out of the whole; else None."""
    above: tuple[tuple[int | float, ...] | None, ...]
    """Records, or their weight, at or above each threshold; None where there are no values."""
    kernel: str
    passes: int
    moments: Moments | None = None
    """The exact sums behind them, so that those of several chunks can be added up."""


def select(
    records: Records,
    levels: Callable[[Census], Sequence[int]],
    *,
    kind: Kind = "quantile",
    thresholds: Sequence[float] = (),
    points: FloatArray | None = None,
    sums: bool = False,
    score_range: tuple[float, float] | None = None,
    levels_hint: int = 100,
    threads: int | None = None,
    kernel: KernelName = "auto",
    progress: Progress | None = None,
    tuning: Tuning | None = None,
) -> Selected:
    r"""Return the exact quantiles or bin means of every group, without sorting the records.

    A monotone map sends scores to buckets. The first pass counts them, which tells the bucket
    of every wanted rank; the second keeps the records of those buckets only, and they are
    sorted. Sums that means and weights need are kept as whole numbers. So the result does not
    depend on the order of the records, on threads, or on the kernel: every bit is the same.

    Parameters
    ----------
    levels : function of a census to one number of levels per group
        Called after the first pass; 0 where nothing is wanted of a group.
    kind : "quantile", "mean" or "counts"
        For ``counts`` the values are the numbers of records, or their weight, at each of the
        ``points``, of which none is left out; a score that is no point is refused.
    thresholds : sequence of numbers
        Scores at or above which records are counted, too.
    points : increasing array, for kind ``counts``
    sums : bool
        Whether the sums of scores, weights and squares are wanted for themselves.
    score_range : pair of numbers, optional
        Scores outside are refused.
    levels_hint : int
        About how many levels will be asked for; a matter of speed.

    Raises
    ------
    ScoreError
        If a score is missing, infinite or outside the range, or no point of the grid.
    RecordsError
        If a later pass finds other records than the first.

    Notes
    -----
    Precondition: ``records`` can be read more than once. Postcondition: for kind ``quantile``
    value l is the lowest score up to which at least the share :math:`u_\ell` of the mass lies;
    for kind ``mean`` it is the float nearest to the mean of bin l.
    """
    check_kind(kind)
    if kind == "counts":
        return select_counts(
            records,
            levels,
            points=points,
            thresholds=thresholds,
            score_range=score_range,
            threads=threads,
            progress=progress,
        )
    run = Run(
        records=records,
        bounds=Bounds() if score_range is None else Bounds(*score_range),
        kernel=choose_kernel(kernel, records.rows),
        threads=available_threads() if threads is None else threads,
        means=kind == "mean",
        beside=Beside(
            squares=sums or kind == "mean", sums=sums, thresholds=tuple(map(float, thresholds))
        ),
        progress=progress,
        tuning=tuning or Tuning(),
    )
    sample = score_sample(records, run.bounds, run.tuning)
    buckets = FirstBuckets(
        first_map(sample, records, levels_hint, run.tuning), len(records.groups)
    )
    tally, moments = count_all(run, buckets)
    census = _census(run, tally, buckets)
    wanted = [int(number) for number in levels(census)]
    targets = [_targets(run, census, group, number, kind) for group, number in enumerate(wanted)]
    run.sum_rows = sum(target.size + 1 for target in targets if target is not None)
    first = narrow(buckets, tally.counts[:-1], _masses(tally), targets, sums=run.needs_sums)
    last, sums = _narrowed(run, first)
    last, atoms, atom_places = last.with_candidates(sample, run.tuning)
    last, bag = _gathered(run, first, last, atoms, sample)
    bag.add_earlier_sums(sums)
    resolver = Resolver(run, kind, last, bag, atoms, atom_places, moments.squares)
    found = resolver.sketches(census.counts, wanted)
    above = moments.above()
    return Selected(
        census,
        tuple(each.total for each in found),
        tuple(each.values for each in found),
        tuple(each.inside for each in found),
        tuple(
            None if each.values is None else own for each, own in zip(found, above, strict=True)
        ),
        run.kernel.name,
        run.passes,
        moments,
    )


def _masses(tally: Tally) -> FloatArray | None:
    return None if tally.masses is None else tally.masses[:-1]


def _census(run: Run, tally: Tally, buckets: FirstBuckets) -> Census:
    """Count the groups; raise where a record may not be counted."""
    dropped = run.records.accept(tally.faults)
    if tally.outside:
        total = int(tally.counts.sum())
        raise ScoreError.outside_range(tally.outside, total, run.bounds.low, run.bounds.high)
    shape = (len(run.records.groups), buckets.chosen.width)
    counts = tally.counts[:-1].reshape(shape).sum(axis=1)
    if tally.masses is None or tally.squares is None:
        whole = counts.astype(np.float64)
        return Census(counts, whole, whole, dropped)
    masses = tally.masses[:-1].reshape(shape).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.nan_to_num(masses * (masses / tally.squares))
    return Census(counts, masses, effective, dropped)


def _targets(run: Run, census: Census, group: int, levels: int, kind: Kind) -> Targets | None:
    count = int(census.counts[group])
    if not levels or not count:
        return None
    if run.records.weighted:
        return MassTargets.of(count, float(census.masses[group]), levels, kind)
    return RankTargets.of(count, levels, kind)


def _narrowed(run: Run, first: Stage) -> tuple[Stage, Bag]:
    """Cut buckets until what is kept fits; return the last stage and the sums so far."""
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
    """Gather what is kept: windows of buckets if they help, else, or if one misses, all of it."""
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
