"""Measure what an installation takes on disk: the bare package, every extra, and all of them.

Run with ``.venv/bin/python benchmarks/install_size.py``; it needs a package index, and writes
``docs/reference/size-table.md``. Every row is a fresh environment without pip; files are counted by their
sizes, with the bytecode that pip compiles.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "reference" / "size-table.md"
MEGABYTE = 1_000_000


def run(*command: str | Path) -> None:
    """Run a command of Python's own modules."""
    subprocess.run(  # noqa: S603 -- our own commands
        [sys.executable, "-m", *map(str, command)], check=True, capture_output=True, cwd=ROOT
    )


def measured(wheel: Path, extra: str | None, folder: Path) -> tuple[int, int]:
    """Return the bytes and the number of packages of a fresh environment with the wheel."""
    name = str(wheel) if extra is None else f"{wheel}[{extra}]"
    run("venv", "--clear", "--without-pip", folder)
    run("pip", "--quiet", "--python", folder, "install", name)
    [site] = folder.glob("lib/python*/site-packages")
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    return size, len([*site.glob("*.dist-info")])


def row_of(extra: str | None, size: int, packages: int) -> str:
    """Return a row of the table."""
    name = "fedparity" if extra is None else f"fedparity[{extra}]"
    return f"| `{name}` | {size / MEGABYTE:,.0f} MB | {packages} |"


def main() -> None:
    """Measure the rows and write the table; rows that are not measured stay."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extras", nargs="*", help="only the bare package and these")
    chosen = parser.parse_args().extras
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    every = [None, *sorted(set(project["optional-dependencies"]) - {"all"}), "all"]
    known = {
        line.split("`")[1]: line for line in TABLE.read_text("utf-8").splitlines() if "`" in line
    }
    with TemporaryDirectory() as place:
        run("pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", place, ROOT)
        [wheel] = Path(place).glob("*.whl")
        for extra in [None, *chosen] if chosen else every:
            row = row_of(extra, *measured(wheel, extra, Path(place) / "env"))
            known[row.split("`")[1]] = row
            print(row, flush=True)
        own = wheel.stat().st_size / MEGABYTE
    names = ("fedparity" if extra is None else f"fedparity[{extra}]" for extra in every)
    rows = [
        "| installed | size | packages |",
        "|---|---:|---:|",
        *(known[n] for n in names if n in known),
    ]
    system = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    rows.append(f"\nThe wheel itself has {own:.2f} MB. Measured with {system}.")
    TABLE.write_text("\n".join(rows) + "\n", "utf-8")


if __name__ == "__main__":
    main()
