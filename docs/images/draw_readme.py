"""Draw the picture of the README: five hospitals alone, and all of them together.

Run with ``.venv/bin/python docs/images/draw_readme.py`` after ``make docs``.
"""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

DARK, ACCENT, MUTED = "#1f2933", "#6741a5", "#8a94a0"


def measured() -> dict[str, Any]:
    """Return what the command itself finds."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "fedparity", "demo", "--json", "--out", folder]
        done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def main() -> None:
    """Draw what the command finds."""
    answer = measured()
    mpl.rcParams.update({"svg.hashsalt": "fedparity", "font.size": 11, "svg.fonttype": "path"})
    figure, ax = plt.subplots(figsize=(7.6, 2.9), layout="constrained")
    whole = answer["magnitudes"]["worst_pair"]["corrected"]
    names = [silo["silo"] for silo in answer["silos"]]
    alone = [silo["wasserstein"] for silo in answer["silos"]]
    ax.barh(names, alone, color=DARK, height=0.55)
    ax.barh(["all together"], [whole], color=ACCENT, height=0.55)
    for row, value in enumerate([*alone, whole]):
        ax.annotate(f"{value:.2f}", (value, row), (5, 0), textcoords="offset points", va="center")
    share = answer["attribution"]["selection"] / answer["disparity"]["value"]
    ax.annotate(
        f"{share:.0%} of it: who is treated where",
        (whole, len(names)),
        (-6, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        color="white",
    )
    ax.invert_yaxis()
    ax.set_xlim(0, 1.12 * whole)
    ax.set_xlabel("score points between groups A and B (0: identical score distributions)")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_title("No hospital sees it alone", loc="left", fontweight="bold", color=DARK)
    figure.savefig(Path(__file__).parent / "demo.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
