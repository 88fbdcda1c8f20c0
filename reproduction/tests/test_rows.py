"""Rows of the reproduced tables against direct computations on the pooled records."""

import numpy as np
import pytest
from reproduction.tests.samples import runner
from scipy.stats import wasserstein_distance

import fedparity as fp
from fedparity_reproduction.datasets import load_dataset
from fedparity_reproduction.printed import printed_blocks
from fedparity_reproduction.tables import (
    MEASURES,
    SILOS,
    Population,
    draw_measures,
    measures_of_silos,
)
from fedparity_reproduction.terms import draw_terms
from fedparity_reproduction.verdicts import agreements

PLACE = {measure.name: i for i, measure in enumerate(MEASURES)}


def by_hand(first, second):
    """The measures by their definitions, on a grid of levels and of scores fine enough."""
    levels = (np.arange(2_000_000) + 0.5) / 2_000_000
    quantiles = [np.sort(z)[np.ceil(levels * z.size).astype(int) - 1] for z in (first, second)]
    squared = np.mean((quantiles[0] - quantiles[1]) ** 2)
    atoms = np.sort(np.concatenate((first, second)))
    cdfs = [
        np.searchsorted(np.sort(z), atoms[:-1], side="right") / z.size for z in (first, second)
    ]
    crossed = np.sum((cdfs[0] - cdfs[1]) ** 2 * np.diff(atoms))
    share = first.size / (first.size + second.size)
    return {
        "n_first": first.size,
        "n_second": second.size,
        "gap": abs(first.mean() - second.mean()),
        "U2": share * (1 - share) * squared,
        "H2": share * (1 - share) * crossed,
        "H2_range": share * (1 - share) * crossed / np.ptp(atoms),
        "W2": np.sqrt(squared),
    }


@pytest.fixture(params=["positive", "negative", "random"])
def allocated(request):
    data = load_dataset("synthetic", seed=5)
    dealt = fp.theory.allocate(
        data.scores, silos=SILOS, regime=request.param, groups=data.codes, seed=(0, 1)
    )
    return request.param, data, dealt.silos


def test_each_column_is_what_its_definition_gives(allocated):
    _, data, silos = allocated
    order = np.argsort(data.scores)
    table = measures_of_silos(data.scores[order], data.codes[order] == 1, silos[order])

    for column in range(SILOS + 1):
        own = np.full(silos.size, True) if column == 0 else silos == column - 1
        expected = by_hand(*(data.scores[own & (data.codes == code)] for code in (0, 1)))

        found = dict(zip(expected, table[:, column], strict=True))
        assert found == pytest.approx(expected, rel=1e-5)


def test_the_public_functions_give_the_whole(allocated):
    _, data, silos = allocated
    order = np.argsort(data.scores)
    whole = measures_of_silos(data.scores[order], data.codes[order] == 1, silos[order])[:, 0]

    assert whole[PLACE["U2"]] == pytest.approx(
        fp.disparity(data.scores, sensitive_features=data.codes), rel=1e-12
    )
    assert whole[PLACE["H2"]] == pytest.approx(
        fp.heterogeneity(data.scores, sensitive_features=data.codes), rel=1e-12
    )


def test_w1_of_another_library_bounds_w2_from_below(allocated):
    _, data, silos = allocated
    order = np.argsort(data.scores)
    table = measures_of_silos(data.scores[order], data.codes[order] == 1, silos[order])

    for silo in range(SILOS):
        samples = [data.scores[(silos == silo) & (data.codes == code)] for code in (0, 1)]
        shorter = wasserstein_distance(*samples)

        assert table[PLACE["gap"], silo + 1] <= shorter * (1 + 1e-12)
        assert shorter <= table[PLACE["W2"], silo + 1] * (1 + 1e-12)


def test_draws_are_those_of_the_public_allocation(allocated):
    regime, data, silos = allocated
    drawn = draw_measures(Population(data), regime, runner(draws=2))
    order = np.argsort(data.scores)

    expected = measures_of_silos(data.scores[order], data.codes[order] == 1, silos[order])

    np.testing.assert_array_equal(drawn[1], expected)


def test_workers_change_no_bit():
    people = Population(load_dataset("synthetic", seed=2))

    one, two = (
        draw_measures(people, "positive", runner(draws=5, seed=3, workers=workers))
        for workers in (1, 3)
    )

    np.testing.assert_array_equal(one, two)


def test_terms_are_those_of_the_public_functions(allocated):
    regime, data, silos = allocated
    drawn = draw_terms(Population(data), runner(draws=2), "x")
    federation = fp.Federation.from_scores(
        data.scores, groups=data.codes, silos=silos, levels=100, kind="quantile"
    )
    grid = fp.Method(estimator="grid")
    terms, parts = fp.theory.decompose(federation, grid), fp.theory.attribute(federation, grid)

    expected = [
        *(terms.v_mix, terms.v_bar, terms.remainder),
        *(parts.disparity, parts.selection, parts.within),
    ]
    np.testing.assert_allclose(drawn.draws[regime][1], expected, rtol=1e-12, atol=1e-15)


@pytest.mark.data
@pytest.mark.parametrize("name", ["adult", "law"])
def test_the_whole_is_printed_to_one_unit_of_the_last_digit(name):
    """Nothing is random in the global column of Adult and Law; H₂ is divided by the range."""
    drawn = draw_measures(Population(load_dataset(name)), "random", runner(draws=2))
    block = next(b for b in printed_blocks() if b.dataset == name)

    for printed_as, row in block.rows.items():
        measure = "H2_range" if printed_as == "H2" else printed_as
        (found,) = agreements(row[:1], drawn[:, PLACE[measure], :1])

        assert found in {"digits", "unit"}, (name, printed_as)


@pytest.mark.data
def test_without_race_adult_is_not_what_is_printed():
    people = Population(load_dataset("adult-without-race"))
    drawn = draw_measures(people, "random", runner(draws=2))
    block = next(b for b in printed_blocks() if b.dataset == "adult")

    for measure in ("gap", "U2", "W2"):
        assert agreements(block.rows[measure][:1], drawn[:, PLACE[measure], :1]) == ("apart",)


@pytest.mark.data
def test_the_jitter_of_compas_is_drawn_anew_and_keeps_deciles_and_counts():
    data = load_dataset("compas")
    people = Population(data, jittered=True)

    first, second = people.drawn((0, 0)), people.drawn((0, 1))

    assert not np.array_equal(first.scores, second.scores)
    np.testing.assert_array_equal(*(np.sort(np.ceil(drawn.scores)) for drawn in (first, second)))
    assert first.second.sum() == second.second.sum() == data.counts["Caucasian"]
