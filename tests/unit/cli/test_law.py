"""``policy``, ``ledger``, ``approve`` and ``plan sign``: the silo's own law on the command line."""

import json

import pytest
from tests.unit.cli.samples import plan, run, table, write_table

import fedparity as fp
from fedparity.documents.policy_file import read_policy
from fedparity.documents.signing import generate_key, public_text, write_key
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.policy import Policy
from fedparity.silo.permit import default_policy_path

pytest.importorskip("cryptography", reason="fedparity[sign] is not installed")
HEAD = 'schema = "fedparity/policy/1"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDPARITY_LEDGER", str(tmp_path / "ledger.jsonl"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    plan().write("plan.toml")
    write_table(tmp_path / "north.csv", table(0))
    return tmp_path


def sketch(*options, asked="plan.toml", data="north.csv"):
    return run("sketch", asked, data, "--silo", "north", *options)


def releases():
    return [entry for entry in Ledger("ledger.jsonl").entries() if entry.entry == "release"]


def law(text, name="policy.toml"):
    with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(HEAD + text)
    return name


def ok(*arguments):
    done = run(*arguments)
    assert done.exit_code == 0, done.stderr
    return done


# -- policy --------------------------------------------------------------------------------------


def test_a_new_policy_is_where_it_is_looked_for_and_says_the_defaults():
    ok("policy", "new")

    written = read_policy(default_policy_path())
    assert written == Policy(without_ledger=False, path=default_policy_path())
    assert run("policy", "new").exit_code == 2
    assert str(default_policy_path()) in sketch().stderr


def test_every_default_of_a_new_policy_can_be_uncommented(folder):
    """What stands behind # is the default, and is read as such."""
    ok("policy", "new", "p.toml")
    lines = (folder / "p.toml").read_text().splitlines()
    examples = ("file", "visits", '"National', "bayside", "people", "needed")
    stated = [
        line[2:] if line.startswith("# ") and "=" in line else line
        for line in lines[2:]
        if not line[2:].startswith(examples)
    ]
    (folder / "p.toml").write_text("\n".join(stated))

    assert read_policy("p.toml") == Policy(without_ledger=False, path=folder / "p.toml")
    assert sum("=" in line for line in stated) > 12


def test_a_policy_is_checked_alone_and_against_a_plan():
    law("[floors]\nminimum_cell = 30\n")
    alone, refused = (
        run("policy", "check", "policy.toml"),
        run("policy", "check", "policy.toml", "plan.toml", "--json"),
    )
    law('[approval]\npeople = ["a"]\nneeded = 2\n', "bad.toml")

    assert alone.exit_code == 0
    assert refused.exit_code == 4
    assert [each["rule"] for each in json.loads(refused.stdout)["refused"]] == ["minimum_cell"]
    assert run("policy", "check", "bad.toml").exit_code == 3
    law("")
    assert "allows plan.toml" in ok("policy", "check", "policy.toml", "plan.toml").stderr


def test_a_check_names_an_auditor_who_is_not_known():
    law(f'overrides = false\n[auditors]\nauthority = "{public_text(generate_key())}"\n')

    refused = run("policy", "check", "policy.toml", "plan.toml", "--json")

    assert [each["rule"] for each in json.loads(refused.stdout)["refused"]] == ["auditors"]


def test_a_policy_is_shown_in_80_columns():
    key = public_text(generate_key())
    law(
        f'modes = ["dp"]\noverrides = false\n[auditors]\nauthority = "{key}"\n[silos]\n'
        f'bayside = "{key}"\n[approval]\npeople = ["Ada", "Ben"]\nneeded = 2\n'
        '[datasets]\nvisits = ["v.csv"]\n'
    )

    shown = ok("policy", "show", "--policy", "policy.toml").stdout

    assert max(map(len, shown.splitlines()[1:])) <= 80  # the first is a path
    words = " ".join(shown.split())
    for sentence in (
        "Plans may ask for: dp.",
        "Plans must be signed by authority.",
        "2 of Ada, Ben must approve a plan.",
        "Data sets: visits; other tables are refused.",
        "the other silos must be known: bayside.",
        "No rule may be overridden.",
    ):
        assert sentence in words
    assert "the default policy" in ok("policy", "show").stdout


