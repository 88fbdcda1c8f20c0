"""What one silo can do to an audit by a number that it changes: be refused, or be seen."""

import json

import pytest
from tests.unit.cli.samples import run, write_audit

REFUSED = {
    "a count of almost nothing": {"count": 1e-300},
    "half a record": {"count": 0.5},
    "fewer records than a cell needs": {"count": 5},
    "more values than the records allow": {"count": 95},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(folder, silo, **fields):
    """Change fields of the first cell of a silo's message."""
    file = folder / "inbox" / f"{silo}.sketch.json"
    document = json.loads(file.read_text("utf-8"))
    document["cells"][0] |= fields
    file.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize("command", ["verify", "audit"])
@pytest.mark.parametrize("fields", REFUSED.values(), ids=REFUSED)
def test_a_message_that_breaks_the_rules_is_refused(folder, command, fields):
    write_audit(folder)
    change(folder, "north", **fields)

    found = run(command, "plan.toml", "inbox")

    assert found.exit_code == 3
    assert "fix: " in found.output


def test_values_off_the_rounding_grid_are_refused(folder):
    write_audit(folder)
    file = folder / "inbox" / "north.sketch.json"
    values = json.loads(file.read_text("utf-8"))["cells"][0]["values"]
    change(folder, "north", values=[value + 1e-7 for value in values])

    found = run("audit", "plan.toml", "inbox")

    assert found.exit_code == 3
    assert f"{len(values)} values of silo 'north', group 'A', are not rounded" in found.stderr


@pytest.mark.parametrize("level", [0.2, 0.55])
def test_a_verdict_that_hangs_on_one_count_says_so(folder, level):
    """A count of 10^12 makes the group's law that silo's: the answer may change, but not unseen."""
    write_audit(folder, review_level=level, disclosure={"records_per_level": 0})
    before = json.loads(run("audit", "plan.toml", "inbox", "--json").stdout)
    change(folder, "north", count=10**12, mean_square=0)

    verified = run("verify", "plan.toml", "inbox")
    found = run("audit", "plan.toml", "inbox", "--json")
    text = run("audit", "plan.toml", "inbox")
    page = run("audit", "plan.toml", "inbox", "--markdown", "-")

    words = "'north' stated more than 1,000 times as many records"
    codes = [each["code"] for each in json.loads(found.stdout)["warnings"]]
    assert "implausible_count" not in [each["code"] for each in before["warnings"]]
    assert codes.count("implausible_count") == 1
    for shown in (verified.stdout, text.stdout, page.stdout):
        assert words in " ".join(shown.split()).replace("&#x27;", "'").replace("\\'", "'")
    assert words in " ".join(text.stdout.split("\n\n")[0].split())  # beside the verdicts


def test_a_silo_as_large_as_hospitals_may_be_is_no_matter(folder):
    write_audit(folder, disclosure={"records_per_level": 0})
    change(folder, "north", count=10**5, mean_square=0)

    assert "1,000 times" not in run("verify", "plan.toml", "inbox").stdout
