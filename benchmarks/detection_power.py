"""How often a small disparity is detected at the 5 % level, from the sketches alone.

Prints the table of ``docs/explanation/how-sure.md``: five silos with 200 records per cell, Beta(3, 4)
against Beta(3 + gap, 4), 300 federations per row.
"""

from __future__ import annotations

import numpy as np

import fedparity as fp
from fedparity.uncertainty.bootstrap import bootstrap
from fedparity.uncertainty.intervals import p_value

FEDERATIONS, REDRAWS = 300, 200
SILOS, CELL = 5, 200


def detected(gap: float, seed: int) -> bool:
    """Whether one simulated federation has a p-value of at most 0.05."""
    random = np.random.default_rng((seed, round(100 * gap)))
    size = 2 * SILOS * CELL
    groups = np.arange(size) % 2
    federation = fp.Federation.from_scores(
        random.beta(3 + gap * groups, 4),
        groups=groups,
        silos=np.arange(size) // 2 % SILOS,
        levels=100,
    )
    draws = bootstrap(federation, redraws=REDRAWS, seed=seed, details=False)["disparity"]
    return p_value(fp.theory.estimate(federation).disparity, draws.null) <= 0.05


def truth(gap: float) -> float:
    """The disparity of the population, from a large sample."""
    random = np.random.default_rng(0)
    laws = {g: fp.Law.from_scores(random.beta(3 + gap * g, 4, 2_000_000)) for g in (0, 1)}
    return fp.disparity(laws, fp.Weights({0: 1, 1: 1}))


def main() -> None:
    """Print the table."""
    print("| gap | disparity | W₂ | detected |")
    print("|---|---|---|---|")
    for gap in (0.0, 0.1, 0.2, 0.3, 0.5):
        found = np.mean([detected(gap, seed) for seed in range(FEDERATIONS)])
        disparity = truth(gap) if gap else 0.0
        print(f"| {gap} | {disparity:.1e} | {2 * disparity**0.5:.3f} | {found:.0%} |")


if __name__ == "__main__":
    main()
