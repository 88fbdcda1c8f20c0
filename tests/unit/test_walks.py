"""A reader who follows a piece of work passes few files, and the pictures of the manual show which."""

import re
from pathlib import Path

import pytest
from tests.walks import WALKS, walk

IMAGES = Path(__file__).parents[2] / "docs" / "images"
MOST = {"sketch": 39, "audit": 70, "disparity": 7}


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_passes_few_files_and_the_picture_shows_them(name):
    """Draw the pictures again with `python docs/images/draw_walks.py`."""
    files = walk(name)
    picture = (IMAGES / f"walk-{name}.svg").read_text("utf-8")

    assert 0 < len(files) <= MOST[name]
    assert sorted(re.findall(r'data-file="([^"]+)"', picture)) == sorted(files)
