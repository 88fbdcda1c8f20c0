"""A warning that a package of others gives while it is imported decides no test.

Warnings are errors in this suite, ours above all. What a package says at import is between it and the
machine: that a library is old or missing, that Python is too new. It is therefore not heard, whichever
module asks for the package, and whatever line the warning is attributed to. Loaded by ``conftest.py``.
"""

from __future__ import annotations

import sys
import warnings
from importlib.abc import Loader, MetaPathFinder

OURS = "fedparity", "tests", "conftest"


class UnheardLoader(Loader):
    """Another loader, which has its place again as soon as the module is there."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        """Create the module; one that is not written in Python may run here already."""
        with _unheard():
            return self._loader.create_module(spec)

    def exec_module(self, module):
        """Run the module."""
        module.__spec__.loader = module.__loader__ = self._loader
        with _unheard():
            self._loader.exec_module(module)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class UnheardImports(MetaPathFinder):
    """Finds what the finders behind it find, and lets its loader run unheard."""

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module that is not ours, or nothing."""
        if name.partition(".")[0] in OURS:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            if (spec := finder.find_spec(name, path, target)) is not None:
                if spec.loader is not None:  # there is none to run for a folder without __init__
                    spec.loader = UnheardLoader(spec.loader)
                return spec
        return None

    def invalidate_caches(self):
        """Keep nothing: the finders behind have their own."""


def _unheard():
    return warnings.catch_warnings(action="ignore")


_imports = UnheardImports()


def pytest_configure():
    sys.meta_path.insert(0, _imports)


def pytest_unconfigure():
    sys.meta_path.remove(_imports)
