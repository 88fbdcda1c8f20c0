"""A noisy histogram as it travels: what it may say, and what is refused."""

import json

import numpy as np
import pytest
from tests.unit.protocol.samples import message, plan

import fedparity as fp
from fedparity.documents import HistogramCell

ASKED = plan(privacy={"mode": "dp", "epsilon": 1, "bins": 3})
VALID = {
    "group": "A",
    "count": 37,
    "values": [9, -2, 30],
    "levels": 3,
    "rank_error": 0,
    "withheld": None,
}


def sent(**changes):
    """The bytes of a message whose first cell is changed."""
    cells = [HistogramCell(group="A", values=[9, -2, 30]), HistogramCell.kept_back("B")]
    document = message(ASKED, kind="histogram", cells=cells).to_dict()
    document["cells"][0] = {**VALID, **changes}
    return json.dumps(document).encode()


def test_a_valid_cell_is_read_as_it_was_written():
    (cell, withheld) = fp.SiloSketch.from_bytes(sent()).cells

    assert cell == HistogramCell(group="A", values=np.array([9, -2, 30]))
    assert (cell.count, cell.levels) == (37, 3)
    assert withheld.values is None
    assert hash(cell) == hash(HistogramCell(group="A", values=[9, -2, 30]))
    assert cell != withheld


def test_a_negative_sum_is_a_count_of_zero():
    assert HistogramCell(group="A", values=[-5, 2]).count == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"count": 36},
        {"count": None},
        {"count": 37.5},
        {"count": True, "values": [1, 0, 0]},
        {"values": [9, -2, 30.5]},
        {"values": [9, -2, None]},
        {"values": [9, -2, 10**14]},
        {"values": [37], "levels": 1},
        {"values": []},
        {"values": "9"},
        {"values": None},
        {"levels": 4},
        {"rank_error": 0.1},
        {"rank_error": False},
        {"withheld": "small"},
        {"withheld": "complementary", "count": None, "values": None, "levels": 0},
        {"group": None},
    ],
    ids=str,
)
def test_what_is_not_a_cell_is_refused(changes):
    with pytest.raises(fp.errors.MessageError):
        fp.SiloSketch.from_bytes(sent(**changes))


def test_cells_of_the_other_kind_are_refused():
    with pytest.raises(fp.errors.MessageError, match="cells"):
        message(ASKED, kind="histogram")
    with pytest.raises(fp.errors.MessageError, match="cells"):
        message(cells=[HistogramCell.kept_back("A"), HistogramCell.kept_back("B")])


def test_a_noisy_message_gives_no_cells_to_plain_measures():
    assert fp.SiloSketch.from_bytes(sent()).released(ASKED) == {}


def test_values_of_a_cell_cannot_be_changed():
    cell = HistogramCell(group="A", values=[9, 30])

    with pytest.raises(ValueError, match="read-only"):
        cell.values[0] = 0
