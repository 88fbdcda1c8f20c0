"""The same table from every source, and the plain reading that all of them must agree with."""

from __future__ import annotations

import csv
import gzip
import io
import math
import random
import re
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from xml.sax.saxutils import escape

import dask.dataframe as dd
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import sqlalchemy
from tests import databases, sparks

import fedparity as fp
from fedparity.sketches.records import Faults, RowCounts
from fedparity.tables.csv_bytes import TextFormat
from fedparity.tables.csv_files import PlainCsvTable
from fedparity.tables.opening import open_records

NAMES = "id", "z", "race", "sex", "smoker", "band", "age", "w", "note"
TYPES = {
    "id": pa.int64(),
    "z": pa.float64(),
    "race": pa.string(),
    "sex": pa.string(),
    "smoker": pa.bool_(),
    "band": pa.int64(),
    "age": pa.int64(),
    "w": pa.float64(),
    "note": pa.string(),
}


def table_rows(count=300, *, seed=1, scores=0.0, labels=0.0):
    """Rows with quotes, line ends and letters of several scripts, and shares of missing entries."""
    draw = random.Random(seed)  # noqa: S311
    notes = "plain", "with, comma", 'with "quotes"', "two\nlines", "żółć 漢字", " spaces "
    return [
        {
            "id": position,
            "z": None if draw.random() < scores else draw.uniform(-3, 3),
            "race": None if draw.random() < labels else draw.choice(["A", "B", "O'Neil", "Ż, x"]),
            "sex": draw.choice("fm"),
            "smoker": draw.random() < 0.4,
            "band": draw.choice([1, 2, 10]),
            "age": draw.randrange(18, 90),
            "w": draw.choice([0.0, 1.0, 2.5, 1e-3]),
            "note": draw.choice(notes),
        }
        for position in range(count)
    ]


def arrow(rows):
    return pa.table({n: pa.array([row[n] for row in rows], TYPES[n]) for n in NAMES})


def columns(rows):
    return {name: [row[name] for row in rows] for name in NAMES}


def delimited(rows, delimiter=","):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(NAMES)
    writer.writerows(["" if row[n] is None else _field(row[n]) for n in NAMES] for row in rows)
    return text.getvalue().encode()


def _field(value):
    return repr(value) if isinstance(value, float) else value


def _spread(data):
    """Blank lines after the header, before the third record and at the end."""
    header, first, second, rest = data.split(b"\r\n", 3)
    return b"\r\n\n\r\n".join([header, first, second]) + b"\n\n" + rest + b"\n\r\n\n"


def _german(rows):
    """Semicolons, decimal commas, a mark where nothing is, in UTF-16."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=";")
    writer.writerow(NAMES)
    for row in rows:
        fields = (
            str(row[n]).replace(".", ",") if isinstance(row[n], float) else row[n] for n in NAMES
        )
        writer.writerow(["k. A." if field is None else field for field in fields])
    return text.getvalue().encode("utf-16")


def workbook(path, rows, sheet="visits"):
    """An Excel workbook, written by hand: numbers, booleans and texts as its format has them."""

    def cell(value):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "<c/>"
        if isinstance(value, bool):
            return f'<c t="b"><v>{int(value)}</v></c>'
        if isinstance(value, int | float):
            return f"<c><v>{value!r}</v></c>"
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'

    names = list(rows[0]) if rows else list(NAMES)
    lines = [names, *([row[n] for n in names] for row in rows)]
    cells = "".join(f"<row>{''.join(map(cell, line))}</row>" for line in lines)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
        f'<Override PartName="/xl/s1.xml" ContentType="{types}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        f'<sheet name="{sheet}" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="s1.xml"/></Relationships>',
        "xl/s1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w") as book:
        for name, text in parts.items():
            book.writestr(name, text)
    return path


def _written(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


def _parquet(rows, folder, **options):
    pa.parquet.write_table(arrow(rows), folder / "t.parquet", **options)
    return folder / "t.parquet"


def _ipc(rows, folder, make, name):
    table = arrow(rows)
    with make(str(folder / name), table.schema) as writer:
        for batch in table.to_batches(max_chunksize=70):
            writer.write_batch(batch)
    return folder / name


def _parts(rows, size=110):
    return [rows[start : start + size] for start in range(0, len(rows), size)] or [rows]


def _files(rows, folder):
    (folder / "deep").mkdir()
    for number, part in enumerate(_parts(rows)):
        _written(folder, f"deep/part{number}.csv", delimited(part))
    (folder / "_SUCCESS").touch()
    return folder


def _nullable(rows):
    kinds = {"int64": "Int64", "double": "Float64", "bool": "boolean", "string": "string"}
    return pd.DataFrame(
        {n: pd.array([row[n] for row in rows], dtype=kinds[str(TYPES[n])]) for n in NAMES}
    )


def _pandas(rows):
    frame = pd.DataFrame(columns(rows), columns=NAMES)
    return frame.astype({"z": "float64"}).set_index(pd.Index(range(5, 5 + len(rows))))


def _polars(rows):
    return pl.DataFrame(arrow(rows))


def _numpy(rows):
    table = {n: np.array([row[n] for row in rows]) for n in NAMES}
    return table | {"z": np.array([np.nan if row["z"] is None else row["z"] for row in rows])}


def _cast(rows, **kinds):
    table = arrow(rows)
    for name, kind in kinds.items():
        position = table.column_names.index(name)
        table = table.set_column(position, name, table.column(name).cast(kind))
    return table


class _Exporter:
    """Nothing but the Arrow PyCapsule interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


