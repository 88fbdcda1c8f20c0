"""A silo whose table is in Spark: the real command starts Spark, and its log stays silent."""

import pyarrow as pa
import pyarrow.parquet
import pytest
from tests import sparks
from tests.e2e.running import files, run
from tests.unit.cli.samples import plan, table, write_table

BASE = ("sketch", "plan.toml", "--silo", "north", "--no-ledger")


@pytest.fixture
def folder(tmp_path):
    if reason := sparks.missing():
        pytest.skip(reason)
    plan().write(tmp_path / "plan.toml")
    return tmp_path


@pytest.mark.slow
@pytest.mark.spark
def test_spark_gives_the_message_of_a_file(folder):
    """Standard output and standard error hold our words only, and no folder is left."""
    columns = table(3)
    write_table(folder / "north.csv", columns)
    labels = pa.array([str(label) for label in columns["group"].tolist()])
    pa.parquet.write_table(
        pa.table({"score": columns["score"], "group": labels}), folder / "north.parquet"
    )
    by_path = ("--table", f'parquet."{folder}/north.parquet"', "-o", "spark.json", "--verbose")

    by_file = run(*BASE, "north.csv", "-o", "file.json", folder=folder)
    by_spark = run(*BASE, "spark:///local[2]", *by_path, folder=folder, JAVA_HOME=sparks.home())

    assert (by_file[0], by_spark[0]) == (0, 0), by_spark[2]
    assert by_spark[1] == by_file[1] == ""
    assert by_spark[2].splitlines()[0].endswith("ranked inside Spark by 2 queries; none was read")
    rest = by_spark[2].partition("\n")[2]
    assert rest == by_file[2].replace("file.json", "spark.json")
    assert (folder / "file.json").read_bytes() == (folder / "spark.json").read_bytes()
    kept = ["file.json", "north.csv", "north.parquet", "plan.toml", "spark.json"]
    assert files(folder) == kept
    assert not (folder / "spark-warehouse").exists()


@pytest.mark.spark
def test_without_java_one_sentence_says_so(folder):
    code, out, err = run(
        *BASE, "spark:///local[2]", "--table", "visits", folder=folder, JAVA_HOME="/nowhere"
    )

    assert (code, out) == (2, "")
    assert err.splitlines()[0] == "error: Spark needs Java 17 or later, which it cannot start."
    assert err.splitlines()[1].startswith("fix: ")
    assert len(err.splitlines()) == 2
