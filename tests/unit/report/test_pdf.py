"""The sheet: PDF/UA-1, the answer first, the same bytes, and names that are no markup."""

import re
import subprocess
import sys
import zlib

import pytest
from tests.e2e.running import environment
from tests.outcome_audits import outcome_result
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
from fedparity.errors import MissingExtraError, base
from fedparity.report import sheet
from fedparity.report.formats import Preparation
from fedparity.report.outcome_tables import outcome_blocks
from fedparity.report.sentences.answers import in_points, points_range, worse_off
from fedparity.report.sentences.caveats import left_out
from fedparity.report.sentences.naming import VERDICTS
from fedparity.report.sentences.origins import next_steps
from fedparity.report.sheet import SheetFigure, pdf_report, sheet_data
from fedparity.text import percents


def _typst_is_there():
    try:
        base.check_pdf()
    except MissingExtraError:
        return False
    return True


needs_typst = pytest.mark.skipif(
    not _typst_is_there(), reason="typst or matplotlib is not installed"
)
HOSTILE = '#panic("x") $x^2$ *bold* _low_ @ref <label> `code` "q" \\ // /* [ ] { } 東京 😀 דרום'
RESULTS = {
    "5 silos": lambda: result_of_silos(5),
    "60 silos": lambda: result_of_silos(60),
    "1,000 silos": lambda: result_of_silos(1000),
    "ten groups": lambda: result_of_silos(4, groups=10),
    "incomplete": incomplete_result,
    "rates, and a group set aside": aside_result,
    "noise": noisy_result,
    "secure sum": summed_result,
    "no level": lambda: plain_result(review_level=None),
    "order 1": lambda: plain_result(order=1, sketch="mean", estimator="exact"),
    "hostile names": lambda: with_names(
        changed(incomplete_result(), "plan", title=HOSTILE), {"s0": HOSTILE, "s1": "W" * 200}
    ),
}
FIGURES = [SheetFigure(f"{i}.svg", "<svg/>", f"figure {i}") for i in range(3)]


def objects(data):
    """The objects of a PDF, streams unpacked, as text."""
    text = data.decode("latin-1")
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL):
        try:
            text += zlib.decompress(packed).decode("latin-1")
        except zlib.error:
            continue
    return text


