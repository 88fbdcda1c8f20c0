"""The terminal's answer: at most 80 columns, plain words, nothing left out in silence."""

import re

import numpy as np
import pytest
from rich.cells import cell_len
from tests.audit_strategies import make_cell, make_message, make_messages, make_plan, make_table
from tests.outcome_audits import outcome_result
from tests.report_audits import AUDITS, named_audit

import fedparity as fp
from fedparity.cli.audit_text import audit_text
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.result import AuditResult
from fedparity.engines.in_process import audit
from fedparity.text import cut, left, number, right, width_of, wrapped

LEVELS = {None: "none", 1e-6: "above", 0.9: "below", 0.14: "inconclusive"}


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
@pytest.mark.parametrize(("level", "verdict"), LEVELS.items())
def test_it_starts_with_points_direction_and_verdict(level, verdict, order):
    result = result_of(make_plan(review_level=level, order=order, score_range=(-1, 1)))
    text = audit_text(result)
    shape, words = {
        "above": ("▲", "above the review level of 1e-06 points."),
        "below": ("▼", "below the review level of 0.9 points."),
        "inconclusive": ("◆", "inconclusive at the review level of 0.14 points."),
        "none": ("–", "the plan names no review level to compare it with."),
    }[verdict]
    first = " ".join(text.split("  ")[0].split())

    assert re.match(rf"{shape} B scores 0\.\d+ points higher than A \(\d[\d.]* % of the", first)
    assert words in " ".join(text.split())
    assert widest(text) <= 80


def test_one_range_stands_under_it_and_what_the_missing_could_change():
    plan = make_plan(review_level=0.05, silos=["s0", "s1", "s2", "absent"])
    text = " ".join(audit_text(result_of(plan)).split("\n\n")[0].split())

    assert re.search(
        r"95 % range: 0\.\d+ to 0\.\d+ points once sampling and summarizing are allowed for\. ◆",
        text,
    )
    assert (
        "◆ If the missing data could be anything: inconclusive at 0.05 points (range 0 to 1 points)."
        in text
    )
    assert "Next: Ask absent to answer, which could change the verdict. Review why" in text
    assert "above the review level of 0.05 points among the silos that answered" in text


@pytest.mark.parametrize(
    ("unit", "level", "words"),
    [
        ("points", 1.0, "1 point"),
        ("share", 0.05, "5 % of the scale"),
        ("sd", 0.2, "0.2 standard deviations"),
        ("squared", 0.001, "0.001 for G₂"),
    ],
)
def test_the_level_is_said_in_its_unit(unit, level, words):
    text = audit_text(result_of(make_plan(review_level=level, review_unit=unit)))

    assert f"review level of {words}" in " ".join(text.split())


def test_groups_that_differ_in_spread_are_said_to():
    random = np.random.default_rng(1)
    scores = np.concatenate([random.beta(20, 20, 600), random.beta(1, 1, 600)])
    table = scores, np.repeat(["A", "B"], 600), np.array(["s"] * 1200)

    text = audit_text(result_of(make_plan(), table))

    assert text.startswith("– A and B differ in spread, not in level, by 0.")
    assert "higher than" not in text


def test_of_many_groups_the_two_furthest_apart_are_named():
    random = np.random.default_rng(1)
    groups = np.repeat(["A", "B", "C"], 600)
    table = random.beta(np.repeat([2, 3, 8], 600), 5), groups, np.array(["s"] * 1800)

    result = result_of(make_plan(groups=("A", "B", "C")), table)
    text = " ".join(audit_text(result, details=True).split())

    assert re.match(r"– C scores 0\.\d+ points higher than A", text)
    assert "the two groups furthest apart" in text
    assert "it holds for all pairs of groups at once" in text
    assert re.search(r"A and C: 0\.\d+ points apart \(0\.\d+ to 0\.\d+, 95 % interval\)", text)


def test_what_noise_can_explain_has_no_direction():
    table = make_table(6, size=200, gap=0.0, silos=1)
    text = audit_text(result_of(make_plan(), table))

    assert "no more than chance would give" in " ".join(text.split())
    assert "higher than" not in text


