"""An auditor who asks a silo whether its table fits a plan learns nothing, however often it asks."""

import pytest
from tests.engine_harness import some_plan, some_tables, write_csv
from tests.unit.cli.samples import run

from fedparity.engines.remote.remote_silo import answer
from fedparity.engines.remote.requests import Refusal, Request, guarded
from fedparity.engines.remote.settings import SiloSettings

TABLE = some_tables()["aurora"]
TOP = max(TABLE["score"])
WITHOUT = {
    name: [each for each, score in zip(column, TABLE["score"], strict=True) if score < TOP]
    for name, column in TABLE.items()
}
"""The table without the one record that the auditor wants to know of."""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A silo that approved a plan whose range ends below its highest score."""
    pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    monkeypatch.chdir(tmp_path)
    plan = some_plan(
        score_range=(0.0, TOP - 1e-6), privacy={"mode": "dp", "epsilon": 0.1, "bins": 8}
    )
    plan.write("plan.toml")
    settings = {
        "silo": "aurora",
        "plan": plan.digest,
        "data": "t.csv",
        "ledger": "ledger.jsonl",
        "folder": "left",
    }
    lines = "".join(f'{key} = "{value}"\n' for key, value in settings.items())
    (tmp_path / "aurora.toml").write_text(lines, encoding="utf-8")
    told = []

    def ask(table):
        write_csv(tmp_path / "t.csv", table)
        own = SiloSettings.from_mapping(settings)
        request = Request(step="sketch", plan=plan)
        return guarded("aurora", lambda: request, lambda each: answer(each, own), told.append)

    ask.told, ask.ledger = told, tmp_path / "ledger.jsonl"
    return ask


def preview():
    return run("engine", "flower", "preview", "aurora.toml", "--plan", "plan.toml")


def test_the_silo_says_the_same_with_the_record_and_without_it(asked):
    said = [asked(table) for table in (TABLE, WITHOUT, TABLE, WITHOUT)]

    assert {each.refused for each in said} == {Refusal.NO_ANSWER}
    assert not asked.ledger.exists()
    assert all("engine flower preview" in line for line in asked.told)


def test_it_answers_once_its_operator_has_seen_that_the_table_fits(asked):
    asked(WITHOUT)
    shown = preview()
    first, second = asked(WITHOUT), asked(WITHOUT)

    assert shown.exit_code == 0
    assert first.message is not None
    assert second.refused is Refusal.NO_ANSWER
    assert asked.ledger.read_text("utf-8").count('"entry": "release"') == 1


def test_a_table_that_does_not_fit_is_told_to_the_operator_alone(asked):
    asked(TABLE)
    shown = preview()

    assert shown.exit_code == 3
    assert "scores must lie between" in shown.stderr
    assert asked(TABLE).refused is Refusal.NO_ANSWER
    assert asked(WITHOUT).refused is Refusal.NO_ANSWER


def test_a_table_that_changed_after_the_preview_is_read_once(asked):
    """Whoever changes it in between lets the auditor see a silence, and not a second one."""
    asked(WITHOUT)
    preview()

    said = [asked(TABLE), asked(WITHOUT), asked(WITHOUT)]

    assert {each.refused for each in said} == {Refusal.NO_ANSWER}
    assert not asked.ledger.exists()
