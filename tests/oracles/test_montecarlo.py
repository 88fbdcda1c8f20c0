"""The Monte Carlo engine against a plain loop over the public interface."""

import numpy as np
import pytest
from tests.unit.experiments.tables import dataset

import fedparity as fp
from fedparity.experiments.datasets import load_dataset
from fedparity.experiments.montecarlo import REGIMES, Study, run_study
from fedparity.experiments.montecarlo.dealing import Dealer

LEVELS = (1, 2, 5, 10, 30, 200)


def plain_loop(data, silos, levels):
    """What anybody would write: one federation for each k, and each kind of sketch.

    The engine integrates between the laws of the bin means themselves, without reconstruction.
    """
    found = np.empty((3, len(levels)))
    columns = {"groups": data.groups, "silos": silos}
    for column, k in enumerate(levels):
        quantiles = fp.Federation.from_scores(data.scores, levels=k, kind="quantile", **columns)
        means = fp.Federation.from_scores(data.scores, levels=k, kind="mean", **columns)
        exact = fp.Method(estimator="exact")
        found[0, column] = fp.estimate(quantiles, fp.Method(estimator="grid")).disparity
        found[1, column] = fp.estimate(quantiles, exact).disparity
        found[2, column] = fp.disparity(fp.mixtures(means, reconstruct=False), means.weights)
    return found


def allocation(study, regime, silos, replicate):
    """The allocation of the public function for the seed that the study says."""
    data = study.dataset
    return fp.allocate(
        data.scores,
        silos=silos,
        regime=regime,
        rho=study.rho,
        groups=data.groups,
        flipped=data.flipped,
        cut=study.cut,
        seed=study.seed_of(silos, replicate),
    )


def assert_equals_the_plain_loop(study):
    """With either kernel."""
    results = [run_study(study, kernel=kernel, workers=2) for kernel in ("numpy", "numba")]
    for i, regime in enumerate(study.regimes):
        for j, silos in enumerate(study.silos):
            for replicate in range(study.replicates):
                dealt = allocation(study, regime, silos, replicate)
                expected = plain_loop(study.dataset, dealt.silos, study.levels)

                for result in results:
                    assert result.estimates[i, j, replicate] == pytest.approx(
                        expected, rel=1e-12, abs=1e-15
                    )
                    if dealt.pearson is not None:
                        assert result.pearson[i, j, replicate] == dealt.pearson
                        assert result.spearman[i, j, replicate] == dealt.spearman


TABLES = {
    "few records: most cells are empty, and k exceeds every count": {"size": 30},
    "ties": {"size": 400, "decimals": 1},
    "one score": {"size": 40, "decimals": 0},
    "three groups": {"size": 300, "groups": 3, "decimals": 2},
    "no ties": {"size": 500},
}


@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)
def test_estimates_are_those_of_the_public_interface(options):
    study = Study(dataset=dataset(**options), silos=(1, 3, 50), levels=LEVELS, replicates=2)

    assert_equals_the_plain_loop(study)


@pytest.mark.data
@pytest.mark.parametrize("name", ["compas", "compas-deciles", "adult", "law"])
def test_estimates_of_real_data_are_those_of_the_public_interface(name):
    """D = 50 leaves cells of one group empty or below k; deciles are all ties."""
    study = Study(
        dataset=load_dataset(name), silos=(5, 50), levels=(5, 20, 200), replicates=1, seed=3
    )

    assert_equals_the_plain_loop(study)


@pytest.mark.parametrize("cut", ["paper", "margins"])
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_allocations_are_those_of_the_public_function_bit_for_bit(regime, cut, decimals):
    data = dataset(700, decimals=decimals)
    dealer = Dealer(data)
    for silos in (1, 2, 17, 300):
        for rho in (0.0, 0.8):
            options = {"silos": silos, "regime": regime, "rho": rho, "cut": cut}
            expected = fp.allocate(data.scores, groups=data.groups, seed=(4, silos), **options)

            made = dealer.deal(seed=(4, silos), **options)

            assert made.silos.tolist() == expected.silos.tolist()
            assert [made.pearson, made.spearman] == pytest.approx(
                [
                    np.nan if each is None else each
                    for each in (expected.pearson, expected.spearman)
                ],
                rel=0,
                abs=0,
                nan_ok=True,
            )


def test_truth_and_centralised_values_are_those_of_the_pooled_data():
    data = dataset(500, decimals=2)
    result = run_study(Study(dataset=data, silos=(2,), levels=LEVELS, replicates=1))
    laws = {g: fp.Law.from_scores(data.scores[data.groups == g]) for g in data.group_names}
    weights = fp.Weights(data.counts)
    for column, k in enumerate(LEVELS):
        values = {g: fp.quantile_values(law, k) for g, law in laws.items()}

        assert result.centralised[:, column] == pytest.approx(
            [
                fp.riemann_disparity(values, weights),
                fp.riemann_disparity(values, weights),
                fp.bin_averaged_disparity(laws, weights, k),
            ],
            rel=1e-12,
        )
    assert result.truth == fp.disparity(data.scores, sensitive_features=data.groups)
