"""Attacks that got one person's score out of several plans, or of one, with default rules."""

import numpy as np
import pytest

import fedparity as fp
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.policy import Policy, revealed_together
from fedparity.silo.permit import Permit, plan_view

SEX = ("A", "B")
SEX_AGE = (("A", "<90"), ("A", "90+"), ("B", "<90"), ("B", "90+"))


@pytest.fixture(scope="module")
def table():
    """600 people, of whom one is in a cell of her own."""
    random = np.random.default_rng(7)
    age = np.full(600, "<90")
    age[[450, *range(10, 30)]] = "90+"
    scores = np.round(random.gamma(4, 1, 600).clip(0, 10), 4)
    return {"score": scores, "sex": np.repeat(["A", "B"], 300), "age": age}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.jsonl")


def asked(groups=SEX, title="Q4", **changes):
    options = {"title": title, "groups": groups, "score_range": (0, 10)}
    return fp.Plan(**(options | changes))


@pytest.fixture
def release(table, ledger):
    """What releases a plan on the table, in one ledger."""

    def make(plan, **options):
        columns = ("sex", "age") if isinstance(plan.groups[0], tuple) else "sex"
        return fp.sketch(
            table,
            plan=plan,
            silo="aurora",
            score="score",
            group=columns,
            ledger=ledger.path,
            **options,
        )

    return make


def released(ledger):
    return [entry.plan for entry in ledger.entries() if entry.entry == "release"]


def test_a_plan_cannot_switch_the_rules_off(release, ledger):
    """It sent all 300 scores of a group: k = 100,000 and no rule."""
    off = {"minimum_cell": 1, "records_per_level": 0, "rounding": 0}
    plan = asked(levels=100_000, disclosure=off)

    with pytest.raises(fp.errors.RuleError) as caught:
        release(plan)

    for rule in (*off, "levels"):
        assert rule in caught.value.message
        assert f"--allow-weaker {rule}" in caught.value.fix
    assert not ledger.path.exists()


@pytest.mark.parametrize("epsilon", [1e300, 700.0, 1.5])
def test_a_plan_cannot_ask_for_noise_that_hides_nothing(epsilon, release):
    with pytest.raises(fp.errors.RuleError, match=r"epsilon is .*, the most is 1"):
        release(asked(privacy={"mode": "dp", "epsilon": epsilon}))


def test_what_is_overridden_by_name_is_kept(release, ledger):
    plan = asked(disclosure={"minimum_cell": 5})

    release(plan, allow_weaker=("minimum_cell", "levels"))

    (entry,) = [each for each in ledger.entries() if each.entry == "release"]
    assert entry.weaker == ["minimum_cell"]
    with pytest.raises(fp.errors.OptionError, match="rule to allow weaker"):
        release(plan, allow_weaker=("cells",))


def test_finer_groups_of_the_same_people_are_refused_and_what_they_tell_is_named(release, ledger):
    """Sex, then sex and age: the withheld cell of one person was a difference of two counts."""
    release(asked())

    with pytest.raises(fp.errors.LedgerError) as caught:
        release(asked(SEX_AGE, title="Q4 by age"))

    assert "the groups are nested" in caught.value.message
    assert "'Q4'" in caught.value.message
    assert "--again-because" in caught.value.fix
    assert released(ledger) == [asked().digest]


def test_many_plans_that_differ_in_levels_and_range_release_one_view(release, ledger):
    """360 plans gave 243 of 300 scores to 0.0007."""
    plans = [
        asked(title=f"Q4 {k} {shift}", levels=k, score_range=(-0.01 * shift, 10.0))
        for k in (1, 5, 29)
        for shift in (0.0, 0.25, 0.5)
    ]
    for plan in plans:
        if plan is plans[0]:
            release(plan)
        else:
            with pytest.raises(fp.errors.LedgerError):
                release(plan)

    assert released(ledger) == [plans[0].digest]


def test_another_grid_is_refused_whatever_the_reason(release, tmp_path):
    """Shifted ranges undo the rounding; a policy may say otherwise."""
    release(asked())
    for changes in (
        {"score_range": (-0.01, 10.0)},
        {"disclosure": {"rounding": 0.01}},
        {"score_step": 0.001},
        {"sketch": "quantile"},
    ):
        with pytest.raises(fp.errors.LedgerError, match="another grid"):
            release(asked(title="again", **changes), again_because="a good one")
    law = tmp_path / "policy.toml"
    law.write_text('schema = "fedparity/policy/1"\nother_grids = true\n')
    release(asked(title="again", sketch="quantile"), again_because="agreed", policy=law)


