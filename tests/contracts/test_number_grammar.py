"""What a field of a text must look like to be a number: one file of cases for Python and for the page."""

import json
from pathlib import Path

import numpy as np
import pytest

from fedparity.errors import FedparityError
from fedparity.tables.csv_bytes import TextFormat
from fedparity.tables.csv_files import DelimitedTable, PlainCsvTable
from fedparity.tables.table import Selection

CASES = json.loads(Path(__file__).with_name("number_cases.json").read_text("utf-8"))["decimal"]


@pytest.mark.parametrize("quoted", [False, True], ids=["bare", "quoted"])
@pytest.mark.parametrize("reader", [DelimitedTable, PlainCsvTable])
@pytest.mark.parametrize("decimal", CASES)
def test_every_reader_reads_a_number_alike(decimal, reader, quoted, tmp_path):
    """A field is a number, infinite, missing or something else, and a number is the nearest float."""
    if reader is DelimitedTable:
        pytest.importorskip("polars")
    path = tmp_path / "numbers.csv"
    for kind, texts in CASES[decimal].items():
        for text in texts:
            field = f'"{text}"' if quoted else text
            path.write_text(f"n;x\n{field};y\n", encoding="utf-8")
            table = reader(path, TextFormat(delimiter=";", decimal=decimal, na=("NA",)))
            expected = kind, _float(text, decimal) if kind == "numbers" else None

            assert expected == _read(table), text


def _float(text, decimal):
    return float(text.replace(decimal, ".")).hex()


def _read(table):
    try:
        blocks = [task() for task in table.scan(Selection(numbers=("n",), labels=("x",)))]
    except FedparityError:
        return "others", None
    numbers = blocks[0].columns["n"].numbers("n")
    value = float(np.asarray(numbers.values, np.float64)[0])
    if (numbers.valid is not None and not numbers.valid[0]) or np.isnan(value):
        return "missing", None
    return ("infinite", None) if np.isinf(value) else ("numbers", value.hex())
