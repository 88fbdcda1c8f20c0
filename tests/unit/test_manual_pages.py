"""The manual names everything that is public, and every command of it runs or has a reason why not."""

import importlib
import inspect
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MODULES = (
    "fedparity",
    "fedparity.theory",
    "fedparity.documents",
    "fedparity.planning",
    "fedparity.plots",
    "fedparity.errors",
)
NOT_RUN = {
    "cheat-sheet.md": "commands to copy, each of which another page runs",
    "how-to/audit-with-flower.md": "needs a deployment of Flower; tests/e2e/test_flower_*.py run it",
    "how-to/axes-and-outcomes.md": "needs a table with its own columns; its Python runs",
    "how-to/file-a-report.md": "needs messages with axes; tests/unit/report run the templates",
    "how-to/share-results.md": "a PDF needs an extra, a job summary needs a forge",
    "index.md": "installs packages from the network",
    "install.md": "installs packages from the network",
}
"""Pages with commands in blocks that no test runs (``sh``), and why; other commands are in ``console`` blocks, which run."""


def public():
    """Every public name, once, at its shortest path."""
    found = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            if not name.startswith("__"):
                found.setdefault(getattr(module, name), f"{module.__name__}.{name}")
    return sorted(found.values())


def test_every_public_name_has_a_page():
    listed = re.findall(
        r"^   (fedparity\.\S+)$", (DOCS / "reference/api.md").read_text(), re.MULTILINE
    )

    assert sorted(listed) == public()


@pytest.mark.parametrize("path", public())
def test_every_public_function_has_an_example(path):
    module, _, name = path.rpartition(".")
    found = getattr(importlib.import_module(module), name)

    assert inspect.getdoc(found)
    if inspect.isfunction(found):
        assert ">>>" in inspect.getdoc(found)


def test_the_gallery_shows_every_display():
    shown = (DOCS / "gallery/index.md").read_text(encoding="utf-8")

    for name in importlib.import_module("fedparity.plots").__all__:
        if name.endswith("Display") and name not in ("Display", "OutcomeDisplay"):
            assert f"fp.plots.{name}.from_" in shown


def test_commands_that_do_not_run_have_a_reason():
    pages = {
        str(page.relative_to(DOCS))
        for page in DOCS.rglob("*.md")
        if "_build" not in page.parts
        if re.search(r"^```(sh|bash|shell)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert pages == set(NOT_RUN)


def test_the_page_on_installation_names_every_extra():
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    named = re.findall(r"\| `fedparity\[(\w+)\]`", (DOCS / "install.md").read_text("utf-8"))

    assert set(named) >= set(extras)
