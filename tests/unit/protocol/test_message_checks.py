"""A message that does not answer the plan is refused, each with its own words."""

import numpy as np
import pytest
from tests.unit.protocol.samples import (
    MEAN_SQUARE,
    SECRET,
    cell,
    counted_cell,
    counting,
    mean_cell,
    means,
    message,
    plan,
)

import fedparity as fp
from fedparity.documents import message_checks

HIDDEN = fp.documents.SketchedCell.kept_back("B", "complementary")
WEIGHTED = {"guarantee": {**plan().guarantee, "weighted": True}}
SMALL = fp.documents.SketchedCell.kept_back("B", "small")
ROSTER = plan(silos=["aurora", "bayside"])
PRIVATE = plan(privacy={"mode": "dp", "epsilon": 1, "bins": 3})
NOISY = {
    "kind": "histogram",
    "cells": [
        fp.documents.HistogramCell(group="A", values=[9, -2, 30]),
        fp.documents.HistogramCell.kept_back("B"),
    ],
}
MEANS = {"kind": "mean", "cells": [mean_cell(), SMALL]}
COUNTS = {"kind": "counts", "cells": [counted_cell(), SMALL]}
SECURE = plan(silos=["aurora", "b", "c"], privacy={"mode": "secure"})

REFUSED = {
    "another plan": (plan(title="Q3"), {"plan": plan().digest}, "answered another plan"),
    "a changed plan": (plan(levels=2), {"plan": plan().digest}, "answered another plan"),
    "another kind": (plan(), MEANS, "sent mean sketches"),
    "counts where means are asked for": (means(), COUNTS, "sent counts sketches"),
    "a threshold too few": (
        means(thresholds=[0.4, 0.5]),
        MEANS,
        "counts at 1 thresholds for group 'A', but the plan has 2",
    ),
    "a threshold where none is asked for": (plan(), {"cells": [cell(above=[20]), SMALL]}, "has 0"),
    "few records above a threshold": (
        means(),
        {**MEANS, "cells": [mean_cell(above=[10]), SMALL]},
        "below minimum_cell = 11",
    ),
    "few records below a threshold": (
        means(),
        {**MEANS, "cells": [mean_cell(above=[30]), SMALL]},
        "below minimum_cell = 11",
    ),
    "few records between thresholds": (
        means(thresholds=[0.4, 0.5, 0.6]),
        {**MEANS, "cells": [mean_cell(above=[25, None, 15]), SMALL]},
        "below minimum_cell = 11",
    ),
    "a mean square beyond the range": (
        means(),
        {**MEANS, "cells": [mean_cell(mean_square=0.2521), SMALL]},
        "larger than any scores",
    ),
    "quantiles off the grid": (
        plan(score_step=0.05),
        {},
        "1 values of silo 'aurora', group 'A', are not scores",
    ),
    "counts off the grid": (
        counting(),
        {**COUNTS, "cells": [counted_cell(values=[1, 3.5, 5]), SMALL]},
        "1 values of silo 'aurora', group 'A', are not scores",
    ),
    "counts that end too early": (
        counting(),
        {**COUNTS, "cells": [counted_cell(values=[1, 3, 4]), SMALL]},
        "end below the highest score",
    ),
    "a small count": (
        counting(),
        {**COUNTS, "cells": [counted_cell(counts=[10, 16, 14]), SMALL]},
        "fewer than 11 records",
    ),
    "more counts than scores": (
        counting(),
        {
            **COUNTS,
            "cells": [counted_cell(values=[1, 2, 3, 4, 4.5, 5], counts=[6] * 5 + [10]), SMALL],
        },
        "6 levels for group 'A', but the plan allows 5",
    ),
    "a cell of five": (
        plan(),
        {"cells": [cell(count=5, values=[0.5]), SMALL]},
        "minimum_cell = 11",
    ),
    "a cell of weights that amount to five": (
        plan(),
        {"cells": [cell(count=500.5, effective=5, values=[0.5]), HIDDEN], **WEIGHTED},
        "minimum_cell = 11",
    ),
    "half a record": (
        plan(disclosure={"minimum_cell": 1, "records_per_level": 0}),
        {"cells": [cell(count=0.5), fp.documents.SketchedCell.empty("B")]},
        "not whole, and no weights",
    ),
    "as many values as records": (
        plan(levels=70),
        {"cells": [cell(count=70, values=np.linspace(0.1, 0.79, 70).round(2)), SMALL]},
        "70 values for group 'A', but its records allow 7: records_per_level = 10",
    ),
    "too many values for the tails": (
        plan(disclosure={"records_per_level": 2}),
        {"cells": [cell(count=24), SMALL]},
        "3 values for group 'A', but its records allow 2",
    ),
    "values that are not rounded": (
        plan(),
        {"cells": [cell(values=[SECRET, 0.5001, 0.7501]), SMALL]},
        "2 values of silo 'aurora', group 'A', are not rounded to 0.001",
    ),
    "means that are not rounded": (
        means(),
        {**MEANS, "cells": [mean_cell(values=[SECRET, 0.501, 0.75]), SMALL]},
        "1 values of silo 'aurora', group 'A', are not rounded to 0.005",
    ),
    "a mean square that is not rounded": (
        means(),
        {**MEANS, "cells": [mean_cell(mean_square=MEAN_SQUARE * 1.001), SMALL]},
        "is not rounded as the plan asks",
    ),
    "a mean square too large for its means": (
        means(),
        {**MEANS, "cells": [mean_cell(mean_square=0.1), SMALL]},
        "larger than any scores",
    ),
    "few weights above a threshold": (
        means(),
        {
            **MEANS,
            "cells": [mean_cell(count=80.0, effective=40, above=[20]), HIDDEN],
            "guarantee": {**means().guarantee, "weighted": True},
        },
        "below minimum_cell = 11",
    ),
    "a run apart that its neighbor does not protect": (
        counting(),
        {**COUNTS, "cells": [counted_cell(counts=[20, None, 20], above=[20]), SMALL]},
        "together hold fewer than 21 records",
    ),
    "a count at a threshold that no runs have": (
        counting(),
        {**COUNTS, "cells": [counted_cell(above=[15]), SMALL]},
        "is not a sum of its counts",
    ),
    "a cell withheld where none is small": (
        plan(disclosure={"minimum_cell": 1, "records_per_level": 0}),
        {},
        "withheld 1 cells, but the rules of the plan withhold none",
    ),
    "a second cell withheld without a total": (
        plan(),
        {"cells": [cell(), HIDDEN]},
        "but the plan has no total of it",
    ),
    "a single cell withheld under a total": (
        plan(totals={"aurora": 45}),
        {},
        "from which a cell that it withheld can be computed",
    ),
    "withheld cells told apart under a total": (
        plan(groups=["A", "B", "C"], totals={"aurora": 85}),
        {"cells": [cell(), SMALL, fp.documents.SketchedCell.kept_back("C", "complementary")]},
        "from which a cell that it withheld can be computed",
    ),
    "weights that amount to nothing": (plan(), WEIGHTED, "what its weights amount to"),
    "weights that the message denies": (
        plan(),
        {"cells": [cell(effective=40), SMALL]},
        "not both",
    ),
    "a silo outside the roster": (ROSTER, {"silo": "Aurora"}, "not among the 2 silos"),
    "another order of groups": (plan(), {"cells": [SMALL, cell()]}, "the groups 'B', 'A'"),
    "a group too few": (
        plan(groups=["A", "B", "C"]),
        {},
        "the plan has 'A', 'B', 'C', in this order",
    ),
    "a label of another type": (
        plan(groups=[1, "B"]),
        {"cells": [cell(group=True), SMALL]},
        "the groups True, 'B'",
    ),
    "too many levels": (
        plan(levels=2),
        {},
        "3 levels for group 'A', but the plan allows 2",
    ),
    "a value too low": (plan(score_range=(0.2, 1)), {}, "1 values of silo 'aurora'"),
    "values too high": (plan(score_range=(0, 0.2)), {}, "2 values of silo 'aurora'"),
    "an empty cell that shows": (
        plan(),
        {"cells": [cell(), fp.documents.SketchedCell.empty("B")]},
        "must look like any small cell",
    ),
    "a weaker rule": (
        plan(),
        {"guarantee": {**plan().guarantee, "minimum_cell": 5}},
        "applied minimum_cell = 5",
    ),
    "a rule that is a boolean": (
        plan(disclosure={"minimum_cell": 1}),
        {"guarantee": {**plan().guarantee, "minimum_cell": True}},
        "applied minimum_cell = True",
    ),
    "a rule left out": (plan(), {"guarantee": {"mode": "none"}}, "applied minimum_cell = None"),
    "a plain sketch where noise is asked for": (PRIVATE, {}, "sent quantile sketches"),
    "noise where none is asked for": (plan(), NOISY, "sent histogram sketches"),
    "a sketch where a sum is asked for": (SECURE, {}, "asks for a secure sum"),
    "other bins": (
        plan(privacy={"mode": "dp", "epsilon": 1, "bins": 4}),
        NOISY,
        "3 bins for group 'A', but the plan has 4",
    ),
    "a small noisy cell": (
        PRIVATE,
        {
            **NOISY,
            "cells": [fp.documents.HistogramCell(group="A", values=[9, -2, 3]), NOISY["cells"][1]],
        },
        "below minimum_cell = 11",
    ),
    "an exact number of rows": (PRIVATE, {**NOISY, "rows_dropped": 1}, "keeps in the building"),
    "no noise": (PRIVATE, {**NOISY, "guarantee": plan().guarantee}, "applied mode = 'none'"),
    "less noise": (
        PRIVATE,
        {**NOISY, "guarantee": {**PRIVATE.guarantee, "epsilon": 3.0}},
        "applied epsilon = 3.0, but the plan asks for 1.0",
    ),
}


