"""The ledger lets a silo take part in one sum of a data set, or in more with a reason and a budget."""

import pytest
from tests.secure_rounds import Rounds, secure_plan, signing_keys, some_vectors

import fedparity as fp
from fedparity.privacy.ledger import Entry, Ledger, now
from fedparity.silo.permit import Permit

NOISY = {"mode": "secure+dp", "epsilon": 1.0, "bins": 2}


@pytest.fixture
def permit(tmp_path, lenient_law):
    """What makes a permit of a plan, in one ledger."""

    def make(plan, silo="aurora", **options):
        options = {"policy": lenient_law, "ledger": tmp_path / "ledger.jsonl"} | options
        return Permit.of(plan, silo, data=None, **options)

    return make


def masked(plan, seed=0):
    """The masked vector of aurora in a round of its own."""
    rounds = Rounds(plan).share()
    return rounds.mask("aurora", some_vectors(plan, seed)["aurora"])


def send(permit, path):
    permit.check()
    permit.write(path, masked(permit.plan))


def test_a_vector_leaves_once_under_a_plan(permit, tmp_path):
    own = permit(secure_plan(4))
    send(own, tmp_path / "first.json")

    with pytest.raises(fp.errors.LedgerError, match="already made another release under plan"):
        own.check()
    with pytest.raises(fp.errors.LedgerError, match="already made another release under plan"):
        own.write(tmp_path / "b.json", masked(secure_plan(4)))
    assert not (tmp_path / "b.json").exists()


def test_the_same_vector_may_be_written_again(permit, tmp_path):
    plan = secure_plan(4)
    message = masked(plan)
    for name in ("first.json", "again.json"):
        permit(plan).write(tmp_path / name, message)

    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "first.json").read_bytes()


def test_the_same_data_are_not_summed_with_other_silos_without_a_reason(permit, tmp_path):
    """Five silos, then four: the difference is the data of the fifth."""
    send(permit(secure_plan(5)), tmp_path / "five.json")

    with pytest.raises(fp.errors.LedgerError, match="only one of the two sums has"):
        send(permit(secure_plan(4)), tmp_path / "four.json")
    assert not (tmp_path / "four.json").exists()
    send(permit(secure_plan(4), again_because="the first was not opened"), tmp_path / "four.json")


def test_a_void_lets_no_second_vector_out_under_the_same_plan(permit, tmp_path):
    """What was masked stays masked: two sums with and without it differ by it."""
    own = permit(secure_plan(4))
    send(own, tmp_path / "first.json")
    own.ledger.add(Entry(entry="void", time=now(), release=own.earlier[-1].release, because="x"))

    with pytest.raises(fp.errors.LedgerError, match="already made another release"):
        own.check()


def test_another_silo_of_the_same_building_is_not_held_back(permit, tmp_path):
    send(permit(secure_plan(5)), tmp_path / "five.json")

    permit(secure_plan(4), "bayside").check()


def test_with_noise_the_budget_decides(permit, tmp_path):
    budget = {**NOISY, "budget": 2.0}
    reason = {"again_because": "planned"}
    first, second, third = (permit(secure_plan(d, privacy=budget), **reason) for d in (5, 4, 3))
    send(first, tmp_path / "1.json")
    send(second, tmp_path / "2.json")

    with pytest.raises(fp.errors.BudgetError, match="beyond 2, the smallest budget"):
        send(third, tmp_path / "3.json")
    assert third.spent == 2.0


def test_a_wrong_folder_spends_nothing(permit, tmp_path):
    own = permit(secure_plan(4, privacy=NOISY))

    with pytest.raises(fp.errors.OutputError):
        send(own, tmp_path / "nowhere" / "a.json")
    assert own.spent == 0.0
    assert not Ledger(tmp_path / "ledger.jsonl").entries()


def test_without_a_ledger_only_the_file_is_written(permit, tmp_path):
    own = permit(secure_plan(4), ledger=False)
    send(own, tmp_path / "a.json")

    with pytest.raises(fp.errors.OutputError):
        send(own, tmp_path / "a.json")


@pytest.mark.parametrize(
    ("keys", "rules"), [(False, "rule keys.*rule silos"), (True, "rule silos")]
)
def test_without_a_policy_no_sum_is_made_with_silos_that_the_plan_alone_vouches_for(keys, rules):
    """Whoever writes or carries the plan could be every other silo."""
    plan = secure_plan(4, keys=signing_keys() if keys else None)

    with pytest.raises(fp.errors.RuleError, match=rules):
        Permit.of(plan, "aurora", data=None)
    permit = Permit.of(plan, "aurora", data=None, allow_weaker=("keys", "silos"))
    assert permit.weaker == (("silos",) if keys else ("keys", "silos"))


def test_with_a_policy_the_silos_are_those_it_knows(tmp_path):
    plan = secure_plan(4, keys=signing_keys())
    known = "".join(f'{name} = "{key}"\n' for name, key in plan.keys.items())
    law = tmp_path / "policy.toml"
    law.write_text(f'schema = "fedparity/policy/1"\n[silos]\n{known}')

    assert Permit.of(plan, "aurora", data=None, policy=law).weaker == ()
    invented = {**plan.keys, "dune": secure_plan(4, keys=signing_keys()).keys["dune"]}
    other = fp.Plan.from_dict(plan.to_dict() | {"keys": invented})
    with pytest.raises(fp.errors.RuleError, match="'dune'"):
        Permit.of(other, "aurora", data=None, policy=law)
