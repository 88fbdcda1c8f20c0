"""What the paper prints is transcribed to the digit."""

import os
import re
from pathlib import Path

import pytest
from tests.tiers import NO_PAPER

from fedparity_reproduction.printed import printed_blocks, printed_numbers
from fedparity_reproduction.tables import MEASURES

PAPER = os.environ.get("FEDPARITY_PAPER")
SYMBOLS = {
    r"n_{\text{AA}}": "n_first",
    r"n_{\text{C}}": "n_second",
    r"|\Delta\bar{z}|": "gap",
    "U_2": "U2",
    "H_2": "H2",
    "W_2": "W2",
}

needs_paper = pytest.mark.skipif(PAPER is None, reason=NO_PAPER)


@pytest.fixture(scope="module")
def source():
    return Path(PAPER).read_text(encoding="utf-8")


def tabular(source, label):
    """The lines of a table, as lists of cells."""
    start = source.index(r"\label{" + label + "}")
    text = source[start : source.index(r"\end{tabular}", start)]
    text = text.replace(r"\cellcolor{gray!10}", "")
    return [[cell.strip(" {}$") for cell in line.split("&")] for line in text.split(r"\\")]


def published(source, label):
    """The rows of a table by regime and symbol, read from the source independently."""
    rows, regime = {}, None
    for cells in tabular(source, label):
        heading = re.search(r"textit\{(\w+)", cells[0])
        if heading:
            regime = heading[1].lower()
        name = next((SYMBOLS[s] for s in SYMBOLS if s.strip("{}$") in cells[0]), None)
        if name and len(cells) == 7:
            rows[regime, name] = tuple(cells[1:])
    return rows


@needs_paper
def test_every_printed_table_is_transcribed_to_the_digit(source):
    for block in printed_blocks():
        rows = published(source, block.label)
        regime = None if block.label == "tab:compas_random" else block.regime

        assert block.rows == {name: row for (r, name), row in rows.items() if r == regime}


@needs_paper
def test_no_block_of_a_transcribed_table_is_left_out(source):
    for label in {block.label for block in printed_blocks()}:
        regimes = {regime for regime, _ in published(source, label)} - {None}

        transcribed = {b.regime for b in printed_blocks() if b.label == label}
        assert transcribed == (regimes or {"positive"})


@needs_paper
def test_numbers_of_the_text_stand_in_the_text(source):
    for number in printed_numbers():
        assert number.quote in source
        assert number.value in number.quote
        assert rf"\label{{{number.place}}}" in source


def test_every_row_has_the_whole_and_five_silos_and_is_measured():
    known = {measure.printed_as for measure in MEASURES}

    for block in printed_blocks():
        assert block.rows.keys() <= known
        assert {len(row) for row in block.rows.values()} == {6}
