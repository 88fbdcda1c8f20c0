"""A result: complete, frozen, the same after a round trip, and strict about what it reads."""

import dataclasses
import json

import pytest
from tests.audit_strategies import make_messages, make_plan, make_table

import fedparity as fp
from fedparity.auditing.audit import audit
from fedparity.auditing.result import AuditResult
from fedparity.errors import ResultError
from fedparity.protocol.canonical import canonical_bytes


@pytest.fixture(scope="module")
def result():
    plan = make_plan(levels=20, review_level=0.01, silos=["s0", "s1", "s2", "s3"])
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

    assert list(document)[:15] == [
        *("schema", "plan", "silos_received", "silos_missing", "n", "groups", "disparity"),
        *("heterogeneity", "pairs", "decomposition", "attribution", "silos", "guarantee"),
        *("warnings", "software"),
    ]
    assert {"title", "digest", "levels", "sketch", "estimator", "order"} <= set(document["plan"])
    assert {"value", "interval", "certificate", "p_value", "verdict"} <= set(document["disparity"])
    assert {"v_mix", "v_bar", "remainder", "lower", "upper"} <= set(document["decomposition"])
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
    assert repr(result).startswith("AuditResult(G2=0.0")
    assert "\n" not in repr(result)
    assert "verdict='inconclusive', 3 silos" in repr(result)


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
        (("disparity", "verdict"), "pass", "verdict"),
        (("plan", "order"), True, "plan.order"),
        (("plan", "levels"), 2.5, "plan.levels"),
        (("groups", 0, "group"), None, r"groups\[0\].group"),
        (("groups",), {}, "groups"),
        (("silos", 0, "n"), [1], r"silos\[0\].n"),
        (("silos", 0, "n"), {"Z": 1}, "groups"),
        (("silos", 0, "withheld"), {"A": "shy"}, r"silos\[0\].withheld.A"),
        (("attribution", "silos", 0), 3, r"attribution.silos\[0\]"),
        (("decomposition", "intervals", "v_mix"), ..., "decomposition.intervals"),
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
    with pytest.raises(fp.OptionError, match="backend"):
        result.to_frame("dask")


def test_without_a_library_for_tables_the_fix_names_the_extra(result, monkeypatch):
    monkeypatch.setattr("fedparity.auditing.frames.find_spec", lambda _: None)

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
    assert document["decomposition"]["intervals"]["remainder"] is None
    assert document["decomposition"]["intervals"]["v_mix"] is not None
