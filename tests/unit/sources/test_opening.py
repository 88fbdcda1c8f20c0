"""What can be opened, in which roles, and what is refused."""

import gzip
import io
import math
import subprocess
import sys
import textwrap

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.contracts.table_sources import collect, read, scan

import fedparity as fp
from fedparity.sketches.records import Faults, Records, RowCounts
from fedparity.tables.opening import open_records, open_table

TABLE = {"z": [0.1, 0.2, 0.3], "g": ["a", "b", "a"], "w": [1.0, 0.0, 2.5]}


def opened(data=TABLE, **options):
    return open_records(data, **{"score": "z", "group": "g", "groups": ("a", "b")} | options)


def faults_of(records):
    return collect(records, scan(records))[1]


def test_what_is_opened_are_records():
    assert isinstance(opened(), Records)


def test_columns_have_default_names():
    records = open_records({"score": [0.5], "group": ["a"]}, score=None, group=None, groups=("a",))

    assert records.roles.score == "score"
    assert records.roles.groups == ("group",)


def test_an_array_with_named_fields_is_a_table():
    data = np.array([(0.5, "a"), (0.25, "b")], [("z", "f4"), ("g", "U1")])

    assert read(data, group="g").records == {("a", 0.5, 1.0): 1, ("b", 0.25, 1.0): 1}


def test_pandas_columns_may_have_names_that_are_no_text():
    frame = pd.DataFrame({0: [0.5], 1: ["a"]})

    assert read(frame, score="0", group="1").records == {("a", 0.5, 1.0): 1}


def test_a_relation_of_duckdb_is_a_table():
    relation = duckdb.sql("SELECT 0.5::DOUBLE AS z, 'a' AS g UNION ALL SELECT 0.25, 'b'")

    assert read(relation, group="g").records == {("a", 0.5, 1.0): 1, ("b", 0.25, 1.0): 1}


def test_blocks_are_of_bounded_size():
    rows = (1 << 20) * 2 + 5
    records = opened({"z": np.zeros(rows), "g": np.zeros(rows, np.int8)}, groups=(0, 1))

    assert [task().scores.size for task in records.batches()] == [1 << 20, 1 << 20, 5]


def test_codes_of_small_numbers_are_not_copied():
    codes = np.array([0, 1, 1], np.uint8)

    (task,) = opened({"z": np.zeros(3), "g": codes}, groups=(0, 1)).batches()

    assert np.shares_memory(task().codes, codes)


def test_weights_may_be_zero():
    (task,) = opened(weight="w").batches()

    assert task().weights.tolist() == [1.0, 0.0, 2.5]
    assert opened(weight="w").weighted
    assert not opened().weighted


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf, None])
def test_weights_that_are_none_are_counted_and_refused(weight):
    records = opened(TABLE | {"w": [1.0, weight, weight]}, weight="w")
    faults = faults_of(records)

    assert faults.bad_weights == 2
    with pytest.raises(fp.errors.TableError, match="'w' holds 2 weights"):
        records.accept(faults)


def test_infinite_scores_are_refused_even_where_missing_ones_are_dropped():
    records = opened(missing="drop")
    scan(records)

    with pytest.raises(fp.errors.TableError, match="holds 3 infinite scores"):
        records.judge(Faults(infinite_scores=3))


def test_a_row_without_a_score_is_no_other_fault():
    """Its label and its weight do not matter any more."""
    data = {"z": [None, math.nan, 0.5], "g": ["x", None, "a"], "w": [-1.0, math.nan, 1.0]}
    records = opened(data, weight="w", missing="drop")

    faults = faults_of(records)

    assert faults == Faults(missing_scores=2, rows=RowCounts(read=3))
    assert records.accept(faults).without_score == 2


def test_a_nan_is_left_to_the_kernels_unless_it_is_dropped():
    (task,) = opened(TABLE | {"z": np.array([0.1, np.nan, 0.2])}).batches()

    assert np.isnan(task().scores).sum() == 1
    assert task().faults.missing_scores == 0


def test_a_batch_that_lacks_a_column_is_refused():
    batches = iter([TABLE, {"z": [1.0], "h": ["a"]}])

    with pytest.raises(fp.errors.TableError, match="no column 'g'"):
        scan(opened(batches))


def test_a_query_that_fails_says_so_without_a_value():
    query = pl.LazyFrame(TABLE).with_columns(z=pl.col("g").cast(pl.Float64))

    with pytest.raises(fp.errors.TableError, match="the polars query could not be read") as caught:
        scan(opened(query))

    assert caught.value.__suppress_context__


def test_a_stream_that_fails_says_so_without_a_value():
    def batches():
        yield pa.record_batch(TABLE)
        raise pa.ArrowInvalid("bad value 0.123")

    reader = pa.RecordBatchReader.from_batches(pa.table(TABLE).schema, batches())

    with pytest.raises(fp.errors.TableError, match="the Arrow stream could not be read") as caught:
        scan(opened(reader))

    assert "0.123" not in str(caught.value)


