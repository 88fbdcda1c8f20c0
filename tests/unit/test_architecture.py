"""The house is as CONTRIBUTING.md draws it."""

import collections
import re
import tomllib
from pathlib import Path

import pytest

import fedparity as fp

ROOT = Path(fp.__file__).parent
REPOSITORY = Path(__file__).parents[2]
FILES = sorted(file for file in ROOT.rglob("*.py") if "__pycache__" not in file.parts)
FACADES = {"__init__", "__main__", "theory"}


def drawn_layers():
    """The rows of the drawing in CONTRIBUTING.md, from top to bottom."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    drawing = text.split("## Where things go")[1].split("```")[1]
    return [
        tuple(re.split(r" \| ", re.split(r"\s{2,}", row)[0]))
        for row in drawing.strip().split("\n")
    ]


def enforced_layers():
    """The layers of the import contract, without those that do not exist yet."""
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    rows = [re.sub(r" \| \(\w+\)|\(\w+\) \| ", "", row) for row in contract["layers"]]
    return [tuple(re.split(r" \| ", row)) for row in rows]


def test_the_drawing_is_the_import_contract():
    assert drawn_layers() == enforced_layers()


def test_the_drawing_holds_every_folder_and_module():
    there = {file.stem for file in ROOT.glob("*.py")} - FACADES
    there |= {file.parent.name for file in ROOT.glob("*/__init__.py")}

    assert {name for row in drawn_layers() for name in row} == there


def test_every_file_of_the_table_of_additions_exists():
    text = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    table = text.split("| you add |")[1].split("\n\n")[0]
    named = [name for name in re.findall(r"`([\w/]+(?:\.py|/))`", table) if "tests" not in name]

    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_a_stem_names_one_file():
    stems = collections.Counter(file.stem for file in FILES if file.stem != "__init__")

    assert [stem for stem, number in stems.items() if number > 1] == []


@pytest.mark.parametrize(
    "folder", sorted({file.parent for file in FILES}), ids=lambda each: each.name
)
def test_a_folder_can_be_surveyed(folder):
    assert len(list(folder.glob("*.py"))) <= 24


def test_a_file_is_a_concept():
    """Above this length it is more than one; `fedparity/sketches/compiled.py` is for numba."""
    assert [file.name for file in FILES if len(file.read_text("utf-8").splitlines()) > 640] == []
