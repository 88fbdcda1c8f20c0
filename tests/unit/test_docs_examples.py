"""Every Python example in the documentation runs and prints what it says."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples(page):
    """The interactive examples of a page, as one session."""
    return "\n".join(FENCE.findall(page.read_text(encoding="utf-8")))


OTHERS = "dask.dataframe", "duckdb", "fairlearn", "mlflow", "pandas", "polars", "sklearn"
"""Packages that some pages are about."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page):
    for name in OTHERS:
        if re.search(rf"^>>> (import|from) {re.escape(name)}\b", examples(page), re.MULTILINE):
            pytest.importorskip(name, reason=f"{page.name} is about {name}")
    session = doctest.DocTestParser().get_doctest(examples(page), {}, page.name, str(page), 0)

    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(session)

    assert results.failed == 0


def test_some_pages_have_examples():
    assert sum(">>>" in examples(page) for page in PAGES) >= 3
