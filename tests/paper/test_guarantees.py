"""Sections 4, C, E and F: what holds with high probability, with every constant stated.

Each inequality is tested on seeded simulations: the share of runs in which it fails is at most
one minus the confidence, up to what chance explains.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from tests.paper.densities import Blocks

import fedparity as fp
from fedparity.sketches.kinds import ranks
from fedparity.theory import (
    dkw_band,
    likely_master_bound,
    master_bound,
    pooled_bound,
    quantile_error,
    share_errors,
)

DELTA = 0.05
BETAS = (stats.beta(3, 4), stats.beta(6, 4))


def chance(failures, delta=DELTA):
    """Return whether so many failures are explained by a probability of at most ``delta``.

    ``failures`` holds one boolean per run; chance alone exceeds this once in a thousand times.
    """
    return np.count_nonzero(failures) <= stats.binom.ppf(0.999, failures.size, delta)


def largest_gaps(uniforms):
    """Return ‖F̂ - F‖ of samples of the uniform law on [0, 1], one per row of sorted draws."""
    records = uniforms.shape[-1]
    above = np.arange(1, records + 1) / records - uniforms
    below = uniforms - np.arange(records) / records
    return np.maximum(above, below).max(axis=-1)


@pytest.fixture(scope="module")
def gaps():
    """‖F̂ - F‖ in 20,000 samples of 200 records; for continuous laws they are all alike."""
    draws = np.random.default_rng(1).random((20_000, 200))
    return largest_gaps(np.sort(draws, axis=-1))


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99])
def test_lem_dkw_massart_band_covers_the_cdf_and_is_no_wider_than_it_must(gaps, confidence):
    """P(‖F̂ - F‖ > band) ≤ δ, and the band is within six per cent of the smallest that does."""
    band = dkw_band(200, confidence=confidence)

    assert chance(gaps > band, 1 - confidence)
    assert 1 <= band / np.quantile(gaps, confidence) < 1.06


@pytest.mark.parametrize("cells", [2, 10, 100])
def test_lem_dkw_massart_band_holds_in_all_cells_at_once(gaps, cells):
    """The largest of c independent gaps exceeds the band with probability at most δ."""
    largest = gaps.reshape(-1, cells).max(axis=1)
    band = dkw_band(200, cells=cells)

    assert chance(largest > band)
    assert 0.98 < band / np.quantile(largest, 1 - DELTA) < 1.1


def test_lem_dkw_massart_band_holds_for_the_betas(beta_knots):
    """No law is special: neither are the betas, whose cdfs are read here at their records."""
    assert chance(beta_knots["gap"] > dkw_band(RECORDS, cells=CELLS))


def test_lem_dkw_bounds_the_tail_at_every_t(gaps):
    """P(‖F̂ - F‖ ≥ t) ≤ 2 exp(-2nt²), and at t = 0.085 no less than four fifths of that."""
    for t in np.linspace(0.06, 0.13, 15):
        tail = 2 * math.exp(-2 * 200 * t**2)

        assert chance(gaps >= t, tail)
        assert dkw_band(200, confidence=1 - tail) == pytest.approx(t)

    assert np.mean(gaps >= 0.085) > 0.8 * 2 * math.exp(-2 * 200 * 0.085**2)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_lem_dkw_holds_for_laws_with_atoms(share):
    """A law with two atoms has one cdf value to estimate: the bound is then generous."""
    records = 50
    counts = np.random.default_rng(2).binomial(records, share, 20_000)

    assert chance(np.abs(counts / records - share) > dkw_band(records))


RECORDS, LEVELS, SILOS, CELLS = 1_000, 100, 5, 10
TRIM = 0.1
GRID = fp.Method(estimator="grid")
RUNS = 800


@pytest.fixture(scope="module")
def beta_knots():
    """Largest errors, over five silos of both groups, of the quantiles of beta samples."""
    rng = np.random.default_rng(3)
    grid = fp.theory.midpoints(LEVELS)
    band = dkw_band(RECORDS, cells=CELLS)
    inside = (grid >= TRIM + band) & (grid <= 1 - TRIM - band)
    steps = np.linspace(0, 1, 4_001)
    errors, largest = [], []
    for law in BETAS:
        draws = rng.beta(*law.args, (RUNS, SILOS, RECORDS))
        draws.sort(axis=-1)
        knots = draws[..., ranks(RECORDS, LEVELS) - 1]
        errors.append(np.abs(knots - law.ppf(grid))[..., inside].max(axis=(1, 2)))
        largest.append(largest_gaps(np.interp(draws, steps, law.cdf(steps))).max(axis=1))
    return {"error": np.max(errors, axis=0), "gap": np.max(largest, axis=0)}


def beta_floor(trim):
    """Return the smallest density of either beta law between its trimmed levels.

    Both have one mode, so that it is at one of the two ends.
    """
    return min(law.pdf(law.ppf([trim, 1 - trim])).min() for law in BETAS)


def test_prop_hp_quantiles_holds_one_band_inside_the_trimmed_levels(beta_knots):
    """|Q̂ - Q| ≤ Δ/m for u in [ε + Δ, 1 - ε - Δ], in all cells at once, for the two betas."""
    bound = quantile_error(RECORDS, density=beta_floor(TRIM), levels=LEVELS, cells=CELLS)

    assert beta_floor(0.001) < beta_floor(TRIM) / 10
    assert chance(beta_knots["error"] > bound)
    assert bound < 3 * np.quantile(beta_knots["error"], 1 - DELTA)


@pytest.fixture(scope="module")
def uniform_knots():
    """Largest errors of all 100 quantiles of ten cells, uniform on [0, 1] or on [0.2, 1.2]."""
    rng = np.random.default_rng(4)
    lows = np.tile([0.0, 0.2], CELLS // 2)[:, None]
    draws = np.sort(lows + rng.random((RUNS, CELLS, RECORDS)), axis=-1)
    errors = np.abs(draws[..., ranks(RECORDS, LEVELS) - 1] - lows - fp.theory.midpoints(LEVELS))
    return errors.max(axis=(1, 2))


@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0])
def test_prop_hp_quantiles_holds_at_every_level_of_a_density_bounded_on_its_support(
    uniform_knots, scale
):
    """No trimming is needed, and the bound is within a tenth of the smallest one."""
    bound = quantile_error(RECORDS, density=1 / scale, levels=LEVELS, cells=CELLS)

    assert chance(scale * uniform_knots > bound)
    assert 1 <= bound / np.quantile(scale * uniform_knots, 1 - DELTA) < 1.1


def test_remark_after_prop_hp_quantiles_leaves_out_the_logarithm_of_k(uniform_knots):
    """The sharper bound is the one without the factor k + 1, and still holds."""
    sharp = quantile_error(RECORDS, density=1.0, levels=LEVELS, cells=CELLS)
    loose = quantile_error(RECORDS, density=1.0, levels=LEVELS, cells=CELLS, sharp=False)
    extra = math.log(LEVELS + 1) / (2 * RECORDS)

    assert loose**2 - sharp**2 == pytest.approx(extra)
    assert sharp == quantile_error(RECORDS, density=1.0, levels=7, cells=CELLS)
    assert chance(uniform_knots > sharp)
    assert loose > 1.25 * np.quantile(uniform_knots, 1 - DELTA)


def random_shares(rng, silos, runs, records):
    """Return true shares of groups and silos, and the errors of theirs in many samples."""
    alpha = np.array([0.5, 0.5])
    pi = np.stack([np.full(silos, 1 / silos), rng.dirichlet(np.full(silos, 5.0))])
    counts = rng.multinomial(records, (alpha[:, None] * pi).ravel(), runs)
    counts = counts.reshape(runs, 2, silos)
    by_group = counts.sum(axis=2)
    in_alpha = np.abs(by_group / records - alpha)
    in_pi = np.abs(counts / by_group[..., None] - pi)
    return by_group, in_alpha, in_pi


@pytest.mark.parametrize("silos", [2, 5, 20])
@pytest.mark.parametrize("records", [40, 1_000])
def test_lem_weights_concentration_holds_for_all_shares_at_once(records, silos):
    """All four bounds hold together with probability 1 - δ, also for what is summed."""
    shares = random_shares(np.random.default_rng(silos), silos, 1_000, records)
    by_group, in_alpha, in_pi = shares
    bounds = [
        share_errors({0: int(first), 1: int(second)}, silos=silos) for first, second in by_group
    ]
    measured = np.stack(
        [
            in_alpha.max(axis=1),
            in_pi.max(axis=(1, 2)),
            in_alpha.sum(axis=1),
            in_pi.sum(axis=2).max(axis=1),
        ],
        axis=1,
    )
    allowed = np.array([(b.alpha, b.pi, b.alpha_l1, b.pi_l1) for b in bounds])

    assert chance((measured > allowed).any(axis=1))


def test_lem_weights_concentration_is_of_the_right_size():
    """Each display is at most 1.6 times the smallest bound that holds with probability 1 - δ/2."""
    by_group, in_alpha, in_pi = random_shares(np.random.default_rng(6), 2, 4_000, 1_000)
    bound = share_errors({0: 500, 1: 500}, silos=2)

    assert np.abs(by_group - 500).max() < 100
    assert 1 < bound.alpha / np.quantile(in_alpha.max(axis=1), 1 - DELTA / 2) < 1.6
    assert 1 < bound.pi / np.quantile(in_pi.max(axis=(1, 2)), 1 - DELTA / 2) < 1.6


@pytest.mark.parametrize("silos", [2, 5])
def test_lem_weights_concentration_union_bounds_add_up_to_twice_delta(silos):
    """The radii of the lemma spend δ on each display: with both, 1 - 2δ; ours spend δ/2."""
    counts = {0: 300, 1: 700}

    def spent(alpha, pi):
        groups = len(counts)
        return groups * 2 * math.exp(
            -2 * sum(counts.values()) * alpha**2
        ) + silos * groups * 2 * math.exp(-2 * min(counts.values()) * pi**2)

    in_paper = [
        math.sqrt(math.log(2 * 2 / DELTA) / (2 * 1_000)),
        math.sqrt(math.log(2 * silos * 2 / DELTA) / (2 * 300)),
    ]
    ours = share_errors(counts, silos=silos)

    assert spent(*in_paper) == pytest.approx(2 * DELTA)
    assert spent(ours.alpha, ours.pi) == pytest.approx(DELTA)


@pytest.mark.parametrize("parts", [2, 3, 4, 5, 9])
def test_lem_weights_concentration_sum_of_errors_has_a_smaller_constant(parts):
    """Errors that add up to zero have an absolute sum of 2⌊d/2⌋ times the largest, at most."""
    rng = np.random.default_rng(parts)
    first, second = rng.dirichlet(np.ones(parts), (2, 2_000))
    errors = np.abs(first - second)
    extreme = np.array([1.0, -1.0] * (parts // 2) + [0.0] * (parts % 2))
    bound = share_errors({0: 10**6, 1: 10**6}, silos=parts)

    assert extreme.sum() == 0
    assert bound.pi_l1 == pytest.approx(np.abs(extreme).sum() * bound.pi)
    assert (errors.sum(axis=1) <= np.abs(extreme).sum() * errors.max(axis=1) + 1e-12).all()


def test_lem_weights_concentration_has_nothing_to_say_of_a_single_silo():
    """The share of the only silo is one, and all of δ is left for the groups."""
    errors = share_errors({0: 300, 1: 700}, silos=1)

    assert errors.pi == errors.pi_l1 == 0
    assert errors.alpha == math.sqrt(math.log(4 / (1 - 0.95)) / 2_000)


class Uniforms:
    """Silos and groups with uniform scores: every density is known, and so is G_2."""

    def __init__(self, intervals, shares, score_range):
        self.intervals = np.array(intervals, dtype=float)  # silo, group, (low, high)
        self.shares = np.array(shares, dtype=float)  # silo, group
        self.score_range = score_range
        self.alpha = self.shares.sum(axis=0)
        self.pi = self.shares / self.alpha
        self.mixtures = [self.mixture(group) for group in range(self.alpha.size)]

    def mixture(self, group):
        """Return the law of a group, uniform between any two ends of its silos' intervals."""
        own = self.intervals[:, group]
        edges = np.unique(own)
        middles = (edges[1:] + edges[:-1]) / 2
        holds = (own[:, :1] < middles) & (middles < own[:, 1:])
        densities = (self.pi[:, group, None] / np.ptp(own, axis=1)[:, None] * holds).sum(axis=0)
        return Blocks(tuple(edges[:-1]), tuple(edges[1:]), tuple(densities * np.diff(edges)))

    @property
    def densities(self):
        """The lowest density of a cell, the lowest of a mixture, the highest of a cell."""
        of_cells = 1 / np.ptp(self.intervals, axis=2)
        lowest = min(law.lowest_density(law.left[0], law.right[-1]) for law in self.mixtures)
        return of_cells.min(), lowest, of_cells.max()

    @property
    def disparity(self):
        """G_2: between two levels where a mixture bends, all quantile functions are linear."""
        bends = np.unique(np.concatenate([np.cumsum(law.masses) for law in self.mixtures]))
        nodes = np.concatenate(([0.0], bends[bends < 1 - 1e-12], [1.0]))
        integral = 0.0
        for low, high in pairwise(nodes):
            ends = np.array([law.quantile(np.array([low, high])) for law in self.mixtures])
            left, right = (ends - self.alpha @ ends).T
            integral += (high - low) / 3 * (self.alpha @ (left**2 + left * right + right**2))
        return float(integral)

    def sample(self, rng, records):
        """Return the sorted scores of every cell of a random sample."""
        counts = rng.multinomial(records, self.shares.ravel()).reshape(self.shares.shape)
        return {
            (j, s): np.sort(rng.uniform(*self.intervals[j, s], count))
            for (j, s), count in np.ndenumerate(counts)
        }

    def true_knots(self, levels):
        """Return the true quantiles of every cell."""
        low, high = np.moveaxis(self.intervals, 2, 0)[..., None]
        knots = low + (high - low) * fp.theory.midpoints(levels)
        return {cell: knots[cell] for cell in np.ndindex(self.shares.shape)}

    def bound(self, errors, levels):
        """Return the master bound of errors (η_Q, η_π, η_α)."""
        _, lowest, highest = self.densities
        return master_bound(
            errors[0],
            pi_error=errors[1],
            alpha_error=errors[2],
            levels=levels,
            lowest_density=lowest,
            highest_density=highest,
            score_range=self.score_range,
        )


