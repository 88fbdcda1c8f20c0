"""Loops that numba compiles: imported only where it is installed and pays.

They do what ``numpy_kernel`` does, in the same order of operations: the bits are the same.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["estimates"]


def _compiled(function):
    """Compile a loop, and keep the machine code on disk where there is a place for it."""
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written
        return njit(**options)(function)


@_compiled
def estimates(values, ranks, codes, totals, shares, places, silos, number, levels, found):
    """Write the estimates of an allocation, by estimator and number of levels."""
    groups, most = totals.size, levels.max() * number
    counts, starts, by_cell = _sorted_cells(codes, silos, ranks, groups, number)
    running = _running_sums(values, by_cell, counts, starts)
    low, scale = values[0], (places.size - 1) / (values[-1] - values[0])
    if not np.isfinite(scale):  # one score, or scores too close to tell apart: one bucket
        scale = 0.0
    by_rank = np.zeros(values.size, dtype=np.int64)
    atoms, edges = np.empty((groups, most)), np.empty((groups, most))
    mass, sizes = np.empty((groups, most), np.int64), np.empty(groups, np.int64)
    grid = np.empty((groups, levels.max()))
    scratch = (
        np.empty(most, np.int32),
        np.empty(most + 1, np.int32),
        np.empty(most),
        np.empty(most, np.int64),
    )
    for column in range(levels.size):
        k = levels[column]
        for group in range(groups):
            own = slice(group * number, (group + 1) * number)
            _spread_masses(by_cell, counts[own], starts[own], k, by_rank)
            sizes[group] = _rank_steps(values, by_rank, atoms[group], mass[group])
            _invert(atoms[group], mass[group], totals[group], k, grid[group])
        found[0, column] = _grid_spread(grid, k, shares)
        found[1, column] = _exact_spread(atoms, mass, sizes, shares, edges)
        for group in range(groups):
            own = slice(group * number, (group + 1) * number)
            filled = _all_bin_means(
                values, by_cell, running, counts[own], starts[own], k, atoms[group], mass[group]
            )
            _sort_atoms(atoms[group], mass[group], filled, low, scale, places, scratch)
            sizes[group] = _join_equal(atoms[group], mass[group], filled)
        found[2, column] = _exact_spread(atoms, mass, sizes, shares, edges)


@_compiled
def _sorted_cells(codes, silos, ranks, groups, number):
    """Count, start and ranks of the records of each cell: a counting sort keeps them sorted."""
    counts = np.zeros(groups * number, dtype=np.int64)
    for i in range(ranks.size):
        counts[codes[i] * number + silos[i]] += 1
    starts = np.cumsum(counts) - counts
    following = starts.copy()
    by_cell = np.empty_like(ranks)
    for i in range(ranks.size):
        cell = codes[i] * number + silos[i]
        by_cell[following[cell]] = ranks[i]
        following[cell] += 1
    return counts, starts, by_cell


@_compiled
def _running_sums(values, by_cell, counts, starts):
    running = np.empty(by_cell.size)
    for cell in range(counts.size):
        total = 0.0
        for i in range(starts[cell], starts[cell] + counts[cell]):
            total += values[by_cell[i]]
            running[i] = total
    return running


@_compiled
def _spread_masses(by_cell, counts, starts, k, masses):
    """Add the mass of each quantile of a group's cells to its rank."""
    for cell in range(counts.size):
        count, start = counts[cell], starts[cell]
        if count:
            # ceil(n (2l - 1) / 2k) - 1, step by step: a division for each would take longer
            whole, part = 2 * count // (2 * k), 2 * count % (2 * k)
            place, rest = (count + 2 * k - 1) // (2 * k) - 1, (count + 2 * k - 1) % (2 * k)
            for _ in range(k):
                masses[by_cell[start + place]] += count
                place += whole
                rest += part
                if rest >= 2 * k:
                    rest -= 2 * k
                    place += 1


@_compiled
def _rank_steps(values, masses, atoms, mass):
    """Write the ranks that hold mass as atoms, and clear the masses; return how many."""
    size = 0
    for rank in range(masses.size):
        if masses[rank]:
            atoms[size] = values[rank]
            mass[size] = masses[rank]
            masses[rank] = 0
            size += 1
    return size


@_compiled
def _invert(atoms, mass, total, k, values):
    """The quantiles at k midpoints, compared in whole numbers."""
    at, running = 0, mass[0]
    for level in range(k):
        while 2 * running < (2 * level + 1) * total:
            at += 1
            running += mass[at]
        values[level] = atoms[at]


