"""A result that its auditor signed is read as it was signed, or not at all."""

import json
from base64 import b64encode
from pathlib import Path

import pytest
from tests.unit.cli.samples import run, write_audit

import fedparity as fp
from fedparity.documents.signing import read_key


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    pytest.importorskip("cryptography", reason="fedparity[sign] is not installed")
    monkeypatch.chdir(tmp_path)
    write_audit(tmp_path)
    for name in ("auditor", "mallory"):
        run("keygen", name)
    return tmp_path


def audited(*options):
    done = run("audit", "plan.toml", "inbox", "-o", "result.json", "--redraws", 20, *options)
    assert done.exit_code == 0, done.stderr
    return json.loads(Path("result.json").read_text("utf-8"))


def public(name):
    return Path(f"{name}.pub").read_text("utf-8").strip()


def test_the_signature_is_of_the_key_and_covers_what_was_asked_for():
    document = audited("--sign", "auditor.key", "--threshold", 0.4, "--tail", 0.5)

    shown = run("verify", "--result", "result.json", "--key", "auditor.pub")

    assert document["signature"]["key"] == public("auditor")
    assert len(document["thresholds"]) == len(document["tails"]) == 1
    assert shown.exit_code == 0
    assert public("auditor") in shown.stdout
    assert "Whose key" not in shown.stdout
    assert "Whose key" in run("verify", "--result", "result.json").stdout


def test_json_says_the_same():
    audited("--sign", "auditor.key")

    found = json.loads(run("verify", "plan.toml", "--result", "result.json", "--json").stdout)

    assert (found["signed_by"], found["valid"], found["key_known"]) == (
        public("auditor"),
        True,
        False,
    )
    assert found["plan"] == fp.Plan.read("plan.toml").digest


@pytest.mark.parametrize("command", [("verify", "--result"), ("report", "--markdown", "-")])
@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(seed=document["seed"] + 1),
        lambda document: document["silos"][0].update(rows_dropped=7),
        lambda document: document["warnings"].append({"code": "weights", "text": "x."}),
        lambda document: document["plan"].update(title="Q5"),
        lambda document: document["signature"].update(key=public("mallory")),
        lambda document: document["signature"].update(value="A" * 86 + "=="),
        lambda document: document["signature"].update(value="none"),
        lambda document: document.update(signature={}),
    ],
)
def test_a_signed_result_that_was_changed_is_not_read(folder, command, change):
    document = audited("--sign", "auditor.key")
    change(document)
    (folder / "result.json").write_text(json.dumps(document), encoding="utf-8")

    done = run(*command, "result.json")

    assert done.exit_code == 3
    assert "fix: " in done.stderr
    assert not done.stdout


def test_a_result_of_somebody_else_is_told_by_the_key():
    audited("--sign", "mallory.key")

    done = run("verify", "--result", "result.json", "--key", "auditor.pub")

    assert done.exit_code == 3
    assert public("mallory") in done.stderr


def test_a_result_that_is_not_signed_says_so():
    audited()

    done = run("verify", "--result", "result.json")

    assert done.exit_code == 3
    assert "is not signed" in done.stderr
    assert "not signed" in run("report", "result.json", "--markdown", "-").stdout


def test_a_result_of_another_plan_is_refused():
    audited("--sign", "auditor.key")
    fp.Plan.from_dict({**fp.Plan.read("plan.toml").to_dict(), "title": "Q5"}).write("other.toml")

    done = run("verify", "other.toml", "--result", "result.json")

    assert done.exit_code == 3
    assert "another plan" in done.stderr


def test_reports_say_with_which_key_it_was_signed():
    pytest.importorskip("matplotlib", reason="fedparity[report] is not installed")
    audited("--sign", "auditor.key")

    text = run("report", "result.json", "--markdown", "-").stdout
    done = run("report", "result.json", "--html", "page.html")

    assert f"signed with the key `{public('auditor')}`" in text
    assert done.exit_code == 0, done.stderr
    assert "signed with the key" in Path("page.html").read_text("utf-8")


def test_rates_that_are_added_need_a_new_signature():
    plan = fp.Plan.read("plan.toml")
    key = read_key("auditor.key")
    sketches = [f"inbox/{silo}.sketch.json" for silo in plan.silos]

    signed = fp.audit(plan, sketches, redraws=20).signed(key)

    assert signed.signature is not None
    assert signed.with_rates(tails=[0.5]).signature is None
    assert type(signed).from_dict(signed.to_dict()) == signed


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("plan.toml",),
        ("plan.toml", "inbox", "--key", "auditor.pub"),
        ("plan.toml", "inbox", "--result", "result.json"),
    ],
)
def test_what_is_asked_for_must_be_clear(arguments):
    assert run("verify", *arguments).exit_code == 2


def test_a_key_that_protects_nothing_vouches_for_nothing(folder):
    """Under the key of the neutral point, the signature of that point and of zero fits every text."""
    document = audited("--sign", "auditor.key")
    neutral = bytes([1]) + bytes(31)
    document["signature"] = {
        "key": b64encode(neutral).decode(),
        "value": b64encode(neutral + bytes(32)).decode(),
    }
    (folder / "result.json").write_text(json.dumps(document), encoding="utf-8")

    done = run("verify", "--result", "result.json")

    assert done.exit_code == 3
    assert "anybody can sign" in done.stderr or "does not fit" in done.stderr