def test_formulas_and_kinds_of_bounds_are_details():
    result = result_of(make_plan(review_level=0.01))
    plain, detailed = (
        " ".join(audit_text(result, details=details).split()) for details in (False, True)
    )
    kept = ("spread over", "inside silos", "influence", "s0", "s1", "s2", "Next: ")
    details = (
        *("Disparity G₂", "corrected", "certificate", "combined", "outer bounds"),
        *("Heterogeneity H₂", "(p <= ", "V_mix", "V_bar", "+ R", "≤ G₂ ≤", "Variance share"),
        *("Equal weights", "Mean gap in sd", "points from the center", "at any threshold"),
        "No term sees which silo is which across groups",
    )

    assert all(words in plain and words in detailed for words in kept)
    assert [words for words in details if words in plain] == []
    assert [words for words in details if words not in detailed] == []
    assert widest(audit_text(result, details=True)) <= 80


def test_a_result_that_was_read_can_be_told_in_detail():
    result = result_of(make_plan(thresholds=[0.5]))
    again = AuditResult.from_dict(result.to_dict())

    assert audit_text(again) == audit_text(result)
    assert "Variance share" in audit_text(again, details=True)


def test_thresholds_of_the_plan_stand_in_the_text():
    plan = make_plan(thresholds=[0.5], favorable="below")
    result = result_of(plan)
    short, text = audit_text(result), audit_text(result, details=True)

    assert re.search(r"records +mean +below 0.5 +ratio +95 % range +four fifths", short)
    assert re.search(r"A +[\d,]+ +0\.\d+ +\d+\.\d % +\d\.\d+  \d\.\d+ to \d\.\d+  [abc]", short)
    assert "Share with a score below 0.5" in text
    assert re.search(r"A +\d+\.\d %  \d+\.\d % to \d+\.\d %", text)
    assert "known exactly" in " ".join(text.split())


def test_words_of_judgement_are_not_used():
    for level in LEVELS:
        text = audit_text(result_of(make_plan(review_level=level))).lower()

        assert not any(word in text for word in ("pass", "fail", "fair", "bias", "discriminat"))


def test_for_order_1_the_terms_are_those_of_the_triangle():
    text = audit_text(result_of(make_plan(order=1)), details=True)

    assert "triangle inequality" in text
    assert " + R " not in text
    assert "G₁" in text
    assert "G₂" not in text


def test_what_is_missing_and_withheld_is_named():
    plan = make_plan(disclosure={}, silos=["s0", "s1", "s2", "tiny", "absent"])
    cells = [make_cell(plan, "A", np.linspace(0, 1, 50)), SketchedCell.kept_back("B", "small")]
    messages = [*make_messages(plan, *make_table(4)), make_message(plan, "tiny", cells)]

    text = audit_text(result_of(plan, messages=messages), details=True)

    assert "4 of 5 silos answered" in text
    assert "! 1 of 5 silos sent nothing and is in no estimate: absent." in text
    assert "tiny: B (small)" in text
    assert "50+" in text
    assert widest(text) <= 80


@pytest.mark.parametrize(
    "names",
    [
        ["x" * 200, "y" * 200],
        ["東京大学医学部附属病院", "서울대학교병원서울대학교병원"],
        ["St. Mary's Hospital of the Long Name and the Longer Wait", "b"],
        ["Ä" * 100, "🏥 clinic", "é" * 40],
        ["one"],
    ],
)
def test_long_and_wide_names_fit(names):
    plan = make_plan(silos=[*names, "z" * 200, "院" * 100], title="題" * 100)
    result = result_of(plan, messages=silos_named(names, plan))
    text = audit_text(result, details=True)

    assert max(widest(text), widest(audit_text(result))) <= 80
    assert all(cut(name, 15).rstrip("…")[:4] in text for name in names)


def test_long_labels_of_groups_fit():
    groups = (("a" * 100, "b" * 100), ("院" * 50, "c"))
    plan = make_plan(groups=groups, levels=2, sketch="quantile")
    cells = [
        SketchedCell(group=group, count=10**11 + i, values=[0.1 * i, 0.3])
        for i, group in enumerate(groups)
    ]

    assert widest(audit_text(result_of(plan, messages=[make_message(plan, "x", cells)]))) <= 80


