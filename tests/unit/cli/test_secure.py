"""The steps of a secure sum on the command line: what they write, refuse, and how they end."""

import csv
import json
import os
import stat
from dataclasses import replace

import pytest
from tests.unit.cli import samples
from tests.unit.cli.samples import run, table

from fedparity.cli.secure_commands import dry_run_text
from fedparity.documents.signing import generate_key, public_text
from fedparity.modes.secure.round_checks import read_round
from fedparity.modes.secure.round_messages import UnmaskRequest

pytestmark = pytest.mark.usefixtures("lenient_law")
SILOS = ("east", *samples.SILOS)
SECURE = {"mode": "secure", "bins": 16, "threshold": 3}


def plan(**options):
    """The plan of the samples, of four silos."""
    return samples.plan(**{"silos": SILOS, **options})


def write_table(path, seed):
    columns = table(seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a plan, a table for each silo, and an empty inbox."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDPARITY_LEDGER", str(tmp_path / "ledger.jsonl"))
    plan(privacy=SECURE).write("plan.toml")
    for seed, silo in enumerate(SILOS):
        write_table(tmp_path / f"{silo}.csv", seed)
    (tmp_path / "inbox").mkdir()
    return tmp_path


def ok(*arguments):
    """Run a command that ends well."""
    done = run(*arguments)
    assert done.exit_code == 0, done.stderr
    return done


def step(name, silo, *arguments, **options):
    """A silo's step, whose message goes to the inbox."""
    given = [word for key, value in options.items() for word in (f"--{key}", value)]
    out = f"inbox/{silo}.{name}.json"
    return run("secure", name, "plan.toml", *arguments, "--silo", silo, "-o", out, *given)


def shared():
    for silo in SILOS:
        assert step("keys", silo).exit_code == 0
    for silo in SILOS:
        assert step("shares", silo, "inbox").exit_code == 0


def uploaded(*silos):
    shared()
    for silo in silos:
        done = step("mask", silo, f"{silo}.csv", "inbox")
        assert done.exit_code == 0, done.stderr


def opened(*silos):
    uploaded(*silos)
    ok("secure", "request", "plan.toml", "inbox", "-o", "inbox/request.json")
    for silo in silos:
        assert step("unmask", silo, "inbox").exit_code == 0


@pytest.mark.usefixtures("folder")
def test_a_whole_round_ends_in_an_answer():
    opened(*SILOS)

    done = ok("audit", "plan.toml", "inbox", "--redraws", "50")

    assert "Only their sums were seen: east, north" in done.stdout
    assert "above the review" in done.stdout


@pytest.mark.usefixtures("folder")
def test_a_silo_that_drops_out_is_named():
    opened("east", "north", "west")

    done = ok("audit", "plan.toml", "inbox", "--redraws", "50", "--json")

    result = json.loads(done.stdout)
    assert result["silos_missing"] == ["south"]
    assert run("audit", "plan.toml", "inbox", "--require-all").exit_code == 5
    assert run("verify", "plan.toml", "inbox", "--require-all").exit_code == 5


def test_the_state_is_secret_and_named_after_the_silo(folder):
    assert step("keys", "north").exit_code == 0

    state = folder / "north.secure-state"
    assert state.exists()
    assert os.name == "nt" or stat.S_IMODE(state.stat().st_mode) == 0o600


@pytest.mark.usefixtures("folder")
def test_keys_are_not_made_twice_in_one_file():
    assert step("keys", "north").exit_code == 0

    again = run("secure", "keys", "plan.toml", "--silo", "north", "-o", "other.json")

    assert again.exit_code == 3
    assert "holds the state of a round" in again.stderr


@pytest.mark.usefixtures("folder")
def test_a_plan_without_keys_is_warned_about():
    assert "those who carry the messages could put keys in between" in step("keys", "north").stderr


@pytest.mark.usefixtures("folder")
def test_shares_wait_for_all_keys():
    step("keys", "north")

    done = step("shares", "north", "inbox")

    assert done.exit_code == 3
    assert "keys of 3 silos are missing: 'east', 'south', 'west'" in done.stderr


def test_a_second_vector_is_refused_and_the_first_can_be_written_again(folder):
    uploaded("north")
    write_table(folder / "north.csv", 99)

    second = run("secure", "mask", "plan.toml", "north.csv", "inbox", "--silo", "north")
    again = ("--silo", "north", "--resend", "-o", "again.json")
    resent = ok("secure", "mask", "plan.toml", "north.csv", *again)

    assert second.exit_code == 4
    assert "already sent its mask" in second.stderr
    assert "again.json" in resent.stderr
    first = (folder / "inbox" / "north.mask.json").read_bytes()
    assert (folder / "again.json").read_bytes() == first


