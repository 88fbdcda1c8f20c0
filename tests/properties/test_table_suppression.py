"""What several tables of the same people tell together: an attacker of our own computes with fractions.

The attacker knows every released cell and the rule. It gets no help from the package: which sets of people a
linear combination isolates is found by exhaustion, and what the rule gives away by enumeration.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fedparity.privacy.table_suppression import OutcomeSizes, may_split, release_tables


def released_cells(sizes, minimum):
    """The cells that are sent, as sets of intersections; those of the same people side by side."""
    sizes = np.asarray(sizes)
    found = release_tables(sizes, minimum)
    cells = [frozenset([place]) for place in zip(*np.nonzero(found.complete), strict=True)]
    for axis in range(sizes.ndim):
        for category in np.flatnonzero(found.remainders(axis)):
            people = found.remainder & (np.indices(sizes.shape)[axis] == category)
            cells.append(frozenset(zip(*np.nonzero(people), strict=True)))
    return cells


def reduced_rows(rows):
    """The reduced echelon form of a matrix of whole numbers, and its pivots."""
    matrix = [[Fraction(entry) for entry in row] for row in rows]
    pivots = []
    for column in range(len(matrix[0]) if matrix else 0):
        chosen = next((r for r in range(len(pivots), len(matrix)) if matrix[r][column]), None)
        if chosen is None:
            continue
        top = len(pivots)
        matrix[top], matrix[chosen] = matrix[chosen], matrix[top]
        lead = matrix[top][column]
        matrix[top] = [entry / lead for entry in matrix[top]]
        for other in range(len(matrix)):
            if other != top and matrix[other][column]:
                factor = matrix[other][column]
                matrix[other] = [
                    a - factor * b for a, b in zip(matrix[other], matrix[top], strict=True)
                ]
        pivots.append(column)
    return matrix[: len(pivots)], pivots


def isolated_sets(cells, places):
    """Every set whose indicator is a linear combination of those of the cells: by exhaustion.

    A combination is fixed by its entries at the pivots, and these are 0 or 1.
    """
    rows = [[int(place in cell) for place in places] for cell in cells]
    basis, pivots = reduced_rows(rows)
    for chosen in product((0, 1), repeat=len(pivots)):
        entries = [
            sum(c * row[column] for c, row in zip(chosen, basis, strict=True))
            for column in range(len(places))
        ]
        if set(entries) <= {0, 1}:
            yield [place for place, entry in zip(places, entries, strict=True) if entry]


def some_sizes(draw, shape, minimum):
    """Counts around the minimum, and a few large ones."""
    small = draw.integers(0, 2 * minimum, shape)
    return np.where(draw.random(shape) < 0.5, small, draw.integers(0, 12 * minimum, shape))


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3), (2, 5), (2, 2, 2), (2, 3, 2)])
def test_no_combination_isolates_fewer_than_the_minimum(shape):
    """By exact linear algebra: every isolated set is empty or has enough records."""
    draw = np.random.default_rng(19)
    places = list(np.ndindex(*shape))

    for _ in range(60):
        sizes = some_sizes(draw, shape, 11)
        cells = released_cells(sizes, 11)
        totals = [sum(sizes[place] for place in found) for found in isolated_sets(cells, places)]
        assert all(total == 0 or total >= 11 for total in totals)


def test_the_attack_finds_a_margin_beside_all_cells_but_one():
    """The attacker is not blind: women minus the women of all other races are a set of three."""
    places = list(np.ndindex(2, 3))
    cells = [frozenset([place]) for place in places[1:]] + [frozenset([(0, 0), (0, 1), (0, 2)])]

    assert [(0, 0)] in list(isolated_sets(cells, places))


def visible(sizes, minimum):
    """All that a silo says: which cells there are, and their numbers."""
    cells = released_cells(sizes, minimum)
    return tuple((tuple(sorted(cell)), sum(sizes[place] for place in cell)) for cell in cells)


@pytest.mark.parametrize(
    ("shape", "minimum", "highest"),
    [((2, 2), 3, 9), ((2, 2), 2, 8), ((2, 3), 2, 4)],
)
def test_whoever_knows_the_rule_computes_no_small_number(shape, minimum, highest):
    """Of all tables that look the same, no small cell has the same number in each."""
    alike = defaultdict(list)
    for flat in product(range(highest + 1), repeat=int(np.prod(shape))):
        alike[visible(np.reshape(flat, shape), minimum)].append(flat)

    for tables in alike.values():
        if max(map(max, tables)) == highest:
            continue  # the enumeration ends here, not what is possible
        for numbers in zip(*tables, strict=True):
            assert len(set(numbers)) > 1 or not 0 < numbers[0] < minimum


def test_margins_count_everybody_whose_categories_are_large_enough():
    """People of a withheld intersection are in a remainder of each of their categories."""
    sizes = np.array([[300, 90, 20, 4], [500, 5, 30, 3]])

    cells = released_cells(sizes, 11)

    women = [cell for cell in cells if all(row == 0 for row, _ in cell)]
    third = [cell for cell in cells if all(column == 2 for _, column in cell)]
    assert sum(sizes[place] for cell in women for place in cell) == 300 + 90 + 20
    assert sum(sizes[place] for cell in third for place in cell) == 50
    assert not any(column == 3 for cell in cells for _, column in cell)


@pytest.mark.parametrize(
    ("sizes", "allowed"),
    [((40, 30, 0), True), ((40, 30, 11), True), ((40, 30, 10), False), ((40, 10, 0), False)],
)
def test_a_homogeneous_cell_is_not_split(sizes, allowed):
    """One outcome that is nearly empty tells the outcome of everybody."""
    positive, negative, unknown = sizes
    found = may_split(OutcomeSizes(positive=positive, negative=negative, unknown=unknown), 11)

    assert found is allowed
