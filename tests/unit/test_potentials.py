"""Potentials: they are dual to the cost, and their integrals are bounded by what is known."""

import numpy as np
import pytest
from tests.random_federations import disclosed, random_data, rounded_cell

import fedparity as fp
from fedparity.uncertainty.checks import Evidence
from fedparity.uncertainty.potentials import (
    _least_integral,
    _Potential,
    _potentials,
    _reference,
    pieces_of,
)


def random_potential(random):
    """Any potential, or a convex one over the whole range, to which a mean square adds."""
    knots = np.sort(random.random(int(random.integers(1, 9))))
    slopes = random.normal(size=knots.size)
    if random.random() < 0.5:
        knots = np.concatenate(([0.0], knots, [1.0]))
        slopes = np.sort(random.normal(size=knots.size))
    return _Potential.from_slopes(knots, slopes, 1.0, float(random.normal()))


def test_a_potential_is_the_integral_of_its_slopes():
    """Slopes are linear between knots, so the trapezoids between points that include them are exact."""
    for seed in range(50):
        potential = random_potential(np.random.default_rng(seed))
        inside = potential.knots[(potential.knots > 0) & (potential.knots < 1)]
        points = np.union1d(np.linspace(0, 1, 1_001), inside)
        values, slopes = potential.at(points)
        steps = np.diff(points) * (slopes[1:] + slopes[:-1]) / 2
        variation = potential.variation(1.0)

        assert np.allclose(np.diff(values), steps, rtol=0, atol=1e-12)
        assert np.ptp(values) - 1e-12 <= variation <= np.ptp(values) + 1e-3


def test_the_least_curvature_is_that_of_the_segments_between():
    for seed in range(50):
        random = np.random.default_rng(seed)
        potential = random_potential(random)
        low, high = np.sort(random.random((2, 30)), axis=0)
        found = potential.least_curvature(low, high)
        for left, right, least in zip(low, high, found, strict=True):
            _, slopes = potential.at(np.linspace(left, right, 50))

            assert least <= np.min(np.diff(slopes) / ((right - left) / 49)) + 1e-6


@pytest.mark.parametrize("order", [1, 2])
def test_the_potentials_of_scores_and_targets_never_exceed_the_cost(order):
    """phi(x) + psi(b) <= |x - b|^p for all x and b, and the psi of all groups add up to zero."""
    points = np.linspace(0, 1, 101)
    cost = np.abs(points[:, None] - points) ** order
    for seed in range(60):
        random = np.random.default_rng(seed)
        federation = disclosed(*random_data(random), random)
        unseen = {group: random.integers(0, 9) for group in federation.groups}
        evidence = Evidence.from_federation(federation, (0, 1), unseen)
        reference = _reference(evidence, 8, order)
        together = np.zeros(points.size)
        for share, slopes in zip(evidence.shares, reference.slopes, strict=True):
            scores, targets = _potentials(reference.knots, 0.99 * slopes, 1.0, order)
            phi = scores.at(points)[0]
            psi = -phi if order == 1 else targets.at(points)[0]
            together += share * psi

            assert (phi[:, None] + psi <= cost + 1e-9).all()

        assert together == pytest.approx(np.zeros(points.size), abs=1e-9)


def test_the_integral_of_a_potential_is_never_below_its_bound():
    """Whatever the potential, for bins with rounded means and mean squares and for envelopes."""
    for seed in range(400):
        random = np.random.default_rng(seed)
        scores, labels, silos = random_data(random)
        kind = random.choice(["mean", "mean", "mean", "quantile", "counts"])
        cells = {}
        for silo, group in {*zip(silos.tolist(), labels.tolist(), strict=True)}:
            own = scores[(silos == silo) & (labels == group)]
            cell = fp.Cell.from_scores(own, levels=int(random.integers(1, 6)), kind=kind)
            cells[silo, group] = rounded_cell(cell, random)
        federation = fp.Federation.from_cells(cells)
        potential = random_potential(random)
        pieces = pieces_of(Evidence.from_federation(federation, (0, 1)))
        for group, known in zip(federation.groups, pieces, strict=True):
            truth = float(np.mean(potential.at(scores[labels == group])[0]))

            assert _least_integral(potential, known) <= truth + 1e-9
