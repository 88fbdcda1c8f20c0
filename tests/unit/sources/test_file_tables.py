"""Files whose dialect, encoding or sheet is given; workbooks; the standard input."""

import gzip
import io
import math
import random
import sys
import zipfile

import pytest
from tests.contracts.table_sources import workbook
from tests.tiers import count

import fedparity as fp
from fedparity.silo.sketch import prepare
from fedparity.tables.opening import open_records, table_names

PLAN = fp.Plan(
    title="Q4",
    groups=("A", "B"),
    score_range=(0, 1),
    disclosure={"minimum_cell": 1, "records_per_level": 0, "rounding": 0},
)
ROWS = [{"z": 0.25, "g": "A"}, {"z": 0.5, "g": "B"}, {"z": 1, "g": "A"}]


def scores(data, **options):
    records = open_records(data, **{"score": "z", "group": "g", "groups": ("A", "B")} | options)
    found = [task() for task in records.batches()]
    pairs = [
        (records.groups[code], score)
        for batch in found
        for code, score in zip(batch.codes, batch.scores.tolist(), strict=True)
    ]
    return sorted(pairs)


EXPECTED = [("A", 0.25), ("A", 1.0), ("B", 0.5)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_a_semicolon_file_of_any_encoding(encoding, tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("z;g;Größe\n0,25;A;é\n0,5;B;é\n1;A;é\n", encoding=encoding)

    assert scores(fp.FileTable(path, delimiter=";", decimal=",", encoding=encoding)) == EXPECTED


def test_a_thousands_point_is_not_taken_for_a_decimal(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("z;g\n0,5;A\n1.000;B\n", encoding="utf-8")

    with pytest.raises(fp.errors.TableError, match=r"1 of its fields .* \(line 3\)"):
        prepare(
            fp.FileTable(path, delimiter=";", decimal=","),
            plan=PLAN,
            silo="s",
            score="z",
            group="g",
        )


def test_marks_of_missing_values_are_missing_scores_and_labels(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("z,g\n0.5,A\nNA,B\n0.25,-\n -  ,A\n", encoding="utf-8")
    file = fp.FileTable(path, na=["NA", "-"])

    rows = prepare(
        file, plan=PLAN, silo="s", score="z", group="g", missing="drop", mapping={"": "B"}
    ).rows

    assert (rows.read, rows.without_score, rows.records) == (4, 2, 2)
    assert rows.relabeled == {(None, "B", "map"): 1}


BAD = {
    "two characters": ({"delimiter": "||"}, "one ASCII character"),
    "a quote": ({"delimiter": '"'}, "one ASCII character"),
    "a decimal": ({"decimal": "'"}, "decimal must be one of"),
    "an encoding": ({"encoding": "klingon"}, "no encoding 'klingon'"),
    "no text": ({"encoding": "base64"}, "no encoding 'base64'"),
}


@pytest.mark.parametrize(("options", "words"), BAD.values(), ids=BAD)
def test_what_is_no_dialect_is_refused(options, words):
    with pytest.raises(fp.errors.OptionError, match=words):
        fp.FileTable("t.csv", **options)


def test_options_go_with_formats(tmp_path):
    workbook(tmp_path / "t.xlsx", ROWS)
    (tmp_path / "t.csv").write_text("z,g\n1,A\n", encoding="utf-8")

    with pytest.raises(fp.errors.OptionError, match="--delimiter goes with delimited text"):
        fp.FileTable(tmp_path / "t.xlsx", delimiter=";").open()
    with pytest.raises(fp.errors.OptionError, match="--sheet goes with a workbook"):
        fp.FileTable(tmp_path / "t.csv", sheet="x").open()


def test_a_wrong_encoding_is_an_error_that_names_the_option(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("z,g\n1,A\n".encode("utf-16"))

    with pytest.raises(fp.errors.TableError, match="not text in UTF-8") as caught:
        fp.FileTable(path).open()
    assert "--encoding utf-16" in caught.value.fix
    path.write_bytes(b"z,g\n1,A\n0")
    with pytest.raises(fp.errors.TableError, match="not text in utf-16"):
        list(fp.FileTable(path, encoding="utf-16").open().columns)


@pytest.mark.parametrize("packed", [False, True])
def test_the_standard_input_is_read_as_often_as_needed(packed, monkeypatch):
    data = b"z,g\n0.25,A\n0.5,B\n1,A\n"
    stream = io.BytesIO(gzip.compress(data) if packed else data)
    monkeypatch.setattr(sys, "stdin", type("Input", (), {"buffer": stream})())
    file = fp.FileTable("-")

    records = open_records(file, score="z", group="g", groups=("A", "B"))

    for _ in range(2):
        assert [task().scores.tolist() for task in records.batches()] == [[0.25, 0.5, 1.0]]
    assert table_names(file) == ()


def test_a_file_is_known_to_the_policy_by_its_path(tmp_path):
    path = tmp_path / "t.csv"
    path.touch()

    assert table_names(fp.FileTable(path, delimiter=";")) == table_names(path)


def test_a_workbook_is_read_by_its_first_sheet_or_by_name(tmp_path):
    path = workbook(tmp_path / "t.xlsx", ROWS, sheet="Q4")

    assert scores(path) == scores(fp.FileTable(path, sheet="Q4")) == EXPECTED
    with pytest.raises(fp.errors.TableError, match="no sheet 'q4'") as caught:
        fp.FileTable(path, sheet="q4").open()
    assert "--sheet 'Q4'" in caught.value.fix


@pytest.mark.parametrize("cover", [["A cover"], []])
def test_a_first_sheet_without_the_columns_names_the_others(tmp_path, cover):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("cover").write_row(0, 0, cover)
        book.add_worksheet("Q4").write_row(0, 0, ["z", "g"])

    with pytest.raises(fp.errors.TableError, match="the first sheet of") as caught:
        prepare(path, plan=PLAN, silo="s", score="z", group="g")
    assert "--sheet 'Q4'" in caught.value.fix


def test_faults_of_a_workbook_have_the_numbers_of_its_rows(tmp_path):
    rows = [*ROWS, {"z": "high", "g": "A"}, {"z": None, "g": "B"}, {"z": 7, "g": "C"}]
    path = workbook(tmp_path / "t.xlsx", rows)

    with pytest.raises(fp.errors.TableError) as caught:
        prepare(path, plan=PLAN, silo="s", score="z", group="g")

    message = caught.value.message
    assert "the table has 4 kinds of faults" in message
    for words in ("something else (row 5)", "in 1 row (row 6)", "does not (row 7)", "all (row 7)"):
        assert words in message
    assert "high" not in message


def test_what_is_no_workbook_is_refused(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"no zip")

    with pytest.raises(fp.errors.TableError, match="not a whole Excel file"):
        open_records(path, score="z", group="g", groups=None)


@pytest.mark.sampled
def test_no_bytes_break_the_reader_of_workbooks(tmp_path):
    """Parts of a workbook are changed, or missing: there are records, or an error of ours."""
    draw = random.Random(7)  # noqa: S311
    with zipfile.ZipFile(workbook(tmp_path / "t.xlsx", ROWS)) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    broken = 0
    for _ in range(count(quick=100, all=300, soak=3000)):
        with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as book:
            for name, text in parts.items():
                data = bytearray(text)
                for _ in range(draw.choice([0, 0, 0, 1, 5])):
                    data[draw.randrange(len(data))] = draw.randrange(32, 127)
                if draw.random() > 0.05:
                    book.writestr(name, bytes(data))
        try:
            scores(tmp_path / "b.xlsx", other="A", mapping={"": "A"}, missing="drop")
        except fp.errors.FedparityError:
            broken += 1
    assert broken


def test_a_missing_library_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    path = workbook(tmp_path / "t.xlsx", ROWS)

    with pytest.raises(fp.errors.MissingExtraError) as caught:
        fp.FileTable(path).open()

    assert caught.value.fix == "pip install 'fedparity[excel]'"


def test_all_missing_columns_are_named_at_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("z,g\n1,A\n", encoding="utf-8")

    with pytest.raises(fp.errors.TableError, match="no column 'risk', 'sex'"):
        open_records(path, score="risk", group="sex", groups=None)


def test_faults_of_a_frame_have_no_lines_but_all_kinds():
    table = {"z": [0.5, math.inf, 3.0, None], "g": ["A", "A", "B", "C"], "w": [1, 1, 1, -1]}

    with pytest.raises(fp.errors.TableError) as caught:
        prepare(table, plan=PLAN, silo="s", score="z", group="g", weight="w")

    assert "the table has 3 kinds of faults" in caught.value.message
    assert "line" not in caught.value.message


def test_a_privacy_mode_says_no_number(tmp_path):
    private = fp.Plan(
        title="Q4", groups=("A", "B"), score_range=(0, 1), privacy={"mode": "dp", "epsilon": 1.0}
    )
    path = tmp_path / "t.csv"
    path.write_text("z,g\n0.5,A\nhigh,B\n", encoding="utf-8")

    with pytest.raises(fp.errors.TableError) as caught:
        prepare(path, plan=private, silo="s", score="z", group="g")

    assert "line" not in caught.value.message
    assert "1 of its fields" not in caught.value.message