SECRET = 0.123456789
BAD_INPUT = {
    "a number": lambda: opened(3),
    "a list of numbers": lambda: opened([SECRET, SECRET]),
    "nothing": lambda: opened(None),
    "the text of a table": lambda: opened(f"z,g\n{SECRET},a\n"),
    "a name that is too long": lambda: opened("x" * 5000),
    "an open file": lambda: opened(io.StringIO(f"z,g\n{SECRET},a\n")),
    "lines": lambda: opened(iter(["z,g", f"{SECRET},a"])),
    "lines later": lambda: scan(opened(iter([TABLE, f"{SECRET},a"]))),
    "an empty list": lambda: opened([]),
    "an empty dict": lambda: opened({}),
    "no batch": lambda: opened(iter(())),
    "a plain array": lambda: opened(np.zeros((3, 2))),
    "a dict of numbers": lambda: scan(opened({"z": SECRET, "g": "a"})),
    "a column in two dimensions": lambda: scan(opened(TABLE | {"z": np.zeros((3, 2))})),
    "rows of several lengths": lambda: scan(opened(TABLE | {"z": [[1.0], [1.0, 2.0], [3.0]]})),
    "columns of several lengths": lambda: scan(opened(TABLE | {"z": [SECRET] * 4})),
    "no score column": lambda: opened(score=None),
    "no group column": lambda: opened(group=None),
    "no group columns": lambda: opened(group=()),
    "a missing score column": lambda: opened(score="zz"),
    "a missing group column": lambda: opened(group=("g", "h")),
    "a missing weight column": lambda: opened(weight="ww"),
    "a missing filter column": lambda: opened(where="age > 3"),
    "the score as group": lambda: opened(group="z"),
    "the score as weight": lambda: opened(weight="z"),
    "a group twice": lambda: opened(group=("g", "g"), groups=None),
    "a column twice": lambda: opened(pd.DataFrame([[1.0, 2.0, "a"]], columns=["z", "z", "g"])),
    "an unknown way with missing scores": lambda: opened(missing="ignore"),
    "text as weight": lambda: scan(opened(TABLE | {"w": ["1", "2", "3"]}, weight="w")),
    "a filter on an object": lambda: scan(opened(TABLE | {"x": [object()] * 3}, where="x > 1")),
    "a filter on a pandas object": lambda: scan(
        opened(pd.DataFrame(TABLE | {"x": [object()] * 3}), where="x > 1")
    ),
}


@pytest.mark.parametrize("call", BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_is_refused_with_a_fix(call):
    with pytest.raises(fp.InputError) as caught:
        call()

    sentence, fix = str(caught.value).split("\nfix: ")
    assert sentence.endswith(".")
    assert fix
    assert str(SECRET) not in str(caught.value)


def without(monkeypatch, *names):
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def test_a_missing_package_is_named_with_its_extra(monkeypatch, tmp_path):
    (tmp_path / "t.parquet").touch()
    (tmp_path / "t.arrow").touch()
    (tmp_path / "t.csv.zst").touch()
    without(monkeypatch, "pyarrow", "pyarrow.parquet", "pyarrow.types", "polars")

    for data in (tmp_path / "t.parquet", tmp_path / "t.arrow", tmp_path / "t.csv.zst"):
        with pytest.raises(
            fp.errors.MissingExtraError, match="needs the package pyarrow"
        ) as caught:
            opened(data)
        assert caught.value.fix == "pip install 'fedparity[io]'"
    with pytest.raises(fp.errors.MissingExtraError, match="a filter needs the package polars"):
        opened(where="w > 1")


CORE_ONLY = """
    import sys
    for name in ("polars", "pyarrow", "pandas", "numba", "scipy"):
        sys.modules[name] = None
    from fedparity.tables.opening import open_records
    for data in (sys.argv[1], {"z": [0.5, 0.25], "g": ["a", "b"]}):
        records = open_records(data, score="z", group="g", groups=("a", "b"))
        print(*(task().scores.tolist() for task in records.batches()))
"""


def test_the_core_alone_reads_arrays_and_compressed_csv(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"z,g\n0.5,a\n0.25,b\n"))

    printed = subprocess.run(  # noqa: S603 -- our own statement
        [sys.executable, "-c", textwrap.dedent(CORE_ONLY), str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert printed == "[0.5, 0.25]\n[0.5, 0.25]\n"


def test_opening_a_table_of_arrays_imports_no_frame_library():
    code = (
        "import sys; from fedparity.tables.opening import open_records as o;"
        "list(o({'z': [1.0], 'g': ['a']}, score='z', group='g', groups=None).batches());"
        "print(*sys.modules)"
    )
    loaded = subprocess.run(  # noqa: S603 -- our own statement
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()

    assert not {"polars", "pyarrow", "pandas", "narwhals"} & set(loaded)


def test_columns_of_a_table_can_be_listed():
    assert list(open_table(pl.DataFrame(TABLE)).columns) == ["z", "g", "w"]
