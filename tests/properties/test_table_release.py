"""Whole messages with axes and an outcome, attacked with linear algebra over every number in them.

People are told apart by group, outcome and score. Every count in a message, of a cell, of a run of scores or at
a threshold, is the number of people in a known set; the attacker may add and subtract them all, and knows which
combinations of group, outcome and score do not occur.
"""

from dataclasses import replace
from itertools import combinations, islice, product

import numpy as np
import pytest
from tests.tiers import count

import fedparity as fp
from fedparity.documents.message_cells import SketchedCell
from fedparity.privacy.disclosure import Disclosure
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


def some_people(draw, *, outcome=True, unknown=True, zeros=False):
    """How many people there are of every sex, race, outcome and score; at least one unless there are zeros."""
    shape = (len(SEX), len(RACE), 3, len(POINTS))
    counts = draw.integers(1, draw.choice([2, 3, 6, 12], size=shape) + 1)
    if zeros:
        rare = draw.choice([0.0, 0.1, 0.3], size=4)
        groups, outcomes, scores = (2, 3, 1, 1), (2, 3, 3, 1), (2, 3, 1, 4)
        for share, part in zip(rare, (groups, outcomes, scores, shape), strict=True):
            counts = counts * (draw.random(part) >= share)
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
    for value, records in zip(cell.values, cell.counts, strict=True):
        end = POINTS.index(value)
        here = people & (score >= start) & (score <= end)
        if records is None:
            own = own | here
        else:
            if own is not None:
                yield own, number
            own, number = here, records
        start = end + 1
    yield own, number


def isolated_few(rows, counts):
    """Sets of fewer people than a cell needs whose indicator is a combination of the rows.

    People whom no row tells apart are one place; where nobody is, a combination may be anything.
    """
    present = counts.ravel() > 0
    told_apart, which = np.unique(
        np.array([row.ravel()[present] for row in rows], dtype=float), axis=1, return_inverse=True
    )
    sizes = np.bincount(which.ravel(), weights=counts.ravel()[present])
    _, scale, basis = np.linalg.svd(told_apart, full_matrices=False)
    basis = basis[scale > 1e-9]
    places = np.flatnonzero(sizes < LEAST)
    for size in range(1, LEAST):
        chosen = np.array([*combinations(places, size)], dtype=int).reshape(-1, size)
        chosen = chosen[sizes[chosen].sum(axis=1) < LEAST]
        # the squared length of the part of an indicator that lies among the combinations
        inside = (basis[:, chosen].sum(axis=2) ** 2).sum(axis=0)
        yield from chosen[inside > size - 1e-9].tolist()


def attacked(plan, counts):
    """How many numbers a silo of these people sends, and the sets of a few people that they isolate."""
    names = {} if plan.axes else {"group": "race"}
    message = prepare(table_of(counts), plan=plan, silo="a", score="score", **names).sketch
    found = [*told(plan, message, counts.shape)]
    for who, number in found:
        assert counts[who].sum() == number  # the attacker reads the message as it is meant
    people = counts if plan.axes else counts.sum(axis=0, keepdims=True)
    rows = [who if plan.axes else who.any(axis=0, keepdims=True) for who, _ in found]
    return len(found), list(isolated_few(rows, people)) if found else []


@pytest.mark.sampled
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("kind", ["counts", "mean"])
@pytest.mark.parametrize(
    ("axes", "outcome", "unknown"),
    [(True, False, False), (True, True, False), (True, True, True), (False, True, True)],
)
def test_no_combination_of_all_counts_isolates_fewer_than_the_minimum(
    kind, axes, outcome, unknown, zeros
):
    """Over margins, intersections, outcomes, runs of scores and thresholds."""
    draw = np.random.default_rng(1944)
    plan = plan_of(kind, axes=axes, outcome=outcome)
    released = 0

    for _ in range(count(quick=12, all=40, soak=3000)):
        counts = some_people(draw, outcome=outcome, unknown=unknown, zeros=zeros)
        numbers, isolated = attacked(plan, counts)
        assert not isolated
        released += numbers
    assert released > 50


MOST_TABLES = 2_000
"""What leaves more tables open is not attacked."""


def others(rows, numbers):
    """All tables of whole numbers with these sums, each place being in one of them at least."""
    left, people = list(numbers), [0] * rows.shape[1]

    def after(place):
        if place == len(people):
            yield tuple(people)
            return
        mine = np.flatnonzero(rows[:, place])
        done = [row for row in mine if not rows[row, place + 1 :].any()]
        most = min(left[row] for row in mine)
        for number in {left[row] for row in done} or range(most + 1):
            if number > most or any(left[row] != number for row in done):
                continue
            people[place] = number
            for row in mine:
                left[row] -= number
            yield from after(place + 1)
            for row in mine:
                left[row] += number

    return np.array([*islice(after(0), MOST_TABLES + 1)])


def sent(plan, counts):
    """The message of these people."""
    return prepare(table_of(counts), plan=plan, silo="a", score="score").sketch


