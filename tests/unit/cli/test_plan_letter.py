"""``fedparity plan letter`` writes what travels, and its commands can be copied."""

import re
import shlex

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.unit.cli.samples import plan, run, table, write_table

import fedparity as fp
from fedparity.cli.plans.plan_letter import Letter
from fedparity.documents.signing import public_text

BLOCK = re.compile(r"```\n\s*(.*?)\n\s*```", re.DOTALL)
KEY = public_text(Ed25519PrivateKey.from_private_bytes(bytes(32)))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(text):
    return [shlex.split(block) for block in BLOCK.findall(text)]


def test_a_folder_to_send_is_written(folder):
    plan(period=("2026-10-01", "2026-12-31")).write("plan.toml")

    done = run(
        *("plan", "letter", "plan.toml", "-o", "out", "--from", "Audit Office"),
        *("--contact", "audit@example.org", "--deadline", "2027-01-31"),
    )

    assert done.exit_code == 0, done.stderr
    assert (folder / "out" / "plan.toml").read_bytes() == (folder / "plan.toml").read_bytes()
    names = {str(file.relative_to(folder / "out")) for file in (folder / "out").rglob("*.md")}
    assert names == {"letter.md", "data-use.md", *(f"silos/{s}.md" for s in plan().silos)}
    assert done.stdout.split() == [
        f"out/{name}"
        for name in (
            "letter.md",
            "data-use.md",
            "silos/north.md",
            "silos/south.md",
            "silos/west.md",
            "plan.toml",
        )
    ]
    digest = fp.Plan.read("plan.toml").digest
    for name in names:
        text = (folder / "out" / name).read_text("utf-8")
        assert digest in text
        assert "Questions: audit@example.org." in text
    letter = (folder / "out" / "letter.md").read_text("utf-8")
    assert "Please answer by 2027-01-31." in letter
    assert letter.endswith("Audit Office\n")
    use = (folder / "out" / "data-use.md").read_text("utf-8")
    assert "from 2026-10-01 to 2026-12-31" in use
    for text in (letter, (folder / "out" / "silos" / "north.md").read_text("utf-8")):
        assert "Use the records of 2026-10-01 to 2026-12-31 only" in text
    assert "A, B" in use
    assert len(use.splitlines()) <= 50  # a page


def test_existing_files_are_kept_without_force(folder):
    plan().write("plan.toml")
    (folder / "out").mkdir()
    (folder / "out" / "data-use.md").write_text("mine", encoding="utf-8")

    assert run("plan", "letter", "plan.toml", "-o", "out").exit_code == 2
    assert [file.name for file in (folder / "out").iterdir()] == ["data-use.md"]
    assert run("plan", "letter", "plan.toml", "-o", "out", "--force").exit_code == 0


def test_the_commands_of_a_silo_make_its_message(folder):
    """With its own table and columns in place of the words in capitals."""
    plan().write("plan.toml")
    write_table(folder / "mine.csv", table(1))
    own = {"TABLE.csv": "mine.csv", "SCORE": "score", "GROUP": "group"}

    for words in commands(Letter(plan()).files()["silos/north.md"]):
        if words[0] == "fedparity":
            done = run(*(own.get(word, word) for word in words[1:]))
            assert done.exit_code == 0, (words, done.stderr)

    fp.audit(plan(), [fp.SiloSketch.read("north.sketch.json")])


@pytest.mark.parametrize(
    ("changes", "extras"),
    [
        ({}, ""),
        ({"keys": {"north": KEY}}, "[sign]"),
        ({"privacy": {"mode": "dp", "epsilon": 1}}, "[dp]"),
        (
            {"privacy": {"mode": "secure+dp", "epsilon": 1}, "keys": {"north": KEY}},
            "[dp,secure,sign]",
        ),
    ],
)
def test_what_an_answer_needs_is_installed(changes, extras):
    first, *_ = commands(Letter(plan(**changes)).files()["silos/north.md"])

    assert first == ["pip", "install", f"fedparity{extras}"]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"silos": None},
        {"silos": ("a", "A", "St. Mary's / North")},
        {"keys": {"north": KEY}, "period": ("2026-10-01", "2026-12-31")},
        {"groups": (("F", "65+"), ("M", "65+"))},
        {"review_level": None, "privacy": {"mode": "dp", "epsilon": 1}},
        {"privacy": {"mode": "secure"}},
        {"privacy": {"mode": "secure+dp", "epsilon": 1}, "keys": {"north": KEY}},
        {"disclosure": {"minimum_cell": 1, "records_per_level": 0, "rounding": 0}},
    ],
    ids=str,
)
def test_every_command_of_every_mode_can_be_typed(changes):
    from tests.unit.cli.test_help import ALL  # noqa: PLC0415 -- it imports every command

    asked = plan(**changes)
    files = Letter(asked).files()
    pages = [text for name, text in files.items() if name.startswith("silos/")]

    assert len(pages) == len(asked.silos or (1,))
    for page in pages:
        typed = [words[1:] for words in commands(page) if words[0] == "fedparity"]
        assert len(typed) >= 4
        for words in typed:
            size = max(size for size in (1, 2) if tuple(words[:size]) in ALL)
            assert ALL[tuple(words[:size])].make_context("typed", words[size:]).params is not None
        signs = any("--sign" in words for words in typed)
        assert signs == bool(asked.keys)
        assert any("--in-period" in words for words in typed) == (asked.period is not None)
    assert files["data-use.md"].count("\n## ") == 3


def test_a_letter_promises_what_a_silo_shows_alone_only_where_the_auditor_sees_it():
    """In a secure sum nobody sees a silo's own numbers."""
    of_a_sum = plan(privacy={"mode": "secure"})

    assert "what you would have seen alone" in Letter(plan()).files()["letter.md"]
    assert "what you would have seen alone" not in Letter(of_a_sum).files()["letter.md"]
