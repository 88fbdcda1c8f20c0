"""Three tiers of tests, and what a run left out and why. Loaded by ``conftest.py``.

==========  ===================  =================================================================
tier        command              runs
==========  ===================  =================================================================
``quick``   ``make test``        what is not ``slow``; small samples of long counts
``all``     ``make test ALL=1``  everything, samples of long counts; what is skipped is an error
``soak``    ``make soak``        what draws cases (``sampled``, or by Hypothesis) in full, and
                                 what is too long for any other tier (``soak``)
==========  ===================  =================================================================

Whoever names files, or chooses by ``-k`` or ``-m``, gets all that they name, as in ``all``, but may skip.
A test that needs what a machine may lack says so by its marker and skips with a reason; at the end the
reasons are listed, one line each.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, settings

TIERS = "quick", "all", "soak"
NAMED = "named"
MAY_SKIP = {
    "FEDPARITY_DATA": "the data are not part of the repository",
    "FEDPARITY_PAPER": "the paper is not part of the repository",
}
"""What may be skipped even where nothing is: a word of the reason, and why."""

DATA = os.environ.get("FEDPARITY_DATA")
"""The folder of the real data, which tests with the marker ``data`` need."""
NO_DATA = "set FEDPARITY_DATA to the folder that `fedparity-reproduce fetch` fills"
NO_PAPER = "set FEDPARITY_PAPER to the LaTeX source of the paper"

_tier = NAMED
_LEFT_OUT = pytest.StashKey[Counter]()
_WORKERS = "left out"


def count(*, quick: int, all: int, soak: int) -> int:  # noqa: A002 -- the names of the tiers
    """Return how many cases to draw in the tier of this run.

    Cases are numbered or seeded: a smaller count is the beginning of a larger one. A test that calls
    this without Hypothesis has the marker ``sampled``.
    """
    return {"quick": quick, "all": all, NAMED: all, "soak": soak}[_tier]


def examples(usual: int) -> settings:
    """Let Hypothesis draw another number of examples than a hundred, in the tier of everything."""
    return settings(max_examples=max(1, usual * settings.default.max_examples // 100))


def _load_profile():
    """The settings of all properties: no deadline, and the same examples on every run."""
    settings.register_profile(
        "fedparity",
        max_examples=count(quick=40, all=100, soak=1000),
        deadline=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        print_blob=False,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("fedparity")


# -- which tests run ---------------------------------------------------------------------------


def pytest_addoption(parser):
    parser.addoption(
        "--tier", choices=TIERS, help="quick: not what is slow; all; soak: full counts"
    )


def pytest_configure(config):
    global _tier  # noqa: PLW0603 -- known before any test is read, the same for the whole run
    option = config.option
    if option.tier is None:
        of_all = config.args_source is not pytest.Config.ArgsSource.ARGS
        option.tier = "quick" if of_all and not (option.keyword or option.markexpr) else NAMED
    _tier = option.tier
    _load_profile()
    config.stash[_LEFT_OUT] = Counter()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out what belongs to another tier; what shares a server of its own runs in one piece."""
    chosen, others = [], []
    for item in items:
        reason = _left_out(item)
        (others if reason else chosen).append(item)
        config.stash[_LEFT_OUT].update([reason] if reason else [])
        if DATA is None and item.get_closest_marker("data"):
            item.add_marker(pytest.mark.skip(reason=NO_DATA))
    chosen.sort(key=lambda item: (not _has(item, "spark"), not _has(item, "slow")))
    config.hook.pytest_deselected(items=others)
    items[:] = chosen


def _left_out(item):
    """Why this run leaves a test to another, or nothing."""
    if _tier == "soak":
        drawn = _has(item, "sampled") or getattr(
            getattr(item, "obj", None), "is_hypothesis_test", False
        )
        return "" if drawn or _has(item, "soak") else "short"
    if _has(item, "soak"):
        return "soak"
    return "slow" if _tier == "quick" and _has(item, "slow") else ""


def _has(item, marker):
    return item.get_closest_marker(marker) is not None


# -- what the run says of those that did not ---------------------------------------------------


def pytest_sessionfinish(session):
    """In the tier of everything, a skip that is not expected is a failure."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput[_WORKERS] = dict(config.stash[_LEFT_OUT])
    elif _tier == "all" and any(not _may_skip(reason) for reason in _skipped(config)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Every worker reads all tests, so each knows how many were left out."""
    node.config.stash[_LEFT_OUT] |= Counter(getattr(node, "workeroutput", {}).get(_WORKERS, {}))


def pytest_terminal_summary(terminalreporter, config):
    for line in summary(_skipped(config), config.stash[_LEFT_OUT], tier=_tier):
        terminalreporter.write_line(line)


def summary(skipped, left_out, *, tier):
    """The lines about tests that did not run: skipped by reason, and left to another tier."""
    lines = []
    for reason, tests in sorted(skipped.items(), key=lambda pair: (-pair[1], pair[0])):
        why = _may_skip(reason)
        mark = "error: skipped" if tier == "all" and not why else "skipped"
        lines.append(f"{mark} {_number(tests)}: {reason}{f' ({why})' if why else ''}")
    if slow := left_out["slow"]:
        lines.append(f"left to make test ALL=1 {_number(slow)}: long")
    return lines


def _number(tests):
    return f"{tests} test{'s' * (tests != 1)}"


def _may_skip(reason):
    return next((why for word, why in MAY_SKIP.items() if word in reason), "")


def _skipped(config):
    """How many tests were skipped, by their reason; a file that could not be read counts as one."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    return Counter(_reason(report.longrepr) for report in reports)


def _reason(longrepr):
    text = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    return re.sub(r"^Skipped: ", "", text)