_DICTIONARY = pa.dictionary(pa.int8(), pa.string())

IN_MEMORY = {
    "dict of lists": lambda rows, _: columns(rows),
    "dict of arrays": lambda rows, _: _numpy(rows),
    "dict of series": lambda rows, _: {n: _polars(rows)[n] for n in NAMES},
    "pandas": lambda rows, _: _pandas(rows),
    "pandas nullable": lambda rows, _: _nullable(rows),
    "pandas categories": lambda rows, _: _pandas(rows).astype(
        {"race": "category", "sex": "category", "band": "category"}
    ),
    "pandas objects": lambda rows, _: _pandas(rows).astype({"race": object, "note": object}),
    "pandas on Arrow": lambda rows, _: arrow(rows).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda rows, _: _polars(rows),
    "polars categories": lambda rows, _: _polars(rows).cast({"race": pl.Categorical}),
    "polars enum": lambda rows, _: _polars(rows).cast(
        {"race": pl.Enum(["unused", "Ż, x", "O'Neil", "B", "A"])}
    ),
    "polars lazy": lambda rows, _: _polars(rows).lazy(),
    "polars in chunks": lambda rows, _: pl.concat(
        [_polars(part) for part in _parts(rows)], rechunk=False
    ),
    "Arrow table": lambda rows, _: arrow(rows),
    "Arrow dictionary": lambda rows, _: _cast(rows, race=_DICTIONARY, sex=_DICTIONARY),
    "Arrow large strings": lambda rows, _: _cast(rows, race=pa.large_string()),
    "Arrow string views": lambda rows, _: _cast(rows, race=pa.string_view()),
    "Arrow in chunks": lambda rows, _: pa.concat_tables(
        _cast(part, race=_DICTIONARY) for part in _parts(rows)
    ),
    "Dask": lambda rows, _: dd.from_pandas(_nullable(rows), npartitions=3),
    "list of frames": lambda rows, _: [_polars(part) for part in _parts(rows)],
}

FILES = {
    "Parquet": _parquet,
    "Parquet, many row groups": lambda rows, folder: _parquet(rows, folder, row_group_size=37),
    "Parquet without dictionaries": lambda rows, folder: _parquet(
        rows, folder, use_dictionary=False, compression="zstd"
    ),
    "Feather": lambda rows, folder: (
        pa.feather.write_feather(arrow(rows), folder / "t.feather", chunksize=70),
        folder / "t.feather",
    )[1],
    "Arrow file": lambda rows, folder: _ipc(rows, folder, pa.ipc.new_file, "t.arrow"),
    "Arrow stream": lambda rows, folder: _ipc(rows, folder, pa.ipc.new_stream, "t.arrows"),
    "CSV": lambda rows, folder: _written(folder, "t.csv", delimited(rows)),
    "CSV with a mark": lambda rows, folder: _written(
        folder, "t.csv", b"\xef\xbb\xbf" + delimited(rows)
    ),
    "CSV without a last line end": lambda rows, folder: _written(
        folder, "t.csv", delimited(rows).rstrip()
    ),
    "CSV with blank lines": lambda rows, folder: _written(
        folder, "t.csv", _spread(delimited(rows))
    ),
    "CSV, gzip": lambda rows, folder: _written(folder, "t.csv.gz", gzip.compress(delimited(rows))),
    "CSV, zstd": lambda rows, folder: _written(
        folder, "t.csv.zst", pa.compress(delimited(rows), "zstd", asbytes=True)
    ),
    "TSV": lambda rows, folder: _written(folder, "t.tsv", delimited(rows, "\t")),
    "CSV, semicolons and decimal commas": lambda rows, folder: fp.FileTable(
        _written(folder, "t.csv", _german(rows)),
        delimiter=";",
        decimal=",",
        encoding="utf-16",
        na=["k. A."],
    ),
    "Excel": lambda rows, folder: workbook(folder / "t.xlsx", rows),
    "a folder": _files,
    "a pattern": lambda rows, folder: str(_files(rows, folder) / "**" / "part*.csv"),
}

