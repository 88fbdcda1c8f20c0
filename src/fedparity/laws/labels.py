"""Labels of groups and silos, which of them are missing, and the one order in which they are summed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias, TypeVar

__all__ = ["Group", "Silo", "canonical_order", "is_missing"]

Group: TypeAlias = Any
"""A group's label: a string, number or boolean, or a tuple of them for an intersection.

Any hashable object is one. The type is not ``Hashable``, because a ``dict[str, Law]`` is no
``Mapping[Hashable, Law]`` for a type checker.
"""

Silo: TypeAlias = Any
"""A silo's label, usually its name; any hashable object."""

Label = TypeVar("Label", bound=Hashable)


def canonical_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return the distinct labels in an order that does not depend on how they came.

    Sums over groups and silos run in this order, so that the same data give the same bits
    whatever the order of rows, files or messages.

    Examples
    --------
    >>> canonical_order(["b", "a", "b"])
    ('a', 'b')
    >>> canonical_order([2, "a", 10])
    (2, 10, 'a')
    """
    distinct = set(labels)
    by_type: dict[str, list[Label]] = {}
    for label in distinct:
        by_type.setdefault(type(label).__name__, []).append(label)
    ordered: list[Label] = []
    for name in sorted(by_type):
        try:
            ordered += sorted(by_type[name])  # type: ignore[type-var]
        except TypeError:
            ordered += sorted(by_type[name], key=repr)
    return tuple(ordered)


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN, NaT or pandas.NA, or a tuple that holds one of them."""
    if isinstance(label, tuple):
        return any(map(is_missing, label))
    try:
        return label is None or bool(label != label)  # noqa: PLR0124 -- NaN and NaT do
    except (TypeError, ValueError):  # pandas.NA does not know, and an array has many answers
        return True
