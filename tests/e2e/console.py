"""Commands of a page, run as a reader would type them."""

from __future__ import annotations

import doctest
import re
import subprocess
from dataclasses import dataclass

FENCE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
SAME = doctest.OutputChecker()


@dataclass(frozen=True)
class Step:
    """A command, and what the page says it prints; nothing if it does not say."""

    command: str
    printed: str


def steps(text):
    """Return the commands of a page's console blocks, in their order.

    A line that starts with a dollar sign is a command, which a backslash continues on the next
    line; the lines below it, up to the next command, are what it prints.
    """
    found = []
    for block in FENCE.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, printed = _split(part)
            found.append(Step(command, printed))
    return found


def _split(part):
    lines = part.splitlines(keepends=True)
    last = next(i for i, line in enumerate(lines) if not line.endswith("\\\n"))
    return "".join(lines[: last + 1]).strip(), "".join(lines[last + 1 :])


def run_step(step, folder, env):
    """Run a command in a shell; return its code and all that it printed."""
    done = subprocess.run(  # noqa: S603 -- the commands of our own pages
        ["/bin/sh", "-c", step.command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


def agrees(step, printed):
    """Whether a page says what a command prints: three dots for anything, and any spaces."""
    if not step.printed.strip():
        return True
    return SAME.check_output(
        step.printed, printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
