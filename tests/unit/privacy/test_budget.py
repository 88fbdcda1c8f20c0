"""The budget of a data set: what releases cost adds up, and the ledger refuses what is too much."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from tests.unit.privacy.test_ledger import VIEW, record, releases

import fedparity as fp
from fedparity.privacy.ledger import Entry, Ledger, now
from fedparity.privacy.policy import Policy, spent

SPEND = """
import sys
from fedparity.privacy.ledger import Ledger
from tests.unit.privacy.test_budget import cost
from tests.unit.privacy.test_ledger import record
path, plan = sys.argv[1:]
try:
    record(Ledger(path), plan, "north", "release of " + plan, **cost(budget=2.0))
except Exception as error:
    print(type(error).__name__)
else:
    print("released")
"""


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.jsonl")


def cost(epsilon=1.0, budget=1.0, dataset="visits", **more):
    """What an entry says of a release with noise, with a reason for every one but the first."""
    view = VIEW | {"mode": "dp"}
    stated = {"epsilon": epsilon, "budget": budget, "dataset": dataset, "view": view}
    return stated | {"because": "planned"} | more


def total(ledger):
    entries = ledger.entries()
    return spent(entries, releases(ledger)[-1])


def test_releases_of_one_data_set_add_up_across_plans(ledger):
    record(ledger, "plan 1", "north", "a", **cost(0.4))
    record(ledger, "plan 2", "north", "b", **cost(0.6))

    with pytest.raises(fp.errors.BudgetError, match=r"have cost epsilon = 1; this release .* 0.1"):
        record(ledger, "plan 3", "north", "c", **cost(0.1))

    assert total(ledger) == 1.0
    assert len(releases(ledger)) == 2


def test_ten_releases_at_a_tenth_are_within_a_budget_of_one(ledger):
    for number in range(10):
        record(ledger, f"plan {number}", "north", "r", **cost(0.1))

    with pytest.raises(fp.errors.BudgetError):
        record(ledger, "one more", "north", "r", **cost(1e-3))


def test_the_smallest_budget_that_a_plan_stated_counts(ledger):
    """Whoever writes a plan cannot make the budget of the data larger."""
    record(ledger, "plan 1", "north", "a", **cost(0.5, 1.0))

    with pytest.raises(fp.errors.BudgetError, match="beyond 1, the smallest budget"):
        record(ledger, "plan 2", "north", "b", **cost(0.6, 1000.0))
    record(ledger, "plan 2", "north", "b", **cost(0.5, 1000.0))


def test_the_silo_s_own_limit_holds_for_a_year_whatever_plans_allow(ledger):
    generous = cost(1.0, 1000.0)
    year = int(Policy().epsilon_per_year)
    for number in range(year):
        record(ledger, f"plan {number}", "north", "r", **generous)
    later = (datetime.now(UTC) + timedelta(days=366)).isoformat(timespec="seconds")

    with pytest.raises(fp.errors.BudgetError, match="in the last 365 days"):
        record(ledger, "one more", "north", "r", **generous)
    record(ledger, "one more", "north", "r", **generous, time=later)


def test_other_data_sets_have_budgets_of_their_own_whatever_the_silo_is_called(ledger):
    record(ledger, "plan 1", "north", "a", **cost())
    record(ledger, "plan 2", "north", "b", **cost(dataset="lab"))

    with pytest.raises(fp.errors.BudgetError):
        record(ledger, "plan 1", "south", "c", **cost())


def test_without_a_policy_all_tables_of_a_silo_are_one_data_set(ledger):
    record(ledger, "plan 1", "north", "a", **cost(dataset=None), table="/a.csv")

    with pytest.raises(fp.errors.BudgetError):
        record(ledger, "plan 2", "north", "b", **cost(dataset=None), table="/b.csv")
    with pytest.raises(fp.errors.BudgetError):  # nor does a policy that comes later start anew
        record(ledger, "plan 2", "north", "b", **cost(dataset="visits"), table="/b.csv")


def test_the_same_release_again_costs_nothing(ledger):
    for _ in range(3):
        record(ledger, "plan 1", "north", "a", **cost())

    assert total(ledger) == 1.0


@pytest.mark.parametrize("noisy_first", [True, False])
def test_with_and_without_noise_on_the_same_records_needs_a_reason(noisy_first, ledger):
    exact = {"dataset": "visits"}
    first, second = (cost(), exact) if noisy_first else (exact, cost(because=None))
    record(ledger, "plan 1", "north", "a", **first)

    with pytest.raises(fp.errors.LedgerError, match="exactly what the noise of the other hides"):
        record(ledger, "plan 2", "north", "b", **second)
    record(ledger, "plan 2", "north", "b", **(second | {"because": "agreed"}))


def test_processes_that_release_at_once_cannot_overspend(ledger):
    """Six processes, a budget for two: exactly two release."""
    started = [
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", SPEND, str(ledger.path), f"plan {number}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        for number in range(6)
    ]
    found = [process.communicate()[0].strip() for process in started]

    assert sorted(found) == ["BudgetError"] * 4 + ["released"] * 2
    assert total(ledger) == 2.0


TABLE = {"score": np.linspace(0, 1, 300), "group": ["A", "B", "B"] * 100}


def asked(**terms):
    return fp.Plan(
        title="visits",
        groups=("A", "B"),
        score_range=(0, 1),
        privacy={"mode": "dp", "epsilon": 1, **terms},
    )


def test_a_sketch_with_noise_is_entered_before_it_is_returned(ledger):
    message = fp.sketch(TABLE, plan=asked(), silo="north", ledger=ledger.path)

    (entry,) = releases(ledger)
    assert (entry.plan, entry.silo, entry.message, entry.epsilon) == (
        message.plan,
        "north",
        message.digest,
        asked().privacy.epsilon,
    )
    with pytest.raises(fp.errors.LedgerError, match="another release"):
        fp.sketch(TABLE, plan=asked(), silo="north", ledger=ledger.path)
    for title in ("viѕits", "visits ", "something else"):  # a title starts nothing anew
        other = fp.Plan.from_dict(asked().to_dict() | {"title": title})
        with pytest.raises(fp.errors.LedgerError, match="left before"):
            fp.sketch(TABLE, plan=other, silo="north", ledger=ledger.path)
        with pytest.raises(fp.errors.BudgetError):
            fp.sketch(TABLE, plan=other, silo="north", ledger=ledger.path, again_because="x")
    assert len(releases(ledger)) == 1


def test_the_user_s_own_ledger_is_the_default_with_and_without_noise(monkeypatch, tmp_path):
    plain = fp.Plan(title="visits", groups=("A", "B"), score_range=(0, 1))
    for number, plan in enumerate((asked(), plain)):
        own = tmp_path / f"{number}.jsonl"
        monkeypatch.setenv("FEDPARITY_LEDGER", str(own))

        fp.sketch(TABLE, plan=plan, silo="north")

        assert [entry.plan for entry in releases(Ledger(own))] == [plan.digest]


def test_a_voided_release_stays_spent(ledger):
    record(ledger, "plan 1", "north", "a", **cost())
    ledger.add(Entry(entry="void", time=now(), release="a", because="wrong table"))

    with pytest.raises(fp.errors.BudgetError):
        record(ledger, "plan 1", "north", "b", **cost(), replaces="message of a")
