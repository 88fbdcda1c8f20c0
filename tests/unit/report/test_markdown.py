"""Markdown that shows what the result says, whatever its names hold."""

import dataclasses

import pytest
from markdown_it import MarkdownIt
from tests.report_results import (
    aside_result,
    changed,
    incomplete_result,
    noisy_result,
    plain_result,
    result_of_silos,
    summed_result,
    weighted_result,
    with_names,
)

from fedparity.documents.result import AuditResult
from fedparity.report.markdown import code, markdown_report, plain
from fedparity.report.sentences.answers import in_points, points_range, worse_off
from fedparity.text import FOUR_FIFTHS, number, percent, percents, span

HOSTILE = [
    "a|b",
    "`code` ``more``",
    "<script>alert(1)</script>",
    "<!-- hidden",
    "@octocat and @team/people",
    "see #123",
    "https://example.org/x www.example.org me@example.org",
    "*bold* _low_ ~~gone~~ [link](http://x) ![image](y)",
    "two\nlines\r\nand\ttabs",
    "back\\slash \\| and &amp; &lt;",
    "$math$",
    "\\*starred\\* \\_low\\_",
    "# a heading",
    "closed by marks ##",
    "- a list",
    "+ another",
    "1. first",
    "12) twelfth",
    "---",
    "===",
    "> quoted",
    "-0.5 to 1.5",
    "2026-10-01",
]


def tokens(text):
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_shown_and_does_nothing(name):
    """One paragraph with one run of text, equal to the name but for spaces of no width."""
    [_, inline, _] = tokens(plain(name))

    assert {child.type for child in inline.children} <= {"text", "text_special"}
    shown = "".join(child.content for child in inline.children).replace("\u200b", "")
    assert shown == " ".join(name.split())


@pytest.mark.parametrize("text", ["@octocat", "x @a/b", "#12", "https://x.y", "www.x.y"])
def test_what_a_forge_would_link_is_split(text):
    """Mentions and links are found after Markdown's escapes are gone, so a space splits them."""
    assert "\u200b" in plain(text)


@pytest.mark.parametrize("text", ["plain", "`", "``a`b``", "a`"])
def test_code_is_shown_as_it_is(text):
    [_, inline, _] = tokens(code(text))

    assert [(child.type, child.content) for child in inline.children] == [("code_inline", text)]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_leaves_the_tables_whole(name):
    """Each silo keeps its row of six cells, and no markup of a name comes through."""
    result = with_names(incomplete_result(), {"s1": name})
    found = tokens(markdown_report(result))
    expected = tokens(markdown_report(incomplete_result()))

    cells = [token.content.replace("\u200b", "") for token in found if token.type == "inline"]
    assert plain(name).replace("\u200b", "").replace("\\|", "|") in cells
    assert [token.type for token in found] == [token.type for token in expected]
    assert not any(token.type in ("html_block", "html_inline") for token in found)


@pytest.mark.parametrize("title", HOSTILE)
def test_a_hostile_title_stays_a_line(title):
    text = markdown_report(changed(plain_result(), "plan", title=title))

    expected = markdown_report(plain_result())
    assert len(text.splitlines()) == len(expected.splitlines())
    assert [token.type for token in tokens(text)] == [token.type for token in tokens(expected)]


def test_it_starts_with_the_headline_its_range_and_both_verdicts():
    result = aside_result()
    lines = markdown_report(result).splitlines()

    assert lines[0] == f"## ▲ {in_points(result)}"
    assert lines[2] == plain(f"{worse_off(result)} {points_range(result)}")
    assert [line[:33] for line in lines[4:8]] == [
        "- ◆ If the missing data could be ",
        "- rare: no silo released it (with",
        "- 1 of 3 silos sent nothing and i",
        "- **Next:** Ask gone to answer, w",
    ]


