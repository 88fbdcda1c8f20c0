"""Logistic regression: the maximum of the likelihood, whatever the columns."""

import numpy as np
import pytest

from fedparity.errors import InputError
from fedparity.experiments.logistic import _climb, _log_likelihood, design, fit_logistic


def table(size=800, seed=0):
    random = np.random.default_rng(seed)
    numbers = random.normal(50, 20, size)
    texts = random.choice(["red", "green", "blue"], size)
    chance = 1 / (1 + np.exp(-(numbers - 50) / 15 + (texts == "red")))
    return numbers, texts, random.random(size) < chance


def test_probabilities_are_those_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    numbers, texts, outcomes = table()
    matrix = design([numbers, texts])
    peer = linear_model.LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)

    expected = peer.fit(matrix[:, 1:], outcomes).predict_proba(matrix[:, 1:])[:, 1]

    assert fit_logistic(matrix, outcomes).probabilities == pytest.approx(expected, abs=1e-6)


def test_fitted_and_observed_shares_agree_in_every_level():
    """The score equations: for each indicator, fitted probabilities add up to the outcomes."""
    numbers, texts, outcomes = table()

    fitted = fit_logistic(design([numbers, texts]), outcomes).probabilities

    for level in np.unique(texts):
        own = texts == level
        assert fitted[own].mean() == pytest.approx(outcomes[own].mean(), abs=1e-9)
    assert np.sum(fitted * numbers) == pytest.approx(np.sum(outcomes * numbers), rel=1e-9)


def test_columns_that_say_nothing_new_change_nothing():
    numbers, texts, outcomes = table()
    again = np.where(texts == "red", 2.0, 0.0) + numbers
    constant = np.full(numbers.size, 7.0)
    plain = fit_logistic(design([numbers, texts]), outcomes)

    doubled = fit_logistic(design([numbers, texts, again, texts, constant]), outcomes)

    assert doubled.rank == plain.rank == 4
    assert doubled.probabilities == pytest.approx(plain.probabilities, abs=1e-9)


def test_units_of_numbers_change_nothing():
    numbers, texts, outcomes = table()
    plain = fit_logistic(design([numbers, texts]), outcomes).probabilities

    scaled = fit_logistic(design([1e6 * numbers - 3e8, texts]), outcomes).probabilities

    assert scaled == pytest.approx(plain, abs=1e-8)


def test_equal_records_have_equal_bits_in_any_place():
    """Ties must stay ties: allocations break them at random."""
    numbers, texts, outcomes = table(37)
    size = 101
    many = [np.tile(column, size)[:-5] for column in (np.round(numbers), texts, outcomes)]

    fitted = fit_logistic(design(many[:2]), many[2]).probabilities

    for place in range(37):
        assert len(set(fitted[place::37].tolist())) == 1


def test_a_level_without_any_outcome_has_probability_zero():
    """Its coefficient has no maximum, but the fitted probabilities have a limit."""
    texts = np.repeat(["a", "b"], 50)
    outcomes = np.arange(100) < 20

    fitted = fit_logistic(design([texts]), outcomes).probabilities

    assert fitted[:50] == pytest.approx(0.4, abs=1e-8)
    assert fitted[50:] == pytest.approx(0.0, abs=1e-8)


def test_a_step_too_long_is_halved_until_it_climbs():
    numbers, texts, outcomes = table()
    matrix = design([numbers, texts])
    start = np.zeros(4)
    slope = matrix.T @ (outcomes - 0.5)

    for stretch in (1e-6, 1.0, 1e6):
        value = _log_likelihood(matrix, start, outcomes)
        reached, found = _climb(matrix, start, slope * stretch, outcomes, value)

        assert found > value
        assert found == _log_likelihood(matrix, reached, outcomes)
    assert _climb(matrix, start, -slope, outcomes, value) is None


def test_what_does_not_converge_is_refused(monkeypatch):
    numbers, texts, outcomes = table()
    monkeypatch.setattr("fedparity.experiments.logistic._STEPS", 2)

    with pytest.raises(InputError, match="does not converge"):
        fit_logistic(design([numbers, texts]), outcomes)
