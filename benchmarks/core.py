"""Speed of the core: distances against POT and SciPy, labels of every kind, the server step against one sort.

Run with ``make bench``. Prints ratios measured in one run on this machine: times depend on the
machine and its neighbors, ratios much less. Exits with an error if a bar is missed.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import ot
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy.stats import wasserstein_distance
from timing import best_times

import fedparity as fp
from fedparity.uncertainty.bootstrap import bootstrap

SCORES = 1_000_000
LEVELS = 100


def distances() -> list[tuple[str, float, float]]:
    """W_2 of two groups of a million scores, from raw arrays to the number."""
    random = np.random.default_rng(0)
    rows = []
    for title, second_size in (("equal sizes", SCORES), ("unequal sizes", SCORES - 99_999)):
        first, second = random.beta(3, 4, SCORES), random.beta(6, 4, second_size)
        expected = ot.wasserstein_1d(first, second, p=2)
        if not np.isclose(fp.theory.wasserstein_power(first, second), expected, rtol=1e-10):
            sys.exit("error: the distances disagree")
        times = best_times(
            {
                "fedparity": partial(fp.wasserstein, first, second),
                "POT": partial(ot.wasserstein_1d, first, second, p=2),
                "SciPy": partial(wasserstein_distance, first, second),
            }
        )
        print(f"\nExact W_2, two groups of {SCORES:,} and {second_size:,} scores")
        for name, seconds in times.items():
            ratio = seconds / times["fedparity"]
            print(f"  {name:12} {seconds * 1e3:8.1f} ms   {ratio:5.1f} x")
        bars = (4.0, 8.0) if second_size == SCORES else (0.0, 0.0)
        for peer, bar in zip(("POT", "SciPy"), bars, strict=True):
            rows.append((f"{title}: faster than {peer}", times[peer] / times["fedparity"], bar))
    return rows


def labels() -> list[tuple[str, float, float]]:
    """The disparity of a million scores, with labels in every container."""
    random = np.random.default_rng(3)
    scores, codes = random.beta(3, 4, SCORES), random.integers(0, 3, SCORES)
    category = pd.Series(pd.Categorical.from_codes(codes, ["a", "b", "c"]))
    other = pd.Series(pd.Categorical.from_codes(random.integers(0, 4, SCORES), list("wxyz")))
    dictionary = pa.array(category)
    containers = {
        "list of texts": category.to_list(),
        "pandas category": category,
        "Arrow dictionary": dictionary,
        "polars category": pl.Series(dictionary),
        "two columns": pd.DataFrame({"first": category, "second": other}),
    }
    times = best_times(
        {
            name: partial(fp.disparity, scores, sensitive_features=c)
            for name, c in containers.items()
        }
    )
    base = times["list of texts"]
    print(f"\nDisparity of {SCORES:,} scores in 3 groups (12 of two columns)")
    for name, seconds in times.items():
        print(f"  {name:16} {seconds * 1e3:8.1f} ms   {seconds / base:5.1f} x")
    coded = [name for name in times if name not in ("list of texts", "two columns")]
    return [
        *(
            (f"labels, {name}: within 1.1 x a list", 1.1 * base / times[name], 1.0)
            for name in coded
        ),
        ("labels, two columns: within 5 x a list", 5 * base / times["two columns"], 1.0),
    ]


def federation(silos: int) -> fp.Federation:
    """Two groups in ``silos`` silos, with ``LEVELS`` quantiles each."""
    random = np.random.default_rng(1)
    counts = random.integers(50, 5000, 2 * silos)
    shift = random.normal(0, 0.3, (2 * silos, 1))
    values = 1 / (1 + np.exp(-np.sort(random.normal(shift, 1.0, (2 * silos, LEVELS)), axis=1)))
    cells = {
        (silo, group): fp.Cell(count=int(counts[row]), values=values[row])
        for group, first in (("a", 0), ("b", silos))
        for silo, row in enumerate(range(first, first + silos))
    }
    return fp.Federation.from_cells(cells)


def server_step(sketches: fp.Federation) -> None:
    """All that an auditor computes, from unsorted sketches."""
    sketches.__dict__.pop("pool", None)  # the sort is part of the step
    fp.theory.estimate(sketches)
    fp.theory.decompose(sketches)
    fp.theory.attribute(sketches)
    fp.theory.influences(sketches)
    fp.theory.local_audits(sketches)


def server() -> list[tuple[str, float, float]]:
    """Algorithm 1, decomposition, attribution, influence and local audits of many silos."""
    small, large = federation(1_000), federation(10_000)
    times = best_times(
        {
            "sort": lambda: np.sort(small.values),
            "small": lambda: server_step(small),
            "large": lambda: server_step(large),
        }
    )
    print(f"\nServer step, k = {LEVELS}, 2 groups")
    print(f"  one numpy sort of 1,000 silos' values {times['sort'] * 1e3:9.2f} ms")
    for name, silos in (("small", 1_000), ("large", 10_000)):
        ratio = times[name] / times["sort"]
        print(f"  everything, {silos:6,} silos {times[name] * 1e3:22.2f} ms   {ratio:5.1f} x")
    return [
        ("server step, 1,000 silos: below 50 sorts", 50 * times["sort"] / times["small"], 1.0),
        ("server step, 10,000 silos: below 12 x 1,000", 12 * times["small"] / times["large"], 1.0),
    ]


def uncertainty() -> list[tuple[str, float, float]]:
    """A thousand bootstrap redraws against one audit of 100 silos and three groups."""
    random = np.random.default_rng(2)
    groups, silos = random.integers(0, 3, 100_000), random.integers(0, 100, 100_000)
    scores = random.beta(3 + 0.3 * groups + 0.01 * silos, 4)
    sketches = fp.Federation.from_scores(scores, groups=groups, silos=silos, levels=LEVELS)

    def audit() -> None:
        server_step(sketches)
        fp.theory.pairs(sketches)
        fp.theory.certify(sketches, score_range=(0, 1))

    times = best_times(
        {"audit": audit, "redraws": lambda: bootstrap(sketches, redraws=100, seed=0)}, rounds=3
    )
    ratio = 10 * times["redraws"] / times["audit"]
    print(f"\nBootstrap, 100 silos, 3 groups, k = {LEVELS}")
    print(f"  one audit with its certificate {times['audit'] * 1e3:16.2f} ms")
    print(f"  1,000 redraws {times['redraws'] * 1e4:33.2f} ms   {ratio:5.1f} x")
    return [("1,000 redraws: below 100 audits", 100 / ratio, 1.0)]


def main() -> None:
    """Measure everything, and say which bars hold."""
    rows = distances() + labels() + server() + uncertainty()
    print("\nbar                                            measured  at least")
    for name, measured, bar in rows:
        print(f"{name:46} {measured:8.1f}  {bar:8.1f}  {'ok' if measured >= bar else 'MISSED'}")
    if any(measured < bar for _, measured, bar in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
