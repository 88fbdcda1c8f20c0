"""Results of secure sums are shown like any others: what is not known is said, not made up."""

import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from tests.oracles.test_secure_audit import plan_of, secure_audit, tables

import fedparity as fp
from fedparity.cli.audit_text import audit_text
from fedparity.documents.json_text import schema
from fedparity.report.model_card import model_card_section, model_index

SPLIT = {"mode": "secure+dp", "epsilon": 1.0, "bins": 16, "dose": "split"}
FULL = {"mode": "secure+dp", "epsilon": 1.0, "bins": 16}


@pytest.fixture(scope="module", params=["exact", "order 1", "split", "full"])
def result(request):
    made = tables()
    privacy = {"split": SPLIT, "full": FULL}.get(request.param, {"bins": 16})
    order = 1 if request.param == "order 1" else 2
    return secure_audit(plan_of(made, privacy=privacy, order=order), made)


def test_the_json_is_accepted_by_the_schema_and_read_again(result):
    document = json.loads(result.to_json())

    Draft202012Validator(schema("audit")).validate(document)
    assert fp.AuditResult.from_dict(document) == result


def test_the_text_says_what_is_not_known(result):
    text = audit_text(result, details=True)

    assert "Only their sums were seen" in " ".join(text.split())
    assert "V_mix and V_bar are not known" in text
    assert "and how much lies within them, is not known" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_report_can_be_made(result, ending, tmp_path):
    path = tmp_path / f"report.{ending}"

    result.save_report(path)

    assert "Only their sums were seen" in path.read_text(encoding="utf-8")


def test_the_model_card_leaves_out_what_is_not_known(result):
    assert "Selection between silos" not in str(model_index(result))
    assert "Selection between silos" not in model_card_section(result)


def test_frames_and_thresholds_work(result):
    frame = result.to_frame("pandas")

    assert frame["note"].tolist() == ["not seen: secure sum"] * 5
    assert np.isnan(frame["disparity"]).all()
    rates = result.at_threshold(0.5)
    assert all(0 <= group.rate.lower <= group.rate.upper <= 1 for group in rates.groups)