OVERLAPPING = Uniforms(
    intervals=[[(0.0, 1.0), (0.2, 1.2)], [(0.2, 1.2), (0.4, 1.4)], [(0.0, 1.0), (0.0, 1.0)]],
    shares=[[0.3, 0.12], [0.18, 0.2], [0.12, 0.08]],
    score_range=(0.0, 1.4),
)
"""Three silos of U[0, 1] and its shifts: mixtures have densities from 0.2 to 1."""
APART = Uniforms(
    intervals=[[(0.0, 0.2), (0.75, 0.95)], [(0.05, 0.25), (0.8, 1.0)]],
    shares=[[0.25, 0.25], [0.25, 0.25]],
    score_range=(0.0, 1.0),
)
"""Two silos whose groups have narrow scores at both ends of the range."""
WORLDS = {"overlapping": OVERLAPPING, "apart": APART}


def test_uniform_federations_have_the_disparity_of_their_quantiles():
    """G_2 in closed form is that of ten thousand quantiles of the mixtures."""
    grid = fp.theory.midpoints(10_000)
    for world in WORLDS.values():
        values = {s: law.quantile(grid) for s, law in enumerate(world.mixtures)}
        weights = fp.Weights(dict(enumerate(world.alpha)))

        assert world.disparity == pytest.approx(
            fp.theory.riemann_disparity(values, weights), rel=1e-6
        )


