"""Laws on the line: what holds for every law, however it was built."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.agreement import EPS, agrees_with
from tests.strategies import (
    counted_laws,
    decimals,
    laws,
    reach,
    real_masses,
    scores,
    ticks,
    weighted_laws,
    weighted_scores,
)

from fedparity import Law, Weights
from fedparity.theory import mixture

levels = st.one_of(
    st.floats(min_value=0, max_value=1, exclude_min=True),
    st.integers(1, 100).map(lambda hundredths: hundredths / 100),
)
points = st.one_of(ticks, decimals)


def same_bits(law, other):
    return (
        law.atoms.tobytes() == other.atoms.tobytes()
        and law.cumulative.tobytes() == other.cumulative.tobytes()
        and law.masses.tobytes() == other.masses.tobytes()
    )


@given(counted_laws(), levels, points)
def test_quantile_and_cdf_are_adjoint(law, level, point):
    """Q(u) ≤ x if and only if u ≤ F(x): Galois, with no tolerance."""
    assert (law.quantile(level) <= point) == (level <= law.cdf(point))


@given(counted_laws(), levels)
def test_quantile_and_cdf_are_adjoint_at_the_atoms(law, level):
    """The same at x = Q(u) and just below it, where it is decided."""
    atom = law.quantile(level)

    assert level <= law.cdf(atom)
    assert level > law.cdf(np.nextafter(atom, -np.inf))


@given(laws())
def test_a_level_that_is_met_exactly_is_reached(law):
    """Q(F(x)) = x at every atom: left-continuous, decided where the level is the cdf itself."""
    assert law.quantile(law.cumulative).tolist() == law.atoms.tolist()


@given(laws(), levels)
def test_real_masses_reach_a_level_up_to_their_rounding(law, level):
    """The same for masses that were not counts, to the rounding of their sum."""
    atom = law.quantile(level)

    rounding = len(law) * EPS
    assert level <= law.cdf(atom) + rounding
    assert level > law.cdf(np.nextafter(atom, -np.inf)) - rounding


@given(laws(), st.lists(points, min_size=2))
def test_the_cdf_does_not_decrease(law, some):
    """F climbs from 0, below the lowest atom, to exactly 1 at the highest."""
    values = law.cdf(sorted(some))

    assert (np.diff(values) >= 0).all()
    assert law.cdf(np.nextafter(law.atoms[0], -np.inf)) == 0.0
    assert law.cdf(law.atoms[-1]) == 1.0


@given(laws(), st.lists(levels, min_size=2))
def test_the_quantile_function_does_not_decrease(law, some):
    """Q climbs through the atoms to the highest, at level 1."""
    values = law.quantile(sorted(some))

    assert (np.diff(values) >= 0).all()
    assert set(values) <= set(law.atoms)
    assert law.quantile(1.0) == law.atoms[-1]


@given(laws())
def test_atoms_increase_and_masses_add_up_to_one(law):
    """Valid once built: no repeated atom, no empty one, total mass one."""
    assert all(low < high for low, high in pairwise(law.atoms.tolist()))
    assert (law.masses > 0).all()
    assert law.masses.sum() == pytest.approx(1.0, rel=len(law) * EPS, abs=0)
    assert law.cumulative[-1] == 1.0


@given(laws())
def test_a_law_cannot_be_changed(law):
    """Neither its attributes nor its arrays can be set, and none can be taken away."""
    for name in ("atoms", "weights", "masses", "cumulative", "mean", "anything"):
        with pytest.raises(AttributeError):
            setattr(law, name, None)
    for array in (law.atoms, law.weights, law.masses, law.cumulative):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    for name in ("atoms", "weights"):
        with pytest.raises(AttributeError):
            delattr(law, name)


@given(weighted_scores())
def test_a_law_keeps_no_hold_on_what_it_was_built_from(sample):
    """Writing to the caller's arrays afterwards changes nothing."""
    values, masses = np.array(sample[0]), np.array(sample[1])
    built = [Law(values, masses), Law.from_scores(values, masses), Law.from_scores(values)]
    before = [(law.atoms.tolist(), law.weights.tolist()) for law in built]

    values += 1.0
    masses += 1

    assert [(law.atoms.tolist(), law.weights.tolist()) for law in built] == before


@given(scores(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(values, random):
    """Shuffled records have the same law, bit for bit."""
    shuffled = values.copy()
    random.shuffle(shuffled)

    assert same_bits(Law.from_scores(shuffled), Law.from_scores(values))


@given(scores(), st.integers(1, 5))
def test_repeating_every_record_changes_nothing(values, times):
    """i/n is (i m)/(n m), rounded once: the same bits."""
    assert same_bits(Law.from_scores(values * times), Law.from_scores(values))


@given(weighted_scores())
def test_a_whole_mass_is_a_repetition(sample):
    """A score of mass m is m equal scores, bit for bit."""
    assert same_bits(Law(*sample), Law.from_scores(np.repeat(*sample)))


@given(weighted_scores(), st.integers(1, 1000))
def test_only_the_ratios_of_masses_matter(sample, factor):
    """Whole masses may be multiplied by any whole factor, bit for bit."""
    values, masses = sample

    assert same_bits(Law(values, [factor * mass for mass in masses]), Law(values, masses))


@given(st.one_of(weighted_scores(), weighted_scores(real_masses)), points)
def test_an_atom_without_mass_is_no_atom(sample, point):
    """Mass zero is dropped, wherever it is and whatever its type."""
    values, masses = sample

    assert same_bits(Law([point, *values], [0, *masses]), Law(values, masses))
    assert same_bits(Law([*values, point], [*masses, 0.0]), Law(values, np.array(masses) * 1.0))


@given(scores())
def test_negative_zero_is_zero(values):
    """Scores that are equal are equal bits."""
    flipped = Law.from_scores([-score if score == 0 else score for score in values])

    assert same_bits(flipped, Law.from_scores(values))
    assert not np.signbit(flipped.atoms[flipped.atoms == 0]).any()


@given(weighted_laws(), points)
def test_the_cdf_of_a_mixture_is_the_mean_of_the_cdfs(groups, point):
    """F× = Σ α F_s, to the rounding of the sum of all masses."""
    nu, w = groups
    expected = sum(w[group] * nu[group].cdf(point) for group in nu)
    atoms = sum(len(law) for law in nu.values())

    assert mixture(nu, w).cdf(point) == pytest.approx(expected, rel=0, abs=2 * atoms * EPS)


@given(weighted_laws())
def test_the_mean_of_a_mixture_is_the_mean_of_the_means(groups):
    """Σ α E_s, to the rounding of the atoms."""
    nu, w = groups
    expected = sum(w[group] * nu[group].mean for group in nu)

    # A mean near zero of atoms that are not is known to the rounding of those atoms.
    slack = 40 * EPS * reach(*(law.atoms for law in nu.values()))
    assert mixture(nu, w).mean == agrees_with(expected, slack=slack)


@given(counted_laws(), levels)
def test_a_law_mixed_with_itself_is_itself(law, level):
    """Mixing leaves one law alone: the same atoms, the same quantiles away from the steps."""
    mixed = mixture({"a": law, "b": law}, Weights({"a": 1, "b": 2}))
    distance = np.abs(law.cumulative - level).min()

    assert mixed.atoms.tolist() == law.atoms.tolist()
    if distance > 24 * EPS:
        assert mixed.quantile(level) == law.quantile(level)
