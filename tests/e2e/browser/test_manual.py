"""The manual as a reader sees it: built once, opened in a browser, searched, and checked by axe."""

import functools
import os
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.e2e.browser.conftest import PHONE, WIDE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[3]
SHOWN = (
    "index.html",
    "install.html",
    "tutorials/audit-five-hospitals.html",
    "tutorials/answer-an-audit.html",
    "tutorials/study-the-estimator.html",
    "gallery/index.html",
    "reference/api.html",
    "reference/api/fedparity.audit.html",
    "reference/api/fedparity.AuditResult.html",
    "explanation/comparison.html",
    "reference/glossary.html",
    "cheat-sheet.html",
    "faq.html",
)
NOTEBOOKS = "audit-five-hospitals", "answer-an-audit", "study-the-estimator"


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, format, *args):  # noqa: A002 -- the name in the library
        """Say nothing of each request."""


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder of the manual, built without a warning: this runs every cell of its notebooks."""
    pytest.importorskip("myst_nb", reason="the dependency group docs is not installed")
    fcntl = pytest.importorskip("fcntl")
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / "manual" / "html"
    folder.parent.mkdir(exist_ok=True)
    options = "--fail-on-warning", "--keep-going", "-q"
    command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder)]
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # workers share one build: it writes beside its sources
        if not (folder / "searchindex.js").exists():
            done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)  # noqa: S603 -- our own
            assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def address(built):
    """Where a server of this machine shows it: searching does not work from a file."""
    handler = functools.partial(Quiet, directory=str(built))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def open_page(browser, address):
    """Open a page of the manual; anything that it asks of another host is in ``page.others``."""
    contexts = []

    def opened(name, size=WIDE, scheme="light"):
        width, height = size
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        contexts.append(context)
        page = context.new_page()
        page.others = []
        page.on("request", lambda request: page.others.append(request.url))
        page.goto(f"{address}/{name}")
        page.others = [url for url in page.others if not url.startswith((address, "data:"))]
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("name", SHOWN)
def test_axe_finds_nothing(open_page, axe, name, size, scheme):
    page = open_page(name, size, scheme)
    page.evaluate(axe)

    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")

    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found["violations"]] == []


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_asks_nothing_of_other_hosts_and_fits_a_phone(open_page, name):
    page = open_page(name, PHONE)

    root = "document.documentElement"
    assert page.others == []
    assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")


@pytest.mark.parametrize(
    ("words", "title"),
    [("install", "Install"), ("excel", "Install"), ("review level", "Glossary")],
)
def test_search_finds(open_page, words, title):
    page = open_page("search.html")
    page.locator("input[name=q]").first.fill(words)
    page.locator("input[name=q]").first.press("Enter")
    page.wait_for_selector("#search-results li a")
    page.wait_for_timeout(500)

    titles = page.locator("#search-results li a").all_inner_texts()

    assert any(title in each for each in titles), titles


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_tutorial_is_a_notebook_with_outputs(built, name):
    import nbformat  # noqa: PLC0415 -- of the dependency group docs

    [file] = built.rglob(f"_downloads/**/{name}.ipynb")
    cells = nbformat.read(file, as_version=4).cells
    ran = [cell for cell in cells if cell.cell_type == "code"]

    assert len(ran) >= 5
    assert all(cell.execution_count for cell in ran)
    assert sum(bool(cell.outputs) for cell in ran) >= len(ran) // 2


def test_code_has_a_button_that_copies_it_without_prompts(open_page):
    page = open_page("index.html")
    button = page.locator("button.copybtn").first

    assert button.get_attribute("data-clipboard-target")
    assert page.locator("script[src*='copybutton']").count() >= 1
