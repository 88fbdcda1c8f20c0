"""A result: complete, frozen, the same after a round trip, and strict about what it reads."""

import dataclasses
import json
import re

import numpy as np
import pytest
from tests.audit_strategies import make_messages, make_plan, make_table

import fedparity as fp
from fedparity.documents.json_text import canonical_bytes
from fedparity.documents.result import AuditResult
from fedparity.engines.in_process import audit
from fedparity.errors import ResultError


@pytest.fixture(scope="module")
def result():
    plan = make_plan(
        levels=20, review_level=0.05, silos=["s0", "s1", "s2", "s3"], thresholds=[0.5]
    )
    return audit(plan, make_messages(plan, *make_table(0)), redraws=20)


def test_a_round_trip_through_a_file_changes_nothing(result, tmp_path):
    result.write(tmp_path / "result.json")

    again = AuditResult.read(tmp_path / "result.json")

    assert again == result
    assert again.to_json() == result.to_json()
    assert again.federation is None


def test_an_existing_file_is_not_overwritten(result, tmp_path):
    (tmp_path / "result.json").write_text("mine")

    with pytest.raises(fp.FedparityError, match="exists"):
        result.write(tmp_path / "result.json")
    assert (tmp_path / "result.json").read_text() == "mine"


def test_the_fields_are_those_of_the_design(result):
    document = result.to_dict()

    assert list(document)[:19] == [
        *("schema", "plan", "silos_received", "silos_missing", "n", "groups", "set_aside"),
        *("disparity", "magnitudes", "thresholds", "tails", "heterogeneity", "pairs"),
        *("decomposition", "attribution", "silos", "guarantee", "warnings", "software"),
    ]
    assert set(document["plan"]) == {
        *("title", "digest", "levels", "sketch", "estimator", "order", "score_range"),
        *("score_step", "thresholds", "favorable", "trim", "period", "simulated"),
    }
    assert set(document["disparity"]) == {
        *("value", "corrected", "interval", "certificate", "combined", "outer", "p_value"),
        *("review_level", "review_unit", "compared", "verdict"),
    }
    assert set(document["disparity"]["compared"]) == {"value", "answered", "all"}
    assert set(document["disparity"]["verdict"]) == {"answered", "all"}
    assert set(document["magnitudes"]) == {
        *("points", "worst_pair", "standardized", "variance_share", "location_share"),
        *("equal_weights", "burden"),
    }
    assert set(document["pairs"][0]) == {
        *("groups", "wasserstein", "corrected", "interval", "certificate", "cramer", "mean_gap")
    }
    assert set(document["decomposition"]) == {"v_mix", "v_bar", "remainder", "lower", "upper"}
    assert set(document["warnings"][0]) == {"code", "text"}
    assert {"selection", "within", "silos"} <= set(document["attribution"])
    assert set(document["silos"][0]) >= {
        *("silo", "n", "disparity", "heterogeneity", "wasserstein", "mean_gap", "interval", "note")
    }


def test_json_is_canonical(result):
    text = result.to_json()

    assert text == canonical_bytes(json.loads(text)).decode()
    assert " " not in text.partition('"pairs"')[0]


