"""Draw the three walks of docs/architecture.md: ``python docs/images/draw_walks.py``.

A walk is traced, not written down: the files whose functions run, in the order in which they are entered.
"""

from __future__ import annotations

import sys
from html import escape
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.walks import WALKS, by_package, walk  # the tests trace the same walks

WIDTH, LEFT, LINE, CHARACTER, GAP = 900, 190, 22, 7.3, 16


def picture(title: str, files: list[str]) -> str:
    """Return a picture with one row per package, and its files in the order in which they run."""
    packages = by_package(files)
    rows, y = [], 40
    for package, inside in packages.items():
        lines = list(_lines(inside))
        height = LINE * len(lines) + 10
        rows.append(
            f'<rect class="room" x="10" y="{y}" width="{WIDTH - 20}" height="{height}" rx="4"/>'
        )
        rows.append(
            f'<text class="package" x="24" y="{y + 20}">{escape(package or "fedparity")}</text>'
        )
        for number, line in enumerate(lines):
            x = float(LEFT)
            for file in line:
                name = file.rpartition("/")[2].removesuffix(".py")
                rows.append(
                    f'<text x="{x:.0f}" y="{y + 20 + number * LINE}" data-file="{escape(file)}">{escape(name)}</text>'
                )
                x += CHARACTER * len(name) + GAP
        y += height + 6
    words = f"{title}: {len(files)} files in {len(packages)} packages"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 4}" role="img" '
        f'aria-label="{escape(words)}">\n<style>text{{font:13px ui-monospace,monospace;fill:#1d2733}}'
        ".package{font-weight:600;fill:#1f5a8a}.title{font:600 15px sans-serif}"
        ".room{fill:#f4f7fa;stroke:#c9d5e0}.ground{fill:#fff}</style>\n"
        f'<rect class="ground" width="{WIDTH}" height="{y + 4}"/>\n'
        f'<text class="title" x="12" y="24">{escape(words)}</text>\n'
        + "\n".join(rows)
        + "\n</svg>\n"
    )


def _lines(files: list[str]) -> list[list[str]]:
    """The files broken into lines that fit."""
    at, number, place = [], 0, float(LEFT)
    for file in files:
        width = CHARACTER * len(file.rpartition("/")[2].removesuffix(".py")) + GAP
        if place + width > WIDTH - 20:
            number, place = number + 1, float(LEFT)
        at.append((number, file))
        place += width
    return [[file for _, file in line] for _, line in groupby(at, key=lambda each: each[0])]


def main() -> None:
    """Trace the walks and write their pictures."""
    for name, title in WALKS.items():
        text = picture(title, walk(name))
        (Path(__file__).parent / f"walk-{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
