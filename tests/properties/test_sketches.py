"""Sketches: what k numbers keep of a law."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.agreement import EPS, agrees_with
from tests.strategies import (
    counted_laws,
    kinds,
    laws,
    levels,
    quarters,
    reach,
    scores,
    weighted_laws,
    weighted_scores,
)

from fedparity import Cell, Law, disparity, wasserstein
from fedparity.theory import (
    bin_averaged_disparity,
    bin_means,
    quantile_values,
    riemann_disparity,
    step_law,
)

many_levels = st.integers(1, 40)
groups_of_laws = weighted_laws(counted_laws(max_size=6))


@given(laws(), many_levels)
def test_quantiles_do_not_decrease_and_are_atoms(law, k):
    """Every value of a quantile sketch is a record, and they come in order."""
    values = quantile_values(law, k)

    assert values.size == k
    assert (np.diff(values) >= 0).all()
    assert set(values) <= set(law.atoms)


@given(laws(), many_levels)
def test_bin_means_do_not_decrease_and_stay_inside(law, k):
    """Means over consecutive bins come in order, between the lowest and the highest atom."""
    values = bin_means(law, k)

    # The mean of a bin is its lowest value plus a quotient, both rounded.
    slack = 4 * EPS * reach(law.atoms)
    assert values.size == k
    assert (np.diff(values) >= 0).all()
    assert law.atoms[0] <= values[0]
    assert values[-1] <= law.atoms[-1] + slack


@given(laws(), many_levels)
def test_bin_means_keep_the_mean(law, k):
    """Their mean is the mean of the law, to the rounding of its atoms."""
    slack = 40 * EPS * reach(law.atoms)

    assert np.mean(bin_means(law, k)) == agrees_with(law.mean, slack=slack)


@given(quarters, st.integers(1, 9), many_levels)
def test_one_atom_is_kept_exactly(atom, count, k):
    """A law with one atom has that atom at every level and in every bin."""
    law = Law([atom], [count])

    assert quantile_values(law, k).tolist() == [atom] * k
    assert bin_means(law, k).tolist() == [atom] * k


@given(scores(max_size=10), st.integers(1, 4))
def test_a_multiple_of_the_records_loses_nothing(values, times):
    """With k = m n both sketches are the records themselves, m times each."""
    law = Law.from_scores(values)
    expected = sorted(score + 0.0 for score in values for _ in range(times))

    assert quantile_values(law, times * len(values)).tolist() == expected
    assert bin_means(law, times * len(values)).tolist() == expected


@given(weighted_scores(), many_levels, st.integers(2, 5), quarters)
def test_sketches_see_the_law_and_not_its_presentation(sample, k, times, point):
    """Repeated records, atoms without mass and multiplied masses change no bit."""
    values, masses = sample
    others = [
        Law(values * times, masses * times),
        Law(values, [times * mass for mass in masses]),
        Law([point, *values], [0, *masses]),
    ]

    for sketch in (quantile_values, bin_means):
        expected = sketch(Law(values, masses), k).tolist()
        assert [sketch(other, k).tolist() for other in others] == [expected] * 3


@given(
    st.lists(quarters, min_size=1, max_size=10),
    many_levels,
    kinds,
    st.sampled_from([0.25, 2.0, 1024.0]),
    st.integers(-1000, 1000),
)
def test_sketches_follow_the_scores(values, k, kind, factor, shift):
    """A sketch of cZ + d is c times the sketch of Z, plus d."""
    expected = factor * Cell.from_scores(values, levels=k, kind=kind).values + shift

    actual = Cell.from_scores(
        [factor * value + shift for value in values], levels=k, kind=kind
    ).values

    # Bin means are quotients, rounded at the scale of the scores; quantiles are exact.
    slack = 4 * EPS * (factor * reach(values) + abs(shift)) if kind == "mean" else 0.0
    assert actual.tolist() == [agrees_with(v, slack=slack, rel=0) for v in expected.tolist()]


@given(counted_laws(), levels)
def test_the_law_of_a_sketch_is_near(law, k):
    """W₁(ν, ν_k) ≤ range/(2k) for quantiles: they are off only inside half a bin."""
    step = step_law(quantile_values(law, k))

    spread = (law.atoms[-1] - law.atoms[0]) / (2 * k)
    assert wasserstein(law, step, order=1) <= spread * (1 + 1e-12)


@given(groups_of_laws, levels)
def test_bin_means_never_exceed_the_disparity(groups, k):
    """Ū ≤ U₂ (Jensen): bin means lose disparity and never invent any."""
    nu, w = groups
    means = {group: bin_means(law, k) for group, law in nu.items()}

    # Bin means are rounded at the scale of the atoms.
    slack = 8 * EPS * reach(*means.values()) * math.sqrt(disparity(nu, w))
    assert riemann_disparity(means, w) <= disparity(nu, w) * (1 + 1e-12) + slack
    assert bin_averaged_disparity(nu, w, k) == riemann_disparity(means, w)


@given(groups_of_laws, levels, st.integers(2, 4))
def test_smaller_bins_keep_more_of_the_disparity(groups, k, cut):
    """Cutting every bin into equal parts can only raise the lower bound."""
    nu, w = groups
    coarse = bin_averaged_disparity(nu, w, k)
    fine = bin_averaged_disparity(nu, w, k * cut)

    # Bin means are rounded at the scale of the atoms.
    slack = 8 * EPS * reach(*(law.atoms for law in nu.values())) * math.sqrt(disparity(nu, w))
    assert coarse <= fine * (1 + 1e-12) + slack
