"""Intervals hold as often as they say: four rows of ``benchmarks/interval_coverage.py``."""

import json
from dataclasses import replace

import pytest
from benchmarks.interval_coverage import WORLDS, Tally, World, advance, judged, read_tallies, run
from tests.tiers import count

NAMED = {world.name: world for world in WORLDS}


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize(
    "name",
    [
        "200 a cell",
        "third group of 1 %, null",
        "40,000 a cell, k = 20",
        "two clumps, 30 a cell, null",
    ],
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
        ("third group of 1 %, null", "p", 0.0, True),
        ("scores in a fiftieth of the range, null", "p", 0.0, False),
        ("scores in a fiftieth of the range, null", "p", 0.3, True),
        ("silos differ, groups selected", "within", 1.0, False),
        ("silos differ, groups selected", "within", 0.75, True),
        ("silos differ", "within", 1.0, True),
    ],
)
def test_what_misses_its_bar_is_bold(name, measure, share, bold):
    assert ("**" in judged(NAMED[name], measure, share, 2000)) is bold


SMALL = World(name="small", records=200, silos=2, levels=5, shares=(0.4, 0.3, 0.3))


def test_sittings_add_up_to_what_one_sitting_counts(tmp_path):
    path = tmp_path / "tallies.json"
    for federations in (2, 4, 5):
        advance([SMALL], path, federations=federations, at_once=100)
    whole = Tally()
    whole.add(SMALL, 5)
    assert read_tallies(path) == {"small": whole}
    assert whole.row(SMALL) == run(SMALL, 5)
    assert whole.sums["W"] <= 3 * 5


def test_the_row_with_the_fewest_federations_comes_first_and_others_are_kept(tmp_path, capsys):
    path, other = tmp_path / "tallies.json", replace(SMALL, name="other", gap=0)
    advance([SMALL], path, federations=3, at_once=100)
    capsys.readouterr()
    advance([SMALL, other], path, federations=4, at_once=2)
    order = [line.split(" | ")[:2] for line in capsys.readouterr().err.splitlines()]
    assert order == [["| other", "2"], ["| other", "4"], ["| small", "4"]]
    advance([other], path, federations=5, at_once=2)
    assert {name: tally.federations for name, tally in read_tallies(path).items()} == {
        "small": 4,
        "other": 5,
    }


@pytest.mark.parametrize("number", range(5))
def test_tallies_of_another_engine_are_dropped(tmp_path, capsys, number):
    path = tmp_path / "tallies.json"
    advance([SMALL], path, federations=2, at_once=2)
    kept = json.loads(path.read_text("utf-8"))
    kept["small"]["first"][5 + number] *= 1 + 1e-6
    kept["small"]["sums"]["G"] = 1000
    path.write_text(json.dumps(kept), "utf-8")
    advance([SMALL], path, federations=3, at_once=2)
    assert "small: other numbers than before" in capsys.readouterr().err
    assert read_tallies(path)["small"].sums["G"] <= read_tallies(path)["small"].federations == 3


def test_other_worlds_have_other_numbers():
    tally = Tally()
    tally.add(SMALL, 1)
    assert tally.is_of(SMALL)
    assert not tally.is_of(replace(SMALL, gap=0.61))
    assert not tally.is_of(replace(SMALL, records=201))