def test_the_same_data_under_another_roster_are_refused(folder):
    """Four silos, then five: the ledger refuses, unless the operator says why."""
    uploaded("north")
    five = (*SILOS, "shore")
    plan(privacy={**SECURE, "threshold": 4}, silos=five).write("plan.toml", overwrite=True)
    (folder / "second").mkdir()

    def second(name, silo, *arguments):
        state, out = f"second/{silo}.state", f"second/{silo}.{name}.json"
        options = ("--silo", silo, "--state", state, "-o", out)
        return run("secure", name, "plan.toml", *arguments, *options)

    for silo in five:
        assert second("keys", silo).exit_code == 0
    for silo in five:
        assert second("shares", silo, "second").exit_code == 0
    refused = second("mask", "north", "north.csv", "second")
    reason = ("--again-because", "the first sum was never opened")
    allowed = second("mask", "north", "north.csv", "second", *reason)

    assert refused.exit_code == 4
    assert "the data of a silo that only one of the two sums has" in refused.stderr
    assert allowed.exit_code == 0, allowed.stderr


@pytest.mark.usefixtures("folder")
def test_a_dry_run_writes_nothing_and_says_what_is_summed():
    done = ok("secure", "mask", "plan.toml", "north.csv", "--silo", "north", "--dry-run")

    assert "each hidden by masks" in done.stdout
    assert "No noise is added" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert not os.path.lexists("north.mask.json")
    assert not os.path.lexists("ledger.jsonl")


@pytest.mark.usefixtures("folder")
def test_a_request_needs_the_threshold():
    uploaded("north")

    done = run("secure", "request", "plan.toml", "inbox")

    assert done.exit_code == 3
    assert "1 masked vectors arrived, but 3 are needed" in done.stderr


@pytest.mark.usefixtures("folder")
def test_a_second_request_is_not_answered():
    opened(*SILOS)
    first = read_round("inbox/request.json")
    fewer = {silo: each for silo, each in first.survivors.items() if silo != "west"}
    fields = {name: getattr(first, name) for name in ("plan", "key_set", "share_set", "software")}
    UnmaskRequest(**fields, survivors=fewer).write("second.json")

    done = run("secure", "unmask", "plan.toml", "second.json", "--silo", "north", "-o", "x.json")

    assert done.exit_code == 4
    assert "already answered another unmask request" in done.stderr
    assert not os.path.lexists("x.json")


@pytest.mark.usefixtures("folder")
def test_too_few_answers_open_nothing():
    opened(*SILOS)
    for silo in ("north", "south"):
        os.remove(f"inbox/{silo}.unmask.json")  # noqa: PTH107

    done = run("audit", "plan.toml", "inbox")

    assert done.exit_code == 3
    assert "nothing at all can be learned" in done.stderr


@pytest.mark.usefixtures("folder")
def test_verify_says_where_the_round_stands():
    shared()
    waiting = ok("verify", "plan.toml", "inbox")
    uploaded_only = "waiting for mask"
    assert uploaded_only in " ".join(waiting.stdout.split())

    for silo in SILOS:
        step("mask", silo, f"{silo}.csv", "inbox")
    found = json.loads(ok("verify", "plan.toml", "inbox", "--json").stdout)
    assert found["round"]["waiting"] == "request"
    assert found["valid"]
    assert len(found["messages"]) == 3 * len(SILOS)


def test_verify_refuses_a_changed_file(folder):
    opened(*SILOS)
    file = folder / "inbox" / "west.unmask.json"
    document = json.loads(file.read_bytes())
    document["seeds"]["north"] = document["seeds"]["south"]
    file.write_text(json.dumps(document))
    (folder / "inbox" / "stray.json").write_text("{}")

    done = run("verify", "plan.toml", "inbox")

    assert done.exit_code == 3
    words = " ".join(done.stdout.split())
    assert "'west' answered with a share of silo 'north' that is not the one" in words
    assert "stray.json: a message of a secure sum was expected" in words


@pytest.mark.usefixtures("folder")
def test_the_state_of_another_plan_is_refused():
    step("keys", "north")
    plan(privacy=SECURE, title="Q5").write("plan.toml", overwrite=True)

    done = step("shares", "north", "inbox")

    assert done.exit_code == 3
    assert "another plan, or of another silo" in done.stderr