@_compiled
def _all_bin_means(values, by_cell, running, counts, starts, k, atoms, mass):
    """Write the bin means of a group's cells; return how many they are."""
    filled = 0
    for cell in range(counts.size):
        start, count = starts[cell], counts[cell]
        if count:
            own = slice(start, start + count)
            _bin_means(values, by_cell[own], running[own], k, atoms[filled : filled + k])
            mass[filled : filled + k] = count
            filled += k
    return filled


@_compiled
def _bin_means(values, ranks, running, k, means):
    """Means of a cell between (l - 1)/k and l/k."""
    count = ranks.size
    first, part = 0, 0
    step, remainder = count // k, count % k
    for level in range(k):
        last, next_part = first + step, part + remainder
        if next_part >= k:
            last, next_part = last + 1, next_part - k
        if count <= k - part:
            means[level] = values[ranks[first]]
        else:
            head = (k - part) * values[ranks[first]]
            between = running[last - 1] - running[first]
            tail = next_part * values[ranks[min(last, count - 1)]]
            means[level] = (head + k * between + tail) / count
        first, part = last, next_part


@_compiled
def _sort_atoms(atoms, mass, filled, low, scale, places, scratch):
    """Sort atoms with their masses: into as many buckets as atoms, then by insertion.

    ``places`` says at equal distances from ``low`` which share of the atoms to expect up to there.
    """
    bucket_of, following, own_atoms, own_mass = scratch
    following[: filled + 1] = 0
    for i in range(filled):
        # within bounds, also for a mean that rounding has put below the lowest score
        distance = min(max((atoms[i] - low) * scale, 0.0), places.size - 1.0)
        at = min(np.int64(distance), places.size - 2)
        share = places[at] + (distance - at) * (places[at + 1] - places[at])
        bucket_of[i] = min(np.int64(share * filled), filled - 1)
        following[bucket_of[i] + 1] += 1
    for bucket in range(filled):
        following[bucket + 1] += following[bucket]
    for i in range(filled):
        own_atoms[following[bucket_of[i]]] = atoms[i]
        own_mass[following[bucket_of[i]]] = mass[i]
        following[bucket_of[i]] += 1
    for i in range(filled):
        atom, weight, at = own_atoms[i], own_mass[i], i
        while at and atoms[at - 1] > atom:
            atoms[at], mass[at] = atoms[at - 1], mass[at - 1]
            at -= 1
        atoms[at], mass[at] = atom, weight


@_compiled
def _join_equal(atoms, mass, filled):
    """Make equal atoms one; return how many remain."""
    size = 0
    for at in range(1, filled):
        if atoms[at] == atoms[size]:
            mass[size] += mass[at]
        else:
            size += 1
            atoms[size], mass[size] = atoms[at], mass[at]
    return size + 1


@_compiled
def _grid_spread(grid, k, shares):
    total = 0.0
    for one in range(shares.size):
        for other in range(one + 1, shares.size):
            squared = 0.0
            for level in range(k):
                gap = grid[other, level] - grid[one, level]
                squared += gap * gap
            total += shares[one] * shares[other] * squared
    return total / k


@_compiled
def _exact_spread(atoms, mass, sizes, shares, edges):
    """Half the mean squared difference between groups, over the intervals of all their levels."""
    for group in range(shares.size):
        running = 0
        for at in range(sizes[group]):
            running += mass[group, at]
            edges[group, at] = running
        for at in range(sizes[group]):  # apart from the sum: several divisions at a time
            edges[group, at] /= running
    total = 0.0
    for one in range(shares.size):
        for other in range(one + 1, shares.size):
            squared = _squared_integral(
                atoms[one, : sizes[one]],
                atoms[other, : sizes[other]],
                edges[one, : sizes[one]],
                edges[other, : sizes[other]],
            )
            total += shares[one] * shares[other] * squared
    return total


@_compiled
def _squared_integral(one, other, one_edges, other_edges):
    """The squared difference of two quantile functions, interval by interval."""
    i, j = 0, 0
    reached, squared = 0.0, 0.0
    while i < one.size and j < other.size:
        gap = other[j] - one[i]
        edge = min(one_edges[i], other_edges[j])
        if one_edges[i] <= other_edges[j]:
            i += 1
        else:
            j += 1
        squared += (edge - reached) * (gap * gap)
        reached = edge
    return squared  # both end at level 1: what is left of the other has no width