def texts(data):
    """Every text that the data of a sheet hold, at any depth."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from texts(each)


@needs_typst
@pytest.mark.parametrize("name", RESULTS)
def test_it_is_accessible_whatever_it_holds(name):
    """The compiler refuses a PDF/UA-1 without title, language, texts for figures, or letters."""
    text = objects(pdf_report(RESULTS[name](), Preparation(date="2026-11-18", author=HOSTILE)))

    assert text.startswith("%PDF-")
    assert "pdfuaid" in text
    assert "/StructTreeRoot" in text
    assert re.search(r"/Lang\s?\(en", text)
    assert "/FontFile" in text
    assert text.count("/Alt") >= 3
    assert "/Table" in text


@needs_typst
def test_equal_results_give_equal_bytes_in_any_process(tmp_path):
    """Neither the time, nor the order of hashing, nor the path of a result matters."""
    result = incomplete_result()
    result.write(tmp_path / "result.json")
    code = (
        "import sys, fedparity as fp\n"
        "fp.AuditResult.read('result.json').save_report(sys.argv[1], date='2026-11-18')\n"
    )
    for seed in ("1", "2"):
        subprocess.run(  # noqa: S603 -- our own code
            [sys.executable, "-c", code, f"{seed}.pdf"],
            cwd=tmp_path,
            env=environment(tmp_path, PYTHONHASHSEED=seed),
            check=True,
        )

    first, second = ((tmp_path / f"{seed}.pdf").read_bytes() for seed in ("1", "2"))
    here = pdf_report(AuditResult.read(tmp_path / "result.json"), Preparation(date="2026-11-18"))
    assert first == second == here


@needs_typst
def test_no_font_of_the_machine_is_used(monkeypatch):
    """The fonts are those of typst and of matplotlib, so bytes do not depend on the machine."""
    import typst  # noqa: PLC0415 -- optional

    seen = {}
    compiled = typst.compile
    monkeypatch.setattr(
        typst, "compile", lambda *a, **options: seen.update(options) or compiled(*a, **options)
    )
    text = objects(pdf_report(plain_result()))

    assert seen["ignore_system_fonts"] is True
    assert set(re.findall(r"/BaseFont\s?/[A-Z]+\+([A-Za-z]+)", text)) <= {
        "DejaVuSans", "DejaVuSansMono", "LibertinusSerif"
    }  # fmt: skip


@needs_typst
@pytest.mark.parametrize("letter", ["東", "\U0001f3e5"])
def test_a_letter_that_the_fonts_lack_is_written_as_its_code(letter):
    code = letter.encode("ascii", "backslashreplace").decode()

    assert sheet.drawable(f"Hôpital {letter}") == f"Hôpital {code}"
    assert sheet.drawable("Hôpital דרום 5 ≤ 6 ▲") == "Hôpital דרום 5 ≤ 6 ▲"


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_sheet_starts_with_the_headline_and_its_range(verdict):
    result = judged(plain_result(), verdict)
    data = sheet_data(result, FIGURES)

    assert data["headline"] == f"{VERDICTS[verdict].shape} {in_points(result)}"
    assert data["range"] == " ".join(filter(None, (worse_off(result), points_range(result))))
    assert data["next"] == " ".join(next_steps(result))


def test_date_author_period_plan_and_who_answered_stand_at_the_top():
    result = changed(incomplete_result(), "plan", period=("2026-07-01", "2026-09-30"))
    data = sheet_data(result, FIGURES, Preparation(date="2026-11-18", author="An Office"))

    digest = result.plan.digest.removeprefix("sha256:")[:12]
    assert data["circumstances"].split(" · ")[:3] == [
        "Prepared 2026-11-18 by An Office",
        "records from 2026-07-01 to 2026-09-30",
        f"plan {digest}",
    ]
    assert "4 of 5 silos answered" in data["circumstances"]


def test_the_groups_with_their_rates_come_before_all_kinds_of_ranges():
    result = aside_result()
    blocks = sheet_data(result, FIGURES)["blocks"]
    places = {each["caption"]: i for i, each in enumerate(blocks) if each["kind"] == "table"}
    said = list(texts(blocks))

    assert places["The groups, in all silos together"] < places["How sure, in detail"]
    assert set(left_out(result)) <= set(said)
    for row in result.thresholds[0].groups:
        assert percents(row.rate.interval) in said


def test_of_a_secure_sum_the_silos_are_named_without_a_table():
    said = list(texts(sheet_data(summed_result(), FIGURES)))

    assert "Only their sums were seen: s0, s1 and s2." in said


def test_what_does_not_fit_is_counted():
    said = " ".join(texts(sheet_data(result_of_silos(1000), FIGURES)))

    assert "The 60 silos of largest influence" in said
    assert "940 more are in the JSON." in said


def test_the_sheet_has_every_table_of_axes_and_outcomes_and_its_sentences():
    """It may be the only thing that a reader is given."""
    blocks = sheet_data(outcome_result(), FIGURES)["blocks"]
    shown = [each.get("caption", each.get("text")) for each in blocks]

    assert shown.index("Rates at thresholds") < shown.index("By axis and by outcome")
    for table, sentences in outcome_blocks(outcome_result()):
        assert {table.caption, *sentences} <= set(shown)
    assert "undetermined" not in list(texts(blocks))


def test_the_sheet_says_where_the_numbers_come_from():
    said = " ".join(texts(sheet_data(plain_result(), FIGURES)))

    assert plain_result().plan.digest in said
    assert "fedparity audit plan.toml inbox" in said
