"""Records dealt to silos: what each option does, and what is refused."""

import numpy as np
import pytest
from scipy import stats

import fedparity as fp

REGIMES = ("random", "positive", "negative")


@pytest.fixture(scope="module")
def population():
    """Scores of two groups, the second higher, and their labels."""
    random = np.random.default_rng(4)
    groups = np.repeat(["a", "b"], [3000, 2000])
    return random.normal(np.where(groups == "b", 1.0, 0.0), 1.0), groups


def margins(silos, groups, number=5):
    """How many records of each group (rows) a silo has (columns)."""
    return np.stack([np.bincount(silos[groups == g], minlength=number) for g in np.unique(groups)])


def test_silos_of_the_baseline_are_uniform(population):
    """The paper draws them with equal chances and does not make them equal."""
    scores, groups = population
    sizes = margins(fp.theory.allocate(scores, silos=5, groups=groups, seed=0).silos, groups).sum(
        axis=0
    )

    assert len(set(sizes.tolist())) > 1
    assert np.abs(sizes - 1000).max() < 4 * np.sqrt(5000 * 0.2 * 0.8)


def test_random_silos_have_nothing_to_do_with_scores(population):
    """Over many seeds both correlations are centered at 0 with variance 1/(n - 1)."""
    scores, groups = population
    made = [fp.theory.allocate(scores, silos=5, groups=groups, seed=(1, i)) for i in range(100)]
    for each in ("pearson", "spearman"):
        scaled = np.array([getattr(one, each) for one in made]) * np.sqrt(scores.size - 1)

        assert abs(scaled.mean()) < 4 / np.sqrt(len(made))
        assert 0.7 < scaled.std() < 1.3


@pytest.mark.parametrize("cut", ["paper", "margins"])
def test_positive_sorts_every_group_upwards_and_negative_one_of_them_downwards(population, cut):
    scores, groups = population
    for regime, signs in (("positive", (1, 1)), ("negative", (1, -1))):
        made = fp.theory.allocate(scores, silos=5, regime=regime, groups=groups, cut=cut, seed=2)
        for group, sign in zip("ab", signs, strict=True):
            own = groups == group

            assert sign * stats.spearmanr(scores[own], made.silos[own]).statistic > 0.6


def test_the_group_that_negative_flips_can_be_named(population):
    scores, groups = population
    made = fp.theory.allocate(scores, silos=5, regime="negative", groups=groups, flipped="a")

    for group, sign in (("a", -1), ("b", 1)):
        own = groups == group

        assert sign * stats.spearmanr(scores[own], made.silos[own]).statistic > 0.6


def test_realised_correlations_are_those_of_scores_and_silos(population):
    """Against NumPy's own, and the paper's copula: Spearman's of a Gaussian pair is 6/π asin(ρ/2)."""
    scores, _ = population
    made = fp.theory.allocate(scores, silos=1000, regime="positive", rho=0.6, cut="margins")

    assert made.pearson == pytest.approx(np.corrcoef(scores, made.silos)[0, 1])
    assert made.spearman == pytest.approx(6 / np.pi * np.arcsin(0.3), abs=0.03)


def test_without_strength_selection_is_independence(population):
    scores, groups = population
    made = fp.theory.allocate(scores, silos=5, regime="positive", rho=0, groups=groups)

    assert abs(made.spearman) < 4 / np.sqrt(scores.size)


def test_paper_cut_moves_the_margins_and_the_other_keeps_them(population):
    """Group b is high, so the paper's cut puts more of it into the last silo than the baseline."""
    scores, groups = population
    before = margins(fp.theory.allocate(scores, silos=5, groups=groups).silos, groups)
    by_paper, kept = (
        margins(
            fp.theory.allocate(scores, silos=5, regime="positive", groups=groups, cut=cut).silos,
            groups,
        )
        for cut in ("paper", "margins")
    )

    assert kept.tolist() == before.tolist()
    assert by_paper[1, -1] > before[1, -1] + 6 * np.sqrt(before[1, -1])
    assert by_paper[0, 0] > before[0, 0] + 6 * np.sqrt(before[0, 0])


