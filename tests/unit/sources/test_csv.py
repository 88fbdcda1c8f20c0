"""CSV files: quotes, line ends, encodings, types and what is wrong with them."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies as shared  # noqa: F401 -- loads the settings

import fedparity as fp
from fedparity.tables import csv_bytes
from fedparity.tables.csv_bytes import TextFormat
from fedparity.tables.csv_files import DelimitedTable, PlainCsvTable, parsed_by_arrow
from fedparity.tables.table import Selection
from fedparity.tables.where import Condition


class PolarsTable(DelimitedTable):
    """A file that pyarrow does not look at."""

    def scan(self, selection):
        """Yield tasks whose parser knows of no columns that are simple enough."""
        for task in super().scan(selection):
            task.parser.__dict__["kinds"] = None
            yield task


READERS = DelimitedTable, PolarsTable, PlainCsvTable
both = pytest.mark.parametrize("reader", READERS)
SCORE_AND_GROUP = Selection(numbers=("z",), labels=("g",))


@pytest.fixture
def written(tmp_path):
    def write(data, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return write


def read(reader, path, selection=SCORE_AND_GROUP):
    """The scores (None where missing) and labels of a file."""
    table = reader(path, TextFormat("\t" if path.suffix == ".tsv" else ","))
    table.require(selection.columns)
    scores, labels = [], []
    for task in table.scan(selection):
        columns = task().columns
        numbers, texts = columns["z"].numbers("z"), columns["g"].labels("g")
        valid = np.ones(len(numbers.values), bool) if numbers.valid is None else numbers.valid
        pairs = zip(numbers.values.tolist(), valid, strict=True)
        scores += [value if good else None for value, good in pairs]
        labels += [texts.distinct[code] for code in texts.codes]
    return scores, labels


FIELDS = st.text(st.sampled_from('ab,"\n żλ漢'), max_size=6)
ROWS = st.lists(st.tuples(FIELDS, st.floats(allow_nan=False), FIELDS), min_size=1, max_size=30)


@both
@given(rows=ROWS, size=st.integers(1, 64), line_end=st.sampled_from(["\n", "\r\n"]))
def test_blocks_are_cut_where_a_record_ends(reader, rows, size, line_end, tmp_path_factory):
    """Whatever the fields hold, and however small the blocks are."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=line_end)
    writer.writerow(["g", "z", "note"])
    writer.writerows((group, repr(score), note) for group, score, note in rows)
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(text.getvalue().encode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_bytes, "_BLOCK_BYTES", size)
        patch.setattr(csv_bytes, "_HEADER_BYTES", size)
        scores, labels = read(reader, path)

    assert scores == [score for _, score, _ in rows]
    assert labels == [group or None for group, _, _ in rows]


NUMBERS = {
    "0.5": 0.5,
    " 0.5": 0.5,
    "0.5 ": 0.5,
    " \t0.5 \t": 0.5,
    " ": None,
    "\t": None,
    '"0.5"': 0.5,
    ".5": 0.5,
    "5.": 5.0,
    "+5": 5.0,
    "-1e-3": -0.001,
    "1E5": 1e5,
    "inf": np.inf,
    "-Infinity": -np.inf,
    "": None,
    '""': None,
}


@both
@pytest.mark.parametrize(("field", "expected"), NUMBERS.items())
def test_numbers_are_read_as_they_are_commonly_written(reader, field, expected, written):
    assert read(reader, written(f"z,g\n{field},a\n")) == ([expected], ["a"])


