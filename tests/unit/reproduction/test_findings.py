"""What differs is said in sentences that the numbers make."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.reproduction.samples import study

from fedparity.experiments.datasets import load_dataset
from fedparity.experiments.reproduction.claims import claims
from fedparity.experiments.reproduction.draws import Drawing
from fedparity.experiments.reproduction.findings import contradictions, repeated_block
from fedparity.experiments.reproduction.k95 import k95_csv, k95_markdown, k95_range
from fedparity.experiments.reproduction.parts import Part
from fedparity.experiments.reproduction.populations import Population
from fedparity.experiments.reproduction.printed import PrintedBlock, printed_blocks
from fedparity.experiments.reproduction.terms import TERMS, TermsTable, draw_terms


def block(**rows):
    values = {
        "n_first": ("50", "20"),
        "n_second": ("50", "30"),
        "U2": ("0.2500", "0.2400"),
        "W2": ("1.0000", "1.0000"),
        **rows,
    }
    return PrintedBlock("tab:test", "compas", "positive", values)


def test_numbers_that_fit_together_contradict_nothing():
    assert contradictions([block()]) == []


def test_rounding_is_no_contradiction():
    assert contradictions([block(U2=("0.2501", "0.2400"), W2=("1.0001", "1.0000"))]) == []


def test_numbers_that_cannot_come_from_the_same_records_are_named():
    (sentence,) = contradictions([block(U2=("0.2500", "0.2300"))])

    assert "silo 1 cannot belong to the same records" in sentence


def test_table_1_repeats_the_positive_regime():
    (sentence,) = repeated_block(printed_blocks())

    assert "prints the rows of the positive regime" in sentence


def test_table_1_would_not_be_blamed_for_rows_of_its_own():
    first, *others = printed_blocks()
    changed = replace(first, rows={**first.rows, "U2": ("9",) * 6})

    assert repeated_block([changed, *others]) == []


@pytest.fixture(scope="module")
def terms():
    population = Population(load_dataset("synthetic"))
    return draw_terms(population, Drawing(replicates=2, seed=0), title="Synthetic")


def test_renaming_the_silos_of_one_group_changes_the_attribution_only(terms):
    before, after = terms.draws["positive"], terms.draws["positive, renamed"]
    split = TERMS.index("selection")

    np.testing.assert_allclose(before[:, :4], after[:, :4], rtol=1e-9)
    assert (np.abs(before[:, split] - after[:, split]) > 0.1 * before[:, 3]).all()


def test_terms_add_up_to_the_disparity(terms):
    for draws in terms.draws.values():
        np.testing.assert_allclose(draws[:, :3].sum(axis=1), draws[:, 3], rtol=1e-9)
        np.testing.assert_allclose(draws[:, 4:].sum(axis=1), draws[:, 3], rtol=1e-9)


def test_the_sentence_follows_the_numbers(terms):
    moved = {name: draws.copy() for name, draws in terms.draws.items()}
    moved["negative"][:, 0] *= 3

    assert "are alike" in terms.sentence
    assert "cannot tell who is where" in terms.sentence
    assert "are up to 67 % apart" in TermsTable("x", moved).sentence


def test_terms_that_change_with_names_would_not_be_called_blind(terms):
    moved = {name: draws.copy() for name, draws in terms.draws.items()}
    moved["positive, renamed"] *= 1.5

    assert "cannot tell" not in TermsTable("x", moved).sentence


def test_k95_is_a_range_over_regimes_and_silos():
    result = study([[0.3, 0.1, 0.005], [0.3, 0.005, 0.005], [0.005] * 3])

    assert [k95_range(result, name) for name in result.estimators] == ["50", "10", "5"]


def test_k95_beyond_the_largest_k_says_so():
    result = study([[0.3, 0.1, 0.1]] * 3)
    reached = replace(result, estimates=result.estimates.copy())
    reached.estimates[0, 0] = result.truth

    assert k95_range(result, "paper grid") == ">50"
    assert k95_range(reached, "paper grid") == "5 to >50"


def part_of(errors_by_silos):
    """A part of a study with other errors for few silos than for many."""
    few, many = (study(errors) for errors in errors_by_silos)
    both = replace(few, estimates=few.estimates.copy())
    both.estimates[:, 1] = many.estimates[:, 1]
    return Part(name="x", title="X", datasets=(), study=both)


def test_a_claim_that_the_study_bears_out_is_not_mentioned():
    small, large = [[0.3, 0.005, 0.005]] * 3, [[0.3, 0.3, 0.005]] * 3

    assert not [s for s in claims([part_of((small, large))]) if "more silos" in s]


def test_a_claim_that_the_study_does_not_bear_out_is_told_with_its_numbers():
    small, large = [[0.3, 0.3, 0.005]] * 3, [[0.3, 0.005, 0.005]] * 3

    sentence = next(s for s in claims([part_of((small, large))]) if "more silos" in s)

    assert "50, 50, 50 with 2 silos and 10, 10, 10 with 5" in sentence


def test_k95_tables_name_every_data_set():
    results = {"COMPAS": study(), "Law": study()}

    assert k95_markdown(results).count("\n") == 4
    assert len(k95_csv(results).splitlines()) == 1 + 2 * 3 * 2 * 3
