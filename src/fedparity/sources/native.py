"""A column of any library, recognised without importing that library."""

from __future__ import annotations

import numpy as np

from fedparity.sources.arrow_column import ArrowColumn
from fedparity.sources.columns import Column
from fedparity.sources.numpy_column import NumpyColumn
from fedparity.sources.pandas_column import PandasColumn
from fedparity.sources.polars_column import PolarsColumn

__all__ = ["as_column"]


def as_column(values: object, name: str) -> Column:
    """Return the column of a series of pandas or polars, an Arrow array, an array or a sequence.

    Raises
    ------
    TableError
        If it is not one-dimensional.
    """
    if isinstance(values, np.ndarray | list | tuple):
        return NumpyColumn.of(values, name)
    from narwhals import Series, from_native  # noqa: PLC0415 -- only where a series is given

    series = from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, Series):
        if type(values).__module__.partition(".")[0] == "pyarrow":  # an array in one chunk
            return ArrowColumn.of(values)
        return NumpyColumn.of(values, name)
    native = series.to_native()
    if series.implementation.is_polars():
        return PolarsColumn(native)
    if series.implementation.is_pyarrow():
        return ArrowColumn.of(native)
    return PandasColumn(series.to_pandas())
