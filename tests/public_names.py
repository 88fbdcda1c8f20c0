"""Where the public names live, as type checkers read it."""

import ast
from pathlib import Path

import fedparity as fp


def homes():
    """Pairs of a public name and the module that type checkers take it from."""
    tree = ast.parse(Path(fp.__file__).read_text(encoding="utf-8"))
    branches = [node.body for node in tree.body if isinstance(node, ast.If)]
    return [
        (name.name, statement.module)
        for body in (tree.body, *branches)
        for statement in body
        if isinstance(statement, ast.ImportFrom) and statement.module != "fedparity"
        for name in statement.names
    ]
