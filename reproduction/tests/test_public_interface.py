"""The reproduction is an ordinary user of fedparity: it takes public names only."""

import ast
from pathlib import Path

import pytest

import fedparity as fp
import fedparity_reproduction

FILES = sorted(Path(fedparity_reproduction.__file__).parent.glob("*.py"))
PUBLIC = {"fedparity": fp} | {
    f"fedparity.{name}": getattr(fp, name)
    for name in ("documents", "errors", "planning", "plots", "theory")
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_only_public_names_are_used(file):
    used = list(names_used(ast.parse(file.read_text(encoding="utf-8"))))

    assert [(module, name) for module, name in used if name not in PUBLIC[module].__all__] == []


def names_used(tree):
    """Pairs of a module of fedparity and a name that is taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fedparity."):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute):
            module = ast.unparse(node.value).replace("fp", "fedparity", 1)
            if module in PUBLIC and f"{module}.{node.attr}" not in PUBLIC:
                yield module, node.attr
