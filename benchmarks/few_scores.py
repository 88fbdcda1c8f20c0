"""How often intervals of counts at ten scores hold a disparity that is near to what noise shows.

``python benchmarks/few_scores.py --federations 200`` prints rows as ``interval_coverage.py`` does, of the same population
with disparities that are found in a fifth to two thirds of audits.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from interval_coverage import World, run, table  # beside this script

_deciles = partial(World, family="deciles", kind="counts")
WORLDS = (
    _deciles(name="deciles, counts, one silo of 400", records=400, silos=1, gap=0.3),
    _deciles(name="the same without rules", records=400, silos=1, gap=0.3, rules=False),
    _deciles(name="deciles, counts, 200 a cell, smaller gap", records=2_000, gap=0.15),
    _deciles(name="deciles, counts, 2,000 a cell, smaller gap", records=20_000, gap=0.05),
)


def main() -> None:
    """Simulate every world and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--federations", type=int, default=200)
    parser.add_argument("--processes", type=int, help="as many as there are cores if absent")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        rows = pool.map(partial(run, federations=options.federations), WORLDS)
        print(table(list(rows)))


if __name__ == "__main__":
    main()
