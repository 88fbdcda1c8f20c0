"""A simulation under a secure plan runs all rounds in one process."""

import numpy as np
import pytest
from tests.secure_rounds import signing_keys

import fedparity as fp
from fedparity.documents.signing import public_text

SILOS = ("aurora", "bayside", "cedar", "dune")


def table(silos=SILOS, size=800):
    random = np.random.default_rng(0)
    sex, age = random.choice(["F", "M"], size), random.choice(["old", "young"], size)
    risk = random.beta(2 + (sex == "M"), 3 + (age == "old"))
    return {"risk": risk, "sex": sex, "age": age, "hospital": random.choice(silos, size)}


def plan(**options):
    defaults = {"title": "Q4", "groups": ("F", "M"), "score_range": (0, 1), "silos": SILOS}
    return fp.Plan(**{**defaults, "privacy": {"mode": "secure"}, **options})


def simulate(data, **options):
    columns = {"silo": "hospital", "score": "risk", "group": "sex", "redraws": 20}
    return fp.simulate(data, **{**columns, **options})


def test_the_answer_is_near_that_of_the_raw_data_and_silos_are_not_seen():
    data = table()
    exact = fp.disparity(data["risk"], sensitive_features=data["sex"])

    result = simulate(data, plan=plan())

    assert result.disparity.value == pytest.approx(exact, rel=0.01)
    assert {silo.disparity for silo in result.silos} == {None}


def test_rounds_are_random_and_the_result_is_not():
    data = table()

    assert simulate(data, plan=plan()).to_json() == simulate(data, plan=plan()).to_json()


def test_keys_are_left_out_and_that_is_said():
    keys = {silo: public_text(key) for silo, key in signing_keys(4).items()}

    result = simulate(table(), plan=plan(keys=keys))

    assert "keys of the plan were left out" in result.warnings[0].text


def test_a_silo_that_the_table_lacks_has_dropped_out():
    result = simulate(table(SILOS[:3]), plan=plan())

    assert result.silos_missing == ("dune",)


def test_too_few_silos_open_nothing():
    with pytest.raises(
        fp.errors.SecureMessageError, match="2 masked vectors arrived, but 3 are needed"
    ):
        simulate(table(SILOS[:2]), plan=plan())


def test_intersections_of_columns_are_groups_like_any_others():
    groups = tuple((s, a) for s in ("F", "M") for a in ("old", "young"))

    result = simulate(table(), plan=plan(groups=groups), group=["sex", "age"])

    assert [each.group for each in result.groups] == list(groups)
    assert fp.AuditResult.from_dict(result.to_dict()) == result


def test_weights_are_refused():
    data = {**table(), "weight": np.ones(800)}

    with pytest.raises(fp.errors.PrivacyError, match="weights"):
        simulate(data, plan=plan(), weight="weight")
