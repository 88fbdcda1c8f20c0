"""What made the numbers: the versions of the packages that decide them."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from fedparity.version import __version__

__all__ = ["versions"]


def versions() -> dict[str, str]:
    """Return the versions of fedparity, Python and the packages that numbers and figures need.

    Examples
    --------
    >>> list(versions())[:3]
    ['fedparity', 'Python', 'numpy']
    """
    found = {"fedparity": __version__, "Python": platform.python_version()}
    for package in ("numpy", "matplotlib", "jinja2"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