def federation_of(knots, counts):
    """Return the federation that sends these knots and counts."""
    return fp.Federation.from_cells(
        {cell: fp.Cell(count=int(counts[cell]), values=row) for cell, row in knots.items()}
    )


def realised_errors(world, knots, counts):
    """Return η_Q, η_π and η_α of a federation."""
    truth = world.true_knots(len(knots[0, 0]))
    return (
        max(np.abs(row - truth[cell]).max() for cell, row in knots.items()),
        np.abs(counts / counts.sum(axis=0) - world.pi).sum(axis=0).max(),
        np.abs(counts.sum(axis=0) / counts.sum() - world.alpha).sum(),
    )


@pytest.fixture(scope="module", params=[("overlapping", 2_000), ("apart", 10_000)], ids=str)
def sampled(request):
    """Errors of both estimators, of knots and of shares in 600 samples of a federation."""
    name, records = request.param
    world, levels = WORLDS[name], 50
    rng = np.random.default_rng(records)
    runs = []
    for _ in range(600):
        cells = world.sample(rng, records)
        counts = np.array([[len(cells[j, s]) for s in (0, 1)] for j in range(len(world.pi))])
        knots = {cell: scores[ranks(len(scores), levels) - 1] for cell, scores in cells.items()}
        federation = federation_of(knots, counts)
        errors = [
            abs(fp.theory.estimate(federation, method).disparity - world.disparity)
            for method in (GRID, fp.Method(estimator="exact"))
        ]
        runs.append((errors, realised_errors(world, knots, counts), counts))
    return world, levels, runs


