"""Optional packages, imported where they are needed; a missing one says how to get it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from fedparity.errors import MissingExtraError

__all__ = ["polars", "pyarrow"]


def polars(use: str) -> Any:  # noqa: ANN401 -- a module
    """Return polars, which ``use`` needs."""
    return _extra("polars", use)


def pyarrow(use: str, module: str = "pyarrow") -> Any:  # noqa: ANN401 -- a module
    """Return pyarrow, or one of its modules, which ``use`` needs."""
    return _extra(module, use)


def _extra(module: str, use: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError.for_use(module.partition(".")[0], use) from None
