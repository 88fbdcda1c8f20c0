"""The command starts with what it needs, and works with the core dependencies alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

OPTIONAL = (
    *("cryptography", "jinja2", "matplotlib", "numba", "pandas", "polars", "pyarrow", "scipy"),
    *("openpyxl", "typst", "xlsxwriter"),
)
BLOCKED = f"import sys\nsys.modules.update(dict.fromkeys({OPTIONAL!r}))\n"
"""As if they were not installed."""


def run(code, *arguments, folder):
    """Run the command after some Python; return the modules that it imported, and its output."""
    ending = (
        "from fedparity.cli.main import cli\n"
        "try: cli.main(prog_name='fedparity')\n"
        "finally: print(*[n for n, m in sys.modules.items() if m], file=open('modules', 'w'))\n"
    )
    done = subprocess.run(  # noqa: S603 -- our own code
        [sys.executable, "-c", f"import sys\n{code}{ending}", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set((Path(folder) / "modules").read_text(encoding="utf-8").split()), done.stdout


@pytest.mark.parametrize(
    "group", ["", "plan", "secure", "policy", "ledger", "engine", "engine flower"]
)
def test_help_imports_no_command(group, tmp_path):
    modules, _ = run("", *group.split(), "--help", folder=tmp_path)

    commands = {name for name in modules if name.startswith("fedparity.cli.")}
    assert commands == {"fedparity.cli.main"}
    packages = {name.split(".")[1] for name in modules if name.startswith("fedparity.")}
    assert packages == {"cli", "errors", "version"}
    assert not modules & {*OPTIONAL, "rich", "narwhals", "numpy"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A demonstration made without any optional package."""
    folder = tmp_path_factory.mktemp("core")
    return folder, *run(BLOCKED, "demo", "--json", folder=folder)


def test_a_whole_audit_needs_the_core_dependencies_only(demo):
    _, modules, printed = demo

    assert not modules & {*OPTIONAL}
    assert round(json.loads(printed)["disparity"]["value"], 3) == 0.431


@pytest.mark.parametrize("command", ["verify", "audit"])
def test_the_auditor_imports_no_optional_package_that_is_there(demo, command):
    folder = demo[0] / "fedparity-demo"

    modules, _ = run("", command, "plan.toml", "inbox", folder=folder)

    assert not modules & {*OPTIONAL, "rich", "narwhals"}


@pytest.mark.parametrize("option", ["--markdown", "--model-card"])
def test_markdown_needs_the_core_dependencies_only(demo, option):
    folder = demo[0] / "fedparity-demo"

    modules, printed = run(BLOCKED, "report", "result.json", option, "-", folder=folder)

    assert not modules & {*OPTIONAL, "rich", "narwhals"}
    assert "the review level" in printed


def test_help_costs_about_as_much_as_numpy():
    """It takes 0.8 of that where this was written; with every module imported, it took five."""
    resource = pytest.importorskip("resource", reason="the system does not tell a process's time")

    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def cost(*arguments):
        before = spent()
        subprocess.run(  # noqa: S603 -- our own code
            [sys.executable, *arguments],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # waiting threads are no work
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return spent() - before

    turns = [(cost("-m", "fedparity", "--help"), cost("-c", "import numpy")) for _ in range(5)]

    ours, numpy = (min(costs) for costs in zip(*turns, strict=True))
    assert ours < 1.5 * numpy


def test_a_silo_imports_what_its_table_needs(demo):
    """A CSV file needs no adapter of databases, Spark or frames, and no module of secure sums."""
    folder = demo[0] / "fedparity-demo"
    arguments = ("plan.toml", "aurora/patients.csv", "--silo", "Aurora", "--score", "risk")

    modules, _ = run("", "sketch", *arguments, "--dry-run", folder=folder)

    own = {name for name in modules if name.startswith("fedparity")}
    adapters = ("tables.sql", "tables.spark", "tables.frames", "tables.ranking", "modes.secure")
    assert not {name for name in own if name.startswith(tuple(f"fedparity.{a}" for a in adapters))}
    assert len(own) <= 60