def test_thm_master_bound_holds_in_every_sample(sampled):
    """Whatever the errors of knots and shares turn out to be, |Ĝ - G| is within their bound.

    Nothing is random here: it must hold in all runs, for both estimators. The constants of the
    proof in the paper are at least five times as large.
    """
    world, levels, runs = sampled
    for errors, etas, _ in runs:
        bound = world.bound(etas, levels)

        assert max(errors) <= bound.total
        assert bound.total < bound.total_as_in_proof / 5


STAIRS = Uniforms(
    intervals=[[(0.0, 0.02), (0.5, 0.75)], [(0.0, 0.02), (0.75, 1.0)]],
    shares=[[0.25, 0.25], [0.25, 0.25]],
    score_range=(0.0, 1.0),
)
"""Two silos that share the scores of a group between them: every step of its cdf is too early."""


@pytest.mark.parametrize("levels", [1, 3, 10, 100])
@pytest.mark.parametrize("world", [OVERLAPPING, STAIRS], ids=["overlapping", "stairs"])
def test_thm_master_bound_of_true_knots_and_shares_is_the_grid_term(world, levels):
    """With no error but that of k levels, |Ĝ - G| ≤ (5/8) D ω(1/k)."""
    federation = federation_of(world.true_knots(levels), world.shares * 100)
    bound = world.bound((0.0, 0.0, 0.0), levels)

    error = abs(fp.theory.estimate(federation, GRID).disparity - world.disparity)

    assert bound.total == bound.grid_term
    assert 0 < error <= bound.grid_term
    assert world is OVERLAPPING or error > bound.grid_term / 10


