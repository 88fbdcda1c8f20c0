"""Somebody who knows the rule of several tables, and looks for other people with the same message.

Whatever has the same number in all of them is known. The search starts from the people that there are and moves
some of them: to another score, outcome or category, or in and out. It may move anybody into a combination that has
people; which groups have none is known. A set of fewer people than a cell needs must not stay the same.
"""

from collections import defaultdict
from itertools import combinations, product

import numpy as np
import pytest
from tests.tiers import count

import fedparity as fp
from fedparity.silo.sketch import prepare

LEAST = 3
SEX, RACE, POINTS, OUTCOMES = ("F", "M"), ("A", "B"), (1.0, 2.0, 3.0), (1, 0, None)
MOST_TRIES = 20_000
"""Where most sets change within a hundred, what is left after so many is known."""


def plan_of(*, axes, outcome, sketch="counts", thresholds=(2.0,)):
    return fp.Plan(
        title="attacked",
        **({"axes": {"sex": SEX, "race": RACE}} if axes else {"groups": RACE}),
        **({"outcome": {"positive": 1, "negative": 0}} if outcome else {}),
        score_range=(1, 3),
        score_step=1,
        sketch=sketch,
        thresholds=thresholds,
        disclosure={"minimum_cell": LEAST, "records_per_level": 0, "rounding": 0},
    )


def message_of(plan, people):
    """The message of these people."""
    rows = np.repeat(np.array([*np.ndindex(people.shape)]), people.ravel(), axis=0)
    table = {
        "sex": np.array(SEX)[rows[:, 0]],
        "race": np.array(RACE)[rows[:, 1]],
        "outcome": [OUTCOMES[place] for place in rows[:, 2]],
        "score": np.array(POINTS)[rows[:, 3]],
    }
    names = {} if plan.axes else {"group": "race"}
    return prepare(table, plan=plan, silo="a", score="score", **names).sketch


def said(plan, people):
    """The bytes of the message of these people."""
    return message_of(plan, people).to_bytes()


def some_people(draw, *, axes, outcome):
    """Around the minimum in each combination; some groups are empty."""
    shape = (len(SEX), len(RACE), len(OUTCOMES), len(POINTS))
    people = draw.integers(0, draw.choice([2, LEAST, 2 * LEAST, 4 * LEAST], size=shape) + 1)
    people *= draw.random((*shape[:2], 1, 1)) >= draw.choice([0.0, 0.2])
    people[:, :, 2] *= draw.random((2, 2, 1)) < 0.4
    if not outcome:
        people[:, :, 1:] = 0
    if not axes:
        people[1] = 0
    return people


def moved(draw, people, places):
    """Other people: one to three moves of one or two, of a single place, a pair or a square of places."""
    changed = people.copy()
    for _ in range(draw.choice([1, 1, 2, 3])):
        first, second = (np.array(places[place]) for place in draw.integers(0, len(places), 2))
        axis = draw.integers(0, 2)
        third, fourth = first.copy(), second.copy()
        third[axis], fourth[axis] = second[axis], first[axis]
        size = draw.choice([1, 1, 2])
        match draw.integers(0, 3):
            case 0:
                changed[tuple(first)] += draw.choice([-1, 1]) * size
            case 1:
                changed[tuple(first)] += size
                changed[tuple(second)] -= size
            case _:
                for place, sign in ((first, -1), (second, -1), (third, 1), (fourth, 1)):
                    changed[tuple(place)] += sign * size
    return changed


def known_sets(plan, people, draw):
    """Sets of fewer people than the minimum that no other people with this message were found to change."""
    message = said(plan, people)
    cells = [place for place in zip(*np.nonzero(people), strict=True) if people[place] < LEAST]
    alive = [
        chosen
        for size in range(1, LEAST)
        for chosen in combinations(cells, size)
        if sum(people[place] for place in chosen) < LEAST
    ]
    possible = np.broadcast_to(people.any(axis=(2, 3), keepdims=True), people.shape).copy()
    possible &= people.any(axis=(0, 1, 3))[:, np.newaxis]
    places = [*zip(*np.nonzero(possible), strict=True)]
    found, seen = [people], {people.tobytes()}
    for _ in range(MOST_TRIES):
        if not alive:
            break
        other = moved(draw, found[draw.integers(0, len(found))], places)
        if (other < 0).any() or (other > 0)[~possible].any() or other.tobytes() in seen:
            continue
        seen.add(other.tobytes())
        change = other - people
        left = [each for each in alive if sum(change[place] for place in each) == 0]
        if len(left) == len(alive) and draw.random() < 0.8:
            continue  # it would only be a step on the way
        if said(plan, other) == message:
            found.append(other)
            alive = left
    return alive


@pytest.mark.sampled
@pytest.mark.parametrize(("axes", "outcome"), [(True, False), (False, True)])
def test_whoever_knows_the_rule_can_think_of_others_who_would_send_the_same(axes, outcome):
    draw, plan = np.random.default_rng(12), plan_of(axes=axes, outcome=outcome)

    for _ in range(count(quick=1, all=2, soak=40)):
        assert not known_sets(plan, some_people(draw, axes=axes, outcome=outcome), draw)


def counted(plan, people):
    """The numbers of records that a message tells: of cells, and at or above the thresholds."""
    message = message_of(plan, people)
    tables = message.cells, *(table.cells for table in message.tables)
    return tuple((cell.count, *cell.above) for cells in tables for cell in cells)


@pytest.mark.sampled
def test_no_message_of_one_group_with_outcomes_and_thresholds_gives_a_number_away():
    """All tables of two outcomes by three places between two thresholds, up to so many people."""
    most = count(quick=6, all=7, soak=11)
    plan = plan_of(axes=False, outcome=True, sketch="mean", thresholds=(2.0, 3.0))
    same = defaultdict(list)
    for amounts in product(range(most + 1), repeat=6):
        if LEAST <= sum(amounts) <= most:
            people = np.zeros((len(SEX), len(RACE), len(OUTCOMES), len(POINTS)), dtype=int)
            people[0, 0, :2] = np.reshape(amounts, (2, 3))
            same[counted(plan, people)].append(amounts)

    sets = np.array([*product((0, 1), repeat=6)]).T
    for message, tables in same.items():
        sums = np.array(tables) @ sets
        known = sums.min(axis=0) == sums.max(axis=0)
        assert not ((sums[0] > 0) & (sums[0] < LEAST) & known).any(), message
    assert any(len(tables) > 1 for tables in same.values())


def test_the_attack_knows_what_a_message_without_rules_says(monkeypatch):
    """The attacker is not blind: with a minimum of 1 every number is known."""
    monkeypatch.setattr(f"{__name__}.MOST_TRIES", 200)
    draw = np.random.default_rng(5)
    plan = fp.Plan.from_dict(
        {
            **plan_of(axes=True, outcome=True).to_dict(),
            "disclosure": {"minimum_cell": 1, "records_per_level": 0, "rounding": 0},
        }
    )
    people = some_people(draw, axes=True, outcome=True)
    people[0, 0, 0] = 1, 2, 5

    assert ((0, 0, 0, 0),) in known_sets(plan, people, draw)
