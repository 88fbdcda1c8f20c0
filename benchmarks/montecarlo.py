"""The Monte Carlo engine against a plain loop over the public interface.

    python benchmarks/montecarlo.py           prints times and ratios
    python benchmarks/montecarlo.py --write   also writes the table of the documentation

One process, methods in turn, the best of several rounds. Both run on one thread and CPU time counts, not
time on the wall: neighbours disturb it less, and the engine's other threads are left out. The loop
does what the engine does: for each number of silos an allocation, and for each number of levels the
three estimates. COMPAS where FEDPARITY_DATA names its folder, else as many made-up scores. Ends with
exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import process_time

import fedparity as fp
from fedparity.experiments.datasets import Dataset, load_dataset
from fedparity.experiments.datasets.synthetic import make_synthetic
from fedparity.experiments.montecarlo import LEVELS, SILOS, Study, run_study
from fedparity.experiments.montecarlo.kernels import KernelName

TABLE = Path(__file__).parent.parent / "docs" / "reference" / "montecarlo-speed-table.md"
REPLICATES = 60
"""Allocations of the engine for one of the loop; times are per allocation."""
ROUNDS = 7
BARS = {"numba": 100.0, "numpy": 10.0}
TITLES = {"numba": "engine, `[fast]`", "numpy": "engine, NumPy"}


def data() -> Dataset:
    """Return the records to allocate."""
    if "FEDPARITY_DATA" in os.environ:
        return load_dataset("compas")
    return make_synthetic(size=6150)


def study_of(dataset: Dataset, silos: int) -> Study:
    """Return the study that is timed."""
    return Study(dataset=dataset, silos=(silos,), regimes=("positive",), replicates=REPLICATES)


def plain_loop(study: Study) -> None:
    """One allocation of a study, as anybody would write it."""
    dataset = study.dataset
    (silos,) = study.silos
    dealt = fp.allocate(
        dataset.scores,
        silos=silos,
        regime="positive",
        groups=dataset.codes,
        seed=study.seed_of(silos, 0),
    )
    exact = fp.Method(estimator="exact")
    for k in LEVELS:
        quantiles = fp.Federation.from_scores(
            dataset.scores, groups=dataset.codes, silos=dealt.silos, levels=k
        )
        fp.estimate(quantiles)
        fp.estimate(quantiles, exact)
        means = fp.Federation.from_scores(
            dataset.scores, groups=dataset.codes, silos=dealt.silos, levels=k, kind="mean"
        )
        fp.estimate(means, exact)


def best_cpu_times(methods: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the shortest CPU time of each method in seconds; they take turns."""
    best = dict.fromkeys(methods, float("inf"))
    for _ in range(ROUNDS):
        for name, method in methods.items():
            gc.collect()
            start = process_time()
            method()
            best[name] = min(best[name], process_time() - start)
    return best


def measured(dataset: Dataset) -> list[tuple[str, dict[str, float]]]:
    """Seconds per allocation, by number of silos and method."""
    rows = []
    for silos in SILOS:
        study = study_of(dataset, silos)
        engines: tuple[KernelName, ...] = ("numba", "numpy")
        methods: dict[str, Callable[[], object]] = {"loop": partial(plain_loop, study)}
        for name in engines:
            methods[name] = partial(run_study, study, kernel=name, workers=1)
        methods["numba"]()  # compiled before it is timed
        times = best_cpu_times(methods)
        for name in engines:
            times[name] /= REPLICATES
        rows.append((f"{silos} silos", times))
    whole = {name: sum(times[name] for _, times in rows) for name in ("loop", *engines)}
    return [*rows, ("all five", whole)]


def main() -> None:
    """Measure, print, and say whether the bars hold."""
    parser = argparse.ArgumentParser(description="The Monte Carlo engine against a plain loop.")
    parser.add_argument("--write", action="store_true", help="write the documentation's table")
    write = parser.parse_args().write
    dataset = data()
    rows = measured(dataset)
    lines = [
        "| one allocation, ten k, three estimators | plain loop "
        + "".join(f"| {TITLES[name]} | ratio " for name in BARS)
        + "|",
        "|---" * 6 + "|",
    ]
    for title, times in rows:
        parts = [f"{times['loop'] * 1e3:.0f} ms"]
        for name in BARS:
            ratio = times["loop"] / times[name]
            parts += [f"{times[name] * 1e3:.2f} ms", f"{ratio:.0f} ×"]
        lines.append(f"| {title} | {' | '.join(parts)} |")
    print(f"{dataset!r}\n\n" + "\n".join(lines) + "\n")
    if write:
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    missed = False
    for name, bar in BARS.items():
        ratio = rows[-1][1]["loop"] / rows[-1][1][name]
        missed |= ratio < bar
        verdict = "ok" if ratio >= bar else "MISSED"
        print(f"{TITLES[name]}: {ratio:.0f} x, at least {bar:.0f}: {verdict}")
    if missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