NARROW = 0.02


def two_ends(alpha=(0.5, 0.5), *, parts=1):
    """Return groups at both ends of [0, 1], cut into silos of touching intervals."""
    edges = np.linspace(0, NARROW, parts + 1)
    return Uniforms(
        intervals=[[(a, b), (1 - b, 1 - a)] for a, b in pairwise(edges)],
        shares=np.outer(np.full(parts, 1 / parts), alpha),
        score_range=(0.0, 1.0),
    )


def test_thm_master_bound_constant_of_knots_is_reached():
    """Knots that all approach the other group by η_Q change Ĝ by nearly D η_Q."""
    world, levels, step = two_ends(), 2_000, 0.001
    knots = world.true_knots(levels)
    knots[0, 0] = np.minimum(knots[0, 0] + step, NARROW)
    knots[0, 1] = np.maximum(knots[0, 1] - step, 1 - NARROW)
    counts = world.shares * 100
    bound = world.bound(realised_errors(world, knots, counts), levels)

    error = abs(fp.theory.estimate(federation_of(knots, counts), GRID).disparity - world.disparity)

    assert 0.9 * bound.total < error <= bound.total


def test_thm_master_bound_constant_of_silos_is_reached():
    """Mass that moves from the innermost silo to the outermost moves all quantiles by η_π/(2m)."""
    world, levels = two_ends(parts=20), 1_000
    counts = np.full((20, 2), 1_000)
    counts[0] += 200
    counts[-1] -= 200
    knots = world.true_knots(levels)
    bound = world.bound(realised_errors(world, knots, counts), levels)

    error = abs(fp.theory.estimate(federation_of(knots, counts), GRID).disparity - world.disparity)

    assert 0.85 * bound.total < error <= bound.total


