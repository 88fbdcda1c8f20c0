"""YAML without a YAML library: block form, with scalars that are JSON, hence YAML too."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["yaml_text"]

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def yaml_text(value: Mapping[str, Any]) -> list[str]:
    r"""Return the lines of a document of mappings, lists, texts, numbers and nulls.

    Examples
    --------
    >>> print(*yaml_text({"name": "Q4: #1", "values": [1e-05, None]}), sep="\n")
    name: "Q4: #1"
    values:
      - 1.0e-05
      - null
    """
    return list(_lines(value, ""))


def _lines(value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401
    if isinstance(value, Mapping):
        for name, held in value.items():
            yield from _entry(f"{indent}{name}:", held, indent)
    else:
        for held in value:
            yield from _item(held, indent)


def _entry(start: str, held: Any, indent: str) -> Iterator[str]:  # noqa: ANN401
    if _is_nested(held):
        yield start
        yield from _lines(held, f"{indent}  ")
    else:
        yield f"{start} {_scalar(held)}"


def _item(held: Any, indent: str) -> Iterator[str]:  # noqa: ANN401
    """An item of a list: its first line starts with a dash."""
    if not _is_nested(held):
        yield f"{indent}- {_scalar(held)}"
        return
    first, *others = _lines(held, f"{indent}  ")
    yield f"{indent}- {first.lstrip()}"
    yield from others


def _is_nested(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _scalar(value: object) -> str:
    if isinstance(value, float):
        mantissa, exponent, power = repr(value).partition("e")
        point = "" if "." in mantissa else ".0"  # without it YAML 1.1 reads 1e-05 as a text
        return f"{mantissa}{point}{exponent}{power}"
    if isinstance(value, str):
        return "".join(map(_character, json.dumps(value, ensure_ascii=False)))
    return json.dumps(value)


def _character(character: str) -> str:
    """A character, escaped where YAML would not take it or would fold it."""
    if unicodedata.category(character) in _UNSEEN:
        code = ord(character)
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return character
