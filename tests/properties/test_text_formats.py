"""Delimited text of any dialect is read as Python's csv and pandas read it; faults are those that were planted."""

import csv
import io
import math
import re
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedparity as fp
from fedparity.silo.sketch import prepare
from fedparity.tables.csv_bytes import TextFormat
from fedparity.tables.csv_files import DelimitedTable, PlainCsvTable
from fedparity.tables.opening import open_records
from fedparity.tables.table import Selection

READERS = pytest.mark.parametrize("reader", [DelimitedTable, PlainCsvTable])
ENCODINGS = "utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1", "cp1252"
labels = st.text(st.sampled_from('ab ,;|"\té'), min_size=1, max_size=5)
scores = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-9, 9).map(float))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("formats")


def written(rows, *, delimiter, decimal, na, encoding):
    """The text by the writer of the standard library."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(["z", "g", "n"])
    for score, label in rows:
        field = na if score is None else repr(score).replace(".", decimal)
        writer.writerow([field, label, "x"])
    return text.getvalue().encode(encoding)


@READERS
@given(
    rows=st.lists(st.tuples(scores, labels), min_size=1, max_size=20),
    delimiter=st.sampled_from(",;\t|"),
    decimal=st.sampled_from(".,"),
    na=st.sampled_from(["", "NA", "-", "k. A."]),
    encoding=st.sampled_from(ENCODINGS),
)
def test_a_text_is_read_as_python_and_pandas_read_it(  # noqa: PLR0917 -- drawn by name
    reader, folder, rows, delimiter, decimal, na, encoding
):
    data = written(rows, delimiter=delimiter, decimal=decimal, na=na, encoding=encoding)
    path = folder / f"{reader.__name__}.csv"
    path.write_bytes(data)
    table = reader(path, TextFormat(delimiter, decimal, encoding, (na,) if na else ()))

    found = []
    for task in table.scan(Selection(numbers=("z",), labels=("g",))):
        columns = task().columns
        numbers, texts = columns["z"].numbers("z"), columns["g"].labels("g")
        values = numbers.values.tolist()  # noqa: PD011 -- not of pandas
        valid = [True] * len(values) if numbers.valid is None else numbers.valid
        own = [z if good else None for z, good in zip(values, valid, strict=True)]
        found += zip(own, (texts.distinct[code] for code in texts.codes), strict=True)

    assert found == [(z, None if g == na else g) for z, g in rows]
    frame = pd.read_csv(
        io.BytesIO(data),
        sep=delimiter,
        decimal=decimal,
        encoding="utf-16" if encoding == "utf-16" else encoding,
        keep_default_na=False,
        na_values=["", na] if na else [""],
        dtype={"g": str},
    )
    ours = [math.nan if z is None else z for z, _ in found]
    assert ours == pytest.approx(frame["z"].astype(float).tolist(), rel=1e-14, nan_ok=True)


@READERS
@given(
    data=st.binary(max_size=300),
    delimiter=st.sampled_from(",;"),
    start=st.sampled_from([b"", b"z,g\n", b"z,g\n1,a\n", b"\xff\xfe", b"\x1f\x8b"]),
)
def test_no_bytes_break_the_reader(reader, folder, data, delimiter, start):
    """Whatever a file holds, there are records or an error of ours, which shows no field."""
    path = folder / f"fuzz-{reader.__name__}.csv"
    path.write_bytes(start + data)
    for encoding in (None, "utf-16", "cp1252"):
        try:
            table = reader(path, TextFormat(delimiter, ",", encoding))
            table.require(["z", "g"])
            for task in table.scan(Selection(numbers=("z",), labels=("g",))):
                task().columns["z"].numbers("z")
        except fp.errors.FedparityError as error:
            assert error.fix  # noqa: PT017 -- an error is as good as records


PLAN = fp.Plan(
    title="Q4",
    groups=("A", "B"),
    score_range=(0, 1),
    disclosure={"minimum_cell": 1, "records_per_level": 0, "rounding": 0},
)
KINDS = {
    "good": (b"0.5,A,x", None),
    "not a number": (b"secret7,A,x", r"must hold numbers, but (\S+) of its fields"),
    "missing": (b",B,x", r"lacks a score in (\S+) rows?"),
    "infinite": (b"inf,B,x", r"holds (\S+) infinite scores?"),
    "outside": (b"3.75,A,x", r"between 0 and 1, but (\S+) do(?:es)? not"),
    "no label": (b"0.5,,x", r"(\S+) records? ha(?:ve|s) no label"),
    "unlisted": (b"0.5,Zzz,x", r"in (\S+) records? in all"),
    "ragged": (b"0.5,A", r"(\S+) lines? do(?:es)? not hold as many fields"),
    "encoding": (b"0.5,\xe9A,x", r"(\S+) lines? (?:is|are) not text"),
}


@given(
    st.lists(
        st.sampled_from([*KINDS, "good", "good", "two lines", "blank"]), min_size=1, max_size=60
    )
)
def test_the_faults_that_are_found_are_those_that_were_planted(folder, kinds):
    """Each kind with the number of its rows and its first five lines; no field is shown."""
    data, planted, line = b"z,g,note\n", {}, 2
    for kind in kinds:
        if kind in ("two lines", "blank"):
            data += b'0.5,B,"a\nb"\n' if kind == "two lines" else b"\n"
            line += 2 if kind == "two lines" else 1
            continue
        planted.setdefault(kind, []).append(line)
        data += KINDS[kind][0] + b"\n"
        line += 1
    planted.pop("good", None)
    path = folder / "faults.csv"
    path.write_bytes(data)
    if not planted:
        if "good" in kinds or "two lines" in kinds:
            prepare(path, plan=PLAN, silo="s", score="z", group="g")
        return

    with pytest.raises(fp.errors.InputError) as caught:
        prepare(path, plan=PLAN, silo="s", score="z", group="g")

    message = caught.value.message
    for kind, (_, pattern) in KINDS.items():
        found = re.search(pattern, message) if pattern else None
        assert (found is not None) == (kind in planted), kind
        if found is not None:
            lines = planted[kind]
            assert found[1] == str(len(lines))
            shown = ", ".join(map(str, lines[:5]))
            more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
            assert f"(line{'s' if len(lines) > 1 else ''} {shown}{more})" in message
    assert not any(value in str(caught.value) for value in ("secret7", "3.75", "é"))


@given(st.integers(0, 5), st.integers(0, 5))
def test_a_quote_that_is_not_closed_is_found_where_it_begins(folder, before, after):
    path = folder / "quotes.csv"
    path.write_text(
        "z,g\n" + "0.5,A\n" * before + '0.5,"A\n' + "0.5,B\n" * after, encoding="utf-8"
    )

    with pytest.raises(
        fp.errors.TableError, match=rf"not closed in 1 record \(line {before + 2}\)"
    ):
        prepare(path, plan=PLAN, silo="s", score="z", group="g")


@given(st.lists(st.sampled_from(["A", "a", " A", "B", "b ", "C", "Other", "OTHER"]), min_size=1))
def test_a_label_that_looks_like_a_group_never_counts_as_another(texts):
    """It is refused, and the error holds the very option that maps it."""
    table = {"z": [0.5] * len(texts), "g": texts}
    records = open_records(table, score="z", group="g", groups=("A", "B", "Other"), other="Other")
    faults = next(task().faults for task in records.batches())
    alike = {"a": "A", " A": "A", "b ": "B", "OTHER": "Other"}
    planted = Counter(text for text in texts if text in alike)

    assert faults.unlisted == planted
    if planted:
        with pytest.raises(fp.errors.LabelError) as caught:
            records.accept(faults)
        for text in planted:
            assert f'--map "{text}={alike[text]}"' in caught.value.fix