def test_thm_master_bound_constant_of_groups_is_reached():
    """A small group that is counted double changes Ĝ by nearly (D²/2) η_α."""
    world, levels = two_ends((0.99, 0.01)), 1_000
    counts = np.array([[98, 2]])
    knots = world.true_knots(levels)
    bound = world.bound(realised_errors(world, knots, counts), levels)

    error = abs(fp.theory.estimate(federation_of(knots, counts), GRID).disparity - world.disparity)

    assert 0.9 * bound.total < error <= bound.total


def likely_bound(world, counts, levels):
    """Return the bound of `cor:hp-G` from the numbers of records, by the steps of the paper."""
    lowest_cell, lowest, highest = world.densities
    return likely_master_bound(
        {cell: int(count) for cell, count in np.ndenumerate(counts)},
        levels=levels,
        lowest_cell_density=lowest_cell,
        lowest_density=lowest,
        highest_density=highest,
        score_range=world.score_range,
    )


def pooled_by_group(world, counts, levels):
    """Return the bound of `cor:hp-G` from the numbers of records of the groups alone."""
    return pooled_bound(
        dict(enumerate(counts.sum(axis=0).tolist())),
        levels=levels,
        lowest_density=world.densities[1],
        score_range=world.score_range,
    )


def test_cor_hp_g_holds_with_its_probability(sampled):
    """|Ĝ - G| is within both bounds, and the errors of knots and shares within theirs, but for δ.

    The bound by groups has no knots and no shares of silos, and is smaller by three tenths or more.
    """
    world, levels, runs = sampled
    likely = [likely_bound(world, counts, levels) for *_, counts in runs]
    pooled = [pooled_by_group(world, counts, levels) for *_, counts in runs]
    errors = np.array([max(own) for own, *_ in runs])
    etas = np.array([own for _, own, _ in runs])
    allowed = np.array([(b.knot_error, b.pi_error, b.alpha_error) for b in likely])

    assert chance((etas > allowed).any(axis=1))
    assert chance(errors > [bound.total for bound in likely])
    assert chance(errors > [bound.total for bound in pooled])
    assert all(b.total < 0.7 * a.total for a, b in zip(likely, pooled, strict=True))


