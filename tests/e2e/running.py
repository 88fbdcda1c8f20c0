"""The real command in real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "fedparity")


def environment(home, **changes):
    """What a process sees: this checkout, a home of its own, nothing that colors its output."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    home = str(home)
    return {**kept, "HOME": home, "PYTHONPATH": path, "PYTHONUTF8": "1", **changes}


def start(*arguments, folder, home=None, command=COMMAND, **changes):
    """Start a command in a folder."""
    return subprocess.Popen(  # noqa: S603 -- our own command
        [*command, *map(str, arguments)],
        cwd=folder,
        env=environment(home or folder, **changes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def finish(process, *, timeout=120):
    """Wait for a process; return its code, its output and what it said."""
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def run(*arguments, folder, **options):
    """Run a command in a folder to its end."""
    return finish(start(*arguments, folder=folder, **options))


def files(folder):
    """Every file below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
