"""What ``silo.py`` compares: ways to take k quantiles of each group, each in its best form.

Run by ``silo.py``, one process per method. Every method returns the quantiles of group 0 and
group 1; those that are exact must agree to the last bit.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from processes import report

from fedparity.documents.plan import Plan
from fedparity.modes.mode import mode_of
from fedparity.privacy.disclosure import Disclosure
from fedparity.sketches.kinds import midpoints, ranks
from fedparity.sketches.passes import KernelName, choose_kernel
from fedparity.sketches.records import ArrayRecords, Batch, RowCounts
from fedparity.sketches.select import ComputeOptions, select
from fedparity.sketches.streaming import StreamSketch
from fedparity.tables.opening import open_records

if TYPE_CHECKING:
    import duckdb
    import polars as pl

Method = Callable[[], object]
Floats = npt.NDArray[np.float64]

_POOL = ThreadPoolExecutor(2)
_WARM_UP = 200_000


def arrays(folder: Path, rows: int) -> tuple[Floats, npt.NDArray[np.uint8]]:
    """Return the scores and the codes, in memory."""
    return np.load(folder / f"scores-{rows}.npy"), np.load(folder / f"codes-{rows}.npy")


def plan_of(levels: int) -> Plan:
    """Return a plan without disclosure rules: all levels, not rounded."""
    rules = Disclosure.off()
    return Plan(title="bench", groups=(0, 1), score_range=(0, 1), levels=levels, disclosure=rules)


# -- in memory ---------------------------------------------------------------------------------


def read_limit(folder: Path, rows: int, levels: int) -> Method:  # noqa: ARG001
    """One read of both arrays by two threads."""
    scores, codes = arrays(folder, rows)
    halves = slice(0, rows // 2), slice(rows // 2, rows)

    def run() -> None:
        list(_POOL.map(lambda half: (scores[half].max(), codes[half].max()), halves))

    run()
    return run


def ours(kernel: KernelName) -> Callable[[Path, int, int], Method]:
    """Our selection with one of the kernels, compiled before it is timed."""

    def prepare(folder: Path, rows: int, levels: int) -> Method:
        scores, codes = arrays(folder, rows)

        def run(size: int = rows) -> object:
            records = ArrayRecords((0, 1), scores[:size], codes[:size])
            found = select(
                records,
                lambda _: [levels, levels],
                kernel=kernel,
                levels_hint=levels,
                score_range=(0.0, 1.0),
            )
            return [values.tolist() for values in found.values if values is not None]

        run(min(rows, _WARM_UP))
        return run

    return prepare


def numpy_sort(folder: Path, rows: int, levels: int) -> Method:
    """Sort each group in a thread of its own, then look the ranks up."""
    scores, codes = arrays(folder, rows)

    def one(group: int) -> object:
        own = scores[codes == group]
        own.sort()
        return own[ranks(own.size, levels) - 1].tolist()

    return lambda: list(_POOL.map(one, (0, 1)))


def polars_quantiles(folder: Path, rows: int, levels: int) -> Method:
    """Filter each group and take all quantiles at once, in one lazy query."""
    import polars as pl  # noqa: PLC0415 -- only this process

    scores, codes = arrays(folder, rows)
    frame = pl.DataFrame({"score": scores, "group": codes}).lazy()
    return lambda: _polars(frame, levels)


def _polars(frame: pl.LazyFrame, levels: int) -> object:
    import polars as pl  # noqa: PLC0415

    wanted = midpoints(levels).tolist()
    found = frame.select(
        pl.col("score")
        .filter(pl.col("group") == group)
        .quantile(wanted, "equiprobable")
        .alias(name)
        for group, name in ((0, "a"), (1, "b"))
    ).collect()
    return [found["a"].to_list()[0], found["b"].to_list()[0]]


def duckdb_quantiles(folder: Path, rows: int, levels: int) -> Method:
    """``quantile_disc`` of a list, grouped."""
    import duckdb  # noqa: PLC0415

    scores, codes = arrays(folder, rows)
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    connection.register("records", {"score": scores, "code": codes})
    return lambda: _duckdb(connection, "records", "code", levels)


def _duckdb(connection: duckdb.DuckDBPyConnection, table: str, group: str, levels: int) -> object:
    wanted = midpoints(levels).tolist()
    query = f"SELECT {group}, quantile_disc(score, {wanted}) FROM {table} GROUP BY 1 ORDER BY 1"  # noqa: S608
    return [row[1] for row in connection.execute(query).fetchall()]


# -- files -------------------------------------------------------------------------------------


def ours_from(memory: int | None) -> Callable[[Path, int, int], Method]:
    """Our whole path from a file; ``memory`` 0 forces several scans."""

    def prepare(path: Path, rows: int, levels: int) -> Method:  # noqa: ARG001
        plan = plan_of(levels)

        def run() -> object:
            records = open_records(path, score="score", group="group", groups=plan.groups)
            options = ComputeOptions(memory=memory)
            cells = mode_of(plan).release(records, "bench", options).sketch.cells
            return [cell.values.tolist() for cell in cells if cell.values is not None]

        _compile()
        return run

    return prepare


def _compile() -> None:
    """Load the libraries, as for the peers, and compile numba, before anything is timed."""
    for library in ("polars", "pyarrow.parquet"):
        import_module(library)
    codes = np.zeros(_WARM_UP, dtype=np.uint8)
    records = ArrayRecords((0, 1), np.random.default_rng(0).random(_WARM_UP), codes)
    select(records, lambda _: [3, 3], kernel="numba")
    choose_kernel("numba", None).sort(np.random.default_rng(0).random(_WARM_UP))


def decode_floor(path: Path, rows: int, levels: int) -> Method:  # noqa: ARG001
    """Decode both columns with pyarrow, row groups dealt to two threads, and drop them."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    def part(first: int) -> None:
        file = pq.ParquetFile(path, memory_map=False, pre_buffer=False, read_dictionary=["group"])
        for number in range(first, file.metadata.num_row_groups, 2):
            file.read_row_group(number, columns=["score", "group"], use_threads=False)

    def run() -> None:
        list(_POOL.map(part, (0, 1)))

    return run