@pytest.mark.usefixtures("folder")
def test_a_plan_without_privacy_has_no_rounds():
    plan().write("plan.toml", overwrite=True)

    done = step("keys", "north")

    assert done.exit_code == 3
    assert "does not ask for a secure sum" in done.stderr


@pytest.mark.usefixtures("folder")
def test_a_sketch_is_refused_under_a_secure_plan():
    done = run("sketch", "plan.toml", "north.csv", "--silo", "north")

    assert done.exit_code == 4
    assert "fedparity secure" in done.stderr


@pytest.mark.usefixtures("folder")
def test_weights_are_refused():
    arguments = ("--silo", "north", "--weight", "score", "--dry-run")
    done = run("secure", "mask", "plan.toml", "north.csv", *arguments)

    assert done.exit_code == 4
    assert "weights cannot be released" in done.stderr


@pytest.mark.usefixtures("folder")
def test_with_keys_every_step_is_signed_and_consent_comes_before_unmask():
    keys = {}
    for silo in SILOS:
        line = ok("keygen", silo).stdout
        keys[silo] = line.split('"')[3]
    plan(privacy=SECURE, keys=keys).write("plan.toml", overwrite=True)
    assert step("keys", "north").exit_code == 2
    for silo in SILOS:
        assert step("keys", silo, sign=f"{silo}.key").exit_code == 0
    for silo in SILOS:
        assert step("shares", silo, "inbox", sign=f"{silo}.key").exit_code == 0
    for silo in SILOS:
        assert step("mask", silo, f"{silo}.csv", "inbox", sign=f"{silo}.key").exit_code == 0
    ok("secure", "request", "plan.toml", "inbox", "-o", "inbox/request.json")

    early = step("unmask", "north", "inbox", sign="north.key")
    for silo in ("east", "north", "south"):
        assert step("consent", silo, "inbox", sign=f"{silo}.key").exit_code == 0
    for silo in ("east", "north", "south"):
        assert step("unmask", silo, "inbox", sign=f"{silo}.key").exit_code == 0

    assert early.exit_code == 4
    result = json.loads(ok("audit", "plan.toml", "inbox", "--redraws", "20", "--json").stdout)
    assert result["guarantee"]["signed"] is True
    assert ok("verify", "plan.toml", "inbox").exit_code == 0


@pytest.mark.usefixtures("folder")
def test_consent_is_for_plans_with_keys():
    uploaded(*SILOS)
    ok("secure", "request", "plan.toml", "inbox", "-o", "inbox/request.json")

    done = step("consent", "north", "inbox")

    assert done.exit_code == 2
    assert "go on with fedparity secure unmask" in done.stderr


@pytest.mark.usefixtures("folder")
def test_what_was_written_is_printed_as_json():
    done = run("secure", "keys", "plan.toml", "--silo", "north", "--json")

    found = json.loads(done.stdout)
    assert found["schema"] == "fedparity/secure-keys/1"
    assert found["file"] == "north.keys.json"


@pytest.mark.parametrize(
    "changes",
    [{}, {"order": 1}, {"privacy": {"mode": "secure+dp", "epsilon": 1.0, "dose": "split"}}],
)
def test_a_plan_says_before_what_a_secure_sum_cannot_tell(folder, changes):
    plan(**{"privacy": SECURE, **changes}).write(folder / "shown.toml")

    shown = " ".join(ok("plan", "show", "shown.toml").stdout.split())

    assert "but neither what it comes from nor anything of a single silo" in shown


@pytest.mark.parametrize(("silos", "threshold"), [(3, 3), (4, 3), (7, 5), (10, 7), (10, 9)])
def test_a_plan_and_a_dry_run_say_how_many_silos_could_open_another(folder, silos, threshold):
    """2t - d with the auditor; all others can always subtract. Without keys, whoever relays."""
    names = (*SILOS, *(f"silo {number}" for number in range(6)))[:silos]
    made = plan(privacy={**SECURE, "threshold": threshold}, silos=names)
    keyed = replace(made, keys={name: public_text(generate_key()) for name in names})
    opening = min(2 * threshold - silos, silos - 1)

    for each in (made, keyed):
        each.write(folder / "shown.toml", overwrite=True)
        shown = ok("plan", "show", "shown.toml").stdout
        for text in (shown, dry_run_text(each, "east")):
            words = " ".join(text.split())

            assert f"{opening} or more of the other silos together with the auditor" in words
            relayed = "those who carry the messages could put keys in between"
            assert (relayed in words) == (each is made)
