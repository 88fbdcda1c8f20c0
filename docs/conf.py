"""Sphinx configuration: MyST pages, NumPy docstrings, no third-party assets."""

import sys
from pathlib import Path

from fedparity import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "fedparity"
author = "The fedparity authors"
copyright = "The fedparity authors"  # noqa: A001 -- Sphinx's name
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "drawn",
    "mathml",
    "sbom",
]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = [
    "_build",
    "explanation/*coverage-table.md",
    "explanation/disclosure-*-table.md",
    "explanation/privacy-*-table.md",
    "reference/engine-speed-table.md",
    "reference/silo-speed-table.md",
    "reference/size-table.md",
    "reference/source-speed-table.md",
    "reference/k95-table.md",
]
html_theme = "furo"
html_title = f"fedparity {__version__}"
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_use_rtype = False
default_role = "literal"