def test_the_dossier_holds_policy_ledger_and_versions():
    sketch()
    message = fp.SiloSketch.read("north.sketch.json")

    page = ok("policy", "dossier").stdout

    assert page.startswith("# ")
    assert message.digest[:19] in page
    assert str(Ledger("ledger.jsonl").head) in page
    assert fp.__version__ in page
    assert "numpy" in page


def test_a_damaged_policy_stops_every_release():
    law("[floors]\ncell = 1\n")

    refused = sketch("--policy", "policy.toml")

    assert refused.exit_code == 3
    assert "fix:" in refused.stderr


def test_a_dry_run_obeys_the_policy_and_tells_what_the_ledger_would_say():
    law("[floors]\nminimum_cell = 30\n")
    assert sketch("--dry-run", "--policy", "policy.toml").exit_code == 4
    sketch()
    plan(title="other").write("other.toml")

    shown = sketch("--dry-run", asked="other.toml")

    assert shown.exit_code == 0
    assert "at present a release is refused" in shown.stderr
    assert "left before" in shown.stderr


def test_the_policy_names_the_only_ledger_and_forbids_to_do_without():
    law('[ledger]\nfile = "own.jsonl"\nmust_exist = true\n')
    asked = ("--policy", "policy.toml")

    missing = sketch(*asked)
    other = sketch(*asked, "--ledger", "ledger.jsonl")
    none = sketch(*asked, "--no-ledger")
    ok("ledger", "init", *asked)
    done = sketch(*asked)

    assert [missing.exit_code, other.exit_code, none.exit_code] == [4, 4, 4]
    assert "fedparity ledger init" in missing.stderr
    assert done.exit_code == 0, done.stderr
    assert [entry.entry for entry in Ledger("own.jsonl").entries()] == ["begin", "release"]


def test_data_sets_are_those_of_the_policy(folder):
    write_table(folder / "lab.csv", table(1))
    write_table(folder / "copy.csv", table(0))
    law('[datasets]\nvisits = ["north.csv"]\nlab = ["lab.csv"]\n')
    plan(title="other").write("other.toml")
    asked = ("--policy", "policy.toml")

    assert sketch(*asked).exit_code == 0
    assert sketch(*asked, "-o", "lab.json", asked="other.toml", data="lab.csv").exit_code == 0
    copied = sketch(*asked, "-o", "c.json", asked="other.toml", data="copy.csv")
    named = sketch(
        *asked, "-o", "c.json", "--dataset", "visits", asked="other.toml", data="copy.csv"
    )

    assert [entry.dataset for entry in releases()] == ["visits", "lab"]
    assert copied.exit_code == named.exit_code == 4
    assert "does not say which data set" in copied.stderr
    assert "already made another release" in named.stderr  # lab answered that plan


# -- signed plans --------------------------------------------------------------------------------


@pytest.fixture
def _auditor():
    """A policy that knows one auditor, and the keys of two."""
    own, other = generate_key(), generate_key()
    write_key("own.key", own)
    write_key("other.key", other)
    law(f'[auditors]\nauthority = "{public_text(own)}"\n')


