"""``fedparity sketch`` shows what would leave, and lets out nothing else."""

import json

import numpy as np
import pytest
from tests.unit.cli.samples import plan, run, table, write_table

import fedparity as fp
from fedparity.documents.signing import generate_key, public_text, write_key
from fedparity.privacy.ledger import Ledger
from fedparity.text import width_of


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDPARITY_LEDGER", str(tmp_path / "state" / "ledger.jsonl"))
    plan().write("plan.toml")
    write_table(tmp_path / "north.csv", table(0))
    return tmp_path


def sketch(*options, silo="north", data="north.csv"):
    return run("sketch", "plan.toml", data, "--silo", silo, *options)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_dry_run_writes_and_opens_nothing(folder):
    before = names(folder)

    shown = sketch("--dry-run")

    assert shown.exit_code == 0
    assert names(folder) == before


def test_a_dry_run_shows_exactly_what_would_leave():
    shown = sketch("--dry-run").stdout
    sketch()
    message = fp.SiloSketch.read("north.sketch.json")

    assert message.digest in shown
    assert message.plan in shown
    assert f"{len(message.to_bytes()):,} bytes" in shown
    assert f"{2 + 2 + sum(cell.levels for cell in message.cells)} numbers" in shown
    for cell in message.cells:
        [row] = [line.split() for line in shown.splitlines() if line.startswith(f"{cell.group} ")]
        numbers = [float(text) for text in row[1:6]]
        middle = cell.values[(cell.levels - 1) // 2]
        ends = cell.values[0], middle, cell.values[-1]
        assert numbers == [cell.count, cell.levels, *ends]
        assert row[6:] == ["sent"]


def leaves(document):
    """All numbers of a cell, whole ones and others."""
    parts = (document[name] for name in ("count", "effective", "mean_square"))
    lists = (document[name] or () for name in ("values", "counts", "above"))
    return [number for part in (parts, *lists) for number in part if number is not None]


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({"thresholds": [0.3, 0.999]}, ()),
        ({"thresholds": [0.3], "sketch": "quantile"}, ("--weight", "w")),
        ({"score_step": 0.25, "thresholds": [0.5]}, ("--score", "quarter")),
        ({"score_step": 0.25}, ("--score", "quarter", "--weight", "w")),
    ],
    ids=["means", "weighted quantiles", "counts", "weighted counts"],
)
def test_a_dry_run_shows_every_number_in_80_columns(folder, changes, options):
    plan(**changes).write("plan.toml", overwrite=True)
    records = table(3)
    random = np.random.default_rng(1)
    records["w"] = random.random(240)
    records["quarter"] = np.round(records["score"] * 4) / 4
    write_table(folder / "north.csv", records)

    shown = sketch("--dry-run", *options).stdout

    message = json.loads(sketch("--dry-run", "--json", *options).stdout)
    words = set(shown.replace(",", "").replace(":", " ").split())
    for cell in message["cells"]:
        for number in leaves(cell):
            assert repr(number).removesuffix(".0") in words
    assert max(map(width_of, shown.splitlines())) <= 80


def test_a_dry_run_says_which_counts_were_merged_or_left_out(folder):
    plan(score_step=0.25, thresholds=[0.5, 1.0]).write("plan.toml", overwrite=True)
    scores = np.repeat([0.0, 0.25, 0.5, 0.75, 1.0], [30, 5, 40, 20, 3])
    write_table(folder / "north.csv", {"score": scores, "group": np.repeat(["A"], 98)})

    shown = " ".join(sketch("--dry-run").stdout.split())

    assert "0: 35, 0.25: with those before, 0.5: 40, 0.75: 23, 1: with those before" in shown
    assert "at or above 1: not sent" in shown
    assert "A: counts at 5 scores merged into 3: 11 records each" in shown
    assert "A: no count at 1: it would tell of fewer than 11 records" in shown


def test_the_json_of_a_dry_run_is_the_very_bytes_of_the_file(folder):
    shown = sketch("--dry-run", "--json").stdout_bytes
    sketch()

    assert (folder / "north.sketch.json").read_bytes() == shown


def test_a_rule_that_fires_is_shown_with_its_reason(folder):
    few = table(1, rows=200, share=0.02)
    few["group"][:7], few["group"][7:] = "A", "B"
    write_table(folder / "north.csv", few)
    plan(levels=100).write("plan.toml", overwrite=True)

    shown = sketch("--dry-run").stdout

    assert "withheld (small)" in shown
    assert "A: fewer than 11 records" in shown
    assert "B: 19 values instead of 100 (one per 10 records)" in shown
    assert "all values are rounded to 0.005, and mean squares accordingly" in shown
    assert "Not sent: names" in shown


def test_labels_of_any_width_fit_80_columns(folder):
    groups = ("東京" * 15, "e\u0301" * 40)
    plan(groups=groups).write("plan.toml", overwrite=True)
    write_table(
        folder / "north.csv",
        {"score": np.linspace(0, 1, 100), "group": np.repeat(groups, 50)},
    )

    shown = sketch("--dry-run").stdout

    assert "東京" in shown
    assert max(map(width_of, shown.splitlines())) <= 80


