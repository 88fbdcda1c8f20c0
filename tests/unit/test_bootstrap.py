"""The bootstrap redraws what the paper's sampling model says, whatever the machine."""

import numpy as np
import pytest
from scipy import stats

import fedparity as fp
from fedparity.uncertainty.bootstrap import Draws, _with_roughness, bootstrap, default_redraws
from fedparity.uncertainty.resampling import GammaVariables, Resolution, resampler
from fedparity.uncertainty.score_nodes import ScoreNodes


def beta_federation(seed, *, silos=4, cell=300, levels=50, kind="quantile", gap=3.0):
    random = np.random.default_rng(seed)
    size = 2 * silos * cell
    groups = random.integers(0, 2, size)
    scores = random.beta(3 + gap * groups, 4)
    return fp.Federation.from_scores(
        scores, groups=groups, silos=random.integers(0, silos, size), levels=levels, kind=kind
    )


def test_the_same_seed_gives_the_same_numbers():
    federation = beta_federation(0)
    one, again, other = (bootstrap(federation, redraws=40, seed=seed) for seed in (5, 5, 6))

    for name, draws in one.items():
        assert np.array_equal(draws.values, again[name].values)
        assert np.array_equal(draws.null, again[name].null)
    assert not np.array_equal(one["disparity"].values, other["disparity"].values)


@pytest.mark.parametrize("kind", ["quantile", "mean"])
@pytest.mark.parametrize("order", [1, 2])
def test_redraws_scatter_around_the_measures_themselves(kind, order):
    """The population of redraws has the measures that the estimators give, up to its nodes."""
    federation = beta_federation(1, kind=kind)
    method = fp.Method(order=order)
    draws = bootstrap(federation, method, redraws=20, seed=0)
    found, parts = fp.theory.estimate(federation, method), fp.theory.attribute(federation, method)
    (pair,) = fp.theory.pairs(federation, method)
    rel = 0.01 if kind == "quantile" else 0.002

    assert draws["disparity"].base == pytest.approx(found.disparity, rel=rel)
    assert draws["heterogeneity"].base == pytest.approx(found.heterogeneity, rel=rel)
    assert draws["pairs"].base == pytest.approx([pair.wasserstein**order], rel=rel)
    scale = 0.01 * found.disparity
    assert draws["selection"].base == pytest.approx(parts.selection, abs=scale)
    assert draws["within"].base == pytest.approx(parts.within, abs=scale)


def test_redraws_of_counts_scatter_around_the_exact_measures():
    random = np.random.default_rng(0)
    groups = random.integers(0, 3, 4000)
    scores = np.minimum(random.poisson(3 + groups), 9).astype(float)
    silos = random.integers(0, 4, 4000)
    federation = fp.Federation.from_scores(scores, groups=groups, silos=silos)
    draws = bootstrap(federation, redraws=20, seed=0)
    parts = fp.theory.attribute(federation)

    assert federation.kind == "counts"
    assert draws["disparity"].base == pytest.approx(
        fp.disparity(scores, sensitive_features=groups), rel=1e-12
    )
    assert draws["heterogeneity"].base == pytest.approx(
        fp.heterogeneity(scores, sensitive_features=groups), rel=1e-12
    )
    assert draws["selection"].base == pytest.approx(parts.selection, rel=1e-9)
    assert draws["within"].base == pytest.approx(parts.within, rel=1e-9)


@pytest.mark.parametrize("kind", ["quantile", "mean"])
def test_redraws_scatter_as_much_as_samples_do(kind):
    """The standard deviation over redraws of one sample is that over fresh samples."""
    samples = [fp.theory.estimate(beta_federation(s, kind=kind)).disparity for s in range(150)]
    redrawn = [
        bootstrap(beta_federation(s, kind=kind), redraws=100, seed=s, details=False)[
            "disparity"
        ].values.std(ddof=1)
        for s in range(10)
    ]

    assert np.mean(redrawn) == pytest.approx(np.std(samples, ddof=1), rel=0.15)


def test_the_null_has_the_mean_of_what_samples_without_disparity_show():
    samples = [fp.theory.estimate(beta_federation(s, gap=0.0)).disparity for s in range(300)]
    nulls = [
        bootstrap(beta_federation(s, gap=0.0), redraws=60, seed=s, details=False)[
            "disparity"
        ].null.mean()
        for s in range(20)
    ]

    assert np.mean(nulls) == pytest.approx(np.mean(samples), rel=0.15)


