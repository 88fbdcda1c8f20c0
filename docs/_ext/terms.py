"""The glossary of the manual is that of the reports: its page names the place, the program has the words."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from fedparity.report.sentences.glossary import manual_glossary

_PLACE = "%TERMS%"


def fill(_: Sphinx, name: str, source: list[str]) -> None:
    """Write the terms into the page of the glossary."""
    if name == "reference/glossary":
        source[0] = source[0].replace(_PLACE, manual_glossary())


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect with the manual."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "version": "1"}