def test_a_release_is_written_and_entered_into_the_ledger(folder):
    done = sketch()

    ledger = folder / "state" / "ledger.jsonl"
    [_, entry] = Ledger(ledger).entries()
    assert (entry.plan, entry.silo) == (plan().digest, "north")
    assert str(ledger) in done.stderr
    assert "wrote north.sketch.json" in done.stderr
    assert done.stdout == ""


def test_the_same_release_may_be_written_again_and_another_not(folder):
    sketch()
    again = sketch("-o", "copy.json")
    write_table(folder / "north.csv", table(1))
    other = sketch("-o", "other.json")

    assert again.exit_code == 0
    assert other.exit_code == 4
    assert "already made another release" in other.stderr
    assert not (folder / "other.json").exists()


def test_without_a_ledger_none_is_asked_or_written(folder):
    sketch("--no-ledger")
    write_table(folder / "north.csv", table(1))

    assert sketch("--no-ledger", "--force").exit_code == 0
    assert not (folder / "state").exists()


def test_the_ledger_can_be_named(folder):
    sketch("--ledger", "mine.jsonl")

    assert [entry.entry for entry in Ledger(folder / "mine.jsonl").entries()] == [
        "begin",
        "release",
    ]
    assert sketch("--ledger", "mine.jsonl", "--no-ledger").exit_code == 2


def test_an_existing_file_is_kept_without_force(folder):
    (folder / "north.sketch.json").write_text("mine", encoding="utf-8")

    refused = sketch()

    assert refused.exit_code == 2
    assert "north.sketch.json exists already" in refused.stderr
    assert (folder / "north.sketch.json").read_text(encoding="utf-8") == "mine"
    assert not (folder / "state").exists()
    assert "exists already" in sketch(data="nowhere.csv").stderr  # before any data are read
    assert sketch("--force").exit_code == 0


@pytest.mark.parametrize(
    ("silo", "file"),
    [
        ("Elm Park", "Elm-Park.sketch.json"),
        ("../../etc/x", "etc-x.sketch.json"),
        ("a/b", "a-b.sketch.json"),
        ("Zürich", "Zürich.sketch.json"),
        ("...", "silo.sketch.json"),
        ("x" * 200, "x" * 80 + ".sketch.json"),
    ],
)
def test_the_default_file_is_named_after_the_silo_and_stays_in_the_folder(silo, file, folder):
    plan(silos=None).write("plan.toml", overwrite=True)

    sketch(silo=silo)

    assert file in names(folder)


def test_a_summary_of_what_was_written_as_json():
    document = json.loads(sketch("--json").stdout)
    message = fp.SiloSketch.read("north.sketch.json")

    assert document["digest"] == message.digest
    assert document["bytes"] == len(message.to_bytes())
    assert [cell["levels"] for cell in document["cells"]] == [c.levels for c in message.cells]


def test_columns_filters_and_labels_are_chosen_by_options(folder):
    columns = table(0)
    raw = np.where(columns["group"] == "A", "alpha", "B")
    write_table(
        folder / "north.csv",
        {"risk": columns["score"], "race": raw, "year": np.repeat([2025, 2026], 120)},
    )

    sketch(*("--score", "risk", "--group", "race", "--map", "alpha=A", "--where", "year = 2026"))

    message = fp.SiloSketch.read("north.sketch.json")
    assert sum(cell.count for cell in message.cells) == 120


@pytest.mark.parametrize("pair", ["alpha", "=A=", "alpha="])
def test_a_mapping_needs_two_sides(pair):
    accepted = pair.startswith("=")

    assert sketch("--map", pair, "--dry-run").exit_code == (3 if accepted else 2)


def test_how_it_was_computed_is_said_when_asked():
    assert "240 records, in memory" in sketch("--dry-run", "--verbose").stderr
    assert sketch("--dry-run").stderr == ""


def test_a_silo_outside_the_roster_is_refused():
    assert sketch(silo="east").exit_code == 3


@pytest.fixture
def _keys():
    """A plan with the key of one silo, and two private keys, one of them another's."""
    own, other = generate_key(), generate_key()
    write_key("own.key", own)
    write_key("other.key", other)
    plan(keys={"north": public_text(own)}).write("plan.toml", overwrite=True)


@pytest.mark.usefixtures("_keys")
def test_a_signed_message_is_accepted():
    assert sketch("--sign", "own.key").exit_code == 0
    fp.documents.check_message(fp.Plan.read("plan.toml"), fp.SiloSketch.read("north.sketch.json"))


@pytest.mark.usefixtures("_keys")
def test_a_dry_run_never_signs(folder):
    """What it prints could be sent, and no ledger would know."""
    shown = fp.SiloSketch.from_bytes(
        sketch("--sign", "own.key", "--dry-run", "--json").stdout_bytes
    )
    sketch("--sign", "own.key")
    sent = fp.SiloSketch.read(folder / "north.sketch.json")

    assert shown.signature is None
    assert sent.signature is not None
    assert shown.digest == sent.digest


@pytest.mark.usefixtures("_keys")
def test_an_unsigned_message_is_not_written(folder):
    refused = sketch()

    assert refused.exit_code == 2
    assert "--sign" in refused.stderr
    assert not (folder / "state").exists()


@pytest.mark.usefixtures("_keys")
def test_a_wrong_key_is_found_before_the_ledger_is_touched(folder):
    refused = sketch("--sign", "other.key")

    assert refused.exit_code == 3
    assert not (folder / "state").exists()
    assert not (folder / "north.sketch.json").exists()
