"""The silo against its peers: memory, Parquet, CSV and streams, ratios and peak memory.

    python benchmarks/silo.py              everything, with 10^8 rows (about 20 minutes, 4 GB of disk)
    python benchmarks/silo.py --rows 1e7   a smaller version
    python benchmarks/silo.py --write      also writes the table of the documentation

Every measurement has a process of its own, in which methods of less than a second run up to three
times; methods take turns, for five rounds; the best run counts. Ways that numba compiles have one
process more, before the rounds, which does not count.
The bars are ratios of one run of this command. It ends with exit code 1 if one is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from processes import Measured, in_turn

from fedparity.sketches.kinds import midpoints

Floats = npt.NDArray[np.float64]

SCRIPT = str(Path(__file__).with_name("silo_methods.py"))
TABLE = Path(__file__).parent.parent / "docs" / "reference" / "silo-speed-table.md"
IN_MEMORY = ("read", "ours [fast]", "ours", "np.sort, 2 threads", "polars", "duckdb")
PARQUET = (
    "decode only",
    "ours, held",
    "ours, two scans",
    "pyarrow + np.sort",
    "polars file",
    "duckdb file",
)
CSV = ("ours, held", "polars file", "duckdb file")
LABELS = (
    "codes",
    "polars categories",
    "polars strings",
    "Arrow dictionary",
    "Arrow strings",
    "pandas categories",
    "pandas strings",
)
STREAM = ("ours stream", "kll stream")
COMPILED = ("ours [fast]", "ours, held", "ours, two scans", *LABELS, "ours stream")
"""Ways with loops that numba compiles."""
EXACT_PEERS = ("np.sort, 2 threads", "polars", "duckdb")


class Report:
    """Lines for the screen and the documentation, and the bars that were missed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.missed = 0

    def table(self, title: str, found: dict[str, Measured], base: str) -> None:
        """Add one table, with ratios to the time of ``base``."""
        self.say(f"\n**{title}**\n")
        self.say(f"| way | seconds | against {base} | peak memory, MB |")
        self.say("|---|---:|---:|---:|")
        for name, measured in found.items():
            ratio = measured.seconds / found[base].seconds
            self.say(
                f"| {name} | {measured.seconds:.3f} | {ratio:.1f} | {measured.megabytes:,.0f} |"
            )
        self.say("")

    def bar(self, what: str, value: float, bar: float, *, at_most: bool = False) -> None:
        """Add one bar: a ratio that should be reached, or not exceeded."""
        met = value <= bar if at_most else value >= bar
        self.missed += not met
        sign = "at most" if at_most else "at least"
        state = "met" if met else "MISSED"
        self.say(f"- {what}: {value:.2f}, {sign} {bar:g} wanted: {state}")

    def say(self, line: str) -> None:
        """Print a line and keep it."""
        print(line, flush=True)
        self.lines.append(line)


def write_data(folder: Path, rows: int) -> None:
    """Write logit-normal scores of two groups, 60 : 40, as arrays."""
    random = np.random.default_rng(2026)
    scores = np.lib.format.open_memmap(
        folder / f"scores-{rows}.npy", "w+", dtype=np.float64, shape=(rows,)
    )
    codes = np.lib.format.open_memmap(
        folder / f"codes-{rows}.npy", "w+", dtype=np.uint8, shape=(rows,)
    )
    for start in range(0, rows, 10**7):
        part = slice(start, min(start + 10**7, rows))
        size = part.stop - part.start
        scores[part] = 1 / (1 + np.exp(-random.normal(size=size)))
        codes[part] = random.random(size) < 0.4


def write_table(folder: Path, rows: int, ending: str) -> Path:
    """Write the arrays as a Parquet or CSV file."""
    import polars as pl  # noqa: PLC0415 -- only the parent writes files

    path = folder / f"records-{rows}.{ending}"
    frame = pl.DataFrame(
        {
            "score": np.load(folder / f"scores-{rows}.npy"),
            "group": np.load(folder / f"codes-{rows}.npy").astype(np.int64),
        }
    )
    if ending == "parquet":
        frame.write_parquet(path, compression="zstd", row_group_size=1 << 20)
    else:
        frame.write_csv(path)
    return path


def in_memory(report: Report, folder: Path, rows: int, rounds: int) -> None:
    """Compare on arrays in memory."""
    for levels in (100, 1000):
        methods = IN_MEMORY if levels == 100 else IN_MEMORY[:-1]  # DuckDB takes minutes there
        options = {"data": folder, "rows": rows, "levels": levels}
        found = in_turn(SCRIPT, methods, options, rounds=rounds, compiled=COMPILED)
        report.table(f"In memory, {rows:.0e} doubles, 2 groups, k = {levels}", found, "read")
        fast, plain = found["ours [fast]"], found["ours"]
        peers = {name: found[name].seconds for name in EXACT_PEERS if name in found}
        libraries = min(seconds for name, seconds in peers.items() if name != "np.sort, 2 threads")
        report.bar(
            "[fast]: times faster than np.sort", peers["np.sort, 2 threads"] / fast.seconds, 10
        )
        report.bar("[fast]: times faster than the best library call", libraries / fast.seconds, 15)
        report.bar("[fast]: times one read", fast.seconds / found["read"].seconds, 6, at_most=True)
        report.bar("[fast]: extra memory, MB", fast.megabytes, 32, at_most=True)
        report.bar(
            "NumPy: times faster than every exact peer", min(peers.values()) / plain.seconds, 1
        )
        _agree(report, found, ("ours [fast]", "ours", "np.sort, 2 threads", "duckdb"))


