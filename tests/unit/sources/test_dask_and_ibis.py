"""Frames of Dask and tables of Ibis are read in parts, and their failures show no value."""

import dask.dataframe as dd
import ibis
import pandas as pd
import polars as pl
import pytest

import fedparity as fp
from fedparity.tables.opening import open_records, open_table
from fedparity.tables.table import Selection

FRAME = pd.DataFrame({"z": [0.1, 0.2, 0.3, 0.4], "g": ["a", "b", "a", "b"], "name": "secret"})
WANTED = Selection(numbers=("z",), labels=("g",))


def test_a_dask_frame_is_computed_one_partition_at_a_time():
    """Each with the wanted columns only."""
    sizes = []

    def seen(part):
        if len(part) and part["z"].iloc[0] < 1:
            sizes.append(part.shape)
        return part

    frame = dd.from_pandas(FRAME, npartitions=2)[["z", "g"]].map_partitions(
        seen, meta=FRAME[["z", "g"]].head(0)
    )
    tasks = open_table(frame).scan(WANTED)
    first = next(tasks)()

    assert (first.length, sizes) == (2, [(2, 2)])
    assert [task().length for task in tasks] == [2]


def test_a_failing_partition_shows_no_value():
    def fail(part):
        raise ValueError(part.to_string())

    frame = dd.from_pandas(FRAME, npartitions=2).map_partitions(fail, meta=FRAME.head(0))
    records = open_records(frame, score="z", group="g", groups=("a", "b"))

    with pytest.raises(fp.errors.TableError, match="a partition of the Dask frame") as caught:
        [task() for task in records.batches()]

    assert "secret" not in str(caught.value)


def test_a_failing_ibis_table_shows_no_value():
    frame = pl.DataFrame({"z": ["secret", "0.5"], "g": ["a", "b"]})
    table = ibis.polars.connect({"t": frame}).table("t")
    records = open_records(
        table.mutate(z=table.z.cast("float64")), score="z", group="g", groups=("a", "b")
    )

    with pytest.raises(fp.errors.TableError, match="the Ibis table") as caught:
        [task() for task in records.batches()]

    assert "secret" not in str(caught.value)
