"""Atoms find the nodes around them as a binary search would, and parts of redraws are read as the whole."""

import numpy as np
import pytest

from fedparity.federated.reconstruction import CellLayout, mean_shapes
from fedparity.uncertainty import score_nodes
from fedparity.uncertainty.score_nodes import ScoreNodes, blocks


@pytest.fixture
def random():
    return np.random.default_rng(5)


@pytest.mark.parametrize("spread", [1.0, 1e-12, 1e9, 1e-307])
@pytest.mark.parametrize("tail", [1, 4, 40])
def test_atoms_find_the_node_before_them_as_a_binary_search_does(random, spread, tail):
    """Also those that are nodes, and those beyond the ends; heavy tails crowd the nodes."""
    scores = np.unique(random.random(320) ** tail) * spread
    own = random.random(2000) ** tail * spread
    atoms = np.concatenate((scores, own, [-spread, 2 * spread]))[None]

    found = ScoreNodes(np.unique(scores), False, 200).place(atoms).before

    expected = np.searchsorted(np.unique(scores), atoms, side="right") - 1
    assert (found == np.clip(expected, 0, np.unique(scores).size - 2)).all()


def test_curves_are_read_alike_in_however_many_parts(random, monkeypatch):
    nodes = ScoreNodes(np.linspace(0, 1, 50), False, 40)
    masses = random.random((200, 3, 50)) * (random.random((200, 3, 50)) < 0.5)
    whole = nodes.read(masses).table.values

    monkeypatch.setattr(score_nodes, "_IN_CACHE", 1000)

    assert len(list(blocks(200, 3 * 52))) > 1
    assert (nodes.read(masses).table.values == whole).all()


def test_rounded_values_that_are_equal_are_spread_between_their_neighbors():
    """Runs of two sets and two cells: none reaches into the next cell or the next set."""
    layout = CellLayout.of(np.array([4, 3]))
    means = np.array([[0.1, 0.2, 0.2, 0.3, 0.3, 0.3, 0.9], [0.1, 0.1, 0.1, 0.1, 0.5, 0.6, 0.6]])

    found = mean_shapes(means, layout, mean_squares=np.full(2, np.nan), value_error=0.05).means()

    expected = [
        [0.1, 0.175, 0.225, 0.3, 0.275, 0.325, 0.9],
        [0.0625, 0.0875, 0.1125, 0.1375, 0.5, 0.575, 0.625],
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-12)