def test_rates_follow_the_groups_and_details_come_late():
    text = markdown_report(aside_result())
    [rates] = aside_result().thresholds
    row = rates.groups[1]

    places = [
        text.index(part)
        for part in (
            *("### Groups", "**Share with a score below 5**", "**Share above the median"),
            *("**How large?**", "### Silos", "### How sure, in detail"),
            *("**How large, in other units**", "| p-value |", "### What this does not prove"),
        )
    ]
    assert places == sorted(places)
    shown = f"| B | {percent(row.rate.value)} | {percents(row.rate.interval)} |"
    assert shown in text
    assert f"| {FOUR_FIFTHS[row.answer]} |" in text
    assert text.count("| p-value |") == 1


def test_magnitudes_are_those_of_the_result():
    result = aside_result()
    text = markdown_report(result)
    worst, burden = result.magnitudes.worst_pair, result.magnitudes.burden

    assert f"| {number(worst.corrected)} | {span(worst.interval)} |" in text
    for each in burden:
        start = f"| {each.group}: from the center of all, in points | {number(each.value)} | – |"
        assert f"{start} {span(each.certificate)} |" in text


@pytest.mark.parametrize(("count", "folded"), [(20, False), (21, True)])
def test_beyond_twenty_silos_their_table_is_folded(count, folded):
    text = markdown_report(result_of_silos(count))

    assert ("<details>" in text) == ("</details>" in text) == folded
    assert text.count("\n| silo 0") == count
    assert not folded or "</summary>\n\n|" in text  # without the empty line it is no table


def test_of_a_thousand_silos_those_of_largest_influence_are_shown():
    """A comment of a forge holds 65,536 characters."""
    result = result_of_silos(1000)
    text = markdown_report(result)
    influence = {each.silo: abs(each.influence) for each in result.attribution.silos}
    shown = [line.split(" | ")[0][2:] for line in text.splitlines() if line.startswith("| silo 0")]

    assert len(shown) == 100
    assert min(influence[name] for name in shown) >= sorted(influence.values())[-100]
    assert "900 more are in the JSON" in text
    assert len(text) < 65_536


def test_equal_results_give_equal_bytes():
    result = incomplete_result()
    read = AuditResult.from_dict(result.to_dict())

    assert markdown_report(read) == markdown_report(result)


def test_weights_are_named_in_the_tables():
    assert "| group | weight |" in markdown_report(weighted_result())
    assert "| group | records |" in markdown_report(plain_result())


def test_ten_groups_and_no_level_are_no_obstacle():
    assert "names no review level" in markdown_report(plain_result(review_level=None))
    assert markdown_report(result_of_silos(4, groups=10)).count("| 10 % |") == 10


def test_cells_without_a_number_hold_a_dash():
    [row] = [
        line for line in markdown_report(incomplete_result()).splitlines() if "| tiny" in line
    ]

    assert "| 50+ | – | −" in row  # what it shows alone; its influence is known


@pytest.mark.parametrize("unit", ["points", "share", "sd"])
def test_silos_are_shown_in_the_unit_of_the_headline(unit):
    """Without an interval: that of a silo is one for its disparity."""
    result = plain_result(review_unit=unit)
    text, silo = markdown_report(result), result.silos[0]

    assert "| silo | records | W₂ alone, points | influence | note |" in text
    assert f"| {silo.silo} | {sum(silo.n.values()):,} | {number(silo.wasserstein)} | " in text


def test_silos_are_shown_with_their_intervals_where_the_disparity_is_reviewed():
    result = plain_result(review_unit="squared")
    text, silo = markdown_report(result), result.silos[0]

    assert "| silo | records | G₂ alone | 95 % interval | influence | note |" in text
    assert f" | {number(silo.disparity)} | {span(silo.interval)} | " in text


def test_a_result_without_an_influence_is_shown():
    result = plain_result()
    silos = tuple(dataclasses.replace(s, influence=None) for s in result.attribution.silos)

    assert "| – |" in markdown_report(changed(result, "attribution", silos=silos))


@pytest.mark.parametrize("result", [noisy_result(), summed_result()])
def test_results_of_privacy_modes_are_shown(result):
    text = markdown_report(result)

    assert "None" not in text
    assert ("| s0 |" in text) == (result is noisy_result())
