"""``fedparity audit`` answers in words or in JSON, and blames a message by its file."""

import json

import pytest
from tests.unit.cli.samples import message, plan, run, write_audit

import fedparity as fp
from fedparity.cli.audit_text import audit_text
from fedparity.text import FOUR_FIFTHS


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audit(*arguments):
    return run("audit", "plan.toml", "inbox", "--redraws", 50, *arguments)


def expected(asked, *silos):
    messages = [message(asked, silo, seed) for seed, silo in enumerate(silos)]
    return fp.audit(asked, messages, redraws=50)


def test_the_answer_is_that_of_python(folder):
    asked = write_audit(folder)
    result = expected(asked, "north", "south", "west")

    assert audit().stdout == f"{audit_text(result)}\n"
    assert audit("--json").stdout == f"{result.to_json()}\n"


def test_options_reach_the_measurement(folder):
    write_audit(folder)

    document = json.loads(audit("--json", "--confidence", 0.8, "--seed", 7).stdout)

    assert (document["confidence"], document["seed"], document["redraws"]) == (0.8, 7, 50)


def test_the_result_is_written_where_asked_and_not_over_another(folder):
    asked = write_audit(folder)

    told = audit("-o", "result.json").stderr

    assert "wrote result.json" in told
    assert fp.AuditResult.read("result.json") == expected(asked, "north", "south", "west")
    assert audit("-o", "result.json").exit_code == 2
    assert audit("-o", "result.json", "--force").exit_code == 0


def test_above_the_review_level_ends_with_10_only_if_asked(folder):
    write_audit(folder)

    assert audit().exit_code == 0
    assert audit("--fail-above").exit_code == 10


@pytest.mark.parametrize("level", [10.0, None])
def test_not_above_ends_with_0(folder, level):
    write_audit(folder, review_level=level)

    ended = audit("--fail-above")

    assert ended.exit_code == 0
    assert ("no review level" in ended.stderr) is (level is None)


def test_a_missing_silo_is_told_and_only_matters_if_all_are_required(folder):
    write_audit(folder, silos=("north", "south"))

    assert "west" in audit().stdout
    refused = audit("--require-all")
    assert refused.exit_code == 5
    assert refused.stderr.startswith("error: 1 of the 3 silos")
    assert refused.stdout == ""


def test_a_message_that_cannot_be_read_is_named_by_its_file(folder):
    write_audit(folder)
    (folder / "inbox" / "south.sketch.json").write_text("{", encoding="utf-8")

    refused = audit()

    assert refused.exit_code == 3
    assert refused.stderr.startswith("error: inbox/south.sketch.json: ")


def test_a_message_for_another_plan_is_named_by_its_file(folder):
    write_audit(folder)
    message(plan(levels=9), "west").write(folder / "inbox" / "west.sketch.json", overwrite=True)

    refused = audit()

    assert refused.exit_code == 3
    assert refused.stderr.startswith("error: inbox/west.sketch.json: silo 'west' answered another")


def test_of_several_bad_messages_the_first_is_named_and_the_others_counted(folder):
    write_audit(folder)
    for silo in ("south", "west"):
        sent = message(plan(levels=9), silo)
        sent.write(folder / "inbox" / f"{silo}.sketch.json", overwrite=True)

    refused = audit()

    assert "inbox/south.sketch.json: " in refused.stderr
    assert "1 more message refused." in refused.stderr
    assert "fedparity verify" in refused.stderr


def test_thresholds_and_tails_have_intervals(folder):
    asked = write_audit(folder)
    result = expected(asked, "north", "south", "west")
    report = result.at_threshold(0.5)

    shown = audit("--threshold", 0.5, "--tail", 0.5, "--tail", 0.9, "--details").stdout

    low, high = report.groups[0].rate.interval
    least, most = report.groups[1].ratio.interval
    assert "Share with a score of at least 0.5" in shown
    assert f"{100 * low:.1f} % to {100 * high:.1f} %" in shown
    assert f"{least:.3f} to {most:.3f}" in shown
    assert "Share above the median of all records" in shown
    assert "Share above the quantile of level 0.9 of all records" in shown
    assert FOUR_FIFTHS[report.groups[1].answer] in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_as_json_there_is_one_document_with_all_rates(folder):
    asked = write_audit(folder, thresholds=[0.4])
    result = expected(asked, "north", "south", "west")

    printed = audit("--json", "--threshold", 0.5, "--tail", 0.9, "-o", "r.json").stdout

    more = result.with_rates(thresholds=[0.5], tails=[0.9])
    assert printed == f"{more.to_json()}\n"
    assert fp.AuditResult.read("r.json") == more
    document = json.loads(printed)
    assert [each["score"] for each in document["thresholds"]] == [0.4, 0.5]
    assert [each["level"] for each in document["tails"]] == [0.9]


@pytest.mark.parametrize("score", ["nan", "inf"])
def test_a_threshold_that_is_no_score_is_refused(folder, score):
    write_audit(folder)

    refused = audit("--threshold", score)

    assert refused.exit_code == 2
    assert refused.stdout == ""


def test_which_verdict_decides_can_be_chosen(folder):
    """A silo of unknown size is missing: above among those who answered, open for all."""
    write_audit(folder, silos=("north", "south"))

    assert audit("--fail-above").exit_code == 0
    assert audit("--fail-above=all").exit_code == 0
    assert audit("--fail-above=answered").exit_code == 10
    assert run("audit", "--fail-above", "plan.toml", "inbox").exit_code == 0
    assert run("audit", "--fail-above=answered", "plan.toml", "inbox").exit_code == 10
    assert run("audit", "--fail-above=nobody", "plan.toml", "inbox").exit_code == 2


@pytest.mark.parametrize("redraws", [0, 2, 19])
def test_too_few_redraws_are_refused(folder, redraws):
    write_audit(folder)

    refused = run("audit", "plan.toml", "inbox", "--redraws", redraws)

    assert refused.exit_code == 2
    assert "20" in refused.stderr


def test_details_are_shown_on_request(folder):
    write_audit(folder)

    assert "certificate" not in audit().stdout
    assert "certificate" in audit("--details").stdout


def test_what_is_missing_is_said_beside_the_rates(folder):
    write_audit(folder, silos=("north", "south"))

    shown = " ".join(audit("--threshold", 0.5, "--details").stdout.split())

    assert "If the missing data could be anything: it cannot be told from four fifths" in shown
    assert "0.0 % to 100.0 %" not in shown
