"""Columns of polars."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from fedparity.errors import LabelError, ScoreError
from fedparity.sources.columns import Labels, Numbers
from fedparity.sources.extras import polars, pyarrow
from fedparity.sources.few_texts import compiled, few_labels
from fedparity.sources.numpy_column import number_labels

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PolarsColumn"]

_FIRST_ROWS, _FEW_TEXTS = 1_000, 8


@dataclass(frozen=True, eq=False, slots=True)
class PolarsColumn:
    """A series."""

    values: pl.Series

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> PolarsColumn:
        """Return some of its rows, without a copy."""
        return PolarsColumn(self.values.slice(start, stop - start))

    def numbers(self, name: str) -> Numbers:
        """Return its numbers."""
        series, dtype = self.values, self.values.dtype
        if dtype.is_decimal():
            series = series.cast(polars("a polars column").Float64)
        elif dtype == polars("a polars column").Null:
            return Numbers(np.zeros(len(series)), np.zeros(len(series), np.bool_))
        elif not (dtype.is_numeric() or dtype == polars("a polars column").Boolean):
            raise ScoreError.not_numeric(f"the numbers of column {name!r}", dtype)
        if series.null_count() == 0:
            return Numbers(series.to_numpy())
        valid = series.is_not_null().to_numpy()
        return Numbers(series.fill_null(strategy="zero").to_numpy(), valid)

    @property
    def coded(self) -> bool:
        """Whether its labels have codes, or are whole numbers."""
        pl = polars("a polars column")
        dtype = self.values.dtype
        return bool(dtype.is_integer() or dtype in (pl.Boolean, pl.Categorical, pl.Enum))

    def labels(self, name: str) -> Labels:
        """Return its labels."""
        pl = polars("a polars column")
        dtype = self.values.dtype
        if dtype == pl.String:
            return (
                _compiled_labels(self.values)
                or _few_labels(self.values)
                or _text_labels(self.values)
            )
        if dtype in (pl.Categorical, pl.Enum):
            return _category_labels(self.values)
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            raise LabelError.not_a_label(name, dtype)
        numbers = self.numbers(name)
        return number_labels(numbers.values, numbers.valid)

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series, for a filter."""
        return self.values.alias(name)


def _compiled_labels(series: pl.Series) -> Labels | None:
    """Compare the views that polars keeps of short texts, where compiled loops are at hand."""
    if not compiled() or find_spec("pyarrow") is None:
        return None
    views = series.to_arrow(compat_level=polars("a polars column").CompatLevel.newest())
    return few_labels(pyarrow("a polars column").chunked_array([views]))


def _few_labels(series: pl.Series) -> Labels | None:
    """Compare with each of the texts that the first rows show; None if they are not all.

    For a handful of groups that is several times faster than a dictionary of the texts.
    """
    texts = series.head(_FIRST_ROWS).drop_nulls().unique().sort().to_list()
    if len(texts) > _FEW_TEXTS:
        return None
    missing = series.null_count()
    codes = np.zeros(len(series), np.uint8)
    for code, text in enumerate(texts, start=1):
        equal = series == text
        equal = equal.fill_null(value=False) if missing else equal
        codes += equal.to_numpy().view(np.uint8) * np.uint8(code)
    if np.count_nonzero(codes) + missing < len(series):
        return None
    return Labels(codes, (None, *(text or None for text in texts)))


def _text_labels(series: pl.Series) -> Labels:
    distinct = series.drop_nulls().unique().sort()
    codes = series.cast(polars("a polars column").Enum(distinct)).to_physical()
    return _coded(codes, [text or None for text in distinct.to_list()])


def _category_labels(series: pl.Series) -> Labels:
    """Codes are the physical values; only categories that are met have a text."""
    few = _met_labels(series, series.head(_FIRST_ROWS).drop_nulls().unique())
    if not few.codes.size or int(few.codes.max()) < len(few.texts) - 1:
        met = np.array([text is not None for text in few.texts])
        if met[:-1].all() or met.take(few.codes).all():  # the first rows show all of them
            return few
    return _met_labels(series, series.drop_nulls().unique())


def _met_labels(series: pl.Series, met: pl.Series) -> Labels:
    pl = polars("a polars column")
    texts: list[str | None] = [None]
    for code, text in zip(met.to_physical().to_list(), met.cast(pl.String).to_list(), strict=True):
        texts += [None] * (code + 1 - len(texts))
        texts[code] = text or None
    return _coded(series.to_physical(), texts)


def _coded(codes: pl.Series, texts: list[str | None]) -> Labels:
    if codes.null_count():
        codes = codes.cast(polars("a polars column").Int64).fill_null(len(texts))
    return Labels(codes.to_numpy(), (*texts, None))
