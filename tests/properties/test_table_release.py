"""Whole messages with axes and an outcome, attacked with linear algebra over every number in them.

People are told apart by group, outcome and score. Every count in a message, of a cell, of a run of scores or at
a threshold, is the number of people in a known set; the attacker may add and subtract them all.
"""

from itertools import combinations

import numpy as np
import pytest

import fedparity as fp
from fedparity.documents.message_cells import SketchedCell
from fedparity.silo.sketch import prepare

SEX, RACE, POINTS = ("F", "M"), ("A", "B", "C"), (1.0, 2.0, 3.0, 4.0)
OUTCOMES = (1, 0, None)
LEAST = 5


def plan_of(kind, *, axes=True, outcome=True):
    groups = {"axes": {"sex": SEX, "race": RACE}} if axes else {"groups": RACE}
    return fp.Plan(
        title="attacked",
        **groups,
        **({"outcome": {"positive": 1, "negative": 0}} if outcome else {}),
        score_range=(1, 4),
        score_step=1,
        sketch=kind,
        thresholds=[2.0, 4.0],
        levels=4,
        disclosure={"minimum_cell": LEAST, "records_per_level": 1, "rounding": 0},
    )


def some_people(draw, *, outcome=True, unknown=True):
    """At least one person of every sex, race, outcome and score: no set is empty by chance."""
    highest = draw.choice([2, 3, 6, 12], size=(len(SEX), len(RACE), 3, len(POINTS)))
    counts = draw.integers(1, highest + 1)
    if not unknown:
        counts[:, :, 2] = 0
    return counts if outcome else np.concatenate([counts[:, :, :1], 0 * counts[:, :, 1:]], axis=2)


def table_of(counts):
    """The records of these people."""
    rows = np.repeat(np.array([*np.ndindex(counts.shape)]), counts.ravel(), axis=0)
    return {
        "sex": np.array(SEX)[rows[:, 0]],
        "race": np.array(RACE)[rows[:, 1]],
        "outcome": [OUTCOMES[place] for place in rows[:, 2]],
        "score": np.array(POINTS)[rows[:, 3]],
    }


def told(plan, message, shape):
    """The set of people behind each number of a message, one row each, and the number."""
    sex, race, outcome, score = np.indices(shape)
    for by, only, cells in [
        ((), None, message.cells),
        *((t.by, t.outcome, t.cells) for t in message.tables),
    ]:
        for cell in cells:
            if cell.values is None:
                continue
            people = np.ones(shape, dtype=bool)
            if only is not None:
                people &= outcome == ("positive", "negative").index(only)
            if by:
                mine = sex if by == ("sex",) else race
                labels = SEX if by == ("sex",) else RACE
                people &= (mine == labels.index(cell.group)) & remainder(message, shape)
            elif plan.axes:
                people &= (sex == SEX.index(cell.group[0])) & (race == RACE.index(cell.group[1]))
            else:
                people &= race == RACE.index(cell.group)
            yield people, cell.count
            for threshold, above in zip(plan.thresholds, cell.above, strict=True):
                if above is not None:
                    yield people & (score >= POINTS.index(threshold)), above
            yield from runs(cell, people, score)


def remainder(message, shape):
    """Who is in no cell of an intersection, and of no category that is withheld as a whole."""
    left = np.zeros(shape, dtype=bool)
    tables = {t.by: {c.group: c for c in t.cells} for t in message.tables if t.outcome is None}
    for cell in message.cells:
        first, second = cell.group
        if cell.withheld and tables["sex",][first].values is not None:
            left[SEX.index(first), RACE.index(second)] = tables["race",][second].values is not None
    return left


def runs(cell: SketchedCell, people, score):
    """Runs of scores with their counts; one without a count is counted with the run before."""
    if cell.counts is None:
        return
    start, own, number = 0, None, None
    for value, count in zip(cell.values, cell.counts, strict=True):
        end = POINTS.index(value)
        here = people & (score >= start) & (score <= end)
        if count is None:
            own = own | here
        else:
            if own is not None:
                yield own, number
            own, number = here, count
        start = end + 1
    yield own, number


def isolated_few(rows, counts):
    """Sets of fewer people than a cell needs whose indicator is a combination of the rows."""
    matrix = np.array([row.ravel() for row in rows], dtype=float)
    _, scale, basis = np.linalg.svd(matrix, full_matrices=False)
    basis = basis[scale > 1e-9]
    sizes = counts.ravel()
    places = np.flatnonzero((sizes > 0) & (sizes < LEAST))
    for size in range(1, LEAST):
        chosen = np.array([*combinations(places, size)], dtype=int).reshape(-1, size)
        chosen = chosen[sizes[chosen].sum(axis=1) < LEAST]
        # the squared length of the part of an indicator that lies among the combinations
        inside = (basis[:, chosen].sum(axis=2) ** 2).sum(axis=0)
        yield from chosen[inside > size - 1e-9].tolist()


@pytest.mark.parametrize("kind", ["counts", "mean"])
@pytest.mark.parametrize(
    ("axes", "outcome", "unknown"),
    [(True, False, False), (True, True, False), (True, True, True), (False, True, True)],
)
def test_no_combination_of_all_counts_isolates_fewer_than_the_minimum(
    kind, axes, outcome, unknown
):
    """Over margins, intersections, outcomes, runs of scores and thresholds."""
    draw = np.random.default_rng(1944)
    plan = plan_of(kind, axes=axes, outcome=outcome)
    released = 0

    for _ in range(12):
        counts = some_people(draw, outcome=outcome, unknown=unknown)
        names = {} if axes else {"group": "race"}
        table = table_of(counts)
        message = prepare(table, plan=plan, silo="a", score="score", **names).sketch
        people = counts if axes else counts.sum(axis=0, keepdims=True)
        found = [*told(plan, message, counts.shape)]
        if not found:
            continue
        for who, number in found:
            assert counts[who].sum() == number  # the attacker reads the message as it is meant
        rows = [who if axes else who.any(axis=0, keepdims=True) for who, _ in found]
        assert not list(isolated_few(rows, people))
        released += len(found)
    assert released > 50
