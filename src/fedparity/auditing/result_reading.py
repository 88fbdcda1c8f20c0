"""A result's parts read back: what each field may hold follows from its type."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache, partial
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from fedparity.documents.fields import FrozenMapping, as_group, hidden_place
from fedparity.errors import ResultError
from fedparity.laws.bounds import Interval
from fedparity.laws.labels import Group

__all__ = ["Amount", "Reach", "Terms", "read_part", "written_fields"]

Part = TypeVar("Part")
Read: TypeAlias = Callable[[Any, str], Any]
"""Returns what a field holds, or raises; the text says where the field is."""


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or hidden_place(value) is not None:
        raise ResultError.field(where, "a text whose characters can be seen", value)
    return value


def _amount(value: object, where: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ResultError.field(where, "a finite number", value)
    return value


def _number(value: object, where: str) -> float:
    return float(_amount(value, where))


def _whole(value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ResultError.field(where, "a whole number of at least 0", value)
    return value


def _truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise ResultError.field(where, "true or false", value)
    return value


def _interval(value: object, where: str) -> Interval:
    return _ordered(_tuple_with((_number, _number))(value, where), where)


def _ordered(ends: tuple[float, ...], where: str) -> Interval:
    lower, upper = ends
    if lower > upper:
        raise ResultError.field(where, "two numbers, the lower first", ends)
    return Interval(lower, upper)


def _reach(value: object, where: str) -> Interval:
    """An interval; null stands for an end without a limit."""
    ends = _tuple_with((_or_null(_number), _or_null(_number)))(value, where)
    lower, upper = ends
    return _ordered(
        (-math.inf if lower is None else lower, math.inf if upper is None else upper), where
    )


def _label(value: object, where: str) -> Group:
    group = as_group(value)
    if group is None:
        raise ResultError.field(where, "the label of a group", value)
    return group


def _term(value: object, where: str) -> object:
    if value is not None and not isinstance(value, str | bool | int | float):
        raise ResultError.field(where, "a text, number, boolean or null", value)
    return value


def _one_of(choices: tuple[Any, ...]) -> Read:
    def read(value: object, where: str) -> object:
        if isinstance(value, bool) or value not in choices:
            names = ", ".join(repr(choice) for choice in choices)
            raise ResultError.field(where, f"one of {names}", value)
        return choices[choices.index(value)]

    return read


def _or_null(read: Read) -> Read:
    return lambda value, where: None if value is None else read(value, where)


def _tuple_of(read: Read) -> Read:
    def read_all(value: object, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise ResultError.field(where, "a list", value)
        return tuple(read(item, f"{where}[{i}]") for i, item in enumerate(value))

    return read_all


def _tuple_with(reads: tuple[Read, ...]) -> Read:
    def read_each(value: object, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) != len(reads):
            raise ResultError.field(where, f"a list of {len(reads)}", value)
        return tuple(
            read(item, f"{where}[{i}]")
            for i, (read, item) in enumerate(zip(reads, value, strict=True))
        )

    return read_each


def _mapping_of(read: Read) -> Read:
    def read_all(value: object, where: str) -> FrozenMapping[Any]:
        if not isinstance(value, Mapping):
            raise ResultError.field(where, "an object", value)
        return FrozenMapping({_text(k, where): read(v, f"{where}.{k}") for k, v in value.items()})

    return read_all


Amount: TypeAlias = Annotated[int | float, _amount]
"""A number of records, or their weight."""
Reach: TypeAlias = Annotated[Interval, _reach]
"""An interval whose ends may be infinite; JSON has null for these."""
Terms: TypeAlias = Annotated[Mapping[str, Any], _mapping_of(_term)]
"""Names with texts, numbers, booleans and nulls."""

_PLAIN: Mapping[Any, Read] = {
    str: _text,
    float: _number,
    int: _whole,
    bool: _truth,
    Interval: _interval,
    Group: _label,
}


def _reader(hint: Any) -> Read:  # noqa: ANN401 -- a type
    """What reads a field of this type."""
    origin, parts = get_origin(hint), get_args(hint)
    read: Read
    if origin is Annotated:
        read = hint.__metadata__[0]
    elif origin is Literal:
        read = _one_of(parts)
    elif origin is tuple and parts[-1] is Ellipsis:
        read = _tuple_of(_reader(parts[0]))
    elif origin is tuple:
        read = _tuple_with(tuple(map(_reader, parts)))
    elif NoneType in parts:
        read = _or_null(_reader(next(part for part in parts if part is not NoneType)))
    elif origin is not None:
        read = _mapping_of(_reader(parts[1]))
    else:
        read = _PLAIN.get(hint) or partial(read_part, hint)
    return read


@cache
def _readers(part: Any) -> Mapping[str, Read]:  # noqa: ANN401 -- a type
    hints = get_type_hints(part, include_extras=True)
    return {name: _reader(hints[name]) for name in written_fields(part)}


@cache
def written_fields(part: Any) -> tuple[str, ...]:  # noqa: ANN401 -- a type
    """Return the fields that JSON holds: those without a default."""
    return tuple(each.name for each in fields(part) if each.default is MISSING)


def read_part(part: type[Part], document: object, where: str) -> Part:
    """Return the part that an object of a result holds.

    Raises
    ------
    ResultError
        If a field is missing, unknown, or holds something else.
    """
    readers = _readers(part)  # type: ignore[arg-type]  # a class can be hashed
    if not isinstance(document, Mapping):
        raise ResultError.field(where, "an object", document)
    if document.keys() != readers.keys():
        unknown = sorted(map(str, document.keys() - readers.keys()))
        raise ResultError.fields(where, unknown, sorted(readers.keys() - document.keys()))
    return part(
        **{name: read(document[name], f"{where}.{name}") for name, read in readers.items()}
    )