@pytest.mark.parametrize("title", ["Q4 ", "Q４", "Q5"])
def test_another_title_is_the_same_data(title, release, ledger):
    release(asked())

    with pytest.raises(fp.errors.LedgerError, match="left before"):
        release(asked(title=title))
    assert len(released(ledger)) == 1


@pytest.mark.parametrize("rounding", [0.0, 0.001])
def test_two_means_of_all_records_do_not_give_one_score(rounding, release):
    """Levels k = 1 of a group and of all of it but one person gave 6.6259 exactly."""
    with pytest.raises(fp.errors.RuleError, match="rounding"):
        release(asked(levels=1, disclosure={"rounding": rounding}))
    release(asked(levels=1))
    with pytest.raises(fp.errors.LedgerError):
        release(asked(SEX_AGE, levels=1))


def test_the_same_plan_again_gives_the_same_bytes_and_is_no_second_release(release, ledger):
    assert release(asked()).to_bytes() == release(asked()).to_bytes()
    assert len(released(ledger)) == 1


def test_a_reason_lets_a_second_view_out_and_stays(release, ledger):
    release(asked())
    release(asked(title="thresholds", thresholds=[5.0]), again_because="  asked by the board ")

    assert ledger.entries()[-1].because == "asked by the board"
    with pytest.raises(fp.errors.LedgerError, match="2 releases of the same records left before"):
        release(asked(title="third"), again_because="   ")


def test_periods_count_only_where_the_silo_says_that_it_selected_them(release):
    """The auditor writes the period; the rows that are read are the silo's business."""
    first, second, both = (
        asked(title=str(period), period=period)
        for period in (
            ("2026-01-01", "2026-03-31"),
            ("2026-04-01", "2026-06-30"),
            ("2026-03-31", "2026-04-01"),
        )
    )
    release(first, in_period=True)

    with pytest.raises(fp.errors.LedgerError) as caught:
        release(second)
    assert "--in-period" in caught.value.fix
    release(second, in_period=True)
    with pytest.raises(fp.errors.LedgerError, match="2 releases"):
        release(both, in_period=True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"groups": SEX_AGE}, "the groups are nested"),
        ({"groups": ("A", "C")}, "groups that overlap"),
        ({"thresholds": [5.0, 7.0]}, "the thresholds 3, 5, 7 together"),
        ({"levels": 7}, "the scores at the ranks of both"),
        ({"privacy": {"mode": "dp", "epsilon": 1}}, "exactly what the noise of the other hides"),
        ({}, "a record that was added or removed"),
    ],
)
def test_what_two_releases_tell_together_is_named(changes, words):
    old = plan_view(asked(thresholds=[3.0]))
    new = plan_view(asked(**({"thresholds": [3.0]} | changes)))

    for pair in ((old, new), (new, old)):
        assert any(words in clause for clause in revealed_together(*pair))


def test_a_sketcher_obeys_the_same_law(table, ledger):
    batch = {"score": table["score"], "group": table["sex"]}
    first = fp.Sketcher(plan=asked(), silo="aurora", ledger=ledger.path)
    first.update(batch)
    first.finish()

    with pytest.raises(fp.errors.LedgerError, match="left before"):
        fp.Sketcher(plan=asked(title="other"), silo="aurora", ledger=ledger.path)
    with pytest.raises(fp.errors.RuleError):
        fp.Sketcher(plan=asked(disclosure={"minimum_cell": 2}), silo="aurora")


def test_nothing_leaves_that_was_not_approved_not_even_without_an_early_look(table, tmp_path):
    law = Policy(people=("Ada",), needed=1)
    for ledger in (tmp_path / "ledger.jsonl", False):
        permit = Permit.of(asked(), "aurora", data=None, policy=law, ledger=ledger)
        with pytest.raises(fp.errors.RuleError, match="approval"), permit.commit("one", "one"):
            pytest.fail("it left")
        with pytest.raises(fp.errors.RuleError, match="approval"):
            fp.sketch(table, plan=asked(), silo="aurora", policy=law, ledger=ledger)


def test_a_policy_may_forbid_messages_that_no_ledger_knows_of(table):
    with pytest.raises(fp.errors.RuleError, match="no ledger knows"):
        fp.sketch(
            table, plan=asked(), silo="aurora", policy=Policy(without_ledger=False), ledger=False
        )
