"""``fedparity keygen`` makes a pair of keys and overwrites none."""

import stat
import tomllib

import pytest
from tests.unit.cli.samples import run

from fedparity.protocol.signature import public_text, read_key


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