def test_cor_hp_g_splits_delta_between_the_errors_that_must_hold_at_once():
    """Knots, silos and groups get δ/3 each; without knots and silos, scores and groups δ/2."""
    counts = np.array([[100, 400], [200, 300], [500, 500]])
    by_group, total = counts.sum(axis=0), counts.sum()
    likely = likely_bound(APART, counts, 10)
    pooled = pooled_by_group(APART, counts, 10)
    lowest_cell, *_ = APART.densities

    def spent(events, records, error):
        return events * 2 * math.exp(-2 * records * error**2)

    assert spent(6, 100, likely.knot_error * lowest_cell) == pytest.approx(DELTA / 3)
    assert spent(6, by_group.min(), likely.pi_error / 2) == pytest.approx(DELTA / 3)
    assert spent(2, total, likely.alpha_error / 2) == pytest.approx(DELTA / 3)
    assert spent(2, by_group.min(), pooled.band) == pytest.approx(DELTA / 2)
    assert spent(2, total, pooled.alpha_error / 2) == pytest.approx(DELTA / 2)


@pytest.mark.parametrize("trim", [0.0, 0.1])
def test_cor_hp_g_without_knots_has_the_constants_of_its_proof(trim):
    """(1 - 2ε) [D (Δ/m + (1 - 2ε)/(8mk)) + (D²/2) η_α], where Δ is the band and 1/(2k)."""
    bound = pooled_bound(
        {"a": 900, "b": 600}, levels=20, lowest_density=0.5, score_range=(-1, 2), trim=trim
    )
    kept = 1 - 2 * trim
    in_quantile = (bound.band + 1 / 40) / 0.5
    riemann = kept / (8 * 0.5 * 20)

    expected = kept * (3 * (in_quantile + riemann) + 9 / 2 * bound.alpha_error)

    assert bound.total == pytest.approx(expected)
    assert bound.cdf_error == bound.band + 1 / 40
    assert bound.largest_possible == pytest.approx(kept * 9 / 4)


def test_cor_hp_g_says_something_of_groups_that_are_far_apart():
    """With 10,000 records the bound is below G_2, and the one by groups below a quarter of it."""
    counts, levels = np.full((2, 2), 2_500), 50

    assert likely_bound(APART, counts, levels).total < APART.disparity
    assert pooled_by_group(APART, counts, levels).total < APART.disparity / 4


def test_cor_hp_g_says_nothing_of_wide_scores_and_few_records():
    """With 2,000 records of overlapping groups, no error could be as large as the bound."""
    bound = likely_bound(OVERLAPPING, np.full((3, 2), 333), 50)

    assert bound.total > bound.largest_possible > OVERLAPPING.disparity


def beta_disparity(trim):
    """Return the trimmed G_2 of the two betas with equal shares."""
    first, second = (law.ppf(fp.theory.midpoints(20_000, trim=trim)) for law in BETAS)
    return (1 - 2 * trim) * np.mean((first - second) ** 2) / 4


def selected_betas(rng, records):
    """Return scores of the two betas, their groups, and silos that depend on the scores."""
    groups = (rng.random(records) < 0.5).astype(int)
    scores = np.where(groups, rng.beta(6, 4, records), rng.beta(3, 4, records))
    return scores, groups, np.floor(3 * np.clip(scores + rng.normal(0, 0.2, records), 0, 0.999))


def test_cor_hp_g_holds_for_trimmed_betas_whatever_the_silos():
    """Densities that vanish at the ends need trimming; cells cut by selection need nothing.

    The density of the mixtures is bounded below between the levels ε - Δ and 1 - ε + Δ only.
    """
    rng = np.random.default_rng(8)
    records, levels = 6_000, 50
    truth = beta_disparity(TRIM)
    failures, totals = [], []
    for _ in range(400):
        scores, groups, silos = selected_betas(rng, records)
        federation = fp.Federation.from_scores(
            scores, groups=groups, silos=silos, levels=levels, kind="quantile"
        )
        counts = {g: int(n) for g, n in zip((0, 1), np.bincount(groups), strict=True)}
        reach = pooled_bound(counts, levels=levels, lowest_density=1, score_range=(0, 1)).cdf_error
        bound = pooled_bound(
            counts,
            levels=levels,
            lowest_density=beta_floor(TRIM - reach),
            score_range=(0, 1),
            trim=TRIM,
        )
        error = abs(
            fp.theory.estimate(federation, fp.Method(estimator="grid", trim=TRIM)).disparity
            - truth
        )
        failures.append(error > bound.total)
        totals.append(bound.total)

    assert reach < TRIM
    assert max(totals) < bound.largest_possible / 2
    assert chance(np.array(failures))


