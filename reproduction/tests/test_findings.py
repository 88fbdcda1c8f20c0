"""What differs is said in sentences that the numbers make."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reproduction.tests.samples import runner, study

from fedparity_reproduction.datasets import load_dataset
from fedparity_reproduction.estimators import ESTIMATORS
from fedparity_reproduction.experiments import Part
from fedparity_reproduction.findings import claims, contradictions, repeated_block
from fedparity_reproduction.printed import PrintedBlock, printed_blocks
from fedparity_reproduction.tables import Population
from fedparity_reproduction.terms import TERMS, TermsTable, draw_terms
from fedparity_reproduction.texts import k95_csv, k95_markdown, k95_range


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
    return draw_terms(population, runner(draws=2), "Synthetic")


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

    assert [k95_range(result, name) for name in ESTIMATORS] == ["50", "10", "5"]


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


ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "reference" / "k95-table.md").read_text(encoding="utf-8")


def test_the_table_is_of_the_form_that_the_command_writes():
    made = k95_markdown(dict.fromkeys(("COMPAS", "Adult", "Law"), study()))

    def frame(text):
        return [line.split("|")[:2] for line in text.splitlines()]

    assert frame(TABLE) == frame(made)
    assert TABLE.splitlines()[:2] == made.splitlines()[:2]
