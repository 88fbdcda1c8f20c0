"""The terminal's answer: at most 80 columns, plain words, nothing left out in silence."""

import dataclasses

import numpy as np
import pytest
from rich.cells import cell_len
from tests.audit_strategies import make_cell, make_message, make_messages, make_plan, make_table

from fedparity.auditing.audit import audit
from fedparity.cli.audit_text import audit_text
from fedparity.cli.fitting import cut, left, number, right, width_of, wrapped
from fedparity.protocol.sketched_cell import SketchedCell

VERDICTS = {None: "none", 1e-6: "above", 0.2: "below", 0.01: "inconclusive"}


def result_of(plan, table=None, messages=None):
    found = make_messages(plan, *(table or make_table(6))) if messages is None else messages
    return audit(plan, found, redraws=20)


def silos_named(names, plan):
    scores = np.random.default_rng(0).beta(3, 4, 40)
    return [
        make_message(
            plan,
            name,
            [make_cell(plan, g, scores**power) for g, power in zip("AB", (1, 2), strict=True)],
        )
        for name in names
    ]


def widest(text):
    """Columns of the widest line, counted by another library."""
    return max(cell_len(line) for line in text.splitlines())


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("level", "verdict"), VERDICTS.items())
def test_it_starts_with_the_verdict_in_a_word_and_a_shape(level, verdict, order):
    result = result_of(make_plan(review_level=level, order=order))
    result = dataclasses.replace(
        result, disparity=dataclasses.replace(result.disparity, verdict=verdict)
    )
    text = audit_text(result)
    first = {
        "above": "▲ Above the review level",
        "below": "▼ Below the review level",
        "inconclusive": "◆ Inconclusive at the review level",
        "none": f"– G{'₁₂'[order - 1]} = ",
    }[verdict]

    assert text.startswith(first)
    assert widest(text) <= 80


def test_it_says_every_measure():
    plan = make_plan(review_level=0.01)
    text = " ".join(audit_text(result_of(plan)).split())

    for words in (
        *("Disparity G₂", "95 % interval", "certificate", "Heterogeneity H₂", "p-value", "W₂ ="),
        *("selection", "within", "V_mix", "V_bar", "+ R", "≤ G₂ ≤", "influence", "s0", "s1", "s2"),
        "No term sees which silo is which across groups",
    ):
        assert words in text
    assert "outer bounds" not in text


def test_words_of_judgement_are_not_used():
    for level in VERDICTS:
        text = audit_text(result_of(make_plan(review_level=level))).lower()

        assert not any(word in text for word in ("pass", "fail", "fair", "bias", "discriminat"))


def test_for_order_1_the_terms_are_those_of_the_triangle():
    text = audit_text(result_of(make_plan(order=1)))

    assert "triangle inequality" in text
    assert " + R " not in text
    assert "G₁" in text
    assert "G₂" not in text


def test_what_is_missing_and_withheld_is_named():
    plan = make_plan(disclosure={}, silos=["s0", "s1", "s2", "tiny", "absent"])
    cells = [make_cell(plan, "A", np.linspace(0, 1, 50)), SketchedCell.kept_back("B", "small")]
    messages = [*make_messages(plan, *make_table(4)), make_message(plan, "tiny", cells)]

    text = audit_text(result_of(plan, messages=messages))

    assert "4 of 5 silos" in text
    assert "1 of 5 silos sent nothing: 'absent'" in text
    assert "tiny: B withheld (small)" in text
    assert "outer bounds" in text
    assert "50+" in text
    assert widest(text) <= 80


@pytest.mark.parametrize(
    "names",
    [
        ["x" * 200, "y" * 200],
        ["東京大学医学部附属病院", "서울대학교병원서울대학교병원"],
        ["St. Mary's Hospital of the Long Name and the Longer Wait", "b"],
        ["Ä" * 100, "👩‍⚕️ clinic", "é" * 40],
        ["one"],
    ],
)
def test_long_and_wide_names_fit(names):
    plan = make_plan(silos=[*names, "z" * 200, "院" * 100], title="題" * 100)
    text = audit_text(result_of(plan, messages=silos_named(names, plan)))

    assert widest(text) <= 80
    assert all(cut(name, 15).rstrip("…")[:4] in text for name in names)


def test_long_labels_of_groups_fit():
    groups = (("a" * 100, "b" * 100), ("院" * 50, "c"))
    plan = make_plan(groups=groups, levels=2)
    cells = [
        SketchedCell(group=group, count=10**11 + i, values=[0.1 * i, 0.3])
        for i, group in enumerate(groups)
    ]

    assert widest(audit_text(result_of(plan, messages=[make_message(plan, "x", cells)]))) <= 80


def test_of_a_thousand_silos_those_of_largest_influence_are_shown():
    plan = make_plan(levels=5)
    result = result_of(plan, messages=silos_named([f"silo {j:04d}" for j in range(1000)], plan))
    influence = {each.silo: abs(each.influence) for each in result.attribution.silos}
    text = audit_text(result)
    shown = [line.strip()[:9] for line in text.splitlines() if line.startswith("  silo 0")]

    assert len(shown) == 15
    assert min(influence[name] for name in shown) >= sorted(influence.values())[-15]
    assert "985 more are in the JSON" in text
    assert widest(text) <= 80


def test_forty_silos_are_all_shown():
    plan = make_plan(levels=5)
    text = audit_text(result_of(plan, messages=silos_named([f"s{j}" for j in range(40)], plan)))

    assert sum("●" in line for line in text.splitlines()) == 40


def test_many_groups_are_counted():
    groups = tuple(f"group {i}" for i in range(12))
    plan = make_plan(groups=groups, levels=2)
    cells = [
        SketchedCell(group=group, count=100, values=[0.01 * i, 0.5])
        for i, group in enumerate(groups)
    ]
    text = audit_text(result_of(plan, messages=[make_message(plan, "x", cells)]))

    assert "and 4 more groups" in text
    assert "and 58 more pairs" in text


def test_a_wider_terminal_is_used():
    result = result_of(make_plan())

    assert 80 < widest(audit_text(result, width=100)) <= 100


def test_no_disparity_at_all_has_nothing_to_attribute():
    plan = make_plan(levels=2)
    cells = [SketchedCell(group=group, count=100, values=[0.2, 0.5]) for group in "AB"]
    text = audit_text(result_of(plan, messages=[make_message(plan, "x", cells)]))

    assert "There is nothing to attribute." in text


@pytest.mark.parametrize("text", ["plain", "院内", "e\u0301tude", "x" * 30])
def test_columns_are_exact(text):
    for width in (2, 5, 10):
        assert cell_len(left(text, width)) == width == width_of(right(text, width))
        assert cell_len(cut(text, width)) <= width


def test_wrapping_breaks_words_that_are_too_long():
    lines = wrapped("a " + "院" * 20 + " b", 10, first="! ")

    assert all(cell_len(line) <= 10 for line in lines)
    assert "".join(line[2:] for line in lines).replace(" ", "") == "a" + "院" * 20 + "b"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.00012345, "0.000123"),
        (1.5e-5, "1.5e-05"),
        (-0.5, "−0.5"),
        (1234.5, "1,234"),
        (1e9, "1.0e+09"),
    ],
)
def test_numbers_are_short(value, text):
    assert number(value) == text