def test_paper_cut_agrees_with_cutting_the_uniform_variable(population):
    """The latent variable is cut on its own scale; Φ changes neither side of the comparison."""
    scores, groups = population
    random = np.random.default_rng(9)
    baseline = random.integers(0, 5, scores.size)
    random.random(scores.size)  # ties are broken by it, and there are none
    ranks = stats.rankdata(scores) / (scores.size + 1)
    noise = random.normal(size=scores.size)
    uniform = stats.norm.cdf(0.8 * stats.norm.ppf(ranks) + 0.6 * noise)
    expected = np.empty(scores.size, dtype=int)
    for group in "ab":
        own = groups == group
        shares = np.cumsum(np.bincount(baseline[own], minlength=5)) / own.sum()
        expected[own] = np.searchsorted(shares, 1 - uniform[own] if group == "b" else uniform[own])

    made = fp.theory.allocate(scores, silos=5, regime="negative", groups=groups, seed=9)

    assert np.count_nonzero(made.silos != expected) <= 1


def test_equal_scores_are_ranked_at_random():
    """The order of the table must not decide who goes where.

    Two halves of a Gaussian pair with correlation ρ agree with probability 1/2 + asin(ρ)/π.
    """
    scores = np.repeat([1.0, 2.0], 2000)
    made = fp.theory.allocate(scores, silos=2, regime="positive", rho=0.95, seed=3)

    assert abs(np.corrcoef(np.arange(2000), made.silos[:2000])[0, 1]) < 0.1
    assert made.pearson == pytest.approx(2 / np.pi * np.arcsin(0.95), abs=0.04)


@pytest.mark.parametrize("regime", REGIMES)
def test_equal_seeds_give_equal_silos_and_others_do_not(population, regime):
    scores, groups = population
    first, again, other = (
        fp.theory.allocate(scores, silos=5, regime=regime, groups=groups, seed=seed).silos
        for seed in (5, 5, 6)
    )

    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_names_sort_like_their_numbers():
    made = fp.theory.allocate(np.arange(500.0), silos=12)

    assert max(made.names.tolist()) == "silo 12"
    assert made.names[0] == f"silo {made.silos[0] + 1:02}"


def test_correlations_of_a_constant_are_undefined():
    made = fp.theory.allocate([0.5, 0.5], silos=3, seed=0)

    assert (made.pearson, made.spearman) == (None, None)


def test_correlations_agree_with_scipy():
    random = np.random.default_rng(0)
    for scale in (1e-170, 1.0, 1e130):
        x, y = random.integers(0, 6, 200) * scale, random.integers(0, 4, 200)

        made = fp.theory.Allocation(silos=y, number=4, scores=x)

        assert made.spearman == pytest.approx(stats.spearmanr(x, y).statistic)
        assert made.pearson == pytest.approx(stats.pearsonr(x / scale, y).statistic)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"silos": 0}, "silos must be"),
        ({"silos": 2.5}, "silos must be"),
        ({"silos": True}, "silos must be"),
        ({"regime": "reverse"}, "regime must be one of 'random'"),
        ({"cut": "middle"}, "cut must be one of 'paper'"),
        ({"rho": 1.0}, "rho must be"),
        ({"rho": -0.5}, "rho must be"),
        ({"rho": float("nan")}, "rho must be"),
        ({"seed": None}, "seed must be"),
        ({"seed": -1}, "seed must be"),
        ({"regime": "negative"}, "only one"),
        ({"regime": "negative", "groups": ["a", "a", "a"]}, "only one"),
        ({"regime": "negative", "groups": ["a", "b", "a"], "flipped": "c"}, "flipped must be"),
        ({"groups": ["a", "b"]}, "groups and scores"),
    ],
)
def test_options_out_of_range_are_refused_by_name(options, words):
    with pytest.raises(fp.InputError, match=words):
        fp.theory.allocate([0.1, 0.2, 0.3], **({"silos": 2} | options))
