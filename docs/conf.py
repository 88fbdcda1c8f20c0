"""Sphinx configuration: MyST pages and notebooks, NumPy docstrings, no third-party assets, no network."""

import logging
import os
import sys
import tempfile
from pathlib import Path

from fedparity import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# Cells of the tutorials call `fedparity`: that of the Python that builds the manual, in a home of its own, so that
# they find no ledger, policy or IPython profile of the person who builds it.
home = tempfile.TemporaryDirectory(prefix="fedparity-docs-")
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
for variable in "XDG_STATE_HOME", "XDG_CONFIG_HOME", "IPYTHONDIR":
    os.environ[variable] = home.name
for variable in "FEDPARITY_LEDGER", "FEDPARITY_POLICY":
    os.environ.pop(variable, None)
profile = Path(home.name) / "profile_default"
profile.mkdir()
quiet = "c.IPKernelApp.log_level = 'ERROR'\n"  # else each kernel warns that it speaks to us unencrypted
(profile / "ipython_kernel_config.py").write_text(quiet, encoding="utf-8")

project = "fedparity"
author = "The fedparity authors"
copyright = "The fedparity authors"  # noqa: A001 -- Sphinx's name
release = version = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "accessible",
    "drawn",
    "mathml",
    "sbom",
    "terms",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
templates_path = ["_templates"]
exclude_patterns = [
    "jupyter_execute",  # what a build beside this folder leaves of the notebooks
    "_build",
    "explanation/*coverage-table.md",
    "explanation/disclosure-*-table.md",
    "explanation/peers-table.md",
    "explanation/privacy-*-table.md",
    "reference/engine-speed-table.md",
    "reference/silo-speed-table.md",
    "reference/size-table.md",
    "reference/source-speed-table.md",
    "reference/k95-table.md",
]
html_theme = "furo"
html_title = f"fedparity {__version__}"
html_theme_options = {"top_of_page_buttons": []}
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_math_renderer = "mathml"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

# Tutorials and gallery are run at every build: their numbers and figures are those of this version.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 60
nb_merge_streams = True
logging.getLogger("traitlets").setLevel(logging.WARNING)  # which kernel starts is no news

# Copied commands start after the prompt; what they print is not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autosummary_generate = True
autosummary_ignore_module_all = False
python_maximum_signature_line_length = 80
napoleon_use_param = False  # types of docstrings are words, not names to link
napoleon_use_rtype = False
default_role = "literal"
# The names of others that our signatures use, in files of ours: nothing is fetched.
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", "inventories/python.txt"),
    "numpy": ("https://numpy.org/doc/stable", "inventories/numpy.txt"),
    "pandas": ("https://pandas.pydata.org/docs", "inventories/pandas.txt"),
    "matplotlib": ("https://matplotlib.org/stable", "inventories/matplotlib.txt"),
}
