"""Plans and tables whose texts are markup or names of JavaScript: the page shows them, and nothing of them runs."""

import csv
from dataclasses import replace

import pytest
from tests.e2e.browser.silo_pages import PLAN, opened_page

from fedparity.page.build_page import build_page
from fedparity.silo.sketch import prepare

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RUNS = "<img src=x onerror='top.pwned = self.pwned = 1'>"
TEXTS = [
    f"</script><script>self.pwned = 1</script>{RUNS}",
    f"'\"></iframe>{RUNS}",
    "$plan ${plan} $$ \\u0027 &#39; &amp;lt;",
    "<!--<script>",
    "]]>*/--><style>*{display:none}</style>",
    "javascript:self.pwned=1",
]
NAMES = ["__proto__", "constructor", "toString", "\u2028alert(1)", "null", "=1+1"]


def assert_nothing_ran(page):
    for where in (page.page, page.frame):
        assert where.evaluate("self.pwned === undefined")
        assert where.locator("img").count() == 0
    assert page.frame.locator("script").count() == 3
    assert page.frame.locator("style").count() == 1
    assert page.complaints == []


def write_rows(path, names, keys):
    """Scores of each key, and a column of every name."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(names)
        rows.writerows(
            [key, place % 10, *["x"] * (len(names) - 2)]
            for place, key in enumerate(key for key in keys for _ in range(30))
        )
    return path


def test_texts_of_a_plan_are_shown_and_do_nothing(browser, tmp_path):
    plan = replace(PLAN, title=" ".join(TEXTS)[:200], groups=(*TEXTS, *NAMES[:3]), silos=(*TEXTS,))
    table = write_rows(tmp_path / "t.csv", ["group", "risk"], plan.groups)
    with opened_page(browser, tmp_path, plan) as page:
        page.choose(table, silo=TEXTS[0])
        page.compute()
        name, saved = page.save()

        assert_nothing_ran(page)
        assert page.frame.locator("h1").text_content() == plan.title
        shown = page.frame.locator("#cells tbody th").all_text_contents()
    assert shown == [*plan.groups]
    assert "/" not in name
    reading = {"score": "risk", "group": "group"}
    assert saved == prepare(table, plan=plan, silo=TEXTS[0], **reading).sketch.to_bytes()


def test_texts_of_a_table_are_shown_and_do_nothing(browser, tmp_path):
    """Its name, its columns, and its labels, which are mapped to a group one by one."""
    keys, columns = [*TEXTS, *NAMES, "A"], [*TEXTS, *NAMES]
    table = write_rows(
        tmp_path / "<img src=x onerror=top.pwned=1>.csv", ["group", "risk", *columns], keys
    )
    with opened_page(browser, tmp_path) as page:
        page.choose(table)
        refused = page.refused()
        page.frame.locator("#read-labels").click()
        page.frame.locator("#labels table").wait_for()
        for key in keys[:-1]:
            page.frame.locator("#labels select[data-label]").evaluate_all(
                "(each, key) => { each.find((one) => one.dataset.label === key).value = 'B'; }",
                key,
            )
        page.compute()
        _, saved = page.save()

        assert_nothing_ran(page)
        offered = page.frame.locator("#score option").evaluate_all(
            "each => each.map((one) => one.value)"
        )
        facts = page.frame.locator("#file-facts").text_content()
        relabeled = page.frame.locator("#accounting table").nth(1).text_content()
    assert offered == ["", "group", "risk", *columns]
    assert facts.startswith(table.name)
    assert "labels that are not groups of the plan" in refused
    assert all(key in relabeled for key in keys[:-1])
    mapping = dict.fromkeys(keys[:-1], "B")
    reading = {"score": "risk", "group": "group", "mapping": mapping}
    assert saved == prepare(table, plan=PLAN, silo="Aurora", **reading).sketch.to_bytes()


def test_a_plan_of_very_long_texts_is_not_cut_off(browser, tmp_path):
    """Two hundred letters without a space, at the width of a phone."""
    plan = replace(PLAN, title="W" * 200, groups=("A" * 200, "B" * 200), silos=("S" * 200,))
    table = write_rows(tmp_path / "t.csv", ["group", "risk"], plan.groups)
    with opened_page(browser, tmp_path, plan, size=(390, 844)) as page:
        page.choose(table, silo="S" * 200)
        page.frame.locator("#read-labels").click()
        page.frame.locator("#labels table").wait_for()
        page.compute()
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

        assert [page.frame.evaluate(wide), page.page.evaluate(wide)] == [0, 0]


def test_a_plan_cannot_end_the_file_of_the_page():
    """In the file itself, the texts of a plan are neither tags nor the end of the frame."""
    page = build_page(replace(PLAN, title=" ".join(TEXTS)[:200], groups=(*TEXTS,))).decode()

    assert page.count("<iframe") == page.count("</iframe>") == 1
    assert page.count("srcdoc='") == 1
    assert page.split("srcdoc='")[1].count("'") == 1
    assert "onerror='top" not in page