@pytest.mark.parametrize(("asked", "changes", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_it_is_refused(asked, changes, words):
    with pytest.raises(fp.errors.MessageError) as caught:
        fp.documents.check_message(asked, message(asked, **changes))

    assert words in caught.value.message
    assert caught.value.message.endswith(".")
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize(
    "asked",
    [
        plan(),
        ROSTER,
        plan(levels=100),
        plan(score_range=(SECRET, 0.75)),
        plan(disclosure=fp.Plan.from_toml(plan().to_toml()).disclosure),
    ],
)
def test_a_message_that_answers_is_accepted(asked):
    fp.documents.check_message(asked, message(asked))


@pytest.mark.parametrize(
    ("asked", "changes"),
    [
        (means(), MEANS),
        (means(), {**MEANS, "cells": [mean_cell(above=[None]), SMALL]}),
        (means(), {**MEANS, "cells": [mean_cell(mean_square=0), SMALL]}),
        (means(), {**MEANS, "cells": [mean_cell(mean_square=None, rank_error=0.1), SMALL]}),
        (
            means(),
            {
                **MEANS,
                "cells": [
                    mean_cell(count=4.5, effective=40, above=[2.5]),
                    HIDDEN,
                ],
                "guarantee": {**means().guarantee, "weighted": True},
            },
        ),
        (plan(totals={"aurora": 45}), {"cells": [cell(), cell(group="B")]}),
        (
            plan(totals={"aurora": 45}),
            {"cells": [fp.documents.SketchedCell.kept_back("A", "complementary"), HIDDEN]},
        ),
        (
            counting(),
            {**COUNTS, "cells": [counted_cell(counts=[26, None, 14], above=[14]), SMALL]},
        ),
        (counting(), COUNTS),
        (
            counting(),
            {**COUNTS, "cells": [counted_cell(values=[5], counts=[40], above=[None]), SMALL]},
        ),
        (
            plan(score_range=(0, 10), score_step=2.5, levels=3),
            {"cells": [cell(values=[0, 2.5, 10]), SMALL]},
        ),
    ],
)
def test_messages_of_every_kind_are_accepted(asked, changes):
    fp.documents.check_message(asked, message(asked, **changes))


def test_a_noisy_message_that_answers_is_accepted():
    fp.documents.check_message(PRIVATE, message(PRIVATE, **NOISY))


def test_an_empty_cell_may_show_where_nothing_is_small():
    asked = plan(disclosure={"minimum_cell": 1, "records_per_level": 0})

    fp.documents.check_message(
        asked, message(asked, cells=[cell(), fp.documents.SketchedCell.empty("B")])
    )


def test_a_message_may_state_more_than_is_asked():
    fp.documents.check_message(
        plan(), message(guarantee={**plan().guarantee, "checked_by": "two"})
    )


def test_two_messages_of_one_silo_are_refused():
    others = [message(silo="bayside"), message(), message(rows_dropped=1)]

    with pytest.raises(fp.errors.MessageError, match="'aurora' sent two different messages"):
        fp.documents.check_messages(plan(), others)


def test_the_same_message_twice_has_its_own_words():
    with pytest.raises(fp.errors.MessageError, match="'aurora' was given twice"):
        fp.documents.check_messages(plan(), [message(), message(silo="bayside"), message()])


def test_messages_that_answer_are_accepted_in_any_number():
    fp.documents.check_messages(plan(), [])
    fp.documents.check_messages(plan(), (message(silo=f"silo {number}") for number in range(5)))


def test_the_first_wrong_message_is_refused():
    with pytest.raises(fp.errors.MessageError, match="'bayside' sent mean"):
        fp.documents.check_messages(plan(), [message(), message(silo="bayside", **MEANS)])


def test_thresholds_that_no_score_lies_between_have_the_same_count():
    """A silo's own counts of scores at 1, 2, …: 4.5 and 5 have the same records above them."""
    frame = {"score": [1.0] * 20 + [5.0] * 20 + [9.0] * 40, "group": ["A"] * 40 + ["B"] * 40}
    asked = fp.Plan(
        title="Deciles",
        groups=("A", "B"),
        score_range=(1, 10),
        score_step=1,
        thresholds=[4.5, 5.0],
    )

    sent = fp.sketch(frame, plan=asked, silo="aurora", score="score", group="group", ledger=False)

    assert sent.cells[0].above == (20, 20)
    fp.documents.check_messages(asked, [sent])


UNROUNDED = {"kind": "mean", "cells": [mean_cell(values=[0.123, 0.5, 0.75]), SMALL]}


def test_of_many_messages_the_first_wrong_one_is_named():
    sent = [
        message(means(), silo="aurora", **MEANS),
        message(means(), silo="bayside", **UNROUNDED),
        message(means(), silo="canyon", **{**MEANS, "cells": [mean_cell(above=[10]), SMALL]}),
    ]

    with pytest.raises(fp.errors.MessageError, match="1 values of silo 'bayside'"):
        fp.documents.check_messages(means(), sent)


def test_a_wrong_message_is_named_before_one_that_cannot_be_read():
    def sent():
        yield message(means(), silo="aurora", **UNROUNDED)
        raise fp.errors.MessageError("not read", fix="none")

    with pytest.raises(fp.errors.MessageError, match="1 values of silo 'aurora'"):
        fp.documents.check_messages(means(), sent())


@pytest.mark.parametrize("at_once", [1, 2, 1000])
def test_every_place_among_many_messages_is_compared_with_the_plan(monkeypatch, at_once):
    monkeypatch.setattr(message_checks, "_CELLS_AT_ONCE", at_once)
    right = [message(means(), silo=f"s{number}", **MEANS) for number in range(5)]
    fp.documents.check_messages(means(), right)

    for place in range(5):
        sent = [*right]
        sent[place] = message(means(), silo=f"s{place}", **UNROUNDED)
        with pytest.raises(fp.errors.MessageError, match=f"1 values of silo 's{place}'"):
            fp.documents.check_messages(means(), sent)