def test_a_result_is_frozen(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.disparity.value = 0.0
    with pytest.raises(TypeError):
        result.silos[0].n["A"] = 0


def test_it_is_one_line(result):
    assert re.fullmatch(
        r"AuditResult\(0\.\d+ points \(0\.\d+ to 0\.\d+\) between 'A' and 'B', "
        r"answered='above', all='inconclusive', 3 silos, "
        r"warnings: silos_missing, unbounded, small_cells\)",
        repr(result),
    )


def test_html_escapes_the_title():
    plan = make_plan(title="<script>", levels=5)
    result = audit(plan, make_messages(plan, *make_table(0)), redraws=20)

    assert "<script>" not in result._repr_html_()
    assert "&lt;script&gt;" in result._repr_html_()


def changed(result, path, value):
    """The result's document with one place changed."""
    document = json.loads(result.to_json())
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("schema",), "fedparity/audit/2", "schema"),
        (("warnings",), ..., "lacks"),
        (("surprise",), 1, "unknown"),
        (("disparity", "value"), "0.1", "disparity.value"),
        (("disparity", "value"), True, "disparity.value"),
        (("disparity", "interval"), [0.2, 0.1], "disparity.interval"),
        (("disparity", "interval"), [0.2], "disparity.interval"),
        (("disparity", "verdict"), "above", "verdict"),
        (("disparity", "verdict", "all"), "pass", "verdict.all"),
        (("disparity", "verdict", "all"), "above", "verdict"),
        (("disparity", "review_unit"), "feet", "review_unit"),
        (("disparity", "compared", "all"), [0.3, 0.4], "compared"),
        (("disparity", "compared", "value"), 0.9, "compared"),
        (("disparity", "combined"), [0.0, 1e-9], "interval"),
        (("disparity", "corrected"), 0.9, "interval"),
        (("disparity", "outer"), [0.1, 0.2], "certificate"),
        (("magnitudes", "burden"), [], "burden"),
        (("magnitudes", "burden", 0, "outer"), [0.0, 0.0], "certificate"),
        (("magnitudes", "worst_pair", "higher"), "C", "worst_pair"),
        (("magnitudes", "points", "value"), 0.9, "interval"),
        (("magnitudes", "standardized", "mean_gap", "certificate"), [3], "mean_gap.certificate"),
        (("thresholds",), [], "thresholds"),
        (("thresholds", 0, "groups", 0, "answer"), "fine", "answer"),
        (("thresholds", 0, "groups", 0, "rate", "interval"), [0.5], "rate.interval"),
        (("set_aside",), [{"group": "A", "withheld": 1, "most": 2, "known": ""}], "set_aside"),
        (("pairs", 0, "groups"), ["A"], r"pairs\[0\].groups"),
        (("warnings", 0), "careful", r"warnings\[0\]"),
        (("warnings", 0, "code"), "careful", r"warnings\[0\].code"),
        (("plan", "order"), True, "plan.order"),
        (("plan", "levels"), 2.5, "plan.levels"),
        (("groups", 0, "group"), None, r"groups\[0\].group"),
        (("groups",), {}, "groups"),
        (("silos", 0, "n"), [1], r"silos\[0\].n"),
        (("silos", 0, "n"), {"Z": 1}, "groups"),
        (("silos", 0, "withheld"), {"A": "shy"}, r"silos\[0\].withheld.A"),
        (("attribution", "silos", 0), 3, r"attribution.silos\[0\]"),
        (("decomposition", "v_mix"), ..., "decomposition"),
        (("decomposition", "intervals"), {}, "decomposition"),
        (("guarantee", "mode"), [], "guarantee.mode"),
    ],
)
def test_another_document_is_refused_and_the_place_named(result, path, value, where):
    with pytest.raises(ResultError, match=where):
        AuditResult.from_dict(changed(result, path, value))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": NaN}', "{" * 5000])
def test_other_files_are_refused_and_named(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)

    with pytest.raises(ResultError, match=r"other\.json"):
        AuditResult.read(path)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_one_row_per_silo(result, backend):
    module = pytest.importorskip(backend)

    frame = result.to_frame(backend)

    assert type(frame).__module__.split(".")[0] == module.__name__
    assert frame.shape[0] == 3
    names = list(getattr(frame, "column_names", None) or frame.columns)
    assert names[:3] == ["silo", "n A", "n B"]
    assert [str(name) for name in frame["silo"]] == ["s0", "s1", "s2"]


def test_an_unknown_backend_is_refused(result):
    with pytest.raises(fp.errors.OptionError, match="backend"):
        result.to_frame("dask")


def test_without_a_library_for_tables_the_fix_names_the_extra(result, monkeypatch):
    monkeypatch.setattr("fedparity.documents.tabular.find_spec", lambda _: None)

    with pytest.raises(ResultError, match=r"fedparity\[io\]"):
        result.to_frame("polars")


def test_a_threshold_needs_the_sketches(result):
    report = result.at_threshold(0.5)

    assert report.to_dict()
    with pytest.raises(ResultError, match="does not hold the sketches"):
        AuditResult.from_dict(result.to_dict()).at_threshold(0.5)


def test_for_order_1_there_is_no_remainder():
    plan = make_plan(order=1, levels=10)
    document = audit(plan, make_messages(plan, *make_table(0)), redraws=20).to_dict()

    assert document["decomposition"]["remainder"] is None
    assert document["decomposition"]["v_mix"] is not None


@pytest.mark.parametrize("order", [1, 2])
def test_points_are_the_disparity_in_the_score_s_own_unit(order):
    plan = make_plan(order=order, levels=10)
    found = audit(plan, make_messages(plan, *make_table(0)), redraws=20)

    assert found.magnitudes.points.value == found.disparity.value ** (1 / order)
    assert found.magnitudes.points.certificate.lower == found.disparity.certificate.lower ** (
        1 / order
    )


def test_magnitudes_are_those_of_the_raw_data_within_their_bounds():
    """B is higher; worst pair, burden and shares against the pooled records."""
    scores, groups, silos = make_table(0)
    plan = make_plan(score_range=(0, 2), levels=50)
    found = audit(plan, make_messages(plan, scores, groups, silos), redraws=20).magnitudes
    laws = [fp.Law.from_scores(scores[groups == group]) for group in "AB"]
    apart = fp.wasserstein(*laws)
    disparity = fp.disparity(scores, sensitive_features=groups)
    within = np.mean([np.var(scores[groups == g]) * np.mean(groups == g) * 2 for g in "AB"])

    assert found.worst_pair.groups == ("A", "B")
    assert found.worst_pair.higher == "B"
    assert found.worst_pair.share_of_range == found.worst_pair.corrected / 2
    for bounded, truth in (
        (found.worst_pair, apart),
        (found.equal_weights, apart / 2),
        (found.variance_share, disparity / np.var(scores)),
        (found.standardized.deviation, np.sqrt(within)),
        (found.standardized.distance, apart / np.sqrt(within)),
        (found.standardized.mean_gap, (laws[0].mean - laws[1].mean) / np.sqrt(within)),
        (found.burden[0], apart * np.mean(groups == "B")),
        (found.burden[1], apart * np.mean(groups == "A")),
    ):
        assert bounded.certificate.lower <= truth <= bounded.certificate.upper
        assert bounded.value == pytest.approx(truth, rel=0.02)


def test_scores_that_do_not_vary_within_groups_have_no_standard_deviation():
    plan = make_plan(score_step=0.5, review_level=0.1, review_unit="sd")
    scores, groups = np.repeat([0.0, 1.0], 50), np.repeat(["A", "B"], 50)

    found = audit(plan, make_messages(plan, scores, groups, ["s"] * 100), redraws=20)
    document = json.loads(found.to_json())

    assert found.disparity.compared.value is None
    assert found.magnitudes.standardized.distance.value is None
    assert document["disparity"]["compared"]["answered"][1] is None
    assert found.disparity.verdict.answered == "above"
    assert AuditResult.from_dict(document) == found


def test_further_rates_can_be_asked_of_a_result(result):
    more = result.with_rates(thresholds=[0.7, 0.3], tails=[0.5])

    assert [each.score for each in result.thresholds] == [0.5]
    assert [each.score for each in more.thresholds] == [0.3, 0.5, 0.7]
    assert [each.level for each in more.tails] == [0.5]
    assert more.thresholds[1] == result.thresholds[0]
    assert AuditResult.from_dict(more.to_dict()) == more


def test_rates_are_of_those_who_answered_and_say_what_holds_for_all(result):
    """A silo of unknown size is missing: nothing can be said for all."""
    (found,) = result.thresholds
    answered, everyone = (result.at_threshold(0.5, of=of) for of in ("answered", "all"))

    assert found.groups == answered.groups
    assert found.all == everyone.answer == "undetermined"
    assert tuple(everyone.groups[0].rate.interval) == (0.0, 1.0)
    with pytest.raises(fp.errors.OptionError, match="of"):
        result.at_threshold(0.5, of="nobody")
