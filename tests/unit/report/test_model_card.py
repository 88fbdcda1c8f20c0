"""A section of a model card: metadata that parse, in the Hub's form."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.report_results import (
    aside_result,
    changed,
    incomplete_result,
    plain_result,
    result_of_silos,
    summed_result,
)

from fedparity.report.model_card import model_card_section, yaml_text

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
KEYS = st.sampled_from(["name", "model-index", "p_value", "type"])
VALUES = st.recursive(
    SCALARS,
    lambda held: st.lists(held, min_size=1, max_size=3) | st.dictionaries(KEYS, held, min_size=1),
    max_leaves=8,
)


def metadata(text):
    start, found, _ = text.split("---\n", 2)
    assert start == ""
    return yaml.safe_load(found)


@given(st.dictionaries(KEYS, VALUES, min_size=1))
def test_yaml_is_read_back_by_a_yaml_library(document):
    """What is written without the library is what the library reads, to the last digit."""
    assert yaml.safe_load("\n".join(yaml_text(document))) == document


def test_the_metadata_hold_what_the_hub_requires():
    """Of task, dataset and metric a type each; a name of the dataset; a value of the metric."""
    [model] = metadata(model_card_section(plain_result()))["model-index"]
    [found] = model["results"]

    assert model["name"]
    assert found["task"]["type"]
    assert found["dataset"].keys() >= {"type", "name"}
    assert all(metric.keys() >= {"type", "value"} for metric in found["metrics"])


def test_every_number_is_that_of_the_result():
    result = incomplete_result()
    document = result.to_dict()
    [model] = metadata(model_card_section(result))["model-index"]
    metrics = {each["type"]: each for each in model["results"][0]["metrics"]}

    worst = document["magnitudes"]["worst_pair"]
    assert metrics["worst-pair-distance"]["value"] == worst["corrected"]
    for name, value in metrics["worst-pair-distance"]["args"].items():
        assert value == (document["disparity"] | document | worst)[name]
    assert metrics["disparity"]["value"] == document["disparity"]["value"]
    for name, value in metrics["disparity"]["args"].items():
        assert value == (document["disparity"] | document)[name]
    assert metrics["heterogeneity"]["value"] == document["heterogeneity"]["value"]
    for part in ("selection", "within"):
        metric = metrics[f"disparity-{part}"]
        assert metric["value"] == document["attribution"][part]
        assert metric["args"]["interval"] == document["attribution"]["intervals"][part]


@pytest.mark.parametrize(
    "title", ["Q4: #1", '"quoted"', "--- \n---", "a\x85b\u2028c\x7f", "&anchor *alias", "😀 <b>"]
)
def test_a_hostile_title_is_read_back(title):
    text = model_card_section(changed(plain_result(), "plan", title=title))

    assert metadata(text)["model-index"][0]["name"] == title


def test_the_sections_are_those_of_the_template():
    text = model_card_section(result_of_silos(4, groups=10))

    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "## Evaluation",
        "### Testing Data, Factors & Metrics",
        "#### Testing Data",
        "#### Factors",
        "#### Metrics",
        "### Results",
        "## Bias, Risks, and Limitations",
    ]


def test_what_a_secure_sum_does_not_hold_is_left_out():
    """A metric of the Hub has a value."""
    [model] = metadata(model_card_section(summed_result()))["model-index"]

    kinds = [metric["type"] for metric in model["results"][0]["metrics"]]
    assert kinds == ["worst-pair-distance", "points-to-parity", "disparity", "heterogeneity"]


def test_rates_are_metrics_of_every_group():
    result = aside_result()
    [model] = metadata(model_card_section(result))["model-index"]
    metrics = [m for m in model["results"][0]["metrics"] if m["type"] == "selection-rate"]

    assert [metric["args"]["group"] for metric in metrics] == ["A", "B", "A", "B"]
    for metric, row in zip(metrics, result.thresholds[0].groups, strict=False):
        assert metric["value"] == row.rate.value
        assert metric["args"]["threshold"] == 5
        assert metric["args"]["interval"] == list(row.rate.interval)
        assert metric["args"]["ratio_to_best"] == row.ratio.value
        assert metric["args"]["four_fifths"] == row.answer
