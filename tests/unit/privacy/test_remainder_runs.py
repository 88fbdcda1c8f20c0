"""Where remainders are cut: in every row at once, and in as many columns as isolate nobody."""

import numpy as np
import pytest

from fedparity.privacy.remainder_runs import remainder_runs

LEAST = 5


def some_tables(number):
    """Two rows, three columns and four scores, each with some places that are empty."""
    draw = np.random.default_rng(31)
    for _ in range(number):
        table = draw.integers(0, 4 * LEAST, (1, 2, 3, 4)) * (draw.random((1, 2, 3, 4)) < 0.7)
        if (table.sum(axis=(0, 1, 3)) >= LEAST).all() and (
            table.sum(axis=(0, 2, 3)) >= LEAST
        ).all():
            yield table


def test_rows_are_cut_where_each_of_them_has_enough():
    """At the second score there are two women: it is counted with the third one, and the first alone."""
    rows = np.array([[20, 2, 20], [20, 20, 20]])
    table = np.stack([rows, rows], axis=1)[np.newaxis]

    found = remainder_runs(table, LEAST)

    assert found.ends(0, 0).tolist() == found.ends(0, 1).tolist() == [0, 2]


@pytest.mark.parametrize("outcome", [0, 1])
def test_rows_are_cut_where_each_outcome_has_enough(outcome):
    both = np.full((2, 2, 2, 3), 20)
    both[outcome, :, :, 1] = 1

    assert remainder_runs(both, LEAST).ends(0, 0).tolist() == [0, 2]


def test_the_smallest_columns_are_left_uncut():
    """What could be cut and is not has no more people than what is."""
    partly = 0
    for table in some_tables(400):
        found = remainder_runs(table, LEAST)
        sizes = table.sum(axis=(0, 1, 3))
        cut = {c for c in range(3) if found.ends(1, c).size > 1}
        uncut = [c for c in range(3) if c not in cut and can_be_cut(table[0, :, c].sum(axis=0))]
        if cut and uncut:
            partly += 1
            assert max(sizes[c] for c in uncut) <= min(sizes[c] for c in cut)
    assert partly > 5


def can_be_cut(column):
    """Whether both sides of some cut of a column have enough."""
    above = np.cumsum(column[::-1])[::-1][1:]
    return bool(((above >= LEAST) & (column.sum() - above >= LEAST)).any())