DATABASES = {
    "SQLite": lambda rows, folder: fp.DatabaseTable(
        f"sqlite:///{databases.sqlite_file(rows, folder)}", table="visits"
    ),
    "SQLite, an engine": lambda rows, folder: fp.DatabaseTable(
        sqlalchemy.create_engine(
            f"sqlite:///{databases.sqlite_file(rows, folder)}", poolclass=sqlalchemy.pool.NullPool
        ),
        table="visits",
    ),
    "DuckDB": lambda rows, folder: fp.DatabaseTable(
        f"duckdb:///{databases.duckdb_file(arrow(rows), folder)}", table="visits"
    ),
    "PostgreSQL over ADBC": databases.by_adbc,
    "PostgreSQL over psycopg": databases.by_psycopg,
    "PostgreSQL, a query": databases.by_query,
    "PostgreSQL, a statement of SQLAlchemy": databases.by_engine,
    "MariaDB": databases.by_pymysql,
}

ONCE = {
    "iterator of frames": lambda rows, _: (_polars(part) for part in _parts(rows)),
    "iterator of dicts": lambda rows, _: iter([columns(part) for part in _parts(rows)]),
    "Arrow reader": lambda rows, _: arrow(rows).to_reader(max_chunksize=70),
    "Arrow exporter": lambda rows, _: _Exporter(arrow(rows)),
    "Ibis": lambda rows, _: ibis.polars.connect({"visits": _polars(rows)}).table("visits"),
    "MariaDB without snapshots": databases.without_snapshot,
}

SPARK = {
    "Spark": lambda rows, _: sparks.frame(rows),
    "Spark, a view by its name": lambda rows, _: sparks.by_address(rows),
}

AGAIN = IN_MEMORY | FILES | DATABASES | SPARK
SOURCES = AGAIN | ONCE


def each(sources):
    """Sources as parameters of a test, each with the marker of what it needs."""
    needs = {"Spark": "spark", "PostgreSQL": "database", "MariaDB": "database"}
    return [
        pytest.param(
            make, id=name, marks=[getattr(pytest.mark, needs[kind])] if kind in needs else []
        )
        for name, make in sources.items()
        for kind in [re.match(r"\w+", name)[0]]
    ]


@dataclass(frozen=True)
class Reading:
    """What one scan gave."""

    records: Counter
    faults: Faults
    groups: tuple
    dropped: int
    rows: RowCounts


def scan(records, *, threads=2):
    """Run all tasks in threads, as the kernels do, and return batches."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda task: task(), records.batches()))


def collect(records, batches):
    """All records of the batches as (label, score, weight), with their faults."""
    faults = Faults()
    found = Counter()
    for batch in batches:
        faults.add(batch.faults)
        weights = np.ones_like(batch.scores) if batch.weights is None else batch.weights
        labels = [records.groups[code] for code in batch.codes]
        found.update(zip(labels, batch.scores.tolist(), weights.tolist(), strict=True))
    return found, faults


def read(data, **options):
    """Read all records as the kernels do, and return them, or raise what ``accept`` raises."""
    records = open_records(data, **{"score": "z", "group": "race", "groups": None} | options)
    found, faults = collect(records, scan(records))
    found = Counter({key: n for key, n in found.items() if key[1] == key[1]})
    rows = records.accept(faults)
    return Reading(found, faults, records.groups, rows.without_score, rows)


def plain(rows, *, label=lambda row: row["race"], weight=lambda _: 1.0):
    """The same from the rows themselves."""
    return Counter((label(row), row["z"], weight(row)) for row in rows if row["z"] is not None)


def plain_reader(path):
    """The reader of the standard library, whether polars is there or not."""
    if isinstance(path, fp.FileTable):
        text_format = TextFormat(path.delimiter, path.decimal, path.encoding, path.na)
        return PlainCsvTable(path.path, text_format)
    return PlainCsvTable(path, TextFormat("\t" if ".tsv" in path.name else ","))
