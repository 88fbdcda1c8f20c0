"""Look at every text file in git: whitespace at the ends of lines, the last line, and the size of all files."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST = 500_000
"""Bytes. Data and builds do not belong in the repository."""
DRAWN = {".svg"}
"""Matplotlib leaves spaces at the ends of lines."""
VENDORED = "src/fedparity/page/vendor/"
"""Code of others, which stays as it came."""


def problems(name: str, content: bytes) -> list[str]:
    """Return what is wrong with a file."""
    if len(content) > LARGEST:
        return [f"{name}: {len(content)} bytes, more than {LARGEST}"]
    if b"\0" in content or Path(name).suffix in DRAWN or name.startswith(VENDORED):
        return []
    lines = content.split(b"\n")
    found = [
        f"{name}:{number}: whitespace at the end of the line"
        for number, line in enumerate(lines, 1)
        if line != line.rstrip()
    ]
    found += [
        f"{name}:{number}: a conflict that is not resolved"
        for number, line in enumerate(lines, 1)
        if line.startswith((b"<<<<<<< ", b">>>>>>> "))
    ]
    if content and (lines[-1] or not lines[-2]):
        found.append(f"{name}: does not end with exactly one newline")
    return found


def main() -> int:
    """Print what is wrong with the files in git, and return the exit code."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 -- whichever git works here
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()]
    found = [line for name in names for line in problems(name, (ROOT / name).read_bytes())]
    for line in found:
        print(line, file=sys.stderr)
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
