"""Appendix A: the library against Algorithm 1 in fractions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.paper.algorithm_1 import one_shot_audit, sketch
from tests.paper.samples import random_cells, sketched

import fedparity as fp

SCALE = 13.0
"""No two scores of the random cells are further apart."""


def close_to(fraction, order):
    """Accept what floats of this size can hold: a few units in the last place of SCALE^p."""
    return pytest.approx(float(fraction), rel=1e-13, abs=1e-15 * SCALE**order)


def random_audit(seed, order):
    """Return a random federation and the outcome of Algorithm 1 on the same scores."""
    rng = np.random.default_rng(seed)
    silos, groups = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    levels = int(rng.choice([1, 2, 3, 4, 5, 8, 10]))
    cells = random_cells(rng, silos=silos, groups=groups)
    sketches = {label: sketch(scores.tolist(), levels) for label, scores in cells.items()}
    return sketched(cells, levels), one_shot_audit(sketches, order)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_alg_oneshot_estimates_disparity_and_heterogeneity(seed, order):
    """Ĝ_{k,p} and Ĥ^×_{k,p} are those of Algorithm 1, ties between scores and levels included."""
    federation, expected = random_audit(seed, order)

    result = fp.theory.estimate(federation, fp.Method(order=order, estimator="grid"))

    assert result.disparity == close_to(expected.disparity, order)
    assert result.heterogeneity == close_to(expected.heterogeneity, order)


@pytest.mark.parametrize("seed", range(40))
def test_alg_oneshot_estimates_the_anova_terms(seed):
    """V̂_mix, V̂_bar and R̂ are those of Algorithm 1."""
    federation, expected = random_audit(seed, 2)

    terms = fp.theory.decompose(federation, fp.Method(estimator="grid"))

    assert terms.v_mix == close_to(expected.v_mix, 2)
    assert terms.v_bar == close_to(expected.v_bar, 2)
    assert terms.remainder == close_to(expected.remainder, 2)


@pytest.mark.parametrize("seed", range(40))
def test_alg_oneshot_estimates_the_terms_of_rem_p1(seed):
    """For p = 1 the two terms are those of the lower weighted medians."""
    federation, expected = random_audit(seed, 1)

    terms = fp.theory.decompose(federation, fp.Method(order=1, estimator="grid"))

    assert terms.v_mix == close_to(expected.v_mix, 1)
    assert terms.v_bar == close_to(expected.v_bar, 1)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_alg_oneshot_leaves_out_the_cells_that_a_silo_lacks(seed, order):
    """A silo without a group has weight zero in its mixture, and nothing else changes."""
    rng = np.random.default_rng(seed)
    cells = random_cells(rng, silos=3, groups=3)
    del cells[0, 1], cells[2, 0]
    sketches = {label: sketch(scores.tolist(), 5) for label, scores in cells.items()}
    expected = one_shot_audit(sketches, order)

    federation = sketched(cells, 5)
    result = fp.theory.estimate(federation, fp.Method(order=order, estimator="grid"))
    terms = fp.theory.decompose(federation, fp.Method(order=order, estimator="grid"))

    assert result.disparity == close_to(expected.disparity, order)
    assert result.heterogeneity == close_to(expected.heterogeneity, order)
    assert terms.v_mix == close_to(expected.v_mix, order)
    assert terms.v_bar == close_to(expected.v_bar, order)


def test_alg_oneshot_reads_a_level_that_a_mixture_meets_exactly():
    """Ten silos of one record each meet u = 0.1, 0.3, ... exactly: the first atom, the third, ...

    In floats three tenths added up exceed 0.3 and eight fall short of 0.8; in whole numbers a
    level that is met is met.
    """
    cells = {(j, s): np.array([float(j ** (s + 1))]) for j in range(10) for s in (0, 1)}
    sketches = {label: sketch(scores.tolist(), 5) for label, scores in cells.items()}
    federation = sketched(cells, 5)
    mixtures = fp.theory.mixtures(federation)

    expected = one_shot_audit(sketches, 2)

    assert mixtures[0].quantile(fp.theory.midpoints(5)).tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert mixtures[1].quantile(fp.theory.midpoints(5)).tolist() == [0.0, 4.0, 16.0, 36.0, 64.0]
    assert fp.theory.estimate(federation, fp.Method(estimator="grid")).disparity == pytest.approx(
        float(expected.disparity), rel=1e-15
    )
