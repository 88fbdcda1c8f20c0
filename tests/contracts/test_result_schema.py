"""Every result that the code writes is one by the published schema."""

import json
from importlib.resources import files

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from tests.audit_strategies import make_cell, make_message, make_messages, make_plan, make_table
from tests.contracts.result_schema import FILE, text

from fedparity.documents.message_cells import SketchedCell
from fedparity.engines.in_process import audit

SCHEMA = json.loads(
    files("fedparity.documents").joinpath("schemas/audit-1.json").read_text("utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)


def incomplete():
    plan = make_plan(disclosure={}, silos=["s0", "s1", "s2", "gone", "tiny"], totals={"gone": 9})
    tiny = [make_cell(plan, "A", [0.5] * 20), SketchedCell.kept_back("B", "small")]
    return plan, [
        *make_messages(plan, *make_table(1)),
        make_message(plan, "tiny", tiny, rows_dropped=3),
    ]


def intersections():
    plan = make_plan(groups=((1, True), (2, False)), levels=2, sketch="quantile")
    cells = [
        SketchedCell(group=group, count=20.5, values=[0.1, 0.2], effective=20)
        for group in plan.groups
    ]
    weights = {**plan.guarantee, "weighted": True}
    return plan, [make_message(plan, "only", cells, guarantee=weights)]


def counts():
    plan = make_plan(score_step=0.25, thresholds=[0.5], disclosure={})
    scores, groups, silos = make_table(2)
    return plan, make_messages(plan, np.round(scores * 4) / 4, groups, silos)


def without_limit():
    """Scores do not vary within groups."""
    plan = make_plan(score_step=0.5, review_level=0.1, review_unit="sd")
    return plan, make_messages(
        plan, np.repeat([0.0, 1.0], 50), np.repeat(["A", "B"], 50), ["s"] * 100
    )


def set_aside():
    plan = make_plan(groups=("A", "B", "C"), disclosure={}, silos=["s0", "s1", "s2", "gone"])
    return plan, make_messages(plan, *make_table(1))


def of_a_table(silos=3, **options):
    plan = make_plan(**options)
    return plan, make_messages(plan, *make_table(2, silos=silos))


KINDS = {
    "default rules": lambda: of_a_table(disclosure={}, review_level=0.01),
    "a share of the range": lambda: of_a_table(review_level=0.01, review_unit="share"),
    "deviations": lambda: of_a_table(review_level=0.01, review_unit="sd"),
    "squared": lambda: of_a_table(review_level=0.01, review_unit="squared"),
    "thresholds": lambda: of_a_table(thresholds=[0.3, 0.5], favorable="below"),
    "counts": counts,
    "deviations without limit": without_limit,
    "a group set aside": set_aside,
    "order 1": lambda: of_a_table(order=1, estimator="exact"),
    "bin means, trimmed": lambda: of_a_table(sketch="mean", estimator="exact", trim=0.05),
    "one silo": lambda: of_a_table(silos=1),
    "incomplete": incomplete,
    "intersections and weights": intersections,
    "whole numbers": lambda: of_a_table(score_range=(0, 1), review_level=1),
}


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("kind", KINDS)
def test_results_of_every_kind_are_valid(kind):
    result = audit(*KINDS[kind](), redraws=20).with_rates(thresholds=[0.4], tails=[0.5])

    assert list(VALIDATOR.iter_errors(json.loads(result.to_json()))) == []


def objects(schema):
    """All objects with fields that a schema describes."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def test_no_field_is_optional_and_none_is_unknown():
    for described in objects(SCHEMA):
        assert described["required"] == list(described["properties"])
        assert described["additionalProperties"] is False


def test_the_schema_refuses_what_the_reader_refuses():
    document = json.loads(audit(*of_a_table(), redraws=20).to_json())
    for name in document:
        shorter = {key: value for key, value in document.items() if key != name}

        assert not VALIDATOR.is_valid(shorter)
    assert not VALIDATOR.is_valid({**document, "surprise": 1})
    assert not VALIDATOR.is_valid(
        {**document, "disparity": {**document["disparity"], "verdict": "above"}}
    )
    assert not VALIDATOR.is_valid({**document, "warnings": ["careful"]})


def test_the_schema_is_generated_from_the_dataclasses():
    """``python -m tests.contracts.result_schema`` writes it anew."""
    assert FILE.read_text("utf-8") == text()
