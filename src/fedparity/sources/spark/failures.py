"""From what Spark raises to our own errors; Spark's words may hold values and stay unsaid."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from fedparity.errors import (
    DatabaseError,
    DatabaseNameError,
    DatabaseUnreachableError,
    FedparityError,
    MissingExtraError,
)
from fedparity.sources.extras import extra

__all__ = ["PLACE", "condition_of", "telling"]

PLACE = "Spark"
_LOGGER = "SQLQueryContextLogger"
"""PySpark's own logger: it prints whole errors, with the values in them."""
_NO_JAVA = "JAVA_GATEWAY_EXITED", "JAVA_HOME", "UnsupportedClassVersionError"
_NO_NAME = (
    ("TABLE_OR_VIEW_NOT_FOUND", "a table"),
    ("SCHEMA_NOT_FOUND", "a table"),
    ("PATH_NOT_FOUND", "a table"),
    ("UNRESOLVED_COLUMN", "a column"),
)
_UNREACHABLE = "failed to connect", "unavailable", "connection refused", "stopped sparkcontext"
"""Words of gRPC and of the standalone cluster; only compared, never shown."""


@contextmanager
def telling() -> Iterator[None]:
    """Turn whatever Spark raises into an error that shows none of its words, and log none."""
    logger = extra("pyspark.logger", "a Spark table", "spark").PySparkLogger.getLogger(_LOGGER)
    logger.addFilter(_nothing)
    try:
        yield
    except (FedparityError, ImportError):
        raise
    except Exception as error:  # noqa: BLE001 -- PySpark, py4j and gRPC each have a tree
        raise _as_error(error) from None
    finally:
        logger.removeFilter(_nothing)


def _nothing(_: logging.LogRecord) -> bool:
    return False


def condition_of(error: BaseException) -> str | None:
    """Return Spark's name for what went wrong, which holds no value; None if it has none."""
    asked = getattr(error, "getCondition", None)
    condition = asked() if callable(asked) else None
    return condition if isinstance(condition, str) and condition else None


def _as_error(error: Exception) -> FedparityError:
    condition, words = condition_of(error) or "", str(error)
    if any(sign in condition or sign in words for sign in _NO_JAVA):
        return MissingExtraError.without_java()
    for sign, what in _NO_NAME:
        if sign in condition:
            return DatabaseNameError.nothing_there(PLACE, what)
    if any(sign in words.lower() for sign in _UNREACHABLE):
        return DatabaseUnreachableError.at_start(PLACE)
    return DatabaseError.refused(PLACE, [condition] if condition else ())
