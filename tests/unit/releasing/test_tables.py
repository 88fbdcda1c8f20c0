"""Plans with axes and an outcome: what they refuse, and which messages answer them."""

import json
from dataclasses import replace

import numpy as np
import pytest

import fedparity as fp
from fedparity.documents import check_messages
from fedparity.documents.message_cells import SketchedCell
from fedparity.modes.table_cells import SiloTables

AXES = {"sex": ["f", "m"], "race": ["A", "B", "C"]}
OUTCOME = {"positive": 1, "negative": 0}


def plan_of(**stated):
    settings = {"axes": AXES, "outcome": OUTCOME, "thresholds": [0.5], **stated}
    return fp.Plan(title="Tables", score_range=(0, 1), sketch="quantile", **settings)


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(5)
    scores = np.round(random.beta(2, 3, 1500), 3)
    return {
        "score": scores,
        "sex": random.choice(["f", "m"], 1500, p=[0.3, 0.7]),
        "race": random.choice(["A", "B", "C"], 1500, p=[0.6, 0.36, 0.04]),
        "outcome": (random.random(1500) < scores).astype(int),
    }


@pytest.fixture(scope="module")
def message(table):
    return fp.sketch(table, plan=plan_of(), silo="a", ledger=False)


def test_a_table_in_which_everybody_is_unknown_is_printed(table):
    """One row is all there is: its number is known, and nothing can be compared."""
    unknown = {**table, "race": np.full(table["sex"].size, "C")}

    result = fp.audit(
        plan_of(unknown="C"),
        [fp.sketch(unknown, plan=plan_of(unknown="C"), silo="a", ledger=False)],
    )
    by_race = result.tables["race"]

    assert [(row.group, row.n, row.status) for row in by_race.groups if row.n] == [
        ("C", 1500, "unknown")
    ]
    assert by_race.note == "fewer than two rows can be compared"
    assert fp.AuditResult.from_dict(result.to_dict()) == result


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        (
            {"privacy": {"mode": "secure"}, "silos": ["a", "b", "c"]},
            'cannot be combined with mode = "secure"',
        ),
        ({"totals": {"a": 100}}, "cannot be combined with [totals]"),
        ({"groups": ("A", "B")}, "are the intersections of its axes"),
        ({"axes": {"sex": ["f", "m"]}}, "2 to 5 names"),
        ({"axes": {"sex": ["f", "f"], "race": ["A", "B"]}}, "twice"),
        ({"unknown": "Z"}, "not a label of the plan"),
        ({"outcome": {"positive": 1, "negative": "1"}}, "must differ"),
        ({"outcome": {**OUTCOME, "bins": [2.0]}}, "bin edge"),
        ({"set_aside": 0.5}, "set_aside must be"),
    ],
)
def test_a_plan_that_cannot_be_obeyed_is_refused_with_a_fix(stated, words):
    with pytest.raises(fp.FedparityError, match="fix: ") as refused:
        plan_of(**stated)

    assert words in str(refused.value)


def test_a_plan_is_the_same_after_toml_and_json():
    plan = plan_of(unknown="C", set_aside=0.02, outcome={**OUTCOME, "bins": [0.2, 0.8]})

    assert fp.Plan.from_toml(plan.to_toml()) == plan
    assert fp.Plan.from_dict(json.loads(plan.to_bytes())).digest == plan.digest


def test_a_plan_without_tables_says_nothing_of_them():
    plan = fp.Plan(title="Q4", groups=("A", "B"), score_range=(0, 1))

    assert not {"axes", "unknown", "set_aside", "outcome"} & plan.to_dict().keys()
    assert plan.tables == ()


def test_an_honest_message_answers_the_plan_and_survives_its_bytes(message):
    check_messages(plan_of(), [message])

    assert fp.SiloSketch.from_bytes(message.to_bytes()) == message


def tampered(message, place, change):
    tables = list(message.tables)
    tables[place] = replace(tables[place], cells=change(list(tables[place].cells)))
    return replace(message, tables=tables)


def without(cells):
    return [SketchedCell.kept_back(cells[0].group, "complementary"), *cells[1:]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: replace(m, tables=()), "further tables"),
        (lambda m: tampered(m, 0, without), "one outcome of a cell without the other"),
        (lambda m: tampered(m, 0, lambda cells: cells[::-1]), "other rows"),
        (lambda m: tampered(m, 2, without), "of a category that is withheld"),
        (
            lambda m: tampered(m, 0, lambda c: [replace(c[0], count=c[0].count - 1), *c[1:]]),
            "too few records",
        ),
        (
            lambda m: tampered(m, 2, lambda c: [replace(c[0], count=c[0].count + 1), *c[1:]]),
            "different people",
        ),
    ],
)
def test_tables_that_contradict_each_other_are_refused(message, change, words):
    with pytest.raises(fp.FedparityError, match=words):
        check_messages(plan_of(), [change(message)])


