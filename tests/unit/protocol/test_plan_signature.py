"""An auditor's signature covers all of a plan and changes nothing of what it says."""

import pytest

import fedparity as fp
from fedparity.documents.signing import (
    check_plan_signature,
    generate_key,
    public_text,
    sign_plan,
    signed_text,
)

pytest.importorskip("cryptography", reason="fedparity[sign] is not installed")
KEY = f"{'A' * 42}w="


@pytest.fixture(scope="module")
def key():
    return generate_key()


def plan(**changes):
    options = {
        "title": "Q4",
        "groups": ("A", "B"),
        "score_range": (0, 1),
        "silos": ("a", "b", "c"),
    }
    return fp.Plan(**(options | {"keys": {"a": KEY}} | changes))


def test_a_signature_fits_and_leaves_the_digest(key):
    signed = sign_plan(plan(), key)

    check_plan_signature(signed)
    assert signed.signature["key"] == public_text(key)
    assert signed.digest == plan().digest
    assert fp.Plan.from_toml(signed.to_toml()) == signed == fp.Plan.from_dict(signed.to_dict())


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Q5"},
        {"silos": ("a", "b", "c", "d")},
        {"keys": {"a": KEY, "b": KEY.replace("A", "B")}},
        {"disclosure": {"minimum_cell": 12}},
        {"period": ("2026-01-01", "2026-01-02")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_it_covers_everything_the_roster_and_the_keys_too(changes, key):
    signed = sign_plan(plan(), key)

    with pytest.raises(fp.errors.PlanError, match="changed after it was signed"):
        check_plan_signature(plan(**changes, signature=dict(signed.signature)))


def test_it_is_not_another_key_s(key):
    signature = dict(sign_plan(plan(), key).signature) | {"key": public_text(generate_key())}

    with pytest.raises(fp.errors.PlanError):
        check_plan_signature(plan(signature=signature))


def test_a_text_keeps_its_comments_and_gets_one_signature(key):
    text = f"# mine\n{plan().to_toml()}# the end\n"
    once = signed_text(text, sign_plan(plan(), key))
    other = generate_key()
    twice = signed_text(once, sign_plan(fp.Plan.from_toml(once), other))

    assert once.startswith("# mine\n")
    assert "# the end\n" in once
    assert twice.count("[signature]") == 1
    assert fp.Plan.from_toml(twice).signature["key"] == public_text(other)
    check_plan_signature(fp.Plan.from_toml(twice))


def test_a_signature_that_does_not_stand_last_is_replaced_too(key):
    signed = sign_plan(plan(disclosure={}), key)
    head, keys = signed.to_toml().split("[keys]")
    front, signature = keys.split("[signature]")
    text = f"{head}[signature]{signature}\n[keys]{front}"
    assert fp.Plan.from_toml(text) == signed

    assert fp.Plan.from_toml(signed_text(text, signed)) == signed


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ({"key": KEY}, "no value in"),
        ({"key": KEY, "value": "x"}, "a signature must be"),
        ({"key": "x", "value": f"{'A' * 85}w=="}, "a public key must be"),
        ({"key": KEY, "value": f"{'A' * 85}w==", "by": "me"}, "'by' is not a key"),
    ],
)
def test_a_table_that_is_no_signature_is_a_mistake_of_the_plan(signature, words):
    with pytest.raises(fp.errors.PlanError, match=words):
        plan(signature=signature)


@pytest.mark.parametrize(
    "period",
    [
        ("2026-12-31", "2026-10-01"),
        ("2026-10-01",),
        ("2026-02-30", "2026-03-01"),
        (20261001, 20261231),
        "2026",
    ],
)
def test_a_period_is_two_days_in_order(period):
    with pytest.raises(fp.errors.PlanError, match="period must be two dates"):
        plan(period=period)


def test_a_period_is_written_as_dates_and_part_of_the_digest():
    dated = plan(period=("2026-10-01", "2026-12-31"))

    assert "period = [2026-10-01, 2026-12-31]" in dated.to_toml()
    assert fp.Plan.from_toml(dated.to_toml()) == dated
    assert dated.digest != plan().digest
