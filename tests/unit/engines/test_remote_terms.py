"""On what terms an auditor asks: all is checked before anybody is asked."""

import math

import pytest
from tests.engine_harness import SILOS, some_plan, some_tables, write_messages

import fedparity as fp
from fedparity.engines.remote.conversation import Terms

SECURE = some_plan(privacy={"mode": "secure", "bins": 8})


def test_without_a_quorum_all_silos_must_answer():
    assert Terms().quorum_for(some_plan()) == len(SILOS) == 4
    assert Terms().quorum_for(SECURE) == 4


@pytest.mark.parametrize("quorum", [1, 3, 4])
def test_a_quorum_within_the_roster_is_taken(quorum):
    assert Terms(quorum=quorum).quorum_for(some_plan()) == quorum


@pytest.mark.parametrize("quorum", [-1, 0, 5])
def test_a_quorum_outside_the_roster_is_refused(quorum):
    with pytest.raises(fp.errors.OptionError, match="between 1 and 4"):
        Terms(quorum=quorum).quorum_for(some_plan())


def test_a_secure_sum_has_no_quorum_below_its_threshold():
    threshold = SECURE.privacy.threshold

    assert Terms(quorum=threshold).quorum_for(SECURE) == threshold
    with pytest.raises(fp.errors.OptionError, match=f"between {threshold} and 4"):
        Terms(quorum=threshold - 1).quorum_for(SECURE)


def test_a_plan_without_a_roster_cannot_be_asked():
    plan = fp.Plan(title="Q4", groups=("A", "B"), score_range=(0, 1))

    with pytest.raises(fp.errors.OptionError, match="lists no silos"):
        Terms().quorum_for(plan)


WRONG = {
    "a wait below zero": {"wait": -0.1},
    "a wait that is none": {"wait": math.nan},
    "a wait for ever": {"wait": math.inf},
    "no time to answer": {"limit": 0.0},
    "a limit that is none": {"limit": math.nan},
    "a limit for ever": {"limit": math.inf},
    "a confidence of one": {"confidence": 1.0},
    "a confidence of zero": {"confidence": 0.0},
    "a confidence that is none": {"confidence": math.nan},
    "a seed below zero": {"seed": -1},
    "too few redraws": {"redraws": 19},
}


@pytest.mark.parametrize("terms", WRONG.values(), ids=WRONG.keys())
def test_terms_that_are_none_are_refused(terms):
    (name,) = terms

    with pytest.raises(fp.errors.OptionError, match=name):
        Terms(**terms)


def test_terms_at_their_ends_are_taken():
    Terms(wait=0.0, limit=1.0, confidence=0.01, seed=0, redraws=20)


def test_what_terms_take_an_audit_takes_too(tmp_path):
    """Or silos would answer in vain."""
    paths = write_messages(some_plan(), some_tables(), tmp_path / "m").values()

    fp.audit(some_plan(), paths, confidence=0.01, seed=0, redraws=20)
    with pytest.raises(fp.errors.OptionError):
        fp.audit(some_plan(), paths, redraws=19)
