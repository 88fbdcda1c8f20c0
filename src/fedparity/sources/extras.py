"""Optional packages, imported where they are needed; a missing one says how to get it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from fedparity.errors import MissingExtraError

__all__ = ["extra", "installed_pyarrow", "polars", "pyarrow"]


def polars(use: str) -> Any:  # noqa: ANN401 -- a module
    """Return polars, which ``use`` needs."""
    return extra("polars", use)


def pyarrow(use: str, module: str = "pyarrow") -> Any:  # noqa: ANN401 -- a module
    """Return pyarrow, or one of its modules, which ``use`` needs."""
    return extra(module, use)


@cache
def installed_pyarrow() -> Any:  # noqa: ANN401 -- a module
    """Return pyarrow if it is installed, for what is faster with it and works without."""
    try:
        return import_module("pyarrow")
    except ImportError:
        return None


def extra(module: str, use: str, name: str = "io") -> ModuleType:
    """Return a module of the extra ``name``, which ``use`` needs."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtraError.for_use(package, use, name) from None