def test_redrawn_quantiles_have_the_law_of_order_statistics():
    """The record of rank r among n of a uniform law is Beta(r, n + 1 - r)."""
    middles = (np.arange(10) + 0.5) / 10
    cells = {("s", g): fp.Cell(count=40, values=middles) for g in "ab"}
    source = resampler(
        fp.Federation.from_cells(cells), exact=True, details=False, resolution=Resolution()
    )
    drawn, _ = source._sketched(source.laws, 4000, np.random.default_rng(3))  # noqa: SLF001
    values = drawn[:, :10]
    ranks = np.array([2, 6, 10, 14, 18, 22, 26, 30, 34, 38])
    mean = ranks / 41

    assert values.mean(axis=0) == pytest.approx(mean, abs=0.006)
    assert values.var(axis=0) == pytest.approx(mean * (1 - mean) / 42, rel=0.1)


def test_redrawn_bin_means_have_the_law_of_those_of_records():
    """Mean and variance of the means of four bins of forty uniform records."""
    random = np.random.default_rng(4)
    means = np.sort(random.random((20_000, 40)), axis=1).reshape(-1, 4, 10).mean(axis=2)
    cell = fp.Cell(
        count=40, values=(np.arange(4) + 0.5) / 4, kind="mean", mean_square=1 / (12 * 16)
    )
    source = resampler(
        fp.Federation.from_cells({("s", g): cell for g in "ab"}),
        exact=True,
        details=False,
        resolution=Resolution(),
    )
    drawn, squares = source._sketched(source.laws, 20_000, random)  # noqa: SLF001
    values = drawn[:, :4]

    assert values.mean(axis=0) == pytest.approx(means.mean(axis=0), abs=0.003)
    assert values.var(axis=0) == pytest.approx(means.var(axis=0), rel=0.06)
    assert np.cov(values.T) == pytest.approx(np.cov(means.T), abs=2e-4)
    assert squares.shape == (20_000, 2)


def test_redraws_of_a_heavy_tail_scatter_as_its_records_do():
    """The last of ten bins of 100 lognormal records, and the mean square: spread and skewness."""
    random = np.random.default_rng(5)
    scores = np.sort(np.exp(random.standard_normal((4_000, 100))), axis=1).reshape(-1, 10, 10)
    levels = (np.arange(100_000) + 0.5) / 100_000
    law = np.exp(stats.norm.ppf(levels)).reshape(10, -1)
    cell = fp.Cell(
        count=100, values=law.mean(axis=1), kind="mean", mean_square=law.var(axis=1).mean()
    )
    source = resampler(
        fp.Federation.from_cells({("s", g): cell for g in "ab"}),
        exact=True,
        details=False,
        resolution=Resolution(),
    )
    drawn, squares = source._sketched(source.laws, 4_000, random)  # noqa: SLF001
    last, expected = drawn[:, 9], scores[:, 9].mean(axis=1)

    assert last.mean() == pytest.approx(expected.mean(), rel=0.05)
    assert last.std() == pytest.approx(expected.std(), rel=0.2)
    assert squares[:, 0].mean() == pytest.approx(scores.var(axis=2).mean(), rel=0.25)
    assert stats.skew(last) > 0.5


def heavy_tails(mean_square_error):
    """Cells of a heavy tail, with values rounded to 0.15."""
    random = np.random.default_rng(7)
    cells = {}
    for label in [(silo, group) for silo in range(5) for group in range(2)]:
        scores = np.exp(0.8 * random.standard_normal(200))
        cell = fp.Cell.from_scores(scores, levels=20, kind="mean")
        cells[label] = fp.Cell(
            count=200,
            values=np.rint(cell.values / 0.15) * 0.15,
            kind="mean",
            value_error=0.075,
            mean_square=cell.mean_square,
            mean_square_error=mean_square_error,
        )
    federation = fp.Federation.from_cells(cells, score_range=(0.0, 30.0))
    return resampler(federation, exact=True, details=False, resolution=Resolution())