@pytest.mark.usefixtures("_auditor")
def test_only_plans_of_known_auditors_are_obeyed(folder):
    asked = ("--policy", "policy.toml")
    unsigned = sketch(*asked)
    ok("plan", "sign", "plan.toml", "--key", "other.key")
    foreign = sketch(*asked)
    before = fp.Plan.read("plan.toml").digest
    ok("plan", "sign", "plan.toml", "--key", "own.key")
    known = sketch(*asked)
    text = (folder / "plan.toml").read_text()
    (folder / "plan.toml").write_text(text.replace('title = "Q4"', 'title = "Q5"'))
    changed = sketch(*asked, "-o", "b.json")

    assert [unsigned.exit_code, foreign.exit_code, changed.exit_code] == [4, 4, 4]
    assert "not signed" in unsigned.stderr
    assert "signed with another key" in foreign.stderr
    assert "changed after it was signed" in changed.stderr
    assert known.exit_code == 0, known.stderr
    assert before == releases()[0].plan


@pytest.mark.usefixtures("_auditor")
def test_check_and_show_say_whether_a_plan_is_signed(folder):
    assert "Not signed" in ok("plan", "show", "plan.toml").stdout
    ok("plan", "sign", "plan.toml", "--key", "own.key", "-o", "signed.toml")
    signed = fp.Plan.read("signed.toml")

    assert signed.signature["key"] in ok("plan", "show", "signed.toml").stdout
    checked = json.loads(ok("plan", "check", "signed.toml", "--json").stdout)
    assert checked["signed_by"] == signed.signature["key"]
    assert "signature" not in (folder / "plan.toml").read_text()
    text = (folder / "signed.toml").read_text().replace("order = 2", "order = 1")
    (folder / "signed.toml").write_text(text)
    assert run("plan", "check", "signed.toml").exit_code == 3
    assert run("plan", "show", "signed.toml").exit_code == 3


# -- approvals -----------------------------------------------------------------------------------


def test_two_people_approve_before_anything_leaves():
    law('[approval]\npeople = ["Ada Berg", "Ben Cole"]\nneeded = 2\n')
    asked = ("--policy", "policy.toml")
    approve = ("approve", "plan.toml", *asked, "--because", "agreed", "--by")

    none = sketch(*asked)
    ok(*approve, "Ada Berg")
    twice = ok(*approve, "Ada Berg")
    one = sketch(*asked)
    stranger = run(*approve, "Eve")
    ok(*approve, "Ben Cole")
    both = sketch(*asked)

    assert [none.exit_code, one.exit_code, stranger.exit_code] == [4, 4, 4]
    assert "1 more must approve" in twice.stderr
    assert "Ben Cole" in one.stderr
    assert both.exit_code == 0, both.stderr
    kinds = [(entry.entry, entry.by) for entry in Ledger("ledger.jsonl").entries()]
    assert ("approval", "Ben Cole") in kinds


def test_an_approval_is_of_one_plan_and_of_none_that_is_forbidden():
    law('[floors]\nlevels = 10\n[approval]\npeople = ["Ada"]\n')
    asked = ("--policy", "policy.toml", "--because", "agreed", "--by", "Ada")
    plan(title="other").write("other.toml")
    plan(levels=11).write("weak.toml")
    ok("approve", "plan.toml", *asked)

    assert sketch("--policy", "policy.toml", asked="other.toml").exit_code == 4
    assert run("approve", "weak.toml", *asked).exit_code == 4
    assert sketch("--policy", "policy.toml").exit_code == 0


# -- ledger --------------------------------------------------------------------------------------


def test_a_wrong_message_is_voided_and_replaced_for_all_to_see(folder):
    sketch()
    first = fp.SiloSketch.read("north.sketch.json")
    write_table(folder / "north.csv", table(1))
    assert sketch("-o", "new.json").exit_code == 4

    ok("ledger", "void", first.digest[:19], "--because", "last month's table")
    done = sketch("-o", "new.json")
    second = fp.SiloSketch.read("new.json")

    assert done.exit_code == 0, done.stderr
    assert second.replaces == first.digest
    assert f"replaces {first.digest}" in done.stderr
    assert [entry.message for entry in releases()] == [first.digest, second.digest]
    assert run("ledger", "void", first.digest, "--because", "again").exit_code == 4
    assert run("ledger", "void", "sha256:00000000", "--because", "x").exit_code == 4
    shown = ok("verify", "plan.toml", "new.json").stdout
    assert "replaces" in shown


