"""A mapping that nobody changes, inside an object that is valid once built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

__all__ = ["FrozenMapping"]

Value = TypeVar("Value", covariant=True)  # noqa: PLC0105


class FrozenMapping(Mapping[str, Value]):
    """A mapping that can be hashed and pickled, and has no method that changes it.

    Examples
    --------
    >>> FrozenMapping({"a": 1})
    {'a': 1}
    """

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, Value]) -> None:
        self._members = dict(members)

    def __getitem__(self, name: str) -> Value:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __hash__(self) -> int:
        return hash(frozenset(self._members.items()))

    def __repr__(self) -> str:
        return repr(self._members)
