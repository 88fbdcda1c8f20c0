"""docs/notation.md names things that exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "notation.md"
ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "`fedparity." in line]


@pytest.mark.parametrize("row", ROWS)
def test_every_row_of_the_notation_can_be_imported(row):
    for path in re.findall(r"`(fedparity\.[\w.]+)`", row):
        module, *names = path.split(".")
        thing = import_module(module)
        for name in names:
            thing = getattr(thing, name)

        assert callable(thing)


def test_the_page_has_rows():
    assert len(ROWS) > 30
