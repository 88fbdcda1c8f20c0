"""The reproduction is an ordinary user of fedparity: it takes public names only."""

import ast
from pathlib import Path

import pytest

import fedparity as fp
import fedparity.errors
import fedparity_reproduction

FILES = sorted(Path(fedparity_reproduction.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_only_public_names_are_used(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = {
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").partition(".")[0] == "fedparity"
        for alias in node.names
    }
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "fp"
    }

    assert {module for module, _ in imported} <= {"fedparity", "fedparity.errors"}
    assert {name for _, name in imported} <= {*fp.__all__, *fedparity.errors.__all__}
    assert used <= set(fp.__all__)
