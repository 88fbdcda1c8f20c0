"""A real browser without a network; tests skip with a reason where there is none."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.outcome_audits import outcome_result
from tests.report_audits import named_audit, synthetic

from fedparity.report.html.page import html_report

PROGRAMS = "chromium", "chromium-browser", "google-chrome", "chrome"
OPTIONS = "--no-sandbox", "--disable-gpu", "--disable-background-networking"
WIDE, PHONE = (1280, 800), (390, 844)
THOUSAND = pytest.param("1000", marks=pytest.mark.slow)
"""The report of a thousand silos, which takes long to make."""


@pytest.fixture(scope="session")
def browser():
    """Chromium: the one that FEDPARITY_CHROMIUM names, or one that is installed."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = chromium()  # first: without a browser the driver may lack libraries, too
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=[*OPTIONS])
        yield started
        started.close()


def chromium():
    """The file of Chromium; tests skip where there is none."""
    found = os.environ.get("FEDPARITY_CHROMIUM") or next(
        filter(None, map(shutil.which, PROGRAMS)), None
    )
    if not found:
        pytest.skip("there is no Chromium; set FEDPARITY_CHROMIUM to one")
    return found


@pytest.fixture(scope="session")
def axe():
    """The script of axe-core that FEDPARITY_AXE names, or that npm put into build/axe."""
    built = Path(__file__).parents[3] / "build/axe/node_modules/axe-core/axe.min.js"
    named = os.environ.get("FEDPARITY_AXE")
    if not (named or built.is_file()):
        pytest.skip("there is no axe-core; npm install --prefix build/axe axe-core")
    return Path(named or built).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Files of reports, each made once, by the name of its audit or its number of silos."""
    folder = tmp_path_factory.mktemp("reports")

    def file(name):
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(html_report(audit(name)), encoding="utf-8")
        return path

    return file


def audit(name):
    """The audit of a name, or of a number of silos."""
    if name == "outcomes":
        return outcome_result()
    if not name.isdigit():
        return named_audit(name)
    return synthetic(int(name), redraws=20, levels=50)


@dataclass
class Opened:
    """A page, and everything it asked for or complained about."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self):
        """Listen from now on."""
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))


@pytest.fixture
def open_report(browser, reports):
    """Open the report of an audit from disk, with the network off."""
    contexts = []

    def opened(name, size=WIDE, **options):
        width, height = size
        context = browser.new_context(
            viewport={"width": width, "height": height}, offline=True, **options
        )
        contexts.append(context)
        report = Opened(context.new_page())
        report.watch()
        report.page.goto(reports(name).as_uri())
        return report

    yield opened
    for context in contexts:
        context.close()
