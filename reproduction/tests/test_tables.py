"""Tables hold the paper's numbers, ours and the reason where they differ."""

import csv
import io

import numpy as np
import pytest
from reproduction.tests.samples import draws

from fedparity_reproduction.printed import printed_blocks
from fedparity_reproduction.tables import COLUMNS, World, build_table
from fedparity_reproduction.texts import table_csv, table_latex, table_markdown

LABEL = "tab:law:compare:three"


def printed_draws(regime, **changes):
    """Draws that are exactly what the paper prints, but for what is changed."""
    block = next(b for b in printed_blocks() if (b.label, b.regime) == (LABEL, regime))
    made = draws(0.0)
    names = {"gap": 2, "U2": 3, "H2_range": 5, "W2": 6}
    for name, place in names.items():
        made[:, place] = [float(v) for v in block.rows[name.removesuffix("_range")]]
    made[:, 4] = made[:, 5] * 0.89
    for name, factor in changes.items():
        made[:, names[name]] *= factor
    return made


def table(world, *others):
    return build_table(
        name="law",
        title="Law",
        dataset="law",
        groups=("black", "white"),
        world=world,
        others=others,
        label=LABEL,
        regimes=("random", "positive"),
    )


def verdicts(made):
    return {(b.regime, r.measure.name): r.verdict for b, r in made.rows}


@pytest.fixture
def law():
    return table(World((), printed_draws))


def test_only_the_regimes_asked_for_are_shown(law):
    assert [block.regime for block in law.blocks] == ["random", "positive"]


def test_counts_that_the_paper_leaves_out_are_shown_without_a_verdict(law):
    assert verdicts(law)["random", "n_first"].word == "not printed"


def test_rows_equal_to_the_printed_ones_match(law):
    found = verdicts(law)

    assert {found["random", name].word for name in ("gap", "U2", "W2", "H2_range")} == {"matches"}


def test_the_division_by_the_range_is_found_by_computing_it(law):
    verdict = verdicts(law)["random", "H2"]

    assert verdict.word == "differs"
    assert verdict.reason == "because the paper divides H₂ by the range of the scores"


def test_a_reason_is_given_only_if_its_numbers_fit():
    found = verdicts(table(World((), lambda regime: printed_draws(regime, H2_range=0.5))))

    assert "range of the scores" not in found["random", "H2"].reason


def test_another_world_is_blamed_for_what_it_explains():
    main = World((), lambda regime: printed_draws(regime, gap=0.9, U2=0.8))
    other = World(("the moon is full",), printed_draws)

    found = verdicts(table(main, other))

    assert found["random", "gap"].reason == "because the moon is full"
    assert found["random", "W2"].word == "matches"


def test_two_reasons_are_joined_where_it_takes_both():
    main = World((), lambda regime: printed_draws(regime, H2_range=0.5))
    other = World(("the moon is full",), printed_draws)

    reason = verdicts(table(main, other))["random", "H2"].reason

    assert reason == "because the paper divides H₂ by the range of the scores and the moon is full"


def test_other_worlds_are_not_computed_where_all_rows_match():
    asked = []
    other = World(("never",), lambda regime: asked.append(regime) or printed_draws(regime))
    made = printed_draws("random")
    made[:, 4] = made[:, 5]

    build_table(
        name="law",
        title="Law",
        dataset="law",
        groups=("black", "white"),
        world=World((), lambda _: made),
        others=[other],
        label=LABEL,
        regimes=("random",),
    )

    assert asked == []


def test_a_printed_row_is_counted_once(law):
    assert [row.measure.name for row in law.printed_rows] == ["gap", "U2", "H2", "W2"] * 2


def test_csv_has_every_cell_in_full(law):
    rows = list(csv.DictReader(io.StringIO(table_csv(law))))

    assert len(rows) == 2 * 7 * len(COLUMNS)
    wanted = [r for r in rows if (r["regime"], r["measure"]) == ("positive", "W2")]
    block = next(b for b in printed_blocks() if (b.label, b.regime) == (LABEL, "positive"))
    assert tuple(r["paper"] for r in wanted) == block.rows["W2"]
    assert float(wanted[1]["ours"]) == float(wanted[1]["paper"])
    assert {r["verdict"] for r in wanted} == {"matches"}


def test_markdown_rows_have_as_many_cells_as_the_heading(law):
    lines = [line for line in table_markdown(law).splitlines() if line.startswith("|")]

    assert {line.replace(r"\|", "").count("|") for line in lines} == {len(COLUMNS) + 4}


def test_latex_is_balanced_and_has_no_letter_beyond_latin_1(law):
    text = table_latex(law)

    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
    assert text.count("{") == text.count("}")
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and "&" in line]
    assert {line.count("&") for line in rows} == {len(COLUMNS) + 1}
    assert text.isascii()


def test_a_silo_without_a_group_shows_a_dash():
    made = printed_draws("random")
    made[:, 2:, 5] = np.nan

    text = table_markdown(table(World((), lambda _: made)))

    assert "| – |" in text
    assert "nan" not in text
