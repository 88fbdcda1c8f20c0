"""What is promised for any laws holds for any records, and in nearly all audits."""

import numpy as np
import pytest
from tests.unit.planning.audits import EQUAL, ESTIMATORS, KINDS, labels

import fedparity as fp
from fedparity.planning.provable import Bounds


def bounds(**changes):
    options = {"width": 1.0, "density": 0.0, "shares": EQUAL, "cells": 10}
    return Bounds(**{**options, "kind": "quantile", "estimator": "grid", **changes})


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_sketch_bound_holds_for_any_records(kind, estimator):
    """Random atoms, random sizes, silos that lack a group: the bound has no assumption."""
    random = np.random.default_rng(9)
    for _ in range(60):
        size = int(random.integers(8, 60))
        scores = random.choice([0.0, 0.02, 0.5, 0.97, 1.0, random.random()], size)
        groups = np.concatenate([[0, 1, 2], random.integers(0, 3, size - 3)])
        levels = int(random.integers(1, 9))
        federation = fp.Federation.from_scores(
            scores, groups=groups, silos=random.integers(0, 3, size), levels=levels, kind=kind
        )
        estimate = fp.theory.estimate(federation, fp.Method(estimator=estimator)).disparity
        exact = fp.disparity(scores, sensitive_features=groups)
        promised = bounds(shares=tuple(federation.shares), kind=kind, estimator=estimator).sketch(
            levels
        )

        assert abs(estimate - exact) <= promised + 1e-12


def test_the_sketch_bound_is_met_within_a_factor_of_four():
    scores, groups = [0.0, 1.0, 0.0, 0.0], [0, 0, 1, 1]
    federation = fp.Federation.from_scores(
        scores, groups=groups, silos=[0] * 4, levels=1, kind="quantile"
    )
    error = (
        fp.disparity(scores, sensitive_features=groups) - fp.theory.estimate(federation).disparity
    )

    assert error == bounds(estimator="exact").sketch(1) / 4


@pytest.mark.parametrize("kind", KINDS)
def test_the_audit_bound_holds_in_nearly_all_audits(kind):
    """One silo of 50 records per group, uniform laws: density and range, both promised 90 %."""
    random = np.random.default_rng(10)
    groups, places = labels(1, (50, 50))
    promised = [
        bounds(density=density, cells=2, kind=kind).audit(10, 50, disparity=0.01, confidence=0.9)
        for density in (0.0, 1.25)
    ]
    errors = []
    for _ in range(200):
        scores = 0.8 * random.random(100) + np.repeat([0.0, 0.2], 50)
        federation = fp.Federation.from_scores(
            scores, groups=groups, silos=places, levels=10, kind=kind
        )
        errors.append(abs(fp.theory.estimate(federation).disparity - 0.01))

    assert promised[1] < promised[0]
    assert np.mean(np.array(errors) <= promised[1]) >= 0.9


def test_bin_means_move_a_cdf_by_up_to_one_bin_and_their_bound_knows():
    """Nine records at 0 and one at 1: between 0 and their mean the cdfs differ by 0.9."""
    law = fp.Law([0.0, 1.0], [9, 1])
    moved = law.cdf(0.05) - fp.theory.step_law(fp.theory.bin_means(law, 1)).cdf(0.05)
    size = {"levels": 10, "records": 10**9, "disparity": 0.01, "confidence": 0.95}
    quantiles, means = (
        bounds(density=2.0, kind=kind, estimator="exact").audit(**size) for kind in KINDS
    )

    assert moved == 0.9
    assert means > 1.9 * quantiles


@pytest.mark.parametrize("density", [0.0, 2.0])
@pytest.mark.parametrize("kind", KINDS)
def test_the_bounded_sizes_are_the_smallest_that_keep_the_bound(density, kind):
    promised = bounds(density=density, kind=kind)
    levels = promised.levels_for(0.001)
    options = {"disparity": 0.01, "confidence": 0.95}
    records = promised.records_for(levels, error=0.002, **options)

    assert promised.sketch(levels) <= 0.001 < promised.sketch(levels - 1)
    assert promised.audit(levels, records, **options) <= 0.002
    assert promised.audit(levels, records - 1, **options) > 0.002


def test_a_density_sharpens_what_is_detected():
    sizes = {"levels": 500, "records": 10_000, "confidence": 0.95, "power": 0.8}
    by_range, by_density = (bounds(density=m).detectable(**sizes) for m in (0.0, 2.0))
    largest = bounds().diversity / 2

    assert by_density < 0.001 < by_range < largest
    assert bounds().detectable(5, 10, confidence=0.95, power=0.8) is None
