"""How much of a disparity is sampling noise: small cells and many silos, with nothing to find.

Prints the table of ``docs/explanation/how-sure.md``: the mean disparity over simulated federations in
which both groups have one law, and what is left of it after the correction.
"""

from __future__ import annotations

from itertools import product

import numpy as np

import fedparity as fp
from fedparity.uncertainty.bootstrap import bootstrap

FEDERATIONS = 60
FOUND = 0.0076
"""The disparity of Beta(3, 4) and Beta(6, 4), for scale."""


def simulate(silos: int, cell: int, seed: int) -> tuple[float, float]:
    """The estimate of one federation without disparity, and the corrected estimate."""
    random = np.random.default_rng((seed, silos, cell))
    size = 2 * silos * cell
    federation = fp.Federation.from_scores(
        random.beta(3, 4, size),
        groups=np.arange(size) % 2,
        silos=np.arange(size) // 2 % silos,
        levels=100,
    )
    value = fp.theory.estimate(federation).disparity
    draws = bootstrap(federation, redraws=100, seed=seed, details=False)["disparity"]
    return value, max(0.0, value - float(draws.values.mean() - draws.base))


def main() -> None:
    """Print the table."""
    print("| silos | records per cell | estimate | corrected | estimate / 0.0076 |")
    print("|---|---|---|---|---|")
    for silos, cell in product((2, 20), (30, 100, 1000)):
        rows = np.array([simulate(silos, cell, seed) for seed in range(FEDERATIONS)])
        value, corrected = rows.mean(axis=0)
        print(f"| {silos} | {cell} | {value:.1e} | {corrected:.1e} | {value / FOUND:.1%} |")


if __name__ == "__main__":
    main()
