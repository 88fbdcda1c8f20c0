"""All tables as files: every number of the JSON, and no cell that a spreadsheet would run."""

import csv
import io

import pytest
from tests.report_audits import AUDITS, named_audit
from tests.report_results import plain_result, summed_result, with_names

from fedparity.report.formats import Preparation
from fedparity.report.table_files import csv_tables, sheets, xlsx_tables

FORMULAS = ("=1+1", "+49 30", "-cmd", "@SUM(A1)")


def read(data):
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


@pytest.mark.parametrize("name", [*AUDITS])
def test_every_table_has_rows_as_long_as_its_heading(name):
    found = sheets(named_audit(name))

    assert {"groups", "pairs", "silos", "measures", "curves"} <= found.keys()
    for grid in found.values():
        assert len(grid) > 1
        assert {len(row) for row in grid} == {len(grid[0])}


def test_numbers_have_every_digit():
    result = plain_result(thresholds=(0.5,))
    heading, *rows = read(csv_tables(result)["groups.csv"])

    means = [float(row[heading.index("mean score")]) for row in rows]
    assert means == [each.mean for each in result.groups]
    low, high = (heading.index("ratio to highest rate") + i for i in (1, 2))
    for row, each in zip(rows, result.thresholds[0].groups, strict=True):
        assert (float(row[low]), float(row[high])) == tuple(each.ratio.interval)
        assert row[-1] == each.answer


def test_every_silo_has_a_row_with_its_records_by_group():
    result = plain_result()
    heading, *rows = read(csv_tables(result)["silos.csv"])

    for row, silo in zip(rows, result.silos, strict=True):
        assert row[0] == silo.silo
        counts = [int(row[heading.index(f"records {each.group}")]) for each in result.groups]
        assert counts == list(silo.n.values())
        assert float(row[heading.index("wasserstein")]) == silo.wasserstein


def test_what_a_secure_sum_does_not_say_is_empty():
    found = csv_tables(summed_result())

    assert "parts.csv" not in found
    assert read(found["silos.csv"])[1][1] == ""


@pytest.mark.parametrize("name", FORMULAS)
def test_a_name_that_looks_like_a_formula_is_a_text(name):
    result = with_names(plain_result(), {"s0": name})

    assert read(csv_tables(result)["silos.csv"])[1][0] == f"'{name}"


@pytest.mark.parametrize("name", FORMULAS)
def test_in_a_workbook_it_is_a_text_as_it_is(name):
    pytest.importorskip("xlsxwriter")
    openpyxl = pytest.importorskip("openpyxl")
    result = with_names(plain_result(), {"s0": name})

    book = openpyxl.load_workbook(io.BytesIO(xlsx_tables(result)))

    cell = book["silos"]["A2"]
    assert (cell.value, cell.data_type) == (name, "s")


def test_a_workbook_holds_the_same_as_the_csv_files():
    pytest.importorskip("xlsxwriter")
    openpyxl = pytest.importorskip("openpyxl")
    result = plain_result(thresholds=(0.3, 0.6))
    prepared = Preparation(date="2026-11-18", author="An Office")

    book = openpyxl.load_workbook(io.BytesIO(xlsx_tables(result, prepared)))

    assert book.properties.creator == "An Office"
    for name, grid in sheets(result).items():
        rows = [[cell.value for cell in row] for row in book[name].iter_rows()]
        for read_row, row in zip(rows, grid, strict=True):
            for read_value, value in zip(read_row, row, strict=True):
                if isinstance(value, float):  # the writer of workbooks keeps sixteen digits
                    assert read_value == pytest.approx(value, rel=1e-15)
                else:
                    assert (read_value or None) == (value or None)


def test_equal_results_give_equal_workbooks():
    pytest.importorskip("xlsxwriter")

    assert xlsx_tables(plain_result()) == xlsx_tables(plain_result())