def test_of_many_silos_those_of_largest_influence_are_shown():
    plan = make_plan(levels=5)
    result = result_of(plan, messages=silos_named([f"silo {j:04d}" for j in range(60)], plan))
    influence = {each.silo: abs(each.influence) for each in result.attribution.silos}
    text = audit_text(result, details=True)
    shown = [line.strip()[:9] for line in text.splitlines() if line.startswith("  silo 0")]

    assert len(shown) == 15
    assert min(influence[name] for name in shown) >= sorted(influence.values())[-15]
    assert "and 45 of smaller influence, in the JSON" in text
    assert widest(text) <= 80


def test_forty_silos_are_all_shown():
    plan = make_plan(levels=5)
    result = result_of(plan, messages=silos_named([f"s{j}" for j in range(40)], plan))
    text = audit_text(result, details=True)

    assert sum("●" in line for line in text.splitlines()) == 40
    assert "of smaller influence, with --details" in audit_text(result)


def test_many_groups_are_counted():
    groups = tuple(f"group {i}" for i in range(12))
    plan = make_plan(groups=groups, levels=2, sketch="quantile")
    cells = [
        SketchedCell(group=group, count=100, values=[0.01 * i, 0.5])
        for i, group in enumerate(groups)
    ]
    result = result_of(plan, messages=[make_message(plan, "x", cells)])
    text = audit_text(result, details=True)

    assert "8 more groups with --details" in audit_text(result)
    assert "and 4 more groups" in text
    assert "and 58 more pairs" in text


def test_a_wider_terminal_is_used():
    result = result_of(make_plan())

    assert 80 < widest(audit_text(result, width=100)) <= 100


def test_no_disparity_at_all_has_nothing_to_attribute():
    plan = make_plan(levels=2, sketch="quantile")
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


@pytest.mark.parametrize("name", sorted({*AUDITS} - {"names"}))
def test_the_short_answer_fits_a_screen(name):
    """24 lines of 80 columns, the prompt included, whatever the audit found."""
    text = audit_text(named_audit(name))

    assert len(text.splitlines()) <= 23
    assert widest(text) <= 80


@pytest.mark.parametrize("name", ["missing", "grid", "above"])
def test_every_warning_is_named_by_its_code(name):
    """In the short answer and in the long one; those at the top are said in words."""
    result = named_audit(name)
    first = {"silos_missing", "silos_dropped_out", "group_set_aside", "implausible_count"}
    codes = {warning.code for warning in result.warnings} - first

    for details in (False, True):
        text = audit_text(result, details=details)
        assert [code for code in codes if code not in text] == []
    assert all(code in repr(result) for code in codes)
    assert all(code in result._repr_html_() for code in codes)


def test_the_short_answer_shows_outcomes_by_each_axis():
    """Intersections are in the details."""
    short, long = (audit_text(outcome_result(), details=details) for details in (False, True))
    heads = [line.split("   ")[0] for line in short.splitlines() if line.startswith("Outcomes by")]

    assert heads == ["Outcomes by sex", "Outcomes by region"]
    assert "Outcomes by group" in long
    assert widest(short) <= 80


def test_labels_that_may_be_one_group_are_always_named_in_full():
    """Everything else on the screen is of the wrong groups."""
    random = np.random.default_rng(3)
    groups = np.where(random.random(900) < 0.5, "women", "men")
    groups[:60] = "Men"
    table = {"z": random.random(900), "g": groups, "s": np.repeat([*"abcdefghi"], 100)}

    text = audit_text(fp.simulate(table, score="z", group="g", silo="s", score_range=(0, 1)))

    assert "--map men=Men" in text


def test_parts_that_oppose_each_other_say_so_and_one_silo_has_no_parts():
    random = np.random.default_rng(5)
    groups = np.repeat(["A", "B"], 500)
    table = {
        "g": groups,
        "s": np.where(random.random(1000) < (groups == "A") / 2 + 0.25, "a", "b"),
    }
    # silo a scores high and has most of A, which scores low in each silo
    table["z"] = random.beta(np.where(groups == "A", 2, 3) + 1.5 * (table["s"] == "a"), 4)
    columns = {"score": "z", "group": "g", "silo": "s", "score_range": (0, 1)}
    alone = {name: values[table["s"] == "a"] for name, values in table.items()}

    both = fp.simulate(table, **columns)
    one = fp.simulate(alone, **columns)

    assert min(both.attribution.selection, both.attribution.within) < 0
    assert "a negative part offsets the other" in " ".join(audit_text(both).split())
    assert "With one silo there is no selection between silos" in audit_text(one)
    assert " % of the disparity is how" not in audit_text(one)
