"""Draw the error of the disparity against epsilon, as ``fedparity plan privacy`` computes it.

Run with ``.venv/bin/python docs/images/draw_privacy.py`` after ``make docs``.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

import fedparity as fp

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
COLORS = {1_000: "#8a94a0", 5_000: "#6741a5", 25_000: "#1f2933"}


def errors(records: int, *, split: bool) -> list[float]:
    """Return the mean error as a share of the disparity, at each epsilon."""
    options: dict[str, Any] = {"mode": "secure+dp", "honest": 5} if split else {}
    found = fp.planning.plan_privacy(epsilon=1.0, records=records, **options)
    return [row.error / found.disparity for row in found.by_epsilon]


def main() -> None:
    """Draw one line for each size, full where each silo adds noise, dashed for split noise."""
    mpl.rcParams.update({"svg.hashsalt": "fedparity", "font.size": 11, "svg.fonttype": "path"})
    figure, ax = plt.subplots(figsize=(7.6, 3.9), layout="constrained")
    for records, color in COLORS.items():
        local = errors(records, split=False)
        ax.plot(EPSILONS, local, "o-", color=color, markersize=4)
        split = errors(records, split=True)
        ax.plot(EPSILONS, split, "s--", color=color, markersize=4, alpha=0.75)
        ax.annotate(
            f"{records:,} records",
            (EPSILONS[-1], local[-1]),
            (8, -3),
            textcoords="offset points",
            color=color,
        )
    ax.set_xscale("log")
    ax.set_xlim(0.085, 13)
    ax.set_yscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(EPSILONS)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("epsilon (smaller protects more)")
    ax.set_ylabel("mean error of $G_2$")
    ax.plot([], [], "o-", color="black", markersize=4, label="noise in each of 5 silos")
    ax.plot([], [], "s--", color="black", markersize=4, label="split noise in a secure sum")
    ax.legend(frameon=False, loc="upper right")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).parent / "privacy.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