def test_the_ledger_is_shown_and_verified(folder):
    sketch()
    plan(title="other").write("other.toml")
    sketch("-o", "b.json", "--again-because", "a second question", asked="other.toml")

    shown = ok("ledger", "show").stdout
    head = ok("ledger", "verify").stdout.strip()
    entries = json.loads(ok("ledger", "show", "--json").stdout)

    assert max(len(line) for line in shown.splitlines() if "/" not in line) <= 80
    assert "a second question" in " ".join(shown.split())
    assert head == Ledger("ledger.jsonl").head
    assert [entry["entry"] for entry in entries] == ["begin", "release", "release"]
    assert ok("ledger", "verify", "--head", head[:25]).stdout.strip() == head
    lines = (folder / "ledger.jsonl").read_text().splitlines(keepends=True)
    (folder / "ledger.jsonl").write_text("".join(lines[:-1]))
    assert run("ledger", "verify").exit_code == 0  # lines cut off at the end leave no trace
    assert run("ledger", "verify", "--head", head).exit_code == 4
    (folder / "ledger.jsonl").write_text("".join([lines[0], lines[2]]))
    assert run("ledger", "verify").exit_code == 4


def test_a_lost_ledger_is_begun_anew_and_filled_from_the_messages_that_left(folder):
    sketch()
    (folder / "ledger.jsonl").rename(folder / "lost")
    ok("ledger", "init", "--because", "the disk broke")
    reason = ("--because", "from the auditor's copy")

    ok("ledger", "add", "plan.toml", "north.sketch.json", *reason)
    ok("ledger", "add", "plan.toml", "north.sketch.json", *reason)

    assert len(releases()) == 1
    assert run("ledger", "init").exit_code == 4
    assert sketch("-o", "again.json").exit_code == 0  # the same message, known again
    write_table(folder / "north.csv", table(1))
    assert sketch("-o", "other.json").exit_code == 4


def test_a_mistyped_folder_enters_and_spends_nothing():
    plan(privacy={"mode": "dp", "epsilon": 1.0, "bins": 16}).write("plan.toml", overwrite=True)

    wrong = sketch("-o", "nowhere/m.json")

    assert wrong.exit_code == 2
    assert not releases()
    assert sketch("-o", "m.json").exit_code == 0


def test_the_budget_is_not_in_the_hands_of_whoever_writes_the_plan():
    """Six plans that each asked for epsilon 1, where the first plan's budget was 1."""
    noise = {"mode": "dp", "epsilon": 1.0, "bins": 16, "budget": 1.0}
    variants = {
        "first": plan(privacy=noise),
        "other levels": plan(privacy=noise, levels=9),
        "a larger budget": plan(privacy=noise | {"budget": 1000.0}),
        "a title that looks the same": plan(privacy=noise, title="Q４"),
        "a trailing space": plan(privacy=noise, title="Q4 "),
        "no noise": plan(),
        "no protection": plan(privacy=noise | {"epsilon": 1e300, "budget": 1e300}),
    }
    codes = {}
    for number, (name, asked) in enumerate(variants.items()):
        asked.write(f"{number}.toml")
        codes[name] = sketch("-o", f"{number}.json", asked=f"{number}.toml").exit_code
        because = ("--again-because", "asked again")
        if asked.privacy is not None and number:
            again = sketch("-o", f"{number}.json", *because, asked=f"{number}.toml")
            assert again.exit_code == 4, name
    other_name = run("sketch", "0.toml", "north.csv", "--silo", "south", "-o", "s.json")

    assert codes == dict.fromkeys(variants, 4) | {"first": 0}
    assert other_name.exit_code == 4
    assert sum(entry.epsilon for entry in releases()) == noise["epsilon"]
