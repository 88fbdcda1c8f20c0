"""What axe finds wrong with the pages of Sphinx and Furo, put right in the pages that were written.

Code and tables that scroll can be reached by keyboard, captions of the navigation have a level, both side bars have names, and the
lines of a long signature are no definition list. ``tests/e2e/browser/test_manual.py`` runs axe on the outcome.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)
LINES = {
    "<dl>": '<span class="sig-lines">',
    "</dl>": "</span>",
    "<dd>": '<span class="sig-line">',
    "</dd>": "</span>",
}


def accessible(page: str) -> str:
    """Return a page with these faults put right; a page without them stays as it is."""
    page = re.sub(r"<pre(?![^>]*tabindex)", '<pre tabindex="0"', page)
    page = page.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')
    page = re.sub(
        r'(<p class="caption" role="heading")(?! aria-level)', r'\1 aria-level="2"', page
    )
    page = page.replace(
        '<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Manual">'
    )
    page = re.sub(
        r'<aside class="(toc-drawer[^"]*)">', r'<aside class="\1" aria-label="This page">', page
    )
    return SIGNATURE.sub(_signature, page)


def _signature(found: re.Match[str]) -> str:
    text = found.group()
    for old, new in LINES.items():
        text = text.replace(old, new)
    return text


def _written(app: Any, problem: Exception | None) -> None:  # noqa: ANN401 -- Sphinx's
    if problem is None and app.builder.format == "html":
        for file in Path(app.outdir).rglob("*.html"):
            text = file.read_text(encoding="utf-8")
            if (changed := accessible(text)) != text:
                file.write_text(changed, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:  # noqa: ANN401 -- Sphinx's
    """Correct the pages when all are written."""
    app.connect("build-finished", _written)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