def test_a_table_under_a_plan_that_has_none_is_refused(table, message):
    plan = plan_of(axes=None, outcome=None, groups=("A", "B", "C"))
    plain = fp.sketch(table, plan=plan, silo="a", group="race", ledger=False)

    with pytest.raises(fp.FedparityError, match="further tables"):
        check_messages(plan, [replace(plain, tables=message.tables)])


def test_weights_and_streams_are_refused(table):
    with pytest.raises(fp.FedparityError, match="weighted records"):
        fp.sketch(table, plan=plan_of(), silo="a", weight="score", ledger=False)
    with pytest.raises(fp.FedparityError, match="batch by batch"):
        fp.Sketcher(plan=plan_of(), silo="a", ledger=False)


def test_columns_have_the_names_of_axes_unless_others_are_given(table):
    renamed = {**table, "gender": table["sex"], "ill": table["outcome"]}
    del renamed["sex"], renamed["outcome"]

    found = fp.sketch(
        renamed, plan=plan_of(), silo="a", axes={"sex": "gender"}, outcome="ill", ledger=False
    )

    assert found == fp.sketch(table, plan=plan_of(), silo="a", ledger=False)
    with pytest.raises(fp.FedparityError, match="no axis 'age'"):
        fp.sketch(table, plan=plan_of(), silo="a", axes={"age": "sex"}, ledger=False)


def test_an_iterator_of_batches_gives_the_same_message(table):
    halves = (
        {name: column[rows] for name, column in table.items()}
        for rows in (slice(0, 700), slice(700, None))
    )

    found = fp.sketch(halves, plan=plan_of(), silo="a", ledger=False)

    assert found == fp.sketch(table, plan=plan_of(), silo="a", ledger=False)


def test_records_without_an_outcome_count_in_parity(table):
    some = np.array(table["outcome"], dtype=float)
    some[::3] = np.nan
    plan = plan_of(axes=None, groups=("A", "B"), disclosure={"minimum_cell": 11})
    two = {
        name: column[table["race"] != "C"] for name, column in {**table, "outcome": some}.items()
    }

    found = fp.sketch(two, plan=plan, silo="a", group="race", ledger=False)

    assert sum(cell.count for cell in found.cells) == two["score"].size
    by_outcome = [sum(cell.count for cell in each.cells) for each in found.tables]
    assert sum(by_outcome) == np.count_nonzero(~np.isnan(two["outcome"]))


def test_unknown_and_small_categories_are_printed_and_not_compared(table):
    plan = plan_of(unknown="C", outcome=None)

    result = fp.audit(plan, [fp.sketch(table, plan=plan, silo="a", ledger=False)], redraws=60)

    rows = result.tables["race"].groups
    assert [row.status for row in rows] == ["compared", "compared", "unknown"]
    assert rows["C"].n == np.count_nonzero(table["race"] == "C")
    assert [pair.groups for pair in result.tables["race"].pairs] == [("A", "B")]


def test_a_second_release_with_other_axes_needs_a_reason(table, tmp_path):
    ledger = tmp_path / "ledger.jsonl"
    fp.sketch(table, plan=plan_of(), silo="a", ledger=ledger)
    other = plan_of(axes=None, outcome=None, groups=("f", "m"))

    with pytest.raises(fp.FedparityError, match="tables by other axes"):
        fp.sketch(table, plan=other, silo="a", group="sex", ledger=ledger)


def test_a_result_with_tables_and_outcomes_can_be_read_from_its_file(table, tmp_path):
    """Its parts nest deeper than those of a plan or a message."""
    plan = plan_of(outcome={**OUTCOME, "bins": [0.3]})
    message = fp.sketch(table, plan=plan, silo="a", ledger=False)
    result = fp.audit(plan, [message], redraws=60)

    result.write(tmp_path / "result.json")

    assert result.tables["sex"].outcome is not None
    assert fp.AuditResult.read(tmp_path / "result.json") == result


def test_a_silo_whose_remainders_would_isolate_a_few_sends_none_and_bounds_nothing():
    """Women less race A would be three people, for somebody who knows that no man is of race A."""
    sizes = {("f", "A"): 40, ("f", "B"): 3, ("m", "B"): 60}
    rows = [group for group, size in sizes.items() for _ in range(size)]
    table = {
        "score": np.linspace(0, 1, len(rows)),
        "sex": [sex for sex, _ in rows],
        "race": [race for _, race in rows],
    }
    plan = plan_of(axes={"sex": ["f", "m"], "race": ["A", "B"]}, outcome=None)

    message = fp.sketch(table, plan=plan, silo="a", ledger=False)

    check_messages(plan, [message])
    cells = [*message.cells, *(cell for each in message.tables for cell in each.cells)]
    assert all(cell.count is None for cell in cells)
    assert set(SiloTables(plan, message).unseen(plan.tables[1], None).values()) == {np.inf}
