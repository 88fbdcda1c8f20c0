"""Names of files and labels are others' words: they neither move a cursor nor look like another."""

import json
import os

import pytest
from tests.unit.cli.samples import run, table, write_audit, write_table

import fedparity as fp
from fedparity.documents.fields import hidden_place, is_name
from fedparity.errors.base import printable

EVIL = "a\x1b[2J\x1b]0;owned\x07\u202e\x9b31m"
SEEN = {
    "accents": "Nîmes – Århus",
    "ideographs": "東京 病院",
    "Arabic": "\u0645\u0633\u062a\u0634\u0641\u0649",
    "Persian with its non-joiner": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi with a joiner": "\u0915\u094d\u200d\u0937",
    "Sinhala": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "a combining accent": "e\u0301",
}
HIDDEN = {
    "zero width space": "au\u200brora",
    "word joiner": "au\u2060rora",
    "byte order mark": "\ufeffaurora",
    "soft hyphen": "au\u00adrora",
    "override of direction": "\u202earoua",
    "isolate": "\u2066aurora\u2069",
    "mark of direction": "aurora\u200f",
    "tag": "aurora\U000e0041",
    "selector of a variant": "aurora\ufe0f",
    "filler": "aurora\u3164",
    "blank of Braille": "aurora\u2800",
    "private use": "aurora\ue000",
    "a character that is none": "aurora\ufffe",
    "a tag of tomorrow": "aurora\U000e0ffe",
    "half a character": "aurora\ud800",
    "control": "aurora\x85",
    "joiner between Latin letters": "au\u200drora",
    "non-joiner after a letter that joins nothing": "\u062f\u200c\u0627",
    "two non-joiners": "\u0645\u200c\u200c\u06cc",
    "joiner of emoji": "\U0001f468\u200d\U0001f469",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", SEEN.values(), ids=SEEN)
def test_names_of_every_script_are_names(name):
    assert is_name(name)


@pytest.mark.parametrize("name", HIDDEN.values(), ids=HIDDEN)
def test_a_character_that_cannot_be_seen_is_refused_in_every_name(name):
    given = {"title": "Q4", "groups": ("A", "B"), "score_range": (0, 1), "silos": ("x", "y")}

    assert not is_name(name)
    for key, value in {"title": name, "groups": ("A", name), "silos": ("x", name)}.items():
        with pytest.raises(fp.errors.PlanError) as caught:
            fp.Plan(**{**given, key: value})
        assert "can be seen" in caught.value.message or key == "groups"


@pytest.mark.parametrize("character", ["\u202e", "\u2067", "\u200b", "\U000e0020", "\ue000"])
def test_a_plan_may_not_look_like_another_not_even_in_its_comments(folder, character):
    write_audit(folder)
    text = (folder / "plan.toml").read_text("utf-8")
    lines = text.splitlines()
    lines[1] += f"  # {character}minimum_cell = 11"
    (folder / "plan.toml").write_text("\n".join(lines), encoding="utf-8")

    done = run("plan", "check", "plan.toml")

    assert done.exit_code == 3
    assert (
        f"plan.toml:2: the plan holds a character that cannot be seen, U+{ord(character):04X}"
        in (done.stdout)
    )


def test_many_joiners_are_read_in_time():
    """Each looks at a few characters beside it, not at all before it."""
    text = "\u0915\u094d\u200d" * 300_000

    assert hidden_place(text) is None


def test_what_is_printable_stays_as_it_is():
    assert printable(SEEN["ideographs"]) == SEEN["ideographs"]
    assert printable("one\ntwo") == "one\ntwo"
    assert printable(EVIL).isprintable()
    assert printable(os.fsdecode(b"\xff")).isprintable()


def test_no_command_prints_an_escape_sequence_of_a_file_name(folder):
    """Neither on success nor in an error, whichever command it is."""
    write_audit(folder)
    (folder / f"{EVIL}.json").write_text("{", encoding="utf-8")
    (folder / f"{EVIL}.toml").write_text("title = 1", encoding="utf-8")
    write_table(folder / f"{EVIL}.csv", table(0))
    names = ("--silo", "north", "--score", "score", "--group", "group")
    commands = [
        ("verify", "plan.toml", f"{EVIL}.json"),
        ("audit", "plan.toml", f"{EVIL}.json"),
        ("audit", "plan.toml", f"{EVIL}-none.json"),
        ("audit", "plan.toml", "inbox", "-o", f"{EVIL}-result.json", "--markdown", f"{EVIL}.md"),
        ("audit", "plan.toml", "inbox", "-o", f"{EVIL}-result.json"),
        ("audit", "plan.toml", "inbox", "-o", f"{EVIL}/none/result.json"),
        ("report", f"{EVIL}.json", "--markdown", "-"),
        ("plan", "check", f"{EVIL}.toml"),
        ("plan", "show", f"{EVIL}.toml"),
        ("plan", "check", f"{EVIL}-none.toml"),
        (
            "sketch",
            "plan.toml",
            f"{EVIL}.csv",
            *names,
            "-o",
            f"{EVIL}.out",
            "--ledger",
            f"{EVIL}.l",
        ),
        ("sketch", "plan.toml", f"{EVIL}-none.csv", *names, "--no-ledger"),
        ("keygen", EVIL),
        ("keygen", f"{EVIL}/aurora"),
        ("engine", "flower", "new", EVIL),
        ("engine", "flower", "preview", f"{EVIL}.toml"),
        ("simulate", f"{EVIL}-none.csv", "--silo", "s", "--score", "x", "--group", "g"),
        ("demo", "--out", EVIL),
        ("no-such-command", EVIL),
        (EVIL,),
    ]
    for command in commands:
        done = run(*command)

        shown = done.stdout + done.stderr
        assert all(c.isprintable() or c == "\n" for c in shown), (command, shown)
        assert shown


def test_json_escapes_what_a_terminal_would_obey(folder):
    write_audit(folder)
    (folder / f"{EVIL}.json").write_text("{", encoding="utf-8")

    done = run("verify", "plan.toml", f"{EVIL}.json", "--json")

    assert "\x1b" not in done.stdout
    assert json.loads(done.stdout)["messages"][0]["file"] == f"{EVIL}.json"
