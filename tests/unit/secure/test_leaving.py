"""The ledger lets a silo take part in one sum of a data set, or as many as its budget covers."""

import pytest
from tests.secure_rounds import Rounds, secure_plan, some_vectors

import fedparity as fp
from fedparity.privacy.ledger import Ledger
from fedparity.releasing.secure.leaving import check_ledger, write_masked

NOISY = {"mode": "secure+dp", "epsilon": 1.0, "bins": 2}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.jsonl")


def masked(plan, seed=0):
    """The masked vector of aurora in a round of its own."""
    rounds = Rounds(plan).share()
    return rounds.mask("aurora", some_vectors(plan, seed)["aurora"])


def send(plan, ledger, path, **options):
    check_ledger(plan, "aurora", ledger, **options)
    write_masked(masked(plan), path, plan=plan, ledger=ledger, **options)


def test_a_vector_leaves_once_under_a_plan(ledger, tmp_path):
    send(secure_plan(4), ledger, tmp_path / "first.json")

    with pytest.raises(fp.LedgerError, match="already made another release under plan"):
        check_ledger(secure_plan(4), "aurora", ledger)
    with pytest.raises(fp.LedgerError, match="already made another release under plan"):
        write_masked(
            masked(secure_plan(4)), tmp_path / "b.json", plan=secure_plan(4), ledger=ledger
        )
    assert not (tmp_path / "b.json").exists()


def test_the_same_vector_may_be_written_again(ledger, tmp_path):
    plan = secure_plan(4)
    message = masked(plan)
    for name in ("first.json", "again.json"):
        write_masked(message, tmp_path / name, plan=plan, ledger=ledger)

    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "first.json").read_bytes()


def test_the_same_data_are_not_summed_with_other_silos(ledger, tmp_path):
    """Five silos, then four: the difference is the data of the fifth."""
    send(secure_plan(5), ledger, tmp_path / "five.json")

    with pytest.raises(fp.RoundError, match="difference is that silo's data"):
        send(secure_plan(4), ledger, tmp_path / "four.json")
    with pytest.raises(fp.RoundError, match="difference is that silo's data"):
        write_masked(
            masked(secure_plan(4)),
            tmp_path / "four.json",
            plan=secure_plan(4),
            ledger=ledger,
        )
    assert not (tmp_path / "four.json").exists()


def test_other_data_are_summed_under_another_name(ledger, tmp_path):
    send(secure_plan(5), ledger, tmp_path / "five.json", dataset="2025")
    send(secure_plan(4), ledger, tmp_path / "four.json", dataset="2026")

    assert (tmp_path / "four.json").exists()


def test_another_silo_of_the_same_building_is_not_held_back(ledger, tmp_path):
    send(secure_plan(5), ledger, tmp_path / "five.json")

    check_ledger(secure_plan(4), "bayside", ledger)


def test_with_noise_the_budget_decides(ledger, tmp_path):
    budget = {**NOISY, "budget": 2.0}
    first, second, third = (secure_plan(d, privacy=budget) for d in (5, 4, 3))
    send(first, ledger, tmp_path / "1.json")
    send(second, ledger, tmp_path / "2.json")

    with pytest.raises(fp.BudgetError, match="beyond the plan's budget of 2"):
        send(third, ledger, tmp_path / "3.json")
    assert ledger.spent("aurora") == 2.0


def test_without_a_ledger_only_the_file_is_written(tmp_path):
    send(secure_plan(4), None, tmp_path / "a.json")

    with pytest.raises(fp.OutputError):
        send(secure_plan(4), None, tmp_path / "a.json")
