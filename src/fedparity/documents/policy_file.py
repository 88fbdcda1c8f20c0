"""Policies read from TOML: every key is known, and a mistake names its line."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fedparity.documents.fields import KEY_BYTES, decode_base64, is_name
from fedparity.documents.files import read_bounded
from fedparity.documents.json_text import LARGEST_TOML, TomlSyntaxError, key_lines, parse_toml
from fedparity.errors import PolicyError
from fedparity.errors.document_errors import shown
from fedparity.privacy.disclosure import MODES
from fedparity.privacy.policy import Policy

__all__ = [
    "POLICY_SCHEMA",
    "policy_from_toml",
    "read_policy",
]

POLICY_SCHEMA = "fedparity/policy/1"
_MOST = 10**12


def read_policy(path: str | os.PathLike[str]) -> Policy:
    """Return the policy of a TOML file.

    Raises
    ------
    PolicyError
        If it cannot be read, or says something it may not.
    """
    data = read_bounded(path, limit=LARGEST_TOML, error=PolicyError)
    try:
        return policy_from_toml(data.decode("utf-8-sig"), Path(path).absolute())
    except UnicodeDecodeError as problem:
        raise PolicyError.not_utf8(problem.start).within(str(path)) from None
    except PolicyError as error:
        raise error.within(str(path)) from None


def policy_from_toml(text: str, path: Path | None = None) -> Policy:
    r"""Return the policy of a TOML text; relative patterns and paths start at the folder of ``path``.

    Examples
    --------
    >>> policy = policy_from_toml('schema = "fedparity/policy/1"\n[floors]\nminimum_cell = 20\n')
    >>> policy.minimum_cell, policy.without_ledger
    (20, False)
    """
    try:
        document = parse_toml(text)
    except TomlSyntaxError as error:
        where = "" if error.line is None else f"line {error.line}: "
        raise PolicyError(
            f"{where}this is not TOML: {error.problem}.",
            fix="write it as TOML: key = value, texts between quotes; fedparity policy new shows one.",
        ) from None
    lines = key_lines(text)
    if document.pop("schema", None) != POLICY_SCHEMA:
        raise PolicyError(
            f'the policy has no line schema = "{POLICY_SCHEMA}".', fix="add it as the first line."
        )
    # A silo that wrote a policy keeps a ledger, unless the policy says otherwise.
    found: dict[str, Any] = {"without_ledger": False, "path": path}
    for key, value in document.items():
        checks = _TABLES.get(key, _TOP)
        if checks is _TOP:
            _take(found, _TOP, key, value, path=(key,), lines=lines)
        elif not isinstance(value, dict):
            raise _wrong((key,), "a table", value, lines)
        elif callable(checks):
            found[key] = checks(key, value, lines)
        else:
            for name, inner in value.items():
                _take(found, checks, name, inner, path=(key, name), lines=lines)
    return _settled(found)


def _take(
    found: dict[str, Any],
    checks: Mapping[str, tuple[str, str, Callable[[Any], bool]]],
    key: str,
    value: object,
    *,
    path: tuple[str, ...],
    lines: Mapping[tuple[str, ...], int],
) -> None:
    if key not in checks:
        known = ", ".join([*checks, *(_TABLES if checks is _TOP else ())])
        raise PolicyError(
            f"{_place(path, lines)}{shown(key)} is not a key of a policy here.",
            fix=f"use one of {known}, or remove it.",
        )
    name, expected, check = checks[key]
    if not check(value):
        raise _wrong(path, expected, value, lines)
    if name.startswith("rounding."):
        found.setdefault("rounding", {})[name.removeprefix("rounding.")] = float(value)  # type: ignore[arg-type]
    else:
        found[name] = value


def _settled(found: dict[str, Any]) -> Policy:
    """State defaults that follow from others, and what does not go together."""
    default = Policy()
    found["rounding"] = {**default.rounding, **found.get("rounding", {})}
    people = found.get("people", [])
    needed = found.setdefault("needed", 1 if people else 0)
    if needed > len(people):
        raise PolicyError(
            f"[approval] needs {needed} people, and names {len(people)}.",
            fix='list them: people = ["Ada Berg", "Ben Cole"].',
        )
    path: Path | None = found["path"]
    folder = str(Path.cwd() if path is None else path.parent)
    if "ledger" in found:
        found["ledger"] = Path(folder, found["ledger"])
    found["datasets"] = {
        name: tuple(each if "://" in each else os.path.join(folder, each) for each in patterns)  # noqa: PTH118 -- a pattern
        for name, patterns in found.get("datasets", {}).items()
    }
    settled: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in found.items()
    }
    return Policy(**settled)


def _by_name(
    table: str, value: dict[str, Any], lines: Mapping[tuple[str, ...], int]
) -> dict[str, Any]:
    expected, check = _NAMED[table]
    for name, inner in value.items():
        if not is_name(name) or not check(inner):
            raise _wrong((table, name), expected, inner, lines)
    return value


def _wrong(
    path: tuple[str, ...], expected: str, value: object, lines: Mapping[tuple[str, ...], int]
) -> PolicyError:
    return PolicyError(
        f"{_place(path, lines)}{'.'.join(path)} must be {expected}, not {shown(value)}.",
        fix="correct it, or remove the line to have the default; fedparity policy new shows all keys.",
    )


def _place(path: tuple[str, ...], lines: Mapping[tuple[str, ...], int]) -> str:
    return f"line {lines[path]}: " if path in lines else ""


def _whole(least: int) -> Callable[[object], bool]:
    return lambda v: isinstance(v, int) and not isinstance(v, bool) and least <= v <= _MOST


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_positive(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 < value < math.inf  # type: ignore[operator]


def _is_share(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= 0.1  # type: ignore[operator]


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(map(is_name, value)) and len(set(value)) == len(value)


def _is_modes(value: object) -> bool:
    return _is_names(value) and bool(value) and set(value) <= set(MODES)  # type: ignore[call-overload]


def _is_key(value: object) -> bool:
    return isinstance(value, str) and decode_base64(value, KEY_BYTES) is not None


def _is_patterns(value: object) -> bool:
    texts = isinstance(value, list) and all(isinstance(each, str) and each for each in value)
    return texts and bool(value)


_KEY_WORDS = "a public key, the base64 text of 32 bytes"
_FLAG = "true or false"
_TOP = {
    "modes": ("modes", f"a list of {', '.join(MODES)}", _is_modes),
    "overrides": ("overrides", _FLAG, _is_flag),
    "other_grids": ("other_grids", _FLAG, _is_flag),
    "without_ledger": ("without_ledger", _FLAG, _is_flag),
    "page": ("page", _FLAG, _is_flag),
}
"""What each key is called in a :class:`Policy`, what it may hold, and the check of it."""
_NAMED = {
    "datasets": ('a list of paths, patterns or "address#table"', _is_patterns),
    "auditors": (_KEY_WORDS, _is_key),
    "silos": (_KEY_WORDS, _is_key),
}
_TABLES: Mapping[str, Any] = {
    "floors": {
        "minimum_cell": ("minimum_cell", "a whole number of at least 1", _whole(1)),
        "records_per_level": ("records_per_level", "a whole number", _whole(0)),
        "rounding_mean": ("rounding.mean", "a share from 0 to 0.1", _is_share),
        "rounding_quantile": ("rounding.quantile", "a share from 0 to 0.1", _is_share),
        "levels": ("levels", "a whole number of at least 1", _whole(1)),
        "thresholds": ("thresholds", "a whole number", _whole(0)),
    },
    "epsilon": {
        "release": ("epsilon_per_release", "a number above 0", _is_positive),
        "year": ("epsilon_per_year", "a number above 0", _is_positive),
    },
    "secure": {
        "without_keys": ("without_keys", _FLAG, _is_flag),
        "unknown_silos": ("unknown_silos", _FLAG, _is_flag),
    },
    "approval": {
        "people": ("people", "a list of different names", _is_names),
        "needed": ("needed", "1 or 2", lambda v: _whole(1)(v) and v <= 2),
    },
    "ledger": {
        "file": ("ledger", "the path of a file", lambda v: isinstance(v, str) and bool(v)),
        "must_exist": ("must_exist", _FLAG, _is_flag),
    },
    "datasets": _by_name,
    "auditors": _by_name,
    "silos": _by_name,
}
