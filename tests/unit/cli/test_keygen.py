"""``fedparity keygen`` makes a pair of keys and overwrites none."""

import os
import stat
import tomllib

import pytest
from tests.unit.cli.samples import plan, run, table, write_table

from fedparity import SiloSketch
from fedparity.documents.signing import public_text, read_key, verify


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_private_key_is_for_its_owner_and_the_public_one_fits_it(folder):
    made = run("keygen", "aurora")

    assert made.exit_code == 0
    assert stat.S_IMODE((folder / "aurora.key").stat().st_mode) == 0o600
    public = public_text(read_key("aurora.key"))
    assert (folder / "aurora.pub").read_text(encoding="utf-8") == f"{public}\n"


@pytest.mark.parametrize("silo", ["aurora", "Elm Park", 'the "old" mill', "Zürich"])
def test_the_printed_line_belongs_under_keys_of_a_plan(silo, folder):
    line = run("keygen", silo).stdout

    public = (folder / f"{silo}.pub").read_text(encoding="utf-8").strip()
    assert tomllib.loads(line) == {silo: public}


def test_a_folder_may_stand_before_the_name(folder):
    (folder / "keys").mkdir()

    assert run("keygen", "keys/aurora").stdout.startswith('"aurora" = ')


@pytest.mark.parametrize("taken", ["aurora.key", "aurora.pub"])
def test_no_key_is_overwritten(taken, folder):
    (folder / taken).write_text("mine", encoding="utf-8")

    refused = run("keygen", "aurora")

    assert refused.exit_code == 2
    assert [file.name for file in folder.iterdir()] == [taken]
    assert (folder / taken).read_text(encoding="utf-8") == "mine"


def key_files(folder):
    """A passphrase in a file of its own, and the options that name it."""
    file = folder / "aurora.pass"
    file.write_text("correct horse\n", encoding="utf-8")
    file.chmod(0o600)
    return "--passphrase-file", "aurora.pass"


def sketch(folder, *options, **keywords):
    """What ``sketch`` says that signs with the key."""
    write_table(folder / "a.csv", table(0))
    plan().write(folder / "plan.toml", overwrite=True)
    names = ("--silo", "north", "--score", "score", "--group", "group", "--no-ledger", "--force")
    return run(
        "sketch", "plan.toml", "a.csv", *names, "--sign", "aurora.key", *options, **keywords
    )


def test_a_key_with_a_passphrase_signs_for_whoever_knows_it(folder):
    option = key_files(folder)
    assert run("keygen", "aurora", *option).exit_code == 0

    signed = sketch(folder, *option)
    typed = sketch(folder, "--passphrase-file", "-", input="correct horse\n")

    assert "ENCRYPTED" in (folder / "aurora.key").read_text("utf-8")
    assert (signed.exit_code, typed.exit_code) == (0, 0), signed.stderr
    verify(
        SiloSketch.read("north.sketch.json"), (folder / "aurora.pub").read_text("utf-8").strip()
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "has a passphrase"),
        (("--passphrase-file", "wrong.pass"), "cannot be read with this passphrase"),
        (("--passphrase-file", "empty.pass"), "holds no passphrase"),
        (("--passphrase-file", "none.pass"), "cannot be read"),
        (("--passphrase-file", "open.pass"), "others than its owner"),
    ],
)
def test_nobody_else_signs_with_it(folder, options, words):
    run("keygen", "aurora", *key_files(folder))
    for name, text, mode in (("wrong", "x", 0o600), ("empty", "\n", 0o600), ("open", "x", 0o640)):
        file = folder / f"{name}.pass"
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)

    done = sketch(folder, *options)

    assert done.exit_code == 3
    assert words in done.stderr
    assert not (folder / "north.sketch.json").exists()


def test_a_passphrase_can_be_typed(folder):
    done = run("keygen", "aurora", "--passphrase", input="correct horse\ncorrect horse\n")

    assert done.exit_code == 0
    assert "correct" not in done.output
    assert sketch(folder, *key_files(folder)).exit_code == 0


@pytest.mark.skipif(os.name != "posix", reason="files have no mode on Windows")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620])
def test_a_key_that_others_may_use_is_refused(folder, mode):
    run("keygen", "aurora")
    (folder / "aurora.key").chmod(mode)

    done = sketch(folder)

    assert done.exit_code == 3
    assert "fix: chmod 600 aurora.key" in done.stderr
    assert not (folder / "north.sketch.json").exists()
