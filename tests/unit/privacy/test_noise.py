"""Noise has the law it is said to have, and an attacker learns no more than epsilon allows."""

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import beta, chisquare, nbinom

import fedparity as fp
from fedparity.privacy import noise as discrete_laplace
from fedparity.privacy import noise as polya
from fedparity.privacy.histograms import Grid
from fedparity.privacy.noise import (
    LaplaceMechanism,
    NoiseLaw,
    laplace_mechanism,
    noisy_counts,
    polya_differences,
)

CALLS = 60_000
ALPHA = 1e-4
"""Probability that a correct mechanism fails a test."""


def discrete_laplace_chances(epsilon, doses, reach):
    """P(z) for |z| <= reach, from two negative binomial laws; the tails in the outer cells."""
    far = int(60 / epsilon)
    one = nbinom.pmf(np.arange(far), doses, -np.expm1(-epsilon))
    law = np.convolve(one, one[::-1])
    middle = law[far - 1 - reach : far + reach].copy()
    middle[0] += law[: far - 1 - reach].sum()
    middle[-1] += law[far + reach :].sum()
    return middle / middle.sum()


def p_value_of(noise, epsilon, doses=1.0):
    reach = int(3 / epsilon) + 1
    chances = discrete_laplace_chances(epsilon, doses, reach)
    cells = np.bincount(np.clip(noise.ravel(), -reach, reach) + reach, minlength=2 * reach + 1)
    return chisquare(cells, chances * noise.size).pvalue


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_opendp_s_noise_is_discrete_laplace(epsilon):
    noise = noisy_counts(np.zeros((2, 20_000), np.int64), epsilon)

    assert p_value_of(noise, epsilon) > ALPHA


def test_the_noise_of_another_epsilon_would_be_found_out():
    """The test above has power: 10 % less noise does not pass it."""
    noise = noisy_counts(np.zeros((2, 20_000), np.int64), 1.1)

    assert p_value_of(noise, 1.0) < ALPHA


@pytest.mark.parametrize(("epsilon", "honest"), [(1.0, 3), (0.5, 5)])
def test_shares_of_honest_silos_add_up_to_one_dose(epsilon, honest):
    noise = sum(polya_differences((10_000,), epsilon, honest) for _ in range(honest))

    assert p_value_of(noise, epsilon) > ALPHA


def test_more_shares_than_needed_are_more_than_one_dose():
    noise = sum(polya_differences((8_000,), 1.0, 3) for _ in range(5))

    assert p_value_of(noise, 1.0, doses=5 / 3) > ALPHA
    assert p_value_of(noise, 1.0) < ALPHA


@pytest.mark.parametrize("doses", [1.0, 5.0, 5 / 3])
def test_simulated_noise_has_the_same_law(doses):
    noise = NoiseLaw(0.7, doses).draw(np.random.default_rng(0), (40_000,))

    assert p_value_of(noise, 0.7, doses) > ALPHA
    assert noise.var() == pytest.approx(NoiseLaw(0.7, doses).variance, rel=0.05)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3, 1.0, 1.7, 2.0, 5.0])
def test_the_accounting_is_that_of_the_whole_chain(epsilon):
    """From scores to noisy counts in OpenDP alone: the same scale and the same loss."""
    grid = Grid.of((0.0, 1.0), bins=4)
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    count = (
        space
        >> dp.t.then_find_bin(grid.edges.tolist())
        >> dp.t.then_count_by_categories(list(range(4)), null_category=False)
    )
    chain = dp.binary_search_chain(
        lambda scale: count >> dp.m.then_laplace(scale), d_in=1, d_out=epsilon, T=float
    )
    mechanism = laplace_mechanism(epsilon)

    assert mechanism.loss == chain.map(1) <= epsilon
    assert mechanism.measurement.map(2) == chain.map(2)
    assert (count >> dp.m.then_laplace(mechanism.scale)).map(1) == mechanism.loss


def test_a_release_that_costs_more_than_epsilon_is_not_made():
    generous = laplace_mechanism(2.0)
    wrong = LaplaceMechanism(1.0, generous.scale, generous.library, generous.measurement)

    with pytest.raises(fp.errors.PrivacyError, match=r"loss of 2, more than the plan's epsilon 1"):
        wrong.release(np.zeros((2, 4), np.int64))


def test_counts_beyond_32_bits_keep_their_size():
    found = noisy_counts(np.array([[2**40, 0], [0, 2**40]]), 1.0)

    assert abs(found[0, 0] - 2**40) < 200


@pytest.mark.parametrize(
    "draw", [lambda e: noisy_counts(np.zeros((1, 2)), e), lambda e: polya_differences((2,), e, 3)]
)
def test_an_epsilon_too_small_is_refused(draw):
    with pytest.raises(fp.errors.PrivacyError, match="the least that noise is drawn for"):
        draw(1e-9)


def test_without_opendp_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp.prelude", None)
    monkeypatch.setattr(discrete_laplace, "laplace_mechanism", laplace_mechanism.__wrapped__)

    with pytest.raises(fp.errors.MissingExtraError, match=r"fedparity\[dp\]"):
        noisy_counts(np.zeros((1, 2)), 1.0)


def test_a_share_is_the_inverse_of_its_distribution_at_random_bits():
    """Bytes in, share out: nothing else is random, and 256 bits decide."""
    zeros, ones = bytes(32), b"\xff" * 32

    assert polya_differences((1,), 1.0, 3, source=lambda n: (ones + zeros)[:n])[0] > 100
    assert polya_differences((1,), 1.0, 3, source=lambda n: (zeros + ones)[:n])[0] < -100
    assert polya_differences((1,), 1.0, 3, source=bytes)[0] == 0


def test_the_table_of_shares_is_the_negative_binomial_law():
    table = polya._distribution(0.5, 3)  # noqa: SLF001

    expected = nbinom.cdf(np.arange(40), 1 / 3, -np.expm1(-0.5))
    assert [step / 2**256 for step in table[:40]] == pytest.approx(expected.tolist(), abs=1e-12)
    assert 2**256 - table[-1] <= 2 ** (256 - 225)


def least_loss(hits, other, calls, alpha):
    """A lower bound of epsilon from how often an event came of two neighbors."""
    lowest = beta.ppf(alpha / 2, hits, calls - hits + 1)
    highest = beta.ppf(1 - alpha / 2, other + 1, calls - other)
    return float(np.log(lowest / highest))


def attacked(epsilon, releases):
    """An attacker who asks whether one bin holds 21 records or 20: the event is fixed before.

    Every call is a release of its own: OpenDP draws each number of a vector independently.
    """
    outcomes = []
    for count in (21, 20):
        calls = np.full((releases, CALLS), count)
        outcomes.append(noisy_counts(calls, epsilon).sum(axis=0))
    event = [np.count_nonzero(found >= 21 * releases) for found in outcomes]
    return least_loss(*event, CALLS, ALPHA)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_an_attacker_learns_no_more_than_epsilon(epsilon):
    assert attacked(epsilon, releases=1) <= epsilon


def test_an_attacker_who_gets_two_releases_is_found_out():
    """The audit above has power: a budget spent twice contradicts epsilon."""
    assert attacked(1.0, releases=2) > 1.0
