"""From what a caller passes to one law and one share per group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fedparity.errors import GroupError, GroupMismatchError, ScoreError
from fedparity.laws.arrays import FloatArray, IntArray, as_masses, as_scores
from fedparity.laws.labels import Group, canonical_order
from fedparity.laws.law import Law
from fedparity.laws.weights import Weights

__all__ = ["encode", "laws_and_weights"]


def laws_and_weights(
    first: object, second: object, sensitive_features: object, sample_weight: object
) -> tuple[Mapping[Group, Law], Weights]:
    """Read the three ways of calling a metric: laws and weights, scores, or Fairlearn's."""
    if isinstance(first, Mapping) and all(isinstance(law, Law) for law in first.values()):
        if not isinstance(second, Weights):
            raise GroupError(
                "laws were given without the shares of their groups.",
                fix="pass Weights as the second argument, for example Weights.from_counts(counts).",
            )
        if len(first) < 2:
            raise GroupError.too_few(list(first))
        if first.keys() != second.keys():
            raise GroupMismatchError.between(first, second)
        return first, second
    if sensitive_features is None:
        raise GroupError(
            "raw scores were given without their groups.",
            fix="pass sensitive_features=, one label per score, or a mapping of laws and weights.",
        )
    return _from_records(first if second is None else second, sensitive_features, sample_weight)


def _from_records(
    scores: object, sensitive_features: object, sample_weight: object
) -> tuple[dict[Group, Law], Weights]:
    values = as_scores(scores)
    groups, codes = encode(sensitive_features)
    _check_length("sensitive_features", codes.size, values)
    if sample_weight is None:
        samples = [values[codes == code] for code in range(len(groups))]
        laws = dict(zip(groups, Law.from_samples(samples), strict=True))
        totals = np.bincount(codes, minlength=len(groups))
    else:
        masses = as_masses(sample_weight, "sample_weight")
        _check_length("sample_weight", masses.size, values)
        totals = np.bincount(codes, weights=masses, minlength=len(groups))
        groups = tuple(g for g, total in zip(groups, totals, strict=True) if total > 0)
        weighted = np.flatnonzero(totals > 0)
        laws = {
            group: Law.from_scores(values[codes == code], masses[codes == code])
            for group, code in zip(groups, weighted, strict=True)
        }
        totals = totals[weighted]
    if len(groups) < 2:
        raise GroupError.too_few(groups)
    return laws, Weights(dict(zip(groups, totals.tolist(), strict=True)))


def _check_length(what: str, length: int, scores: FloatArray) -> None:
    if length != scores.size:
        raise ScoreError.lengths_differ(what, length, "scores", scores.size)


def encode(labels: object) -> tuple[tuple[Group, ...], IntArray]:
    """Return the distinct labels in canonical order, and the position of each record's label.

    ``labels`` is a sequence, array or Series of labels, or a frame, mapping or two-dimensional
    array of several columns, whose rows then become tuples.

    Raises
    ------
    GroupError
        If a label is missing (None, NaN, NaT).

    Examples
    --------
    >>> encode(["b", "a", "b"])
    (('a', 'b'), array([1, 0, 1]))
    >>> encode({"sex": ["f", "m"], "old": [True, False]})[0]
    (('f', True), ('m', False))
    """
    records = list(_records(labels))
    seen: dict[Group, int] = {}
    first_seen = np.fromiter(
        (seen.setdefault(label, len(seen)) for label in records), np.int64, len(records)
    )
    _refuse_missing(seen, first_seen)
    groups = canonical_order(seen)
    position = np.empty(len(seen), dtype=np.int64)
    position[[seen[group] for group in groups]] = np.arange(len(groups))
    return groups, position[first_seen]


def _records(labels: object) -> Iterable[Any]:
    """One hashable label per record."""
    if not isinstance(labels, Mapping | Sequence | np.ndarray):
        labels = _columns(labels)
    if isinstance(labels, Mapping):
        table = [_plain(column) for column in labels.values()]
        return table[0] if len(table) == 1 else zip(*table, strict=True)
    plain = _plain(labels)
    if plain and isinstance(plain[0], list):
        return [row[0] if len(row) == 1 else tuple(row) for row in plain]
    return plain


def _plain(column: object) -> list[Any]:
    """The values of an array, Series or sequence as plain Python objects."""
    for name in ("to_pylist", "to_list", "tolist"):  # Arrow; pandas, polars; NumPy
        convert = getattr(column, name, None)
        if convert is not None:
            return list(convert())
    return list(column)  # type: ignore[call-overload, no-any-return]


def _columns(labels: object) -> object:
    """The columns of a pandas, polars or Arrow frame by name; anything else as it is."""
    from narwhals import DataFrame, from_native  # noqa: PLC0415 -- only where a frame is given

    frame = from_native(labels, eager_only=True, pass_through=True)
    if isinstance(frame, DataFrame):
        return {name: frame[name].to_list() for name in frame.columns}
    return labels


def _refuse_missing(seen: Mapping[Group, int], codes: IntArray) -> None:
    missing = [code for label, code in seen.items() if _is_missing(label)]
    if missing:
        count = int(np.count_nonzero(np.isin(codes, missing)))
        raise GroupError(
            f"every record needs a group, but {count} of {codes.size} labels are missing.",
            fix="give those records a label of their own, such as 'unknown', or drop them.",
        )


def _is_missing(label: object) -> bool:
    if isinstance(label, tuple):
        return any(_is_missing(part) for part in label)
    try:
        return label is None or bool(label != label)  # noqa: PLR0124 -- NaN and NaT do
    except TypeError:  # pandas.NA does not know
        return True
