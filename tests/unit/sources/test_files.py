"""Files, folders and patterns; Parquet and Arrow files that are large, damaged or changing."""

import os

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from tests.contracts.table_sources import collect, scan

import fedparity as fp
from fedparity.tables import columnar_files as parquet
from fedparity.tables import columnar_files as pruning
from fedparity.tables.opening import open_records, open_table
from fedparity.tables.where import Condition


def table(rows=1000, seed=0):
    rng = np.random.default_rng(seed)
    groups = pa.array(rng.choice(["a", "b", "c"], rows).tolist(), pa.string())
    return pa.table({"z": rng.random(rows), "g": groups, "year": np.arange(rows) // 100 + 2000})


def opened(path, **options):
    return open_records(path, **{"score": "z", "group": "g", "groups": ("a", "b", "c")} | options)


def scores(records):
    return sorted(np.concatenate([batch.scores for batch in scan(records)]).tolist())


@pytest.fixture
def written(tmp_path):
    """Write a table in the format that the name ends in."""

    def write(data, name="t.parquet", **options):
        path = tmp_path / name
        if name.endswith(".parquet"):
            pq.write_table(data, path, **options)
        elif name.endswith(".feather"):
            pyarrow.feather.write_feather(data, path, **options)
        else:
            with pa.ipc.new_stream(str(path), data.schema) as writer:
                writer.write_table(data)
        return path

    return write


def test_a_large_row_group_is_decoded_in_parts(written, monkeypatch):
    """Two row groups in turn; nothing is lost when pyarrow cuts batches at its own places."""
    monkeypatch.setattr(parquet, "_BLOCK_CELLS", 128)
    data = table()

    records = opened(written(data, row_group_size=333))
    sizes = [batch.scores.size for batch in scan(records)]

    assert max(sizes) <= 64
    assert sum(sizes) == 1000
    assert scores(records) == sorted(data["z"].to_pylist())


def test_batches_that_pyarrow_cuts_short_are_all_read(written, monkeypatch):
    monkeypatch.setattr(parquet, "_BLOCK_CELLS", 128)
    whole = pq.ParquetFile.iter_batches

    def short(self, batch_size, **options):
        return whole(self, batch_size=batch_size // 2, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", short)
    data = table()

    assert scores(opened(written(data))) == sorted(data["z"].to_pylist())


def test_small_row_groups_are_decoded_together(written, monkeypatch):
    monkeypatch.setattr(parquet, "_BLOCK_CELLS", 500)
    records = opened(written(table(), row_group_size=100))

    assert [task().scores.size for task in records.batches()] == [200] * 5


def test_text_of_labels_is_decoded_to_codes(written):
    path = written(table())

    (task,) = open_table(path).scan(opened(path).roles.selection)

    assert pa.types.is_dictionary(task().columns["g"].array.type)


PRUNED = {
    "year = 2003": 1,
    "year >= 2008": 2,
    "2000 < year": 10,
    "year < 2002 AND g = 'a'": 2,
    "g = 'zebra'": 0,
    "g >= 'a' AND year > 2008": 1,
    "year = 2003 OR z > 2": 10,
    "year > 2003.5": 10,
    "z > 2": 10,
    "NOT year = 2003": 10,
    '"year" <= 2000': 1,
    "year = 3000": 0,
}


@pytest.mark.parametrize(("where", "left"), PRUNED.items())
def test_row_groups_that_a_filter_cannot_keep_are_not_read(where, left, written):
    path = written(table(), row_group_size=100)
    metadata = pq.read_metadata(path)

    kept = pruning.Pruning(Condition(where), metadata)

    assert sum(map(kept.may_hold, range(10))) == left


@pytest.mark.parametrize("where", [*PRUNED, "year <= 2004 AND year > 2002", "g <= 'b'"])
def test_pruning_does_not_change_what_a_filter_keeps(where, written):
    data = table()
    expected = pl.from_arrow(data).filter(pl.sql_expr(where))["z"].sort().to_list()

    records = opened(written(data, row_group_size=100), where=where)
    found, _ = collect(records, scan(records))

    assert sorted(key[1] for key in found) == expected


def test_a_nan_is_null_to_a_filter(written):
    data = pa.table({"z": [0.5, 0.6, 0.7], "x": [1.0, np.nan, 9.0], "g": ["a", "a", "a"]})

    assert scores(opened(written(data), where="x > 5")) == [0.7]
    assert scores(opened(written(data), where="x IS NULL")) == [0.6]


def test_a_filter_that_keeps_nothing_is_an_error(written):
    for where in ("year = 3000", "year = 2000 AND z > 2"):
        records = opened(written(table()), where=where)
        _, faults = collect(records, scan(records))

        with pytest.raises(fp.errors.TableError, match="keeps no row"):
            records.accept(faults)


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_text_written_as_differences_is_read(encoding, written):
    """As DuckDB and others write it; pyarrow cannot make codes of it."""
    columns = {"g": encoding, "z": "PLAIN", "year": "PLAIN"}
    found = opened(written(table(), use_dictionary=False, column_encoding=columns))
    expected = opened(written(table(), "plain.parquet"))

    assert collect(found, scan(found)) == collect(expected, scan(expected))


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrows"])
def test_a_table_without_rows_is_an_error(name, written):
    records = opened(written(table().slice(0, 0), name))
    _, faults = collect(records, scan(records))

    with pytest.raises(fp.errors.TableError, match="has no row"):
        records.accept(faults)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrows"])
@pytest.mark.parametrize("keep", [0.0, 0.001, 0.3, 0.7, 0.99])
def test_a_truncated_file_is_refused(name, keep, written):
    path = written(table(20_000), name)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])

    with pytest.raises(fp.errors.TableError, match="truncated or damaged"):
        scan(opened(path))


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_a_damaged_file_is_refused_without_quoting_it(name, written):
    path = written(table(20_000), name, compression="zstd")
    data = bytearray(path.read_bytes())
    data[8:400] = b"\xff" * 392
    path.write_bytes(data)

    with pytest.raises(fp.errors.TableError, match="truncated or damaged") as caught:
        scan(opened(path))

    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrows"])
@pytest.mark.parametrize("change", ["rewritten", "cut", "removed", "replaced"])
def test_a_file_that_changes_while_it_is_read_is_refused(name, change, written):
    path = written(table(20_000), name)
    records = opened(path)
    tasks = list(records.batches()) if name == "t.parquet" else records.batches()
    if change == "rewritten":
        written(table(20_000, seed=1), name)
        os.utime(path, ns=(1, 1))
    elif change == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    elif change == "removed":
        path.unlink()
    else:
        path.rename(path.with_suffix(".old"))
        written(table(20_000), name)

    with pytest.raises(fp.errors.TableError, match="changed while it was read"):
        [task() for task in tasks]


def test_a_folder_and_a_pattern_read_all_their_files(written, tmp_path):
    (tmp_path / "2026").mkdir()
    written(table(seed=1), "b.parquet")
    written(table(seed=2), "2026/a.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden.csv").touch()
    expected = sorted(table(seed=1)["z"].to_pylist() + table(seed=2)["z"].to_pylist())

    assert scores(opened(tmp_path)) == expected
    assert scores(opened(str(tmp_path / "**" / "*.parquet"))) == expected
    assert scores(opened([tmp_path / "b.parquet", tmp_path / "2026" / "a.parquet"])) == expected
    assert opened(tmp_path).rows == 2000


def test_a_name_with_brackets_is_a_file_before_it_is_a_pattern(written):
    assert opened(written(table(), "t[1].parquet")).rows == 1000


def test_every_file_must_have_the_columns(written, tmp_path):
    written(table(), "a.parquet")
    written(table().rename_columns(["z", "group", "year"]), "b.parquet")

    with pytest.raises(fp.errors.TableError, match=r"b.parquet has no column 'g'"):
        opened(tmp_path)


def test_types_may_differ_between_files(written, tmp_path):
    numbers = pa.table({"z": pa.array([1, 2]), "g": pa.array([1, 2]), "year": [2000, 2001]})
    texts = pa.table({"z": [0.5], "g": ["1"], "year": [2000.5]})
    written(numbers, "a.parquet")
    written(texts, "b.parquet")

    records = opened(tmp_path, groups=(1, 2), where="year < 2001")

    assert scores(records) == [0.5, 1.0]


def test_ten_thousand_columns_are_not_decoded(written):
    wide = {f"column_{number}": np.zeros(10) for number in range(9_998)}
    path = written(pa.table(wide | {"z": np.arange(10.0), "g": ["a"] * 10}))

    assert scores(opened(path)) == list(range(10))
    with pytest.raises(fp.errors.TableError, match="and 9,992 more") as caught:
        opened(path, score="column_9999x")
    assert "'column_9" in caught.value.fix
    assert len(str(caught.value)) < 500


BAD_PATHS = {
    "no file": ("none.parquet", "no file or folder"),
    "no match": ("*.parquet", "holds no file"),
    "an empty folder": ("empty", "holds no file"),
    "an unknown ending": ("t.json", "not known by its ending"),
    "no ending": ("plain", "not known by its ending"),
    "an empty compressed text": ("t.gz", "has no row"),
    "compressed Parquet": ("t.parquet.gz", "not known by its ending"),
    "several formats": ("mixed", r"several formats: 'Arrow', 'CSV'"),
    "a stranger in a folder": ("strange", "notes.txt' is not known by its ending"),
}


@pytest.mark.parametrize(("name", "message"), BAD_PATHS.values(), ids=BAD_PATHS)
def test_paths_that_lead_nowhere_are_refused(name, message, tmp_path):
    for folder in ("empty", "mixed", "strange"):
        (tmp_path / folder).mkdir()
    for file in ("t.json", "plain", "t.gz", "t.parquet.gz", "mixed/a.csv", "mixed/b.arrow"):
        (tmp_path / file).touch()
    (tmp_path / "strange" / "notes.txt").touch()

    with pytest.raises(fp.errors.TableError, match=message):
        opened(tmp_path / name)


def test_a_file_that_may_not_be_read_is_refused(written, monkeypatch):
    path = written(table())
    monkeypatch.setattr(os, "access", lambda *_: False)

    with pytest.raises(fp.errors.TableError, match="permission denied"):
        opened(path)
