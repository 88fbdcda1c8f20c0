"""Simulated sketches are drawn as records would be, and read as the estimator reads them."""

import numpy as np
import pytest
from tests.unit.planning.audits import EQUAL, ESTIMATORS, KINDS, labels

import fedparity as fp
from fedparity.planning.scenario import SHAPES
from fedparity.planning.simulation import order_statistics, read_mixture, sketch_of, spread_of
from fedparity.sketches.kinds import ranks


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_sketches_are_read_as_the_estimator_reads_them(kind, estimator):
    """Unequal groups, bins that cut through records, ties."""
    silos, counts, levels = 3, (23, 40, 11), 7
    random = np.random.default_rng(5)
    cells = [np.sort(random.integers(0, 30, (1, silos, n)) / 30, axis=-1) for n in counts]
    shares = np.array(counts) / sum(counts)
    read = [read_mixture(sketch_of(cell, levels, kind), estimator) for cell in cells]
    groups, places = labels(silos, counts)
    federation = fp.Federation.from_scores(
        np.concatenate([cell.ravel() for cell in cells]),
        groups=groups,
        silos=places,
        levels=levels,
        kind=kind,
    )
    expected = fp.theory.estimate(federation, fp.Method(estimator=estimator)).disparity
    if (kind, estimator) == ("mean", "exact"):  # planning reads the means as they are
        expected = fp.disparity(
            fp.theory.mixtures(federation, reconstruct=False), federation.weights
        )

    assert spread_of(read, shares)[0] == pytest.approx(expected, rel=1e-12)


def test_the_disparity_of_simulated_records_is_exact():
    random = np.random.default_rng(6)
    groups = [np.sort(random.random((1, count)), axis=1) for count in (20, 35, 6)]
    scores = np.concatenate([group[0] for group in groups])
    expected = fp.disparity(scores, sensitive_features=np.repeat([0, 1, 2], [20, 35, 6]))

    assert spread_of(groups, np.array([20, 35, 6]) / 61)[0] == pytest.approx(expected, rel=1e-12)


def test_order_statistics_have_the_moments_of_sorted_uniforms():
    """Means r/(n+1) and covariances r(n+1-s)/((n+1)²(n+2)) for r <= s."""
    count, wanted = 19, ranks(19, 4)
    drawn = order_statistics(np.random.default_rng(7), wanted, count, (40_000,))
    r, s = np.minimum.outer(wanted, wanted), np.maximum.outer(wanted, wanted)
    covariances = r * (count + 1 - s) / ((count + 1) ** 2 * (count + 2))

    assert drawn.mean(axis=0) == pytest.approx(wanted / (count + 1), abs=3e-3)
    assert np.cov(drawn.T) == pytest.approx(covariances, rel=0.05)


def test_bin_means_of_many_records_may_be_taken_over_a_part_of_them():
    """500 order statistics of 5000 records move the estimate by 2 % of its own deviation."""
    random = np.random.default_rng(8)
    laws = SHAPES["beta"].laws(2, 1.0)
    records = [law.quantile(np.sort(random.random((60, 2, 5000)), axis=-1)) for law in laws]

    def estimates(cells):
        return spread_of(
            [read_mixture(sketch_of(cell, 50, "mean"), "exact") for cell in cells], EQUAL
        )

    everything = estimates(records)
    part = estimates([cells[..., ranks(5000, 500) - 1] for cells in records])

    assert np.abs(part - everything).max() < 0.05 * everything.std()
