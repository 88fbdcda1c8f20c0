"""``fedparity verify`` checks every message, whatever the others are."""

import json

import pytest
from tests.unit.cli.samples import message, plan, run, write_audit

from fedparity.cli import message_files
from fedparity.cli.message_files import inspect_files, inspect_message
from fedparity.cli.verify_commands import verify_text
from fedparity.documents.signing import generate_key, public_text, sign
from fedparity.text import width_of


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def verify(*arguments):
    return run("verify", "plan.toml", *arguments)


def test_messages_that_answer_the_plan_are_ok(folder):
    write_audit(folder)

    found = verify("inbox")

    assert found.exit_code == 0
    assert found.stdout.count("  ok") == 3
    assert "3 of 3 messages ok; all silos in the plan have answered." in found.stdout


def test_every_message_is_checked_even_if_one_is_refused(folder):
    write_audit(folder)
    (folder / "inbox" / "south.sketch.json").write_text("{", encoding="utf-8")
    message(plan(levels=9), "west").write(folder / "inbox" / "west.sketch.json", overwrite=True)

    found = verify("inbox")

    assert found.exit_code == 3
    assert found.stdout.count("refused") == 2
    assert "inbox/south.sketch.json: the document is not JSON" in found.stdout
    assert "silo 'west' answered another plan" in " ".join(found.stdout.split())
    assert found.stdout.count("  fix: ") == 2
    assert "2 messages of 3 refused" in found.stderr


def test_json_says_the_same(folder):
    asked = write_audit(folder, silos=("north", "south"))
    (folder / "inbox" / "bad.json").write_text("[]", encoding="utf-8")

    found = verify("inbox", "--json")

    document = json.loads(found.stdout)
    assert found.exit_code == 3
    assert document["plan"] == asked.digest
    assert document["valid"] is False
    assert document["silos_missing"] == ["west"]
    assert [each["valid"] for each in document["messages"]] == [False, True, True]
    assert document["messages"][0]["fix"]
    assert document["messages"][1] == {
        "file": "inbox/north.sketch.json",
        "silo": "north",
        "digest": message(asked, "north").digest,
        "cells": 2,
        "levels": 10,
        "withheld": 0,
        "signed": "no",
        "valid": True,
        "error": None,
        "fix": None,
    }


def test_a_missing_silo_is_named_and_only_matters_if_all_are_required(folder):
    write_audit(folder, silos=("north", "south"))

    assert verify("inbox").exit_code == 0
    assert "1 missing: west" in verify("inbox").stdout
    assert verify("inbox", "--require-all").exit_code == 5


def test_all_cannot_be_required_without_a_roster(folder):
    write_audit(folder, silos=("north",))
    asked = plan(silos=None)
    asked.write(folder / "plan.toml", overwrite=True)
    message(asked, "north").write(folder / "inbox" / "north.sketch.json", overwrite=True)

    assert verify("inbox", "--require-all").exit_code == 2
    assert "the plan lists no silos" in verify("inbox").stdout


def test_two_messages_of_one_silo_are_both_refused(folder):
    asked = write_audit(folder)
    message(asked, "north", seed=7).write(folder / "inbox" / "again.json")

    document = json.loads(verify("inbox", "--json").stdout)

    valid = {each["file"]: each["valid"] for each in document["messages"]}
    assert valid["inbox/again.json"] is valid["inbox/north.sketch.json"] is False
    assert valid["inbox/south.sketch.json"] is True


def test_files_patterns_and_folders_name_each_file_once(folder):
    write_audit(folder)

    found = verify("inbox/north.sketch.json", "inbox/*.json", "inbox", "--json")

    assert len(json.loads(found.stdout)["messages"]) == 3


def test_a_pattern_or_folder_without_messages_is_an_error(folder):
    write_audit(folder)
    (folder / "empty").mkdir()

    assert verify("empty").exit_code == 3
    assert verify("inbox/*.xml").exit_code == 3


def test_a_file_that_is_not_there_is_refused_by_name(folder):
    write_audit(folder)

    found = verify("inbox", "nowhere.json")

    assert found.exit_code == 3
    assert "nowhere.json cannot be read" in found.stdout


def test_messages_checked_together_are_found_as_each_alone(folder, monkeypatch):
    asked = write_audit(folder)
    (folder / "inbox" / "broken.json").write_text("{", encoding="utf-8")
    message(plan(levels=9), "south").write(folder / "inbox" / "other.json")
    message(asked, "west", seed=5).write(folder / "inbox" / "twice.json")
    files = sorted(map(str, (folder / "inbox").iterdir()))

    def found():
        return [(e.file, e.facts, str(e.error), e.sketch) for e in inspect_files(asked, files)]

    together = found()
    monkeypatch.setattr(message_files, "_VALUES_AT_ONCE", 0)

    assert found() == together
    assert sum(error == "None" for _, _, error, _ in together) == 1


def test_valid_messages_are_not_checked_one_by_one(folder, monkeypatch):
    asked = write_audit(folder)
    monkeypatch.setattr(message_files, "check_message", None)  # what it would call fails

    found = inspect_files(asked, sorted(map(str, (folder / "inbox").iterdir())))

    assert [each.error for each in found] == [None] * 3


def test_signatures_are_told_as_far_as_they_can_be():
    key, other = generate_key(), generate_key()
    keyed, plain = plan(keys={"north": public_text(key)}), plan()
    cases = {
        "yes": (keyed, sign(message(keyed, "north"), key)),
        "invalid": (keyed, sign(message(keyed, "north"), other)),
        "no": (keyed, message(keyed, "north")),
        "unchecked": (plain, sign(message(plain, "north"), key)),
    }
    for expected, (asked, sent) in cases.items():
        text = verify_text(asked, [inspect_message(asked, "n.json", sent)], [])
        assert text.splitlines()[1].split()[4] == expected


def test_many_messages_are_counted_and_the_refused_ones_shown():
    asked = plan(silos=None)
    found = [
        inspect_message(asked, f"{i}.json", message(asked, f"silo {i}", rows=60))
        for i in range(41)
    ]
    sent = message(plan(levels=3, silos=None), "東京" * 40, rows=60)
    wrong = inspect_message(asked, "東京.json", sent)

    text = verify_text(asked, [*found, wrong], [])

    assert "41 messages ok, not listed" in text
    assert "41 of 42 messages ok" in text
    assert max(map(width_of, text.splitlines())) <= 80
