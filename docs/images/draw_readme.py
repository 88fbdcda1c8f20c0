"""Draw the pictures of the README: five hospitals alone and together, and its Python example.

Run with ``.venv/bin/python docs/images/draw_readme.py`` after ``make docs``.
"""

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

DARK, ACCENT = "#1f2933", "#6741a5"
HERE = Path(__file__).parent


def measured() -> dict[str, Any]:
    """Return what the command itself finds."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "fedparity", "demo", "--json", "--out", folder]
        done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def draw_example() -> None:
    """Run the Python example of the README, and keep the figure that it draws."""
    text = (HERE.parents[1] / "README.md").read_text("utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec("".join(each.source for each in doctest.DocTestParser().get_examples(code)), names)  # noqa: S102 -- our own page
    figure = names["display"].figure_
    figure.savefig(HERE / "readme-python.svg", metadata={"Date": None}, facecolor="white")


def main() -> None:
    """Draw both."""
    mpl.rcParams.update({"svg.hashsalt": "fedparity", "svg.fonttype": "path"})
    draw_example()
    draw_hospitals()


def draw_hospitals() -> None:
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
    figure.savefig(HERE / "demo.svg", metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
