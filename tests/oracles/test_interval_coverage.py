"""Intervals hold as often as they say: three rows of ``benchmarks/interval_coverage.py``."""

import pytest
from benchmarks.interval_coverage import WORLDS, judged, run
from tests.tiers import count

NAMED = {world.name: world for world in WORLDS}


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize(
    "name", ["200 a cell", "third group of 1 %, null", "40,000 a cell, k = 20"]
)
def test_nothing_covers_too_seldom_or_too_often(name):
    """A number that misses its bar is bold: its 99 % Wilson interval lies outside."""
    assert "**" not in run(NAMED[name], count(quick=20, all=40, soak=2000))


@pytest.mark.parametrize(
    ("name", "measure", "share", "bold"),
    [
        ("200 a cell", "G", 0.95, False),
        ("200 a cell", "G", 0.75, True),
        ("200 a cell", "G", 1.0, True),
        ("40,000 a cell, k = 20", "G", 1.0, False),
        ("third group of 1 %, null", "p", 0.05, False),
        ("third group of 1 %, null", "p", 0.3, True),
    ],
)
def test_what_misses_its_bar_is_bold(name, measure, share, bold):
    assert ("**" in judged(NAMED[name], measure, share, 2000)) is bold
