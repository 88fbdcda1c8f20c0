"""One verb: fp.audit takes messages with their plan, a federation, or a table."""

import numpy as np
import pytest

import fedparity as fp

RANGE = (0.0, 1.0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    groups = rng.choice(["a", "b", "c"], 3000)
    scores = np.clip(rng.beta(2, 3, 3000) + 0.1 * (groups == "b"), 0, 1)
    return {"z": scores, "g": groups, "s": rng.choice(["north", "south"], 3000)}


def federation_of(table, **options):
    return fp.Federation.from_scores(table["z"], groups=table["g"], silos=table["s"], **options)


def test_a_table_is_audited_by_audit_and_by_simulate_alike(table):
    columns = {"score": "z", "group": "g", "silo": "s", "score_range": RANGE, "redraws": 100}

    assert fp.simulate is fp.audit
    assert fp.audit(table, **columns).silos_received == ("north", "south")


@pytest.mark.parametrize("kind", ["mean", "quantile"])
def test_a_federation_gives_what_its_table_gives(table, kind):
    options = {"score_range": RANGE, "review_level": 0.05, "thresholds": (0.5,), "redraws": 200}
    pooled = fp.audit(table, score="z", group="g", silo="s", sketch=kind, **options)

    result = fp.audit(federation_of(table, kind=kind), **options)

    assert result.disparity.value == pytest.approx(pooled.disparity.value, rel=1e-9)
    assert tuple(result.disparity.interval) == pytest.approx(
        tuple(pooled.disparity.interval), rel=1e-6
    )
    assert result.disparity.verdict == pooled.disparity.verdict
    assert [dict(silo.n) for silo in result.silos] == [dict(silo.n) for silo in pooled.silos]
    assert result.plan.sketch == kind


def test_counts_on_a_grid_find_their_step(table):
    deciles = table | {"z": np.round(table["z"] * 10)}
    pooled = fp.audit(deciles, score="z", group="g", silo="s", redraws=100)

    result = fp.audit(federation_of(deciles), redraws=100)

    assert result.plan.score_step == 1.0
    assert result.disparity.value == pytest.approx(pooled.disparity.value, rel=1e-12)


def test_the_silos_of_a_federation_may_be_numbers():
    federation = fp.Federation.from_scores(
        np.arange(40.0), groups=[1, 2] * 20, silos=[10] * 20 + [20] * 20
    )

    result = fp.audit(federation, redraws=100)

    assert result.silos_received == ("10", "20")
    assert result.warnings[0].code == "range_from_data"
    assert [each.group for each in result.groups] == [1, 2]


def test_messages_are_audited_under_their_plan(table):
    plan = fp.Plan(title="Q4", groups=("a", "b", "c"), score_range=RANGE)
    message = fp.sketch(table, plan=plan, silo="north", score="z", group="g", where="s = 'north'")

    assert fp.audit(plan, [message], redraws=100).silos_received == ("north",)


def test_what_does_not_fit_together_is_refused_with_a_fix(table):
    plan = fp.Plan(title="Q4", groups=("a", "b", "c"), score_range=RANGE)
    federation = federation_of(table)
    wrong = {
        "a plan was given without messages": lambda: fp.audit(plan),
        "instead of their plan": lambda: fp.audit(federation, ["north.json"]),
        "which only a table has": lambda: fp.audit(federation, score="z"),
        "which the plan sets": lambda: fp.audit(plan, [], levels=5),
        "do not show how far scores reach": lambda: fp.audit(federation),
        "lie on no grid": lambda: fp.audit(
            fp.Federation.from_scores(
                [0.1, 0.2**0.5, 0.3**0.5, 1.0], groups=list("abab"), silos=[1] * 4
            )
        ),
    }
    for words, call in wrong.items():
        with pytest.raises(fp.InputError, match=words) as error:
            call()
        assert "fix:" in str(error.value)
