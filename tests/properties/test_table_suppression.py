"""What several tables of the same people tell together: an attacker of our own computes with fractions.

The attacker knows every released cell, the rule, and which combinations of categories are empty. It gets no help
from the package: which sets of people a linear combination isolates is found by exhaustion, and what the rule
gives away by enumeration.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.tiers import count

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
    """Counts around the minimum, a few large ones, and empty cells."""
    small = draw.integers(0, 2 * minimum, shape)
    sizes = np.where(draw.random(shape) < 0.5, small, draw.integers(0, 12 * minimum, shape))
    return np.where(draw.random(shape) < draw.choice([0.0, 0.2, 0.5]), 0, sizes)


def few_isolated(sizes, minimum):
    """The sizes of isolated sets of too few people; what is empty is known."""
    places = [place for place in np.ndindex(sizes.shape) if sizes[place]]
    cells = released_cells(sizes, minimum)
    totals = [sum(sizes[place] for place in found) for found in isolated_sets(cells, places)]
    return [total for total in totals if 0 < total < minimum]


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3), (2, 5), (2, 2, 2), (2, 3, 2)])
def test_no_combination_isolates_fewer_than_the_minimum(shape):
    """By exact linear algebra: every isolated set is empty or has enough records."""
    draw = np.random.default_rng(19)

    for _ in range(count(quick=20, all=40, soak=3000)):
        assert not few_isolated(some_sizes(draw, shape, 11), 11)


def test_a_cell_that_alone_joins_two_parts_of_the_table_is_not_given_away():
    """Women less the people of race A, the only women but for three: those three."""
    sizes = np.array([[40, 3], [0, 60]])

    assert not few_isolated(sizes, 11)
    assert not release_tables(sizes, 11).remainder.any()


def test_more_columns_join_until_no_cell_alone_joins_two_parts():
    """A third race with many women and men hides how many women there are of the second."""
    sizes = np.array([[40, 3, 70], [0, 60, 90]])

    assert release_tables(sizes, 11).remainder.all()


def test_a_category_of_small_cells_is_sent_if_they_are_enough_together():
    """It is isolated, but not small."""
    sizes = np.array([[40, 6], [50, 7]])

    assert release_tables(sizes, 11).remainder.all()


def test_the_attack_finds_a_margin_beside_all_cells_but_one():
    """The attacker is not blind: women minus the women of all other races are a set of three."""
    places = list(np.ndindex(2, 3))
    cells = [frozenset([place]) for place in places[1:]] + [frozenset([(0, 0), (0, 1), (0, 2)])]

    assert [(0, 0)] in list(isolated_sets(cells, places))


def visible(sizes, minimum):
    """All that a silo says: which cells there are, and their numbers."""
    cells = released_cells(sizes, minimum)
    return tuple((tuple(sorted(cell)), sum(sizes[place] for place in cell)) for cell in cells)


def all_tables(shape, highest):
    """Every table with at most so many people in each category of the first axis."""
    width = int(np.prod(shape[1:]))
    rows = [row for row in product(range(highest + 1), repeat=width) if sum(row) <= highest]
    return (np.reshape(chosen, shape) for chosen in product(rows, repeat=shape[0]))


def most_people(seen, shape, minimum):
    """The most people that a category of the first axis has, in any table that looks like this.

    Categories that are in no cell have fewer than the minimum, unless no remainder was sent.
    """
    places = [place for cell, _ in seen for place in cell]
    absent = sum(size - len(set(own)) for size, *own in zip(shape, *places, strict=True))
    if not any(len(cell) > 1 for cell, _ in seen) and absent:
        return np.inf
    return absent * (minimum - 1) + max(
        sum(number for cell, number in seen if {place[0] for place in cell} == {category})
        for category in range(shape[0])
    )


def given_away(tables, minimum):
    """Sets of too few people that have the same number in all of these tables, where some are."""
    sets = np.array([*product((0, 1), repeat=tables.shape[1])]).T
    numbers = tables @ sets
    same = (numbers == numbers[0]).all(axis=0)
    return sets[:, same & (numbers[0] > 0) & (numbers[0] < minimum)]


@pytest.mark.parametrize(
    ("shape", "minimum", "highest", "knows_zeros"),
    [
        ((2, 2), 3, 8, True),
        ((2, 2), 2, 7, False),
        pytest.param((2, 3), 2, 5, False, marks=pytest.mark.slow),
        pytest.param((2, 2), 4, 11, True, marks=pytest.mark.slow),
        pytest.param((2, 3), 3, 8, True, marks=pytest.mark.soak),
        pytest.param((3, 3), 3, 4, True, marks=pytest.mark.soak),
        pytest.param((2, 2, 2), 3, 6, False, marks=pytest.mark.soak),
    ],
)
def test_whoever_knows_the_rule_computes_no_small_number(shape, minimum, highest, knows_zeros):
    """Of all tables that look the same, and have nobody where nobody is, no small set has one number."""
    alike = defaultdict(list)
    for sizes in all_tables(shape, highest):
        alike[visible(sizes, minimum)].append(sizes.ravel())
    complete = [
        np.array(tables)
        for seen, tables in alike.items()
        if most_people(seen, shape, minimum) <= highest  # else not all of them were enumerated
    ]

    assert complete
    for tables in complete:
        for zeros in {tuple(row == 0) for row in tables} if knows_zeros else {()}:
            known = np.flatnonzero(zeros)
            assert not given_away(tables[~tables[:, known].any(axis=1)], minimum).size


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
