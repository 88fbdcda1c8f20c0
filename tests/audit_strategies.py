"""Messages of silos for audits: from a table, with or without disclosure rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.plan import Plan
from fedparity.modes.mode import mode_of
from fedparity.privacy.disclosure import Disclosure
from fedparity.sketches.records import ArrayRecords

OFF = Disclosure.off()


def make_plan(**options: Any) -> Plan:
    """A plan of two groups and scores in [0, 1], without disclosure rules unless asked for."""
    defaults = {"title": "Q4", "groups": ("A", "B"), "score_range": (0.0, 1.0), "disclosure": OFF}
    return Plan(**(defaults | options))


def make_message(plan: Plan, silo: str, cells: list[SketchedCell], **options: Any) -> SiloSketch:
    """The message of one silo with these cells."""
    return SiloSketch(
        plan=plan.digest,
        silo=silo,
        kind=plan.sketch,
        cells=cells,
        **({"guarantee": plan.guarantee, "software": "fedparity 0.1.0"} | options),
    )


def make_cell(plan: Plan, group: Any, scores: Any, weights: Any = None) -> SketchedCell:
    """What a silo that follows the plan's rules says of these scores, made by what silos use."""
    array = np.asarray(scores, dtype=np.float64)
    place = list(plan.groups).index(group)
    codes = np.full(array.size, place, np.uint16)
    records = ArrayRecords(tuple(plan.groups), array, codes, weights)
    alone = replace(plan, silos=None, totals={}, keys={})
    return mode_of(alone).release(records, "any").sketch.cells[place]


def make_messages(
    plan: Plan, scores: Any, groups: Any, silos: Any, weights: Any = None
) -> list[SiloSketch]:
    """The messages of all silos of a table; silos are named by their text."""
    scores, groups, silos = map(np.asarray, (scores, groups, silos))
    stated = {"weighted": True} if weights is not None else {}

    def cell(silo: Any, group: Any) -> SketchedCell:
        own = (silos == silo) & (groups == group)
        return make_cell(plan, group, scores[own], None if weights is None else weights[own])

    return [
        make_message(
            plan,
            str(silo),
            [cell(silo, group) for group in plan.groups],
            guarantee={**plan.guarantee, **stated},
        )
        for silo in np.unique(silos)
    ]


def make_table(
    seed: int, *, size: int = 1200, silos: int = 3, gap: float = 2.0
) -> tuple[Any, ...]:
    """Scores in [0, 1] of groups A and B in a few silos: B is higher, and is in later silos."""
    random = np.random.default_rng(seed)
    second = random.random(size) < 0.5
    where = np.minimum(random.binomial(silos, 0.4 + 0.2 * second), silos - 1)
    scores = random.beta(2 + gap * second + where / 2, 4)
    return scores, np.where(second, "B", "A"), np.array([f"s{j}" for j in where])


@st.composite
def audited_tables(draw: st.DrawFn, max_size: int = 60, groups: str = "AB") -> tuple[Any, ...]:
    """Draw the records of a few silos, in which A and B occur often enough to be released."""
    stepped = st.integers(0, 4).map(lambda i: i / 4)
    anything = st.floats(0, 1).map(
        lambda x: round(x, 12)
    )  # squares of smaller scores do not fit a float
    values = draw(st.sampled_from([anything, stepped, st.just(0.25)]))
    size = draw(st.integers(24, max_size))
    scores = draw(st.lists(values, min_size=size, max_size=size))
    rest = draw(st.lists(st.sampled_from(groups), min_size=size - 24, max_size=size - 24))
    silos = draw(st.lists(st.sampled_from("xyz"), min_size=size - 24, max_size=size - 24))
    return scores, ["A"] * 12 + ["B"] * 12 + rest, ["x"] * 24 + silos
