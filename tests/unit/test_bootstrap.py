"""The bootstrap redraws what the paper's sampling model says, whatever the machine."""

import numpy as np
import pytest

import fedparity as fp
from fedparity.diagnostics.bootstrap import bootstrap, default_redraws
from fedparity.diagnostics.gamma_variables import GammaVariables
from fedparity.diagnostics.resampling import Resampler


def beta_federation(seed, *, silos=4, cell=300, levels=50, kind="quantile", gap=3.0):
    random = np.random.default_rng(seed)
    size = 2 * silos * cell
    groups = random.integers(0, 2, size)
    scores = random.beta(3 + gap * groups, 4)
    return fp.Federation.from_scores(
        scores, groups=groups, silos=random.integers(0, silos, size), levels=levels, kind=kind
    )


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads():
    federation = beta_federation(0)
    one, three, other = (
        bootstrap(federation, redraws=40, seed=seed, threads=threads)
        for seed, threads in ((5, 1), (5, 3), (6, 1))
    )

    for name, draws in one.items():
        assert np.array_equal(draws.values, three[name].values)
        assert np.array_equal(draws.null, three[name].null)
    assert not np.array_equal(one["disparity"].values, other["disparity"].values)


@pytest.mark.parametrize("kind", ["quantile", "mean"])
@pytest.mark.parametrize("order", [1, 2])
def test_redraws_scatter_around_the_measures_themselves(kind, order):
    """Undisturbed, each measure is what the estimators give, up to the bins of the bootstrap."""
    federation = beta_federation(1, kind=kind)
    method = fp.Method(order=order)
    draws = bootstrap(federation, method, redraws=20, seed=0)
    terms, parts = fp.decompose(federation, method), fp.attribute(federation, method)
    found = fp.estimate(federation, method)
    scale = found.disparity

    assert draws["disparity"].base == pytest.approx(found.disparity, rel=0.02)
    assert draws["heterogeneity"].base == pytest.approx(found.heterogeneity, rel=0.02)
    assert draws["v_mix"].base == pytest.approx(terms.v_mix, abs=0.02 * scale)
    assert draws["v_bar"].base == pytest.approx(terms.v_bar, abs=0.02 * scale)
    assert draws["selection"].base == pytest.approx(parts.selection, abs=0.02 * scale)
    assert draws["within"].base == pytest.approx(parts.within, abs=0.02 * scale)
    local = [audit.disparity for audit in fp.local_audits(federation, method)]
    assert draws["local"].base == pytest.approx(local, rel=1e-9)


@pytest.mark.parametrize("kind", ["quantile", "mean"])
def test_redraws_scatter_as_much_as_samples_do(kind):
    """The standard deviation over redraws of one sample is that over fresh samples."""
    samples = [fp.estimate(beta_federation(s, kind=kind)).disparity for s in range(150)]
    redrawn = [
        bootstrap(beta_federation(s, kind=kind), redraws=100, seed=s, details=False)[
            "disparity"
        ].values.std(ddof=1)
        for s in range(10)
    ]

    assert np.mean(redrawn) == pytest.approx(np.std(samples, ddof=1), rel=0.15)


def test_the_null_has_the_mean_of_what_samples_without_disparity_show():
    samples = [fp.estimate(beta_federation(s, gap=0.0)).disparity for s in range(300)]
    nulls = [
        bootstrap(beta_federation(s, gap=0.0), redraws=60, seed=s, details=False)[
            "disparity"
        ].null.mean()
        for s in range(20)
    ]

    assert np.mean(nulls) == pytest.approx(np.mean(samples), rel=0.15)


def test_redrawn_levels_have_the_law_of_order_statistics():
    """The record of rank r among n is Beta(r, n + 1 - r)."""
    cell = {"count": 40, "values": np.linspace(0.0, 1.0, 10)}
    cells = {("s", "a"): fp.Cell(**cell), ("s", "b"): fp.Cell(**cell)}
    resampler = Resampler(fp.Federation.from_cells(cells), 10)
    random = np.random.default_rng(3)
    levels = np.stack(
        [resampler._levels(resampler.spacings.draw(random))[:10] for _ in range(4000)]  # noqa: SLF001
    )
    ranks = np.array([2, 6, 10, 14, 18, 22, 26, 30, 34, 38])
    mean = ranks / 41

    assert levels.mean(axis=0) == pytest.approx(mean, abs=0.006)
    assert levels.var(axis=0) == pytest.approx(mean * (1 - mean) / 42, rel=0.1)


@pytest.mark.parametrize("shape", [1.0, 2.0, 5.0, 50.0])
def test_gamma_variables_have_their_mean_and_variance(shape):
    draws = GammaVariables(np.full(200_000, shape)).draw(np.random.default_rng(0))

    assert draws.mean() == pytest.approx(shape, rel=0.01)
    assert draws.var() == pytest.approx(shape, rel=0.03)
    assert GammaVariables(np.zeros(3)).draw(np.random.default_rng(0)).tolist() == [0.0, 0.0, 0.0]


def test_silos_without_a_group_and_cells_of_any_k_can_be_redrawn():
    random = np.random.default_rng(0)
    cells = {
        (silo, group): fp.Cell.from_scores(random.random(50 + silo), levels=3 + silo)
        for silo in range(4)
        for group in "abc"
        if (silo, group) != (2, "a")
    }
    draws = bootstrap(fp.Federation.from_cells(cells), redraws=30, seed=0)

    assert all(np.isfinite(draw.values).all() for draw in draws.values())


def test_very_many_values_are_redrawn_less_often():
    assert default_redraws(beta_federation(0)) == 1000
