"""Huge and tiny scores: a correct finite number, or a refusal; never inf, nan or a false zero."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import accumulate, combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import rational, silos
from tests.oracles.agreement import EPS, agrees_with, in_power
from tests.oracles.silos import Silos
from tests.strategies import (
    atoms,
    federations,
    half,
    magnitudes,
    orders,
    quarters,
    scaled_scores,
)

from fedparity import (
    Cell,
    Federation,
    InputError,
    Law,
    Method,
    Weights,
    disparity,
    heterogeneity,
    wasserstein,
)
from fedparity.errors import MagnitudeError
from fedparity.theory import (
    attribute,
    bin_averaged_disparity,
    bin_means,
    cramer,
    cramer_power,
    decompose,
    estimate,
    influences,
    linear_disparity,
    local_audits,
    pairs,
    riemann_disparity,
    wasserstein_power,
)

SAFE = Fraction(1, 10**270), Fraction(10**290)
"""Between these a number must be returned: it fits a float, and so do the terms it sums."""

scaled_laws = scaled_scores().map(Law.from_scores)


def exact(law):
    return rational.law(law.atoms.tolist(), law.weights.tolist())


def check(compute, *expected, slack=0.0, also=()):
    """Compare each number that ``compute`` returns with the exact one, unless it is refused.

    It may be refused only if one of the exact numbers, or of those that it computes ``also``,
    is too large or too small.
    """
    try:
        actual = compute()
    except MagnitudeError:
        assert any(value and not SAFE[0] < abs(value) < SAFE[1] for value in (*expected, *also))
        return
    for number, value in zip(actual, expected, strict=True):
        assert math.isfinite(number)
        assert number == agrees_with(value, slack=slack)
        assert number != 0.0 or abs(value) < SAFE[0] or slack > 0.0


@given(orders, scaled_laws, scaled_laws)
def test_powers_of_distances(order, mu, nu):
    """W_p^p and C_p^p, between laws of the same magnitude or of very different ones."""
    check(
        lambda: [wasserstein_power(mu, nu, order=order)],
        rational.wasserstein_power(exact(mu), exact(nu), order),
    )
    check(
        lambda: [cramer_power(mu, nu, order=order)],
        rational.cramer_power(exact(mu), exact(nu), order),
    )


@given(orders, scaled_laws, scaled_laws)
def test_wasserstein_distances_are_never_refused(order, mu, nu):
    """W_p itself fits wherever the scores do: its power is not formed on the way."""
    power = rational.wasserstein_power(exact(mu), exact(nu), order)
    scale = max((abs(x) for x in exact(mu).atoms + exact(nu).atoms), default=0) or Fraction(1)
    expected = float(power / scale**order) ** (1 / order) * float(scale)

    actual = wasserstein(mu, nu, order=order)

    assert (actual == 0.0) == (power == 0)
    # The expected value is rounded to a float at the scale of the scores.
    assert actual == agrees_with(expected, slack=1e-150 * float(scale) if order == 2 else 0.0)


@given(orders, scaled_laws, scaled_laws)
def test_cramer_distances(order, mu, nu):
    """C_p is finite and positive between different laws, or refused."""
    power = rational.cramer_power(exact(mu), exact(nu), order)
    check(lambda: [cramer(mu, nu, order=order) ** order], power)


@given(st.data(), orders, st.sampled_from([0.0, 0.1]))
def test_disparity_and_heterogeneity(data, order, trim):
    """U_p and H_p of two to four groups, whose magnitudes may differ."""
    laws = {g: data.draw(scaled_laws) for g in "abcd"[: data.draw(st.integers(2, 4))]}
    shares = {group: data.draw(st.integers(1, 20)) for group in laws}
    steps = {group: exact(law) for group, law in laws.items()}
    widest = max(abs(x) for law in steps.values() for x in law.atoms)

    expected = rational.disparity(steps, shares, order, trim)
    # The ends of a trimmed range are rounded.
    slack = 4 * EPS * float(min((2 * widest) ** order, SAFE[1])) if trim else 0.0
    check(
        lambda: [disparity(laws, Weights(shares), order=order, trim=trim)], expected, slack=slack
    )
    check(
        lambda: [heterogeneity(laws, Weights(shares), order=order)],
        rational.heterogeneity(steps, shares, order),
    )


@st.composite
def scaled_federations(draw):
    """A federation whose scores are multiplied by one factor, up to 1e130 and down to 1e-200."""
    federation = draw(federations(max_silos=3, max_groups=3, sizes=st.integers(1, 3)))
    factor = draw(st.sampled_from([1e-200, 1e-140, 1e130]))
    return Federation.from_cells(
        {
            key: atoms(count=cell.count, values=factor * cell.values, kind=cell.kind)
            for key, cell in federation.cells.items()
        }
    )


def check_every_method(federation, trim, answer, expected, *, also=lambda _, __: ()):
    """Compare ``answer`` with ``expected`` for both orders and estimators."""
    whole = Silos.of(federation.cells)
    largest = 2 * Fraction(float(abs(federation.values).max()))
    for order, estimator in product((1, 2), ("grid", "exact")):
        method = Method(order=order, estimator=estimator, trim=trim)
        # Cumulative masses and centers are rounded: to slivers of levels, to ulps of values.
        scale = float(min(largest**order, SAFE[1]))
        slack = scale * (8 * federation.values.size * EPS if estimator == "exact" else 0.0)
        if answer is terms:
            slack += scale * in_power(8 * EPS, order)
        check(
            partial(answer, federation, method),
            *expected(whole, method),
            slack=slack,
            also=also(whole, method),
        )


trims = st.sampled_from([0.0, 0.1])


def observed(whole, method):
    return whole.disparity(whole.mixtures(), whole.totals, method)


@half
@given(scaled_federations(), trims)
def test_estimates(federation, trim):
    """Ĝ and Ĥ."""

    def answer(federation, method):
        actual = estimate(federation, method)
        return actual.disparity, actual.heterogeneity

    def expected(whole, method):
        spread = rational.heterogeneity(whole.mixtures(), whole.totals, method.order)
        return observed(whole, method), spread

    check_every_method(federation, trim, answer, expected)


def terms(federation, method):
    """V_mix and V_bar."""
    actual = decompose(federation, method)
    return actual.v_mix, actual.v_bar


@half
@given(scaled_federations(), trims)
def test_decompositions(federation, trim):
    """V_mix and V_bar."""

    def expected(whole, method):
        exact_terms = silos.decomposition(whole, method)
        return exact_terms.v_mix, exact_terms.v_bar

    def ulps(whole, method):
        """A center of equal values, rounded, may be an ulp from them: that may be refused."""
        atoms = [abs(atom) for law in whole.laws.values() for atom in law.atoms]
        return [max(atoms) ** method.order]

    check_every_method(federation, trim, terms, expected, also=ulps)


@half
@given(scaled_federations(), trims)
def test_attributions(federation, trim):
    """The observed disparity and its two counterfactuals."""

    def answer(federation, method):
        actual = attribute(federation, method)
        return actual.disparity, actual.without_selection, actual.with_local_parity

    def expected(whole, method):
        counterfactuals = (whole.mixtures(), whole.without_selection(), whole.with_local_parity())
        return [whole.disparity(laws, whole.totals, method) for laws in counterfactuals]

    check_every_method(federation, trim, answer, expected)


@half
@given(scaled_federations(), trims)
def test_influences(federation, trim):
    """The disparity without each silo."""

    def answer(federation, method):
        without = [influence.disparity_without for influence in influences(federation, method)]
        return [value for value in without if value is not None]

    def expected(whole, method):
        left = [whole.without(silo) for silo in federation.silos]
        return [observed(others, method) for others in left if len(others.groups) > 1]

    check_every_method(
        federation, trim, answer, expected, also=lambda whole, method: [observed(whole, method)]
    )


@half
@given(scaled_federations(), trims)
def test_local_audits(federation, trim):
    """The disparity and heterogeneity inside every silo, and the largest distance."""

    def answer(federation, method):
        audits = [a for a in local_audits(federation, method) if a.disparity is not None]
        assert all(math.isfinite(audit.wasserstein) for audit in audits)
        return [
            number
            for a in audits
            for number in (a.disparity, a.heterogeneity, a.wasserstein**method.order)
        ]

    def expected(whole, method):
        numbers = []
        for silo in federation.silos:
            inside = whole.inside(silo)
            counts = {group: whole.counts[silo, group] for group in inside}
            if len(inside) > 1:
                numbers += [
                    whole.disparity(inside, counts, method),
                    rational.heterogeneity(inside, counts, method.order),
                    max(
                        whole.integral(
                            [inside[s], inside[t]],
                            lambda q: abs(q[0] - q[1]) ** method.order,
                            method,
                        )
                        for s, t in combinations(inside, 2)
                    ),
                ]
        return numbers

    check_every_method(federation, trim, answer, expected)


@half
@given(scaled_federations(), trims)
def test_pairs(federation, trim):
    """W_p and C_p between mixtures fit wherever the scores do: none is refused."""
    whole = Silos.of(federation.cells)
    laws = whole.mixtures()
    scale = Fraction(float(abs(federation.values).max())) or Fraction(1)
    for order, estimator in product((1, 2), ("grid", "exact")):
        method = Method(order=order, estimator=estimator, trim=trim)
        slack = 8 * federation.values.size * EPS if estimator == "exact" else 0.0
        for pair in pairs(federation, method):
            mu, nu = (laws[group] for group in pair.groups)
            power = whole.integral([mu, nu], lambda q: abs(q[0] - q[1]) ** order, method)  # noqa: B023
            assert (pair.wasserstein / float(scale)) ** order == agrees_with(
                power / scale**order, slack=slack
            )
            assert pair.cramer**order == agrees_with(rational.cramer_power(mu, nu, order))


@given(st.data(), st.integers(1, 6))
def test_sketches(data, levels):
    """Bin means and the functionals of k values."""
    samples = {group: data.draw(scaled_laws) for group in "abc"}
    shares = Weights({"a": 1, "b": 2, "c": 3})
    for law in samples.values():
        scale = float(abs(law.atoms).max())
        expected = rational.bin_means(exact(law), levels)
        assert bin_means(law, levels).tolist() == [
            agrees_with(value, slack=8 * EPS * scale) for value in expected
        ]
    means = {group: bin_means(law, levels).tolist() for group, law in samples.items()}
    steps = {group: rational.law(row) for group, row in means.items()}
    expected = rational.disparity(steps, {"a": 1, "b": 2, "c": 3}, 2)
    check(lambda: [riemann_disparity(means, shares)], expected)
    check(lambda: [bin_averaged_disparity(samples, shares, levels)], expected)


@given(magnitudes, st.lists(quarters, min_size=2, max_size=5))
def test_linear_disparities(factor, values):
    """The linear interpolation refuses what it cannot hold, like the others."""
    low, high = sorted(values), [max(values) + 1.0] * len(values)
    rows = {"a": [factor * x for x in low], "b": [factor * x for x in high]}
    check(
        lambda: [linear_disparity(rows, Weights({"a": 1, "b": 1}))],
        Fraction(linear_disparity({"a": low, "b": high}, Weights({"a": 1, "b": 1})))
        * Fraction(factor) ** 2,
    )


LARGEST = 1.7e308


@pytest.mark.parametrize("score", [1e141, -1e141, LARGEST, -LARGEST])
def test_scores_whose_squares_do_not_fit_are_refused(score):
    """Beyond 1e140 nothing is computed: every law, cell and table of values says so."""
    cells = {("n", "a"): Cell(count=1, values=[score]), ("n", "b"): Cell(count=1, values=[0.0])}
    for build in (
        lambda: Law.from_scores([score, 0.0]),
        lambda: Law([score], [1]),
        lambda: disparity([score, 0.0], sensitive_features="ab"),
        lambda: wasserstein([score], [0.0]),
        lambda: Federation.from_cells(cells),
        lambda: riemann_disparity({"a": [score], "b": [0.0]}, Weights({"a": 1, "b": 1})),
    ):
        with pytest.raises(MagnitudeError):
            build()


def test_the_largest_scores_are_measured_right():
    """At ±1e140 every square still fits."""
    laws = {"a": Law([1e140, -1e140], [1, 1]), "b": Law([1e140], [2])}

    assert wasserstein(*laws.values()) == agrees_with(2**0.5 * 1e140)
    assert disparity(laws, Weights({"a": 1, "b": 1})) == agrees_with(5e279)
    assert bin_means(laws["a"], 1).tolist() == [0.0]


def check_ratios(ratios, masses):
    """Compare with the exact cumulative ratios of ``masses``, unless they are refused."""
    reached = rational.law(range(len(masses)), masses).reached
    try:
        actual = ratios(masses)
    except InputError:
        assert sum(map(Fraction, masses)) > 2**61
        return
    assert actual == [agrees_with(level) for level in reached]


@given(
    st.one_of(
        st.lists(st.sampled_from([1e-300, 1.0, 1e308, 1.7e308]), min_size=1, max_size=4),
        st.lists(st.sampled_from([1, 2**61, 2**62, 2**62 + 2**61]), min_size=1, max_size=4),
    )
)
def test_masses_whose_sum_does_not_fit(masses):
    """Masses count up to a common factor; a sum beyond 64 bits is right, or refused."""
    check_ratios(lambda m: Law([float(i) for i in range(len(m))], m).cumulative.tolist(), masses)


@given(st.lists(st.sampled_from([1e-300, 1.0, 1e308, 1.7e308]), min_size=2, max_size=3))
def test_shares_whose_sum_does_not_fit(shares):
    """Shares are normalized; a sum beyond the largest float is right, or refused."""
    check_ratios(lambda m: list(accumulate(Weights(dict(enumerate(m))).values())), shares)