def parquet(report: Report, folder: Path, rows: int, rounds: int) -> None:
    """Compare on a Parquet file."""
    path = write_table(folder, rows, "parquet")
    options = {"data": path, "rows": rows, "levels": 100}
    found = in_turn(SCRIPT, PARQUET, options, rounds=rounds, compiled=COMPILED)
    report.table(f"Parquet (zstd), {rows:.0e} rows, k = 100", found, "decode only")
    fastest = min(found[name].seconds for name in PARQUET[3:])
    report.bar(
        "held: times faster than the fastest exact peer",
        fastest / found["ours, held"].seconds,
        2.5,
    )
    report.bar("two scans: peak memory, MB", found["ours, two scans"].megabytes, 300, at_most=True)
    _agree(report, found, ("ours, held", "ours, two scans", "pyarrow + np.sort", "duckdb file"))
    path.unlink()


def csv(report: Report, folder: Path, rows: int, rounds: int) -> None:
    """Compare on a CSV file."""
    path = write_table(folder, rows, "csv")
    options = {"data": path, "rows": rows, "levels": 100}
    found = in_turn(SCRIPT, CSV, options, rounds=rounds, compiled=COMPILED)
    report.table(f"CSV, {rows:.0e} rows, k = 100", found, "polars file")
    report.bar(
        "times faster than polars", found["polars file"].seconds / found["ours, held"].seconds, 1
    )
    _agree(report, found, ("ours, held", "duckdb file"))
    path.unlink()


def labels(report: Report, folder: Path, rows: int, rounds: int) -> None:
    """See what the type of the labels costs."""
    options = {"data": folder, "rows": rows, "levels": 100}
    found = in_turn(SCRIPT, LABELS, options, rounds=rounds, compiled=COMPILED)
    report.table(f"Labels of a table in memory, {rows:.0e} rows", found, "codes")
    base = found["codes"].seconds
    for name in LABELS[1:]:
        added = (found[name].seconds - base) / base
        report.bar(f"{name}: cost of the labels, in kernels", added, 2, at_most=True)
    _agree(report, found, LABELS)


def streams(report: Report, folder: Path, rows: int, rounds: int) -> None:
    """Compare one-pass sketches of about the same error."""
    options = {"data": folder, "rows": rows, "levels": 100}
    found = in_turn(SCRIPT, STREAM, options, rounds=rounds, compiled=COMPILED)
    report.table(f"One pass, {rows:.0e} rows", found, "ours stream")
    scores, codes = (np.load(folder / f"{name}-{rows}.npy") for name in ("scores", "codes"))
    for name, measured in found.items():
        report.say(f"- {name}: largest error of a rank {_rank_error(measured, scores, codes):.1e}")
    ratio = found["kll stream"].seconds / found["ours stream"].seconds
    report.bar("times faster than KLL", ratio, 8)


def _rank_error(measured: Measured, scores: Floats, codes: npt.NDArray[np.uint8]) -> float:
    worst = 0.0
    for group, values in enumerate(measured.answer):
        own = np.sort(scores[codes == group])
        shares = np.searchsorted(own, values, side="right") / own.size
        worst = max(worst, float(np.abs(shares - midpoints(len(values))).max()))
    return worst


def growth(report: Report, folder: Path, rows: int, rounds: int) -> None:
    """See that the cost per row stays the same as rows grow."""
    per_row = {}
    for size in (rows // 100, rows // 10, rows):
        if not (folder / f"scores-{size}.npy").exists():
            write_data(folder, size)
        options = {"data": folder, "rows": size, "levels": 100}
        found = in_turn(SCRIPT, ("ours [fast]",), options, rounds=rounds, compiled=COMPILED)
        per_row[size] = 1e9 * found["ours [fast]"].seconds / size
        report.say(f"- {size:.0e} rows: {per_row[size]:.2f} ns per row")
    report.bar(
        "cost per row, largest against smallest",
        per_row[rows] / per_row[rows // 100],
        1.2,
        at_most=True,
    )


def _agree(report: Report, found: dict[str, Measured], names: Sequence[str]) -> None:
    answers = [found[name].answer for name in names if name in found]
    same = all(answer == answers[0] for answer in answers)
    report.missed += not same
    report.say(f"- the exact ways agree to the last bit: {'yes' if same else 'NO'}")


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--only", choices=("memory", "parquet", "csv", "labels", "streams", "growth")
    )
    parser.add_argument("--write", action="store_true", help="write the documentation's table")
    given = parser.parse_args()
    rows, report = int(given.rows), Report()
    sections = {
        "memory": (in_memory, rows),
        "parquet": (parquet, rows),
        "csv": (csv, rows // 10),
        "labels": (labels, rows // 10),
        "streams": (streams, rows // 10),
        "growth": (growth, rows),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in (rows, rows // 10):
            write_data(folder, size)
        for section, (run, size) in sections.items():
            if given.only in (None, section):
                run(report, folder, size, given.rounds)
    if given.write:
        TABLE.write_text("\n".join(report.lines).strip() + "\n")
    sys.exit(1 if report.missed else 0)


if __name__ == "__main__":
    main()