COUNTS = {"a": 10, "b": 20}
TABLE = {(1, "a"): 10, (1, "b"): 20}
BOUND = {
    "pi_error": 0.1,
    "alpha_error": 0.1,
    "levels": 10,
    "lowest_density": 1.0,
    "highest_density": 2.0,
    "score_range": (0.0, 1.0),
}
LIKELY = {
    "levels": 10,
    "lowest_cell_density": 1.0,
    "lowest_density": 1.0,
    "highest_density": 2.0,
    "score_range": (0.0, 1.0),
}
POOLED = {"levels": 10, "lowest_density": 1.0, "score_range": (0.0, 1.0)}
BAD = {
    "no record": lambda: dkw_band(0),
    "part of a record": lambda: dkw_band(10.5),
    "a truth value": lambda: dkw_band(True),
    "no cell": lambda: dkw_band(10, cells=0),
    "certainty": lambda: dkw_band(10, confidence=1),
    "no confidence": lambda: dkw_band(10, confidence=0.0),
    "confidence in per cent": lambda: dkw_band(10, confidence=95),
    "confidence that is no number": lambda: dkw_band(10, confidence=math.nan),
    "confidence in words": lambda: dkw_band(10, confidence="high"),
    "no density": lambda: quantile_error(10, density=0.0, levels=5),
    "a negative density": lambda: quantile_error(10, density=-1.0, levels=5),
    "an infinite density": lambda: quantile_error(10, density=math.inf, levels=5),
    "no level": lambda: quantile_error(10, density=1.0, levels=0),
    "no silo": lambda: share_errors(COUNTS, silos=0),
    "an empty group": lambda: share_errors({"a": 10, "b": 0}, silos=2),
    "weights for counts": lambda: share_errors({"a": 10, "b": 2.5}, silos=2),
    "a negative knot error": lambda: master_bound(-0.1, **BOUND),
    "an unknown knot error": lambda: master_bound(math.nan, **BOUND),
    "a negative share error": lambda: master_bound(0.1, **BOUND | {"pi_error": -1}),
    "densities in the wrong order": lambda: master_bound(0.1, **BOUND | {"lowest_density": 3.0}),
    "a range in the wrong order": lambda: master_bound(0.1, **BOUND | {"score_range": (1, 0)}),
    "a range without end": lambda: master_bound(0.1, **BOUND | {"score_range": (0, math.inf)}),
    "a range without start": lambda: master_bound(0.1, **BOUND | {"score_range": (-math.inf, 0)}),
    "an empty cell": lambda: likely_master_bound({(1, "a"): 0, (1, "b"): 1}, **LIKELY),
    "certainty of Ĝ": lambda: likely_master_bound(TABLE, **LIKELY, confidence=1.0),
    "too much trimming": lambda: pooled_bound(COUNTS, **POOLED, trim=0.5),
    "no level of the grid": lambda: pooled_bound(COUNTS, **POOLED | {"levels": 0}),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_guarantees_refuse_what_they_cannot_use(call):
    """Numbers out of their range raise an error that says what to pass instead."""
    with pytest.raises(fp.errors.OptionError, match="fix: pass"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: share_errors({"a": 10}, silos=2),
        lambda: likely_master_bound({}, **LIKELY),
        lambda: likely_master_bound({(1, "a"): 10}, **LIKELY),
        lambda: pooled_bound({"a": 10}, **POOLED),
    ],
)
def test_guarantees_need_two_groups(call):
    """There is no disparity, and no share to estimate, with one group."""
    with pytest.raises(fp.errors.GroupError):
        call()