def polars_file(path: Path, rows: int, levels: int) -> Method:  # noqa: ARG001
    """Scan the file and take all quantiles in one query."""
    import polars as pl  # noqa: PLC0415

    scan = pl.scan_parquet if path.suffix == ".parquet" else pl.scan_csv
    return lambda: _polars(scan(path), levels)


def duckdb_file(path: Path, rows: int, levels: int) -> Method:  # noqa: ARG001
    """``quantile_disc`` over the file."""
    import duckdb  # noqa: PLC0415

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    return lambda: _duckdb(connection, f"'{path}'", '"group"', levels)


def arrow_sort(path: Path, rows: int, levels: int) -> Method:  # noqa: ARG001
    """Read with pyarrow, then sort each group in a thread of its own."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    def run() -> object:
        table = pq.read_table(path, columns=["score", "group"], memory_map=False)
        scores, codes = table["score"].to_numpy(), table["group"].to_numpy()

        def one(group: int) -> object:
            own = scores[codes == group]
            own.sort()
            return own[ranks(own.size, levels) - 1].tolist()

        return list(_POOL.map(one, (0, 1)))

    return run


# -- labels ------------------------------------------------------------------------------------


def labeled(kind: str) -> Callable[[Path, int, int], Method]:
    """Our whole path on a table in memory whose groups are of some type."""

    def prepare(folder: Path, rows: int, levels: int) -> Method:
        scores, codes = arrays(folder, rows)
        rules = Disclosure.off()
        plan = Plan(
            title="bench",
            groups=(0, 1) if kind == "codes" else ("women", "men"),
            score_range=(0, 1),
            levels=levels,
            disclosure=rules,
        )
        _compile()
        table = _labelled_table(kind, scores, codes)

        def run() -> object:
            records = open_records(table, score="score", group="group", groups=plan.groups)
            options = ComputeOptions(kernel="numba")
            cells = mode_of(plan).release(records, "bench", options).sketch.cells
            return [cell.values.tolist() for cell in cells if cell.values is not None]

        return run

    return prepare


def _labelled_table(kind: str, scores: Floats, codes: npt.NDArray[np.uint8]) -> object:
    import polars as pl  # noqa: PLC0415

    if kind == "codes":
        return {"score": scores, "group": codes}
    texts = pl.Series("group", codes).replace_strict(
        {0: "women", 1: "men"}, return_dtype=pl.String
    )
    frame = pl.DataFrame({"score": scores, "group": texts})
    if kind == "polars strings":
        return frame
    if kind == "polars categories":
        return frame.with_columns(pl.col("group").cast(pl.Categorical))
    table = frame.to_arrow()
    if kind == "Arrow strings":
        return table
    if kind == "Arrow dictionary":
        return table.set_column(1, "group", table["group"].dictionary_encode())
    pandas = table.to_pandas()
    return pandas if kind == "pandas strings" else pandas.astype({"group": "category"})


# -- streams -----------------------------------------------------------------------------------


def ours_stream(folder: Path, rows: int, levels: int) -> Method:
    """One pass with a guaranteed error of 1/(2 m), m = 1,024."""
    scores, codes = arrays(folder, rows)
    _compile()

    def run() -> object:
        stream = StreamSketch(groups=(0, 1), resolution=1024, score_range=(0.0, 1.0))
        for rows_ in _parts(rows):
            stream.update(Batch(scores[rows_], codes[rows_]))
        found, _ = stream.finish(lambda _: [levels, levels], lambda _: RowCounts())
        return [values.tolist() for values in found.values if values is not None]

    return run


def kll_stream(folder: Path, rows: int, levels: int) -> Method:
    """KLL of DataSketches, k = 4,096: about the same error, with high probability."""
    from datasketches import kll_doubles_sketch  # noqa: PLC0415

    scores, codes = arrays(folder, rows)

    def run() -> object:
        sketches = [kll_doubles_sketch(4096) for _ in (0, 1)]
        for rows_ in _parts(rows):
            for group, sketch in enumerate(sketches):
                sketch.update(scores[rows_][codes[rows_] == group])
        return [list(sketch.get_quantiles(midpoints(levels))) for sketch in sketches]

    return run


def _parts(rows: int) -> Iterator[slice]:
    return (slice(start, start + (1 << 20)) for start in range(0, rows, 1 << 20))


METHODS: dict[str, Callable[[Path, int, int], Method]] = {
    "read": read_limit,
    "ours [fast]": ours("numba"),
    "ours": ours("numpy"),
    "np.sort, 2 threads": numpy_sort,
    "polars": polars_quantiles,
    "duckdb": duckdb_quantiles,
    "decode only": decode_floor,
    "ours, held": ours_from(None),
    "ours, two scans": ours_from(0),
    "polars file": polars_file,
    "duckdb file": duckdb_file,
    "pyarrow + np.sort": arrow_sort,
    "codes": labeled("codes"),
    "polars categories": labeled("polars categories"),
    "polars strings": labeled("polars strings"),
    "Arrow dictionary": labeled("Arrow dictionary"),
    "Arrow strings": labeled("Arrow strings"),
    "pandas categories": labeled("pandas categories"),
    "pandas strings": labeled("pandas strings"),
    "ours stream": ours_stream,
    "kll stream": kll_stream,
}


def main() -> None:
    """Run one method in this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--method", choices=METHODS)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--levels", type=int)
    given = parser.parse_args()
    report(lambda: METHODS[given.method](given.data, given.rows, given.levels))


if __name__ == "__main__":
    main()
