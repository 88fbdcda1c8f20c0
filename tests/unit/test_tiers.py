"""What each tier runs, what it leaves out, and what it says of that."""

import ast
import re
import subprocess
import sys

import pytest
from tests.e2e.running import ROOT, environment

TESTS = """
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tiers import count

def test_plain(): print("ran: plain")

@pytest.mark.slow
def test_slow(): print("ran: slow")

@pytest.mark.soak
def test_soak(): print("ran: soak")

@pytest.mark.sampled
def test_sampled(): print("ran: sampled", count(quick=1, all=2, soak=3))

drawn = []

@given(st.integers())
def test_drawn(number): drawn.append(number)

def test_what_was_drawn(): assert len(drawn) in (0, 40, 100, 1000)
"""
SKIPS = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_lacks_something(number): pytest.skip("there is no abacus")

def test_lacks_another_thing():
    pytest.importorskip("no_such_module", reason="no_such_module is not installed")
"""
NO_DATA = """
import pytest

@pytest.mark.data
def test_of_real_data(): raise AssertionError
"""


@pytest.fixture
def run(tmp_path):
    """A function that writes tests, runs them, and returns the exit code and what was said."""

    def ran(tests, *options):
        settings = tmp_path / "pytest.ini"
        settings.write_text(f"[pytest]\npythonpath = {ROOT.as_posix()}\ntestpaths = .\n")
        (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.tiers"]\n')
        (tmp_path / "test_some.py").write_text(tests)
        done = subprocess.run(  # noqa: S603 -- our own tests
            [sys.executable, "-m", "pytest", "-qs", "-p", "no:cacheprovider", *options],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return ran


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["plain", "sampled 1"]),
        (["--tier", "all"], ["plain", "sampled 2", "slow"]),
        (["test_some.py"], ["plain", "sampled 2", "slow"]),
        (["-k", "slow"], ["slow"]),
        (["--tier", "soak"], ["sampled 3", "soak"]),
    ],
    ids=["quick, unless told otherwise", "all", "a file that is named", "by -k", "soak"],
)
def test_a_tier_runs_its_tests_with_its_counts(run, options, expected):
    code, said = run(TESTS, *options)

    assert code == 0, said
    assert sorted(re.findall("ran: (.*)", said.replace(".ran", "ran"))) == expected


def test_what_is_left_out_is_counted(run):
    """Workers know; the one who speaks must ask them."""
    code, said = run(TESTS, "-n", "2")

    assert code == 0, said
    assert "left to make test ALL=1 1 test: long" in said.splitlines()


def test_skips_are_said_once_for_each_reason(run):
    code, said = run(SKIPS, "--tier", "quick")

    assert code == 0, said
    assert [line for line in said.splitlines() if "skipped" in line][:2] == [
        "skipped 3 tests: there is no abacus",
        "skipped 1 test: no_such_module is not installed",
    ]


@pytest.mark.parametrize("options", [[], ["-n", "1"]], ids=["alone", "by a worker"])
def test_in_the_tier_of_everything_a_skip_is_an_error(run, options):
    code, said = run(SKIPS, "--tier", "all", *options)

    assert code == pytest.ExitCode.TESTS_FAILED
    assert "error: skipped 3 tests: there is no abacus" in said.splitlines()


def test_what_nobody_may_distribute_may_be_skipped(run):
    code, said = run(NO_DATA, "--tier", "all")

    assert code == 0, said
    assert re.search(
        r"^skipped 1 test: set FEDPARITY_DATA .* \(the data are not", said, re.MULTILINE
    )


def test_every_test_that_counts_by_tier_is_marked():
    """Otherwise ``make soak`` would pass it over."""
    unmarked = [
        f"{file.relative_to(ROOT)}::{name}"
        for file in sorted((ROOT / "tests").rglob("test_*.py"))
        for name in counting_without_a_marker(ast.parse(file.read_text(encoding="utf-8")))
    ]

    assert unmarked == []


def counting_without_a_marker(module):
    """The tests that name a count of their file, or count themselves, and say so nowhere."""
    imported = re.search(r"from tests\.tiers import .*\bcount\b", ast.unparse(module))
    counts = {"count"} if imported else set()
    of_all = ""
    for each in module.body:
        if isinstance(each, ast.Assign):
            of_all += ast.unparse(each.value) if "pytestmark" in names_in(each) else ""
            if counts & set(names_in(each.value)):
                counts.update(names_in(each.targets[0]))
    for each in module.body:
        if isinstance(each, ast.FunctionDef) and each.name.startswith("test_"):
            said = " ".join([of_all, *map(ast.unparse, each.decorator_list)])
            used = {name for part in each.body for name in names_in(part)}
            if counts & used and not re.search(r"sampled|soak|given", said):
                yield each.name


def names_in(tree):
    return [each.id for each in ast.walk(tree) if isinstance(each, ast.Name)]
