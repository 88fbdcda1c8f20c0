"""The README as package indexes show it: links of this repository are absolute, or plain text.

An index shows the README without the files beside it. With a ``Source`` under ``[project.urls]`` of
``pyproject.toml``, relative links lead there, to the files of this version; without one, nothing is linked that
cannot be reached.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^]]*)\]\((?P<target>[^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Fills ``readme`` of the project's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README to the metadata."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        source = metadata.get("urls", {}).get("Source")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": linked(text, None if source is None else source.rstrip("/")),
        }


def linked(text: str, source: str | None) -> str:
    """Return a Markdown text whose relative links lead below an address, or are text if there is none."""

    def absolute(link: re.Match[str]) -> str:
        target, words = link["target"], link["text"]
        if "://" in target or target.startswith("#"):
            return link[0]
        if source is None:
            return f"*{words}*" if link["image"] else words
        kind = "raw" if link["image"] else "blob"
        return f"{link['image']}[{words}]({source}/{kind}/HEAD/{target})"

    return _LINK.sub(absolute, text)
