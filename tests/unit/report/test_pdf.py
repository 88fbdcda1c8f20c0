"""The sheet: one page, whatever it holds; the same bytes; nothing fetched."""

import logging
import re
import subprocess
import sys
import zlib

import pytest
from tests.e2e.running import environment
from tests.report_results import (
    aside_result,
    changed,
    incomplete_result,
    judged,
    noisy_result,
    plain_result,
    result_of_silos,
    summed_result,
    with_names,
)

from fedparity.documents.result import AuditResult
from fedparity.errors import MissingExtraError, extras
from fedparity.report.sentences.answers import in_points, points_range, two_verdicts
from fedparity.report.sentences.caveats import left_out
from fedparity.report.sheet import Room, SheetFigure, pdf_report, sheet_html
from fedparity.report.verdicts import VERDICTS
from fedparity.text import percents


def _weasyprint_works():
    try:
        extras.check_pdf()
    except MissingExtraError:
        return False
    return True


needs_weasyprint = pytest.mark.skipif(
    not _weasyprint_works(), reason="WeasyPrint, a library it needs, or matplotlib is missing"
)

LONG = with_names(
    changed(incomplete_result(), "plan", title="W" * 200),
    {"s0": "W" * 200, "s1": "<b>&" + "Ä " * 90, "tiny": "院" * 200},
)
RESULTS = {
    "5 silos": lambda: result_of_silos(5),
    "60 silos": lambda: result_of_silos(60),
    "1,000 silos": lambda: result_of_silos(1000),
    "1 silo": lambda: result_of_silos(1),
    "ten groups": lambda: result_of_silos(4, groups=10),
    "incomplete": incomplete_result,
    "rates, and a group set aside": aside_result,
    "long names": lambda: LONG,
    "noise": noisy_result,
    "secure sum": summed_result,
    "no level": lambda: plain_result(review_level=None),
    "order 1": lambda: plain_result(order=1, sketch="mean", estimator="exact"),
}
ROOM = Room(8.0, 6, 4)
FIGURES = [SheetFigure(svg=f"<svg id='{i}'></svg>", caption=f"figure {i}") for i in range(3)]


def objects(data):
    """The objects of a PDF, streams unpacked, as text."""
    text = data.decode("latin-1")
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL):
        try:
            text += zlib.decompress(packed).decode("latin-1")
        except zlib.error:
            continue
    return text


def pages(data):
    return len(re.findall(r"/Type /Page\b(?!s)", objects(data)))


@needs_weasyprint
@pytest.mark.parametrize("name", RESULTS)
def test_it_is_one_page_of_a4(name):
    data = pdf_report(RESULTS[name]())

    assert data.startswith(b"%PDF-")
    assert pages(data) == 1
    assert re.search(r"/MediaBox \[0 0 595\.\d+ 841\.\d+\]", objects(data))


@needs_weasyprint
def test_equal_results_give_equal_bytes_in_any_process(tmp_path):
    """Neither the time, nor the order of hashing, nor the path of a result matters."""
    result = incomplete_result()
    result.write(tmp_path / "result.json")
    code = (
        "import sys, fedparity as fp\n"
        "fp.AuditResult.read('result.json').save_report(sys.argv[1])\n"
    )
    for seed in ("1", "2"):
        subprocess.run(  # noqa: S603 -- our own code
            [sys.executable, "-c", code, f"{seed}.pdf"],
            cwd=tmp_path,
            env=environment(tmp_path, PYTHONHASHSEED=seed),
            check=True,
        )

    first, second = ((tmp_path / f"{seed}.pdf").read_bytes() for seed in ("1", "2"))
    assert first == second == pdf_report(AuditResult.read(tmp_path / "result.json"))


@needs_weasyprint
def test_it_is_tagged_titled_and_holds_its_fonts():
    text = objects(pdf_report(plain_result()))

    assert "/MarkInfo" in text
    assert "/StructTreeRoot" in text
    assert re.search(r"/Lang \(en\)", text)
    assert "/Title" in text
    assert "/FontFile" in text
    assert "/CreationDate" not in text


@needs_weasyprint
def test_nothing_is_fetched_and_nothing_is_complained_of(caplog, monkeypatch):
    """A style that WeasyPrint does not know, or an address, would be logged.

    So would be a library that this machine lacks, of which the sheet knows nothing.
    """
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a connection"))
    with caplog.at_level(logging.WARNING, logger="weasyprint"):
        pdf_report(LONG)

    said = [record.getMessage() for record in caplog.records]
    assert [text for text in said if "HarfBuzz-Subset" not in text] == []


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_sheet_starts_with_the_headline_and_its_range(verdict):
    result = judged(plain_result(), verdict)
    page = sheet_html(result, FIGURES, style="", room=ROOM)

    assert f"<main><h1>{VERDICTS[verdict].shape} {in_points(result)}</h1>" in page
    assert f'</h1><p class="range">{points_range(result)}</p>' in page


def test_both_verdicts_and_whom_they_leave_out_stand_below_the_range():
    result = aside_result()
    page = sheet_html(result, FIGURES, style="", room=ROOM)
    start = page[page.index("</h1>") : page.index("<figure>")]

    for told in (*(words for _, words in two_verdicts(result)), *left_out(result)):
        assert f"{told}</li>" in start


def test_rates_are_on_the_sheet():
    result = aside_result()
    page = sheet_html(result, FIGURES, style="", room=ROOM)

    assert "<caption>Share with a score below 5</caption>" in page
    for row in result.thresholds[0].groups:
        assert percents(row.rate.interval) in page
        assert row.answer in page


def test_names_are_escaped_on_the_sheet():
    page = sheet_html(LONG, FIGURES, style="", room=ROOM)

    assert "<b>" not in page
    assert "&lt;b&gt;&amp;" in page


def test_what_does_not_fit_is_counted():
    page = sheet_html(result_of_silos(60), FIGURES, style="", room=ROOM)

    assert "The 6 silos of largest influence" in page
    assert page.count("<tr><td>silo 00") == 6
    assert "54 more are in the JSON." in page
    cut = sheet_html(incomplete_result(), FIGURES, style="", room=Room(8.0, 6, 1))
    assert "more in the JSON and the HTML report." in cut


def test_of_a_secure_sum_the_silos_are_named_without_a_table():
    page = sheet_html(summed_result(), FIGURES, style="", room=ROOM)

    assert "Only their sums were seen: s0, s1 and s2." in page
    assert page.count("<table>") == 1
    assert "<caption>Groups</caption>" in page


def test_the_sheet_says_where_the_numbers_come_from():
    page = sheet_html(plain_result(), FIGURES, style="", room=ROOM)

    assert plain_result().plan.digest in page
    assert "fedparity audit plan.toml inbox" in page
