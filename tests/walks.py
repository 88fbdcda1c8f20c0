"""Which files of fedparity a piece of work passes, in the order in which their functions are first called."""

import os
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import fedparity as fp
from fedparity.cli.main import cli

ROOT = f"{Path(fp.__file__).parent}{os.sep}"
SILOS = ("aurora", "bayside", "cedar")
WALKS = {
    "sketch": "a CSV becomes a message",
    "audit": "messages become a page",
    "disparity": "fp.disparity",
}


def walk(name):
    """Return the files that a walk passes in a process of its own, where nothing is cached yet."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"FEDPARITY_LEDGER": f"{folder}/ledger.jsonl", "XDG_CONFIG_HOME": folder}
        done = subprocess.run(  # noqa: S603 -- our own code
            [sys.executable, "-m", "tests.walks", name, folder],
            cwd=Path(__file__).parents[1],
            env=os.environ | own,
            capture_output=True,
            text=True,
            check=True,
        )
    return done.stdout.split()


def by_package(files):
    """Return the files by package, as each package is first entered."""
    packages = {}
    for file in files:
        packages.setdefault(file.rpartition("/")[0], []).append(file)
    return packages


def _disparity(_):
    random = np.random.default_rng(0)
    scores, groups = random.random(100), random.choice(["A", "B"], 100)
    return _passed(lambda: fp.disparity(scores, sensitive_features=groups))


def _sketch(folder):
    _prepare(folder)
    return _passed(lambda: _run(folder, "sketch", *_sketch_options(SILOS[0])))


def _audit(folder):
    _prepare(folder)
    for silo in SILOS:
        _run(folder, "sketch", *_sketch_options(silo))
    return _passed(lambda: _run(folder, "audit", "plan.toml", "inbox", "--html", "page.html"))


def _sketch_options(silo):
    columns = ("--score", "risk", "--group", "group")
    return ("plan.toml", f"{silo}.csv", "--silo", silo, *columns, "-o", f"inbox/{silo}.json")


def _prepare(folder):
    plan = fp.Plan(
        title="A walk",
        groups=("A", "B"),
        score_range=(0.0, 1.0),
        thresholds=(0.5,),
        review_level=0.1,
    )
    plan.write(folder / "plan.toml")
    (folder / "inbox").mkdir()
    random = np.random.default_rng(0)
    for silo in SILOS:
        scores, groups = random.random(600).round(4), random.choice(["A", "B"], 600)
        rows = [f"{score},{group}\n" for score, group in zip(scores, groups, strict=True)]
        (folder / f"{silo}.csv").write_text("".join(["risk,group\n", *rows]), encoding="utf-8")


def _run(folder, *arguments):
    before = Path.cwd()
    os.chdir(folder)
    try:
        with _nowhere():
            cli(arguments, prog_name="fedparity", standalone_mode=False)
    finally:
        os.chdir(before)


@contextmanager
def _nowhere():
    kept = sys.stdout, sys.stderr
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        sys.stdout = sys.stderr = nowhere
        try:
            yield
        finally:
            sys.stdout, sys.stderr = kept


def _passed(run):
    seen = {}

    def called(frame, event, _):
        file = frame.f_code.co_filename
        ours = event == "call" and file.startswith(ROOT) and file.endswith(".py")
        if ours and not _imports(frame):
            seen.setdefault(file.removeprefix(ROOT).replace(os.sep, "/"))

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(seen)


def _imports(frame):
    """Whether the frame runs because a module is being imported."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    _, given, where = sys.argv
    files = {"sketch": _sketch, "audit": _audit, "disparity": _disparity}[given](Path(where))
    sys.stdout.write(" ".join(files))
