"""Tests that people file, against SciPy and statsmodels."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportions_ztest

from fedparity.outcomes.stratified_tables import breslow_day, mantel_haenszel, z_test
from fedparity.outcomes.tail_probabilities import (
    chi_square_tail,
    fisher_exact,
    holm,
    normal_tails,
)

UCB_ADMISSIONS = {
    "A": (512, 313, 89, 19),
    "B": (353, 207, 17, 8),
    "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244),
    "E": (53, 138, 94, 299),
    "F": (22, 351, 24, 317),
}
"""Berkeley, 1973: men admitted and rejected, women admitted and rejected, by department."""


def random_strata(seed):
    random = np.random.default_rng(seed)
    return random.integers(1, 40, (random.integers(2, 9), 4)).astype(float)


@pytest.mark.parametrize("degrees", [1, 2, 5, 30, 200])
def test_the_tail_of_chi_square_is_scipys(degrees):
    for statistic in (1e-6, 0.1, 1.0, 3.84, 10.0, 50.0, 250.0):
        expected = stats.chi2.sf(statistic, degrees)

        assert chi_square_tail(statistic, degrees) == pytest.approx(
            expected, rel=1e-10, abs=1e-300
        )


def test_the_tails_of_the_normal_law_are_scipys():
    for z in (0.0, 0.5, -1.96, 8.0):
        assert normal_tails(z) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12)


@pytest.mark.parametrize("seed", range(200))
def test_fishers_exact_test_is_scipys(seed):
    random = np.random.default_rng(seed)
    total, other = random.integers(1, 300, 2)
    selected, among = random.integers(0, total + 1), random.integers(0, other + 1)
    table = [[selected, total - selected], [among, other - among]]

    found = fisher_exact(int(selected), int(total), int(among), int(other))

    assert found == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_holms_correction_is_that_of_statsmodels(seed):
    p_values = np.random.default_rng(seed).random(7) ** 3

    assert holm(p_values.tolist()) == pytest.approx(multipletests(p_values, method="holm")[1])


@pytest.mark.parametrize("seed", range(50))
def test_the_z_test_is_that_of_statsmodels(seed):
    random = np.random.default_rng(seed)
    totals = random.integers(5, 500, 2)
    selected = random.integers(1, totals)

    found = z_test(selected[0], totals[0], selected[1], totals[1])

    assert (found.statistic, found.p_value) == pytest.approx(proportions_ztest(selected, totals))


@pytest.mark.parametrize("seed", range(100))
def test_mantel_haenszel_and_breslow_day_are_those_of_statsmodels(seed):
    tables = random_strata(seed)
    oracle = StratifiedTable([table.reshape(2, 2) for table in tables])

    found, same = mantel_haenszel(tables, 0.95), breslow_day(tables)

    assert found.odds_ratio == pytest.approx(oracle.oddsratio_pooled)
    assert tuple(found.interval) == pytest.approx(oracle.oddsratio_pooled_confint(0.05))
    test = oracle.test_null_odds(correction=False)
    assert (found.statistic, found.p_value) == pytest.approx((test.statistic, test.pvalue))
    equal = oracle.test_equal_odds(adjust=True)
    assert (same.statistic, same.p_value) == pytest.approx((equal.statistic, equal.pvalue))


def test_berkeley_admitted_women_less_often_in_all_and_no_less_often_by_department():
    tables = np.array(list(UCB_ADMISSIONS.values()), float)
    summed = tables.sum(axis=0)
    oracle = StratifiedTable([table.reshape(2, 2) for table in tables])

    crude = summed[0] * summed[3] / (summed[1] * summed[2])
    found, same = mantel_haenszel(tables, 0.95), breslow_day(tables)

    assert crude == pytest.approx(1.84, abs=0.01)
    assert (
        found.odds_ratio
        == pytest.approx(oracle.oddsratio_pooled)
        == pytest.approx(0.905, abs=1e-3)
    )
    assert 1.0 in found.interval
    assert same.p_value == pytest.approx(oracle.test_equal_odds(adjust=True).pvalue)
    assert same.p_value < 0.01  # department A is unlike the others