@pytest.mark.parametrize("alike", [False, True])
def test_a_large_value_of_one_cell_does_not_move_those_of_the_next(alike):
    """Redraws of a heavy tail go beyond what was sent; rounding moves nothing by more than half a step."""
    source = heavy_tails(0.0)
    values = source.federation.values[None].repeat(50, axis=0)
    values[:, source.layout.ends] = 30.0
    moved = source._rounded(values, np.random.default_rng(0), alike=alike)  # noqa: SLF001

    assert 0.07 < np.abs(moved - values).max() < 0.075 + 1e-9


def test_without_a_disparity_rounding_moves_all_groups_alike():
    """Two groups of huge cells have one law, so that rounding does not drive them apart."""
    values = np.rint(stats.beta(3, 4).ppf((np.arange(20) + 0.5) / 20) * 200) / 200
    cell = fp.Cell(count=10**6, values=values, kind="mean", value_error=0.0025, mean_square=0.0003)
    federation = fp.Federation.from_cells({("s", g): cell for g in "ab"}, score_range=(0.0, 1.0))
    draws = bootstrap(federation, redraws=50, seed=0)["disparity"]

    assert np.median(draws.null) < 0.3 * np.median(draws.values)


def test_mean_squares_of_redraws_are_rounded_as_those_sent():
    """Where the step is coarse, rounding them is much of the noise of a heavy tail."""
    exact, coarse = (
        source._sketched(source.laws, 300, np.random.default_rng(0))[1]  # noqa: SLF001
        for source in map(heavy_tails, (0.0, 0.2))
    )
    steps = coarse / 0.4

    assert np.abs(steps - np.rint(steps)).max() < 1e-12
    assert 0 < np.mean(coarse == 0) < 1
    assert np.unique(exact).size == exact.size


def lognormal_federation(seed):
    """Five silos of two groups without a disparity, and the disparity of their records."""
    random = np.random.default_rng(seed)
    groups, silos = random.integers(0, 2, 2_000), random.integers(0, 5, 2_000)
    scores = np.exp(0.8 * random.standard_normal(2_000))
    federation = fp.Federation.from_scores(scores, groups=groups, silos=silos, levels=20)
    return federation, fp.disparity(scores, sensitive_features=groups)


def test_redraws_of_a_heavy_tail_grow_by_as_much_as_samples_do():
    """The noise of the sample is rough; redraws are smoother, and used to grow by half as much."""
    expected = np.mean([lognormal_federation(seed)[1] for seed in range(400)])
    grown = []
    for seed in range(20):
        federation, _ = lognormal_federation(seed)
        draws = bootstrap(federation, redraws=60, seed=seed, details=False)["disparity"]
        grown.append(draws.values.mean() - draws.base)

    assert np.mean(grown) == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize(
    ("growth", "expected"),
    [(1.5, 1.5), (1.0, 1.0), (0.6, 1.0), (0.0, 1.0), (-0.5, 0.5), (-4.0, -3.0)],
)
def test_a_loss_up_to_the_noise_is_made_good(growth, expected):
    spread = np.linspace(-0.1, 0.1, 11)
    draws = Draws(np.array(7.0), 7.0 + growth + spread, 1.0 + spread, np.zeros(11))
    moved = _with_roughness(draws)

    assert moved.values.mean() - moved.base == pytest.approx(expected)
    assert np.ptp(moved.values) == pytest.approx(0.2)


def test_a_few_large_scores_count_in_full():
    """One record in two thousand holds nearly all of the distance: it is not read between two levels."""
    nodes = ScoreNodes(np.concatenate((np.linspace(0, 1, 100), [1_000.0, 3_000.0])), False, 200)
    masses = np.full((1, 2, 102), 1_999 / 100)
    masses[0, 0, -2:], masses[0, 1, -2:] = (1.0, 0.0), (0.0, 1.0)
    curves = nodes.read(masses)
    fine = nodes.read(masses, levels=200_000)
    distance, expected = (
        np.sum((each.table.values[0, 0] - each.table.values[0, 1]) ** 2 * each.table.widths[0])
        for each in (curves, fine)
    )

    assert curves.table.widths.sum() == pytest.approx(1.0)
    assert distance == pytest.approx(expected, rel=0.05)


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
    assert default_redraws(beta_federation(0)) == 500
