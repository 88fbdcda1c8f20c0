"""Measure what an installation takes on disk: the bare package, every extra, and all of them.

Run with ``.venv/bin/python benchmarks/install_size.py``; it needs uv and PyPI, and writes
``docs/reference/size-table.md``. Every row is a fresh environment; files are counted by their sizes, with the
bytecode that an installation by pip compiles.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "reference" / "size-table.md"
MEGABYTE = 1_000_000


def run(*command: str | Path) -> str:
    """Run a command and return what it prints."""
    done = subprocess.run(  # noqa: S603 -- our own commands
        [str(word) for word in command], check=True, capture_output=True, text=True, cwd=ROOT
    )
    return done.stdout


def measured(wheel: Path, extra: str | None, folder: Path) -> tuple[int, int]:
    """Return the bytes and the number of packages of a fresh environment with the wheel."""
    name = str(wheel) if extra is None else f"{wheel}[{extra}]"
    run("uv", "venv", "--quiet", "--clear", folder)
    run("uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", folder, name)
    packages = run("uv", "pip", "list", "--quiet", "--python", folder, "--format", "freeze")
    [site] = folder.glob("lib/python*/site-packages")
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    return size, len(packages.splitlines())


def main() -> None:
    """Measure the rows and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extras", nargs="*", help="only these; nothing is written then")
    chosen = parser.parse_args().extras
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = chosen or [*sorted(set(project["optional-dependencies"]) - {"all"}), "all"]
    rows = ["| installed | size | packages |", "|---|---:|---:|"]
    with TemporaryDirectory() as place:
        run("uv", "build", "--quiet", "--wheel", "--out-dir", place)
        [wheel] = Path(place).glob("*.whl")
        for extra in (None, *extras):
            size, packages = measured(wheel, extra, Path(place) / "env")
            name = "fedparity" if extra is None else f"fedparity[{extra}]"
            rows.append(f"| `{name}` | {size / MEGABYTE:,.0f} MB | {packages} |")
            print(rows[-1], flush=True)
        own = wheel.stat().st_size / MEGABYTE
    system = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    words = f"\nThe wheel itself has {own:.2f} MB. Measured with {system}."
    print(words)
    if not chosen:
        TABLE.write_text("\n".join([*rows, words]) + "\n", "utf-8")


if __name__ == "__main__":
    main()
