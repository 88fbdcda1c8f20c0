"""The budget of a data set: what releases cost adds up, and the ledger refuses what is too much."""

import json
import subprocess
import sys

import numpy as np
import pytest

import fedparity as fp
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.spending import Spending

SPEND = """
import sys
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.spending import Spending
path, plan = sys.argv[1:]
cost = Spending(dataset="visits", epsilon=1.0, budget=2.0)
try:
    Ledger(path).record(plan, "north", "release of " + plan, spending=cost)
except Exception as error:
    print(type(error).__name__)
else:
    print("released")
"""
ENTRY = {"plan": "p", "silo": "s", "release": "r", "time": "2026-11-16T08:00:00+00:00"}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.jsonl")


def cost(epsilon=1.0, budget=1.0, dataset="visits"):
    return Spending(dataset=dataset, epsilon=epsilon, budget=budget)


def test_releases_of_one_data_set_add_up_across_plans(ledger):
    ledger.record("plan 1", "north", "a", spending=cost(0.4))
    ledger.record("plan 2", "north", "b", spending=cost(0.6))

    with pytest.raises(fp.BudgetError, match=r"spent epsilon = 1 on the data set 'visits'"):
        ledger.record("plan 3", "north", "c", spending=cost(0.1))

    assert ledger.spent("north", "visits") == 1.0
    assert len(ledger.entries()) == 2


def test_ten_releases_at_a_tenth_are_within_a_budget_of_one(ledger):
    for number in range(10):
        ledger.record(f"plan {number}", "north", "r", spending=cost(0.1))

    with pytest.raises(fp.BudgetError):
        ledger.record("one more", "north", "r", spending=cost(1e-3))


def test_other_data_sets_and_silos_have_budgets_of_their_own(ledger):
    ledger.record("plan 1", "north", "a", spending=cost())
    ledger.record("plan 2", "north", "b", spending=cost(dataset="lab"))
    ledger.record("plan 1", "south", "c", spending=cost())

    assert ledger.spent("north") == 2.0


def test_the_same_release_again_costs_nothing(ledger):
    for _ in range(3):
        ledger.record("plan 1", "north", "a", spending=cost())

    assert ledger.spent("north", "visits") == 1.0


def test_a_release_without_noise_costs_nothing_and_looks_as_before(ledger):
    ledger.record("plan 1", "north", "a")

    assert ledger.spent("north") == 0.0
    assert json.loads(ledger.path.read_text()).keys() == ENTRY.keys()


def test_an_early_look_refuses_what_would_be_refused_later_and_writes_nothing(ledger):
    ledger.check_budget("plan 1", "north", cost())
    assert not ledger.path.exists()
    ledger.record("plan 1", "north", "a", spending=cost())

    with pytest.raises(fp.LedgerError, match="another release"):
        ledger.check_budget("plan 1", "north", cost(budget=9.0))
    with pytest.raises(fp.BudgetError):
        ledger.check_budget("plan 2", "north", cost())


def test_processes_that_release_at_once_cannot_overspend(ledger):
    """Six processes, a budget for two: exactly two release."""
    started = [
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", SPEND, str(ledger.path), f"plan {number}"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(6)
    ]
    found = [process.communicate()[0].strip() for process in started]

    assert sorted(found) == ["BudgetError"] * 4 + ["released"] * 2
    assert ledger.spent("north", "visits") == 2.0


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": 1.0},
        {"dataset": "visits"},
        {"dataset": "visits", "epsilon": -5.0},
        {"dataset": "visits", "epsilon": "1"},
        {"dataset": "visits", "epsilon": True},
        {"dataset": 3, "epsilon": 1.0},
    ],
)
def test_an_entry_that_could_give_budget_back_is_refused(changes, ledger):
    ledger.path.write_text(json.dumps({**ENTRY, **changes}) + "\n")

    with pytest.raises(fp.LedgerError, match="not an entry"):
        ledger.entries()


TABLE = {"score": np.linspace(0, 1, 300), "group": ["A", "B", "B"] * 100}


def asked(**terms):
    return fp.Plan(
        title="visits",
        groups=("A", "B"),
        score_range=(0, 1),
        privacy={"mode": "dp", "epsilon": 1, **terms},
    )


def test_a_sketch_with_noise_is_entered_before_it_is_returned(ledger):
    message = fp.sketch(TABLE, plan=asked(), silo="north", ledger=ledger)

    (entry,) = ledger.entries()
    assert (entry.plan, entry.silo, entry.dataset, entry.epsilon) == (
        message.plan,
        "north",
        "visits",
        1.0,
    )
    with pytest.raises(fp.LedgerError, match="another release"):
        fp.sketch(TABLE, plan=asked(), silo="north", ledger=ledger.path)
    with pytest.raises(fp.BudgetError):
        fp.sketch(TABLE, plan=asked(bins=16), silo="north", ledger=ledger)
    fp.sketch(TABLE, plan=asked(bins=16), silo="north", ledger=ledger, dataset="other records")


def test_the_user_s_own_ledger_is_the_default(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDPARITY_LEDGER", str(tmp_path / "own.jsonl"))

    fp.sketch(TABLE, plan=asked(), silo="north")

    assert Ledger(tmp_path / "own.jsonl").spent("north") == 1.0


def test_a_plain_sketch_is_entered_only_where_it_is_asked_for(monkeypatch, tmp_path, ledger):
    monkeypatch.setenv("FEDPARITY_LEDGER", str(tmp_path / "own.jsonl"))
    plain = fp.Plan(title="visits", groups=("A", "B"), score_range=(0, 1))

    fp.sketch(TABLE, plan=plain, silo="north")
    fp.sketch(TABLE, plan=plain, silo="north", ledger=ledger)

    assert not (tmp_path / "own.jsonl").exists()
    assert len(ledger.entries()) == 1