def given_away(plan, counts, draw):
    """Sets of a few people with the same number in all tables that would have sent the same message."""
    message = sent(plan, counts)
    pairs = [*told(plan, message, counts.shape)]
    if not pairs:
        return []
    places = np.logical_or.reduce([who for who, _ in pairs]) & KNOWN_SCORE
    rows = np.array([who[places] for who, _ in pairs])
    tables = draw.permutation(others(rows, [number for _, number in pairs]))
    if len(tables) > MOST_TABLES:
        return []
    truth = counts[places]
    sets = np.array([*product((0, 1), repeat=truth.size)])
    sets = sets[(sets @ truth > 0) & (sets @ truth < LEAST)]
    for table in tables:
        changed = sets @ table != sets @ truth
        if not sets.size:
            break
        if changed.any():
            other = counts.copy()
            other[places] = table
            if sent(plan, other).to_bytes() == message.to_bytes():
                sets = sets[~changed]
    return sets.tolist()


KNOWN_SCORE = np.broadcast_to(np.arange(len(POINTS)) == 0, (2, 3, 3, 4))
"""Everybody has the lowest score, and everybody knows it."""


def around_the_minimum(draw):
    """Two sexes by two races: both outcomes around the minimum, and a few people without one."""
    counts = np.zeros((2, 3, 3, 4), dtype=int)
    both = draw.integers(0, LEAST + 3, (2, 2, 2))
    counts[:, :2, :2, 0] = np.maximum(both, draw.choice([0, LEAST], (2, 2, 1)))
    counts[:, :2, 2, 0] = draw.integers(0, draw.choice([1, 3]), (2, 2))
    counts[:, :2] *= draw.random((2, 2, 1, 1)) < draw.choice([0.8, 1.0])
    return counts


@pytest.mark.sampled
def test_the_rule_gives_no_number_away_where_some_lack_an_outcome():
    """Of all tables with the numbers of a message, those that the rule would have sent otherwise are left out."""
    draw, plan = np.random.default_rng(6), plan_of("mean")

    for _ in range(count(quick=5, all=30, soak=3000)):
        counts = around_the_minimum(draw)
        assert not given_away(plan, counts, draw), counts[:, :2, :, 0].tolist()


def test_a_cell_that_few_without_an_outcome_do_not_fill_is_not_sent_alone():
    """It would be sent, but not split: of 11 records both outcomes have 5 at least, so one has none."""
    counts = np.zeros((2, 3, 3, 4), dtype=int)
    counts[0, 0, :, 0] = LEAST, LEAST, 1

    assert sent(plan_of("mean"), counts).cells[0].withheld
    counts[0, 0, 0, 0] = 2 * LEAST - 2
    assert sent(plan_of("mean"), counts).cells[0].count == 3 * LEAST - 1


def test_a_category_counts_the_outcomes_of_all_its_people():
    """No man of race A is positive, and few of race B negative: men are enough of both all the same."""
    counts = np.zeros((2, 3, 3, 4), dtype=int)
    counts[0, :2, :2, 0] = 20
    counts[1, 0, :2, 0], counts[1, 1, :2, 0] = (1, 4), (4, 1)

    men = next(table for table in sent(plan_of("mean"), counts).tables if table.by == ("sex",))

    assert men.cells[1].count == 10


def test_thresholds_of_a_whole_cell_do_not_tell_of_its_outcomes():
    """Nobody from 2 to 4 is negative: the positives below 4, less everybody there, are three."""
    counts = np.zeros((2, 3, 3, 4), dtype=int)
    counts[0, 0, 0], counts[0, 0, 1] = (3, 12, 0, 6), (20, 0, 0, 6)

    numbers, isolated = attacked(plan_of("mean", axes=False), counts)

    assert numbers
    assert not isolated


def test_people_without_an_outcome_are_not_told_by_the_tables_of_everybody():
    """Both outcomes are in separate parts of the table, and three people without one between them."""
    counts = np.zeros((2, 3, 3, 4), dtype=int)
    counts[0, 0, :2], counts[1, 1, :2], counts[0, 1, 2] = 10, 10, (3, 0, 0, 0)

    _, isolated = attacked(plan_of("mean"), counts)

    assert not isolated


def test_people_without_an_outcome_do_not_follow_from_those_with_one():
    """Three women of race B lack one, and no man of race A does: all without one, less both outcomes."""
    counts = np.zeros((2, 3, 3, 4), dtype=int)
    counts[:, :2, :2] = 1
    counts[0, 0, 2, 0] = counts[1, 1, 2, 0] = 10
    counts[0, 1, 2, 0] = 3

    numbers, isolated = attacked(plan_of("counts"), counts)

    assert numbers
    assert not isolated


def test_runs_of_remainders_hold_as_many_records_as_a_level():
    """Where a level of a sketch needs more records than a cell, so does each count at scores."""
    disclosure = {"minimum_cell": LEAST, "records_per_level": 3 * LEAST, "rounding": 0}
    plan = replace(plan_of("counts", outcome=False), disclosure=Disclosure(**disclosure))
    counts = np.zeros((2, 3, 3, 4), dtype=int)
    counts[:, :2, 0] = (9, 8, 9, 10)
    counts[0, 1, 0] = (0, 2, 1, 0)

    message = prepare(table_of(counts), plan=plan, silo="a", score="score").sketch
    sent = [cell for table in message.tables for cell in table.cells if cell.counts is not None]

    assert any(len(cell.counts) > 1 for cell in sent)
    assert all(
        number >= 3 * LEAST for cell in sent for number in cell.counts if len(cell.counts) > 1
    )
