"""What the code writes, the JSON Schemas accept; what they refuse, the code refuses."""

import json
import tomllib
from dataclasses import fields
from typing import get_args

import pytest
from benchmarks.fuzz import Samples, change_document
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.laws import LENIENT
from tests.protocol_strategies import messages, plans
from tests.strategies import half
from tests.tiers import examples
from tests.unit.protocol import test_message
from tests.unit.protocol.test_plan import WRONG
from tests.unit.protocol.test_plan_files import DESIGN
from tests.unit.protocol.test_policy_reading import ALL
from tests.unit.protocol.test_policy_reading import WRONG as WRONG_POLICIES

import fedparity as fp
from fedparity.documents.json_text import SCHEMAS, schema
from fedparity.documents.message_cells import HistogramCell, SketchedCell, Withheld
from fedparity.documents.policy_file import policy_from_toml
from fedparity.privacy.ledger import Entry, EntryKind, Ledger, now
from fedparity.sketches.kinds import Kind

PLAN = Draft202012Validator(schema("plan"))
SKETCH = Draft202012Validator(schema("sketch"))
SAMPLES = Samples()
BEYOND_A_SCHEMA = {
    "no JSON",
    "a silo of two lines",
    "a group twice",
    "more levels than values",
    "fewer levels than values",
    "levels with a fraction",  # 3.0 is an integer for a schema
    "enormous levels",
    "NaN among the values",
    "an infinity among the values",
    "decreasing values",
    "fewer counts than values",
    "two runs without a count",
    "counts of another sum",
    "counts of weights of another sum",
    "counts at one value twice",
    "more above than there are",
    "more above than below",
    "a signature with a line end",  # $ matches before a line end in Python
}
"""Mistakes that only the code can find."""
POLICY_BEYOND = {
    "not TOML",
    "a name that hides",
    "nobody to approve",
    "an endless loss",
    "no loss",
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_valid_schemas(name):
    Draft202012Validator.check_schema(schema(name))


def test_an_unknown_schema_is_refused():
    with pytest.raises(fp.errors.OptionError, match="'plan', 'sketch', 'audit'"):
        schema("result")


@half
@given(plans())
def test_written_plans_are_accepted_as_json_and_as_toml(plan):
    PLAN.validate(plan.to_dict())
    PLAN.validate(tomllib.loads(plan.to_toml()))


def test_the_plan_of_the_design_is_accepted():
    PLAN.validate(tomllib.loads(DESIGN))


@half
@given(st.data())
def test_written_messages_are_accepted(data):
    sketch = data.draw(messages(data.draw(plans(sketched=True))))

    SKETCH.validate(json.loads(sketch.to_bytes()))


def test_signed_messages_are_accepted():
    for _, sketch in SAMPLES.messages:
        SKETCH.validate(json.loads(sketch.to_bytes()))


@pytest.mark.parametrize("name", sorted(test_message.REFUSED.keys() - BEYOND_A_SCHEMA))
def test_wrong_messages_are_refused_by_the_schema_too(name):
    assert not SKETCH.is_valid(json.loads(test_message.REFUSED[name]))


def test_most_wrong_plans_are_refused_by_the_schema_too():
    """Texts that coincide, rosters and lone control characters are beyond a schema."""
    base = fp.Plan.from_toml(DESIGN).to_dict()
    printable = [changes for name, changes in WRONG.items() if "googol" not in name]
    refused = [not PLAN.is_valid({**base, **changes}) for changes in printable]

    assert sum(refused) > 0.6 * len(refused)


@examples(200)
@given(st.sampled_from(SAMPLES.messages), st.randoms(use_true_random=False))
def test_what_the_schema_refuses_the_code_refuses(sample, random):
    _, sketch = sample
    changed = change_document(sketch.to_dict(), random)

    try:
        fp.SiloSketch.from_bytes(json.dumps(changed).encode())
    except fp.errors.MessageError:
        return

    assert SKETCH.is_valid(changed)


@examples(200)
@given(st.sampled_from(SAMPLES.plans), st.randoms(use_true_random=False))
def test_what_the_plan_schema_refuses_the_code_refuses(plan, random):
    changed = change_document(plan.to_dict(), random)

    try:
        fp.Plan.from_dict(changed)
    except fp.errors.PlanError:
        return

    assert PLAN.is_valid({key: value for key, value in changed.items() if value is not None})


POLICY = Draft202012Validator(schema("policy"))
LEDGER = Draft202012Validator(schema("ledger"))


def test_policies_that_can_be_read_fit_their_schema():
    for text in (ALL, LENIENT):
        policy_from_toml(text)
        POLICY.validate(tomllib.loads(text))


@pytest.mark.parametrize(
    "text",
    [text for name, (text, _) in WRONG_POLICIES.items() if name not in POLICY_BEYOND],
    ids=[name for name in WRONG_POLICIES if name not in POLICY_BEYOND],
)
def test_policies_that_cannot_do_not(text):
    assert not POLICY.is_valid(tomllib.loads(text))


def test_every_kind_of_line_of_a_ledger_fits_its_schema(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    table = {"score": [0.1, 0.5] * 60, "group": ["A", "B"] * 60}
    plain = fp.Plan(title="Q4", groups=("A", "B"), score_range=(0, 1), period=("2026-01-01",) * 2)
    first = fp.sketch(table, plan=plain, silo="north", ledger=ledger.path, in_period=True)
    release = ledger.entries()[-1].release
    ledger.add(Entry(entry="void", time=now(), release=release, because="wrong"))
    fp.sketch(table, plan=plain, silo="north", ledger=ledger.path)
    ledger.add(Entry(entry="approval", time=now(), plan=first.plan, by="Ada", because="agreed"))
    with ledger.path.open("a") as file:
        file.write('{"torn')
    noisy = fp.Plan.from_dict(
        plain.to_dict() | {"disclosure": {}, "privacy": {"mode": "dp", "epsilon": 1.0}}
    )
    weaker = {"again_because": "noise", "allow_weaker": ("epsilon",)}
    fp.sketch(table, plan=noisy, silo="north", ledger=ledger.path, **weaker)

    lines = [json.loads(line) for line in ledger.path.read_text().splitlines()]
    assert {line["entry"] for line in lines} == set(get_args(EntryKind))
    for line in lines:
        LEDGER.validate(line)
        for name in line:
            assert not LEDGER.is_valid(line | {name: {}})


def test_the_schema_of_messages_has_the_fields_of_the_code():
    """What depends on the kind is written by hand; names, and which of them are needed, are not."""
    described = schema("sketch")
    parts = described["$defs"]
    optional = {"replaces", "signature", "tables"}
    names = {field.name for field in fields(fp.SiloSketch)} | {"schema"}

    assert described["properties"].keys() == names
    assert set(described["required"]) == names - optional
    assert set(described["properties"]["kind"]["enum"]) == {*get_args(Kind), "histogram"}
    for cell, kind in (("cell", SketchedCell), ("histogram_cell", HistogramCell)):
        names = {field.name for field in fields(kind)}
        assert parts[cell]["properties"].keys() == set(parts[cell]["required"]) == names
    assert set(parts["cell"]["properties"]["withheld"]["enum"]) == {*get_args(Withheld), None}
