"""How measures scatter around other truths: laws that are moved, with the noise of redraws."""

import numpy as np
import pytest

import fedparity as fp
from fedparity.federated.estimate import Method
from fedparity.uncertainty.bootstrap import bootstrap, pooled_bootstrap
from fedparity.uncertainty.moved_laws import Curves, Ends, MovedLaws


def of_zeros_and_ones(shares_of_ones, noise, null):
    """Two groups of one half each with scores 0 or 1, whose shares of ones have this noise."""
    cdfs = np.column_stack((1 - np.asarray(shares_of_ones), np.ones(2)))
    curves = Curves(
        own=cdfs,
        noise=np.stack((-noise, np.zeros_like(noise)), axis=-1),
        shift=np.array([1.0, 0.0]),
        widths=np.array([1.0, 0.0]),
        shares=np.array([0.5, 0.5]),
        redrawn_shares=np.full((len(noise), 2), 0.5),
    )

    def disparity(cdfs, shares):
        """By hand: one step of length 1, and the share of people who must take it."""
        return shares.prod(axis=-1) * np.abs(cdfs[:, 0, 0] - cdfs[:, 1, 0])

    return MovedLaws(curves, (0, 1), disparity, Ends(null, 0.1))


def test_shares_of_ones_scatter_around_any_truth_as_their_difference_does():
    random = np.random.default_rng(0)
    noise = random.normal(0, 0.05, (400, 2))
    errors = np.diff(noise, axis=1)[:, 0]
    scatter = of_zeros_and_ones([0.5, 0.52], noise, np.abs(errors) / 4).scatter
    candidates = np.array([0.0, *scatter.truths[1:4]])

    found = scatter.at(candidates, 2)

    assert scatter.truths[-1] > 0.1
    np.testing.assert_allclose(found[0], np.sort(np.abs(errors)) / 4)
    for truth, row in zip(candidates[1:], found[1:], strict=True):
        np.testing.assert_allclose(row, np.sort(np.abs(4 * truth + errors)) / 4, atol=1e-12)


def test_equal_laws_are_moved_apart():
    noise = np.random.default_rng(0).normal(0, 0.05, (100, 2))
    scatter = of_zeros_and_ones([0.5, 0.5], noise, np.abs(noise[:, 0])).scatter

    assert scatter.truths[-1] > 0


def test_shapes_that_noise_explains_are_not_stretched():
    """The differences of two laws that noise alone may show are taken for a shift; larger ones are kept."""
    random = np.random.default_rng(0)
    noise = random.normal(0, 0.01, (200, 2, 9))
    shift, zigzag = np.ones(9), np.resize([1.0, -1.0], 9)

    def truth(size):
        apart = size * (shift + zigzag)
        curves = Curves(
            own=np.stack((-apart / 2, apart / 2)),
            noise=noise,
            shift=shift,
            widths=shift / 9,
            shares=np.array([0.5, 0.5]),
            redrawn_shares=np.full((200, 2), 0.5),
        )
        seen = []

        def measure(laws, _):
            seen.append(laws[0, 1] - laws[0, 0])
            return np.mean(np.abs(laws[:, 1] - laws[:, 0]), axis=-1)

        MovedLaws(curves, (0, 1), measure, Ends(np.zeros(200), 0.0)).scatter  # noqa: B018 -- computed here
        return np.std(seen[0]) / np.mean(seen[0])

    assert truth(0.001) == pytest.approx(0.0, abs=1e-9)
    assert truth(1.0) == pytest.approx(np.std(shift + zigzag) / np.mean(shift + zigzag), rel=0.01)


@pytest.mark.parametrize(("kind", "order"), [("counts", 2), ("counts", 1), ("mean", 1)])
@pytest.mark.parametrize("draw", [bootstrap, pooled_bootstrap])
def test_where_no_formula_holds_all_measures_have_moved_laws(kind, order, draw):
    random = np.random.default_rng(1)
    groups = random.integers(0, 3, 900)
    federation = fp.Federation.from_scores(
        random.integers(0, 5, 900).astype(float) + (groups == 2),
        groups=groups,
        silos=random.integers(0, 2, 900),
        levels=20,
        kind=kind,
    )
    draws = draw(federation, Method(order=order, estimator="exact"), redraws=60, seed=0)

    for name, columns in {"disparity": 1, "heterogeneity": 1, "pairs": 3}.items():
        laws = draws[name].laws
        assert len(laws) == columns
        for each in laws:
            truths, found = each.scatter
            assert truths[0] == 0
            assert np.all(np.diff(truths) >= 0)
            assert np.all(np.diff(found, axis=1) >= 0)
            assert truths[-1] > draws[name].values.mean() / 4
