"""Columns of pandas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedparity.errors import LabelError, ScoreError, TableError
from fedparity.sources.arrow_column import ArrowColumn
from fedparity.sources.columns import Labels, Numbers
from fedparity.sources.extras import polars, pyarrow
from fedparity.sources.numpy_column import NumpyColumn, number_labels
from fedparity.sources.texts import label_texts

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PandasColumn"]


@dataclass(frozen=True, eq=False, slots=True)
class PandasColumn:
    """A pandas Series; its index plays no part."""

    values: Any

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> PandasColumn:
        """Return some of its rows, without a copy."""
        return PandasColumn(self.values.iloc[start:stop])

    def numbers(self, name: str) -> Numbers:
        """Return its numbers."""
        dtype = self.values.dtype
        if isinstance(dtype, np.dtype):
            return NumpyColumn(self.values.to_numpy()).numbers(name)
        if hasattr(dtype, "pyarrow_dtype"):
            return ArrowColumn.of(self.values.array.__arrow_array__()).numbers(name)
        if getattr(dtype, "kind", "O") not in "buif":
            raise ScoreError.not_numeric(f"the numbers of column {name!r}", dtype)
        if isinstance(getattr(dtype, "subtype", None), np.dtype):  # sparse
            return Numbers(np.asarray(self.values))
        values = self.values.to_numpy(np.float64, na_value=0.0)
        return Numbers(values, self.values.notna().to_numpy())

    @property
    def coded(self) -> bool:
        """Whether its labels have codes, or are whole numbers."""
        dtype = self.values.dtype
        whole = isinstance(dtype, np.dtype) and dtype.kind in "bui"
        return whole or hasattr(dtype, "categories")

    def labels(self, name: str) -> Labels:
        """Return its labels."""
        dtype = self.values.dtype
        if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
            return ArrowColumn.of(self.values.array.__arrow_array__()).labels(name)
        if hasattr(dtype, "categories"):
            return _coded(self.values.cat.codes.to_numpy(), self.values.cat.categories)
        if isinstance(dtype, np.dtype) and dtype.kind in "buif":
            return number_labels(self.values.to_numpy(), None)
        if getattr(dtype, "kind", "O") in "cmM":
            raise LabelError.not_a_label(name, dtype)
        try:
            return _coded(*self.values.factorize())
        except (TypeError, UnicodeDecodeError):  # lists, dicts, bytes that are no text
            raise LabelError.not_a_label(name, dtype) from None

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series, for a filter."""
        pl = polars("a filter")
        pyarrow("a filter on a pandas table")
        try:
            return pl.from_pandas(self.values.reset_index(drop=True)).alias(name)  # type: ignore[no-any-return]
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise TableError.failed(f"column {name!r}") from None


def _coded(codes: Any, categories: Any) -> Labels:  # noqa: ANN401 -- pandas has no types here
    texts = label_texts(categories.tolist())
    if codes.size and codes.min() < 0:
        codes = np.where(codes < 0, len(texts) - 1, codes.astype(np.intp))
    return Labels(codes, texts)