@given(field=st.text(st.sampled_from("0123456789.eE+-naif \t_x"), max_size=8))
def test_all_readers_agree_on_what_a_number_is(field, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_text(f"z,g\n{field},a\n0.5,b\n")

    def outcome(reader):
        try:
            scores, labels = read(reader, path)
        except fp.errors.TableError as error:
            return error.message
        return repr(scores), labels

    assert outcome(DelimitedTable) == outcome(PolarsTable) == outcome(PlainCsvTable)


@pytest.mark.parametrize(
    ("block", "why"),
    [
        (b'z,g\n0.5,"a"\n', "quotes"),
        (b"z,g\r\n0.5,a\r\n", "carriage returns"),
        (b"z,g\n0.5,a\n0.6\n", "a short row"),
        (b"z,g\n0.5,a\n0.6,b,c\n", "a long row"),
        (b"z,g\nhigh,a\n", "no number"),
        (b"z,g\n0.5,\xff\n", "no UTF-8"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_plain_is_left_to_polars(block, why):
    assert parsed_by_arrow(block, TextFormat(), {"z": "number", "g": "text"}) is None, why


def test_what_is_plain_is_parsed_by_pyarrow():
    table = parsed_by_arrow(
        b"z,n,g\n0.5,x,\n\n,y,NA\n", TextFormat(), {"g": "text", "z": "number"}
    )

    assert table.to_pydict() == {"g": [None, "NA"], "z": [0.5, None]}


@both
def test_nan_is_a_number_that_the_kernels_count(reader, written):
    (score,), _ = read(reader, written("z,g\nNaN,a\n"))

    assert np.isnan(score)


@both
@pytest.mark.parametrize(
    "field", ["NA", "NULL", "high", "1_000", '"1,5"', "0x10", "--1", "1e", "0 .5", "true"]
)
def test_fields_that_are_no_numbers_are_refused_and_not_shown(reader, field, written):
    path = written(f"z,g\n0.25,a\n{field},a\n{field},b\n,b\n")

    with pytest.raises(
        fp.errors.TableError, match="some of its fields are something else"
    ) as caught:
        read(reader, path)

    assert "column 'z'" in caught.value.message
    assert field.strip('"') not in caught.value.message


@both
def test_labels_are_text(reader, written):
    path = written('z,g\n1,01\n1,1\n1," a"\n1,NA\n1,"a ""b"" c"\n1,1.0\n')

    assert read(reader, path)[1] == ["01", "1", " a", "NA", 'a "b" c', "1.0"]


@both
@pytest.mark.parametrize(
    "body",
    [
        "1,a\n2\n",
        "1,a\n2,b,c\n",
        '1,a\n"2,b\n',
        '1,a\n2,"b"x\n',
        'x,y\n1,a\n2,b"\n3,"\n',
        "1,Smith, John\n",
    ],
)
def test_lines_that_do_not_fit_the_header_are_refused(reader, body, written):
    with pytest.raises(fp.errors.TableError, match="do not hold the 2 fields"):
        read(reader, written(f"z,g\n{body}"))


@both
def test_a_comma_in_a_name_does_not_shift_the_score(reader, written):
    """Polars alone would read 3 as the score of the second row."""
    path = written("name,age,z,g\nSmith,40,0.5,a\nSmith, John,3,0.5,a\n")

    with pytest.raises(fp.errors.TableError, match="do not hold the 4 fields"):
        read(reader, path)


@both
@pytest.mark.parametrize(
    "body",
    [
        "0.5,a,Smith, John\n0.7,b\n",  # as many commas in all as two rows have
        '0.5,a,5" pipe\n0.7,b,7" pipe\n',  # one row, to a reader of quotes
        '0.5,a,"pipe" of 5\n0.7,b,none\n',
        '0.5,a,"pipe"\r5\n0.7,b,none\n',
        '0.5,a"b,c"d\n0.7,b,none\n',
    ],
)
def test_what_a_column_holds_that_is_not_read_shifts_and_swallows_no_row(reader, body, written):
    with pytest.raises(fp.errors.TableError, match="do not hold the 3 fields"):
        read(reader, written(f"z,g,note\n{body}"))


@both
def test_quotes_in_pairs_inside_a_field_are_its_text(reader, written):
    path = written('note,z,g\r\n5" by 3",0.5,a\r\n"say ""hi""",0.6,"b""c"\r\n"","0.7",a\r\n')

    assert read(reader, path) == ([0.5, 0.6, 0.7], ["a", 'b"c', "a"])


@given(body=st.text(st.sampled_from('1a,"\n'), max_size=24))
def test_all_readers_take_the_same_rows_or_none(body, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "t.csv"
    path.write_text(f"z,g,note\n1,a,x\n{body}")
    found = []
    for reader in READERS:
        try:
            found.append(read(reader, path))
        except fp.errors.TableError:
            found.append(None)

    assert found[0] == found[1] == found[2]


@both
def test_blank_lines_are_no_records(reader, written):
    path = written('z,g\n\n1,a\n\r\n\n2,"b\n\nb"\n\n\n')

    assert read(reader, path) == ([1.0, 2.0], ["a", "b\n\nb"])


@both
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_names_may_be_quoted_and_follow_a_mark(reader, mark, written):
    path = written(mark + b'"z",id,"g"\r\n1,7,a\r\n')

    assert read(reader, path) == ([1.0], ["a"])


@both
def test_a_column_that_is_not_wanted_may_occur_twice(reader, written):
    assert read(reader, written("x,z,x,g\n,1,,a\n")) == ([1.0], ["a"])

    with pytest.raises(fp.errors.TableError, match="more than one column 'g'"):
        read(reader, written("g,z,g\na,1,b\n"))


@both
@pytest.mark.parametrize(
    "data",
    [
        "z,g\n1,é\n".encode("latin-1"),
        "z,g\n1,a\n".encode("utf-16"),
        "z,g\n1,a\n".encode("utf-16-le"),
        "z,gé\n1,a\n".encode("latin-1"),
    ],
)
def test_text_that_is_not_utf8_is_refused(reader, data, written):
    with pytest.raises(fp.errors.TableError, match="not text in UTF-8"):
        read(reader, written(data))


@both
@pytest.mark.parametrize("data", [b"", b"\n\n", b" \r\n"])
def test_a_file_of_nothing_is_refused(reader, data, written):
    with pytest.raises(fp.errors.TableError, match="has no row"):
        read(reader, written(data))


@both
def test_another_delimiter_is_guessed(reader, written):
    with pytest.raises(fp.errors.TableError, match="semicolons") as caught:
        read(reader, written("z;g\n1;a\n"))

    assert "--delimiter ';'" in caught.value.fix


@both
def test_another_delimiter_is_guessed_by_the_columns_that_are_wanted(reader, written):
    """A comma in a name splits the header, too, but not into the columns that were named."""
    with pytest.raises(fp.errors.TableError, match="semicolons"):
        read(reader, written("z;g;name, first\n1;a;x, y\n"))


@both
def test_ten_thousand_columns_have_a_short_message(reader, written):
    names = [f"column_{number}" for number in range(9_998)]
    path = written(",".join([*names, "z", "g"]) + "\n" + "1," * 9_999 + "a\n")

    assert read(reader, path) == ([1.0], ["a"])
    with pytest.raises(fp.errors.TableError, match="and 9,992 more") as caught:
        read(reader, path, Selection(numbers=("z",), labels=("column_x",)))
    assert len(str(caught.value)) < 500


@both
@pytest.mark.parametrize("keep", [0.5, 0.99])
def test_a_truncated_compressed_file_is_refused(reader, keep, written):
    rng = np.random.default_rng(1)
    body = "".join(f"{score!r},a\n" for score in rng.random(20_000).tolist())
    data = gzip.compress(f"z,g\n{body}".encode())
    path = written(data[: int(len(data) * keep)], "t.csv.gz")

    with pytest.raises(fp.errors.TableError, match="truncated or damaged"):
        read(reader, path)


@both
@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst"])
def test_a_file_that_is_not_compressed_as_its_name_says_is_refused(reader, name, written):
    with pytest.raises(fp.errors.TableError, match="truncated or damaged"):
        read(reader, written("z,g\n1,a\n" * 100, name))


@both
def test_a_line_without_end_is_refused(reader, written, monkeypatch):
    monkeypatch.setattr(csv_bytes, "_LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(csv_bytes, "_BLOCK_BYTES", 1 << 19)

    with pytest.raises(fp.errors.TableError, match="does not end within 1 MB"):
        read(reader, written('z,g\n1,"' + "a\n" * (1 << 20)))
    with pytest.raises(fp.errors.TableError, match="does not end within 1 MB"):
        read(reader, written("z,g," + "a," * (1 << 20)))


@both
def test_a_file_that_is_gone_is_refused(reader, written):
    path = written("z,g\n1,a\n")
    table = reader(path, TextFormat())
    path.unlink()

    with pytest.raises(fp.errors.TableError, match="changed while it was read"):
        list(table.scan(SCORE_AND_GROUP))


@both
def test_a_file_that_changes_is_refused(reader, written, monkeypatch):
    monkeypatch.setattr(csv_bytes, "_BLOCK_BYTES", 16)
    path = written("z,g\n" + "1,a\n" * 100_000)
    tasks = reader(path, TextFormat()).scan(SCORE_AND_GROUP)
    next(tasks)

    path.write_bytes(path.read_bytes() + b"2,b\n")

    with pytest.raises(fp.errors.TableError, match="changed while it was read"):
        list(tasks)


def test_a_filter_reads_a_column_as_numbers_if_its_first_block_does(written, monkeypatch):
    """Whole numbers first and fractions later are all numbers; text later is a fault."""
    monkeypatch.setattr(csv_bytes, "_BLOCK_BYTES", 1 << 16)
    where = Selection(numbers=("z",), labels=("g",), where=Condition("price > 1"))
    start = "z,g,price\n" + "1,a,2\n" * 40_000

    table = DelimitedTable(written(start + "1,a,1.5\n1,a,\n"), TextFormat())
    frames = [task().columns["price"].series("price") for task in table.scan(where)]

    assert sum(int((series > 1).sum()) for series in frames) == 40_001
    table = DelimitedTable(written(start + "1,a,much\n"), TextFormat())
    with pytest.raises(fp.errors.TableError, match=r"column 'price' of .* some of its fields"):
        [task() for task in table.scan(where)]
