"""A silo's settings in a TOML file: its options, so that the next release is one command.

A key is the name of an option without its dashes, and ``data`` for the table. Options of the command line win.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from fedparity.cli.options import option
from fedparity.cli.output import note
from fedparity.documents.files import is_address, read_bounded, refuse_existing, write_whole
from fedparity.documents.json_text import LARGEST_TOML, TomlSyntaxError, key_lines, parse_toml
from fedparity.errors import DocumentError, SettingsError
from fedparity.errors.inputs import nearest
from fedparity.tables.table import PAIRED, REPEATED, TABLE_SETTINGS

__all__ = ["KEYS", "SavedSettingsOptions", "SettingsOptions", "settings_toml"]

_PATHS = "data", "url_file", "policy", "ledger", "sign", "passphrase_file"
_PARAMETERS = (
    "silo",
    *({"map": "mapping"}.get(key, key.replace("-", "_")) for key in TABLE_SETTINGS),
    *("policy", "ledger", "dataset", "allow_weaker", "in_period", "sign", "passphrase_file"),
    "threads",
)
_NAMES = {"mapping": "map"}
KEYS = {_NAMES.get(name, name.replace("_", "-")): name for name in _PARAMETERS}
"""The keys of a settings file, and the parameter of the command that each sets."""
_HEADER = "# Settings of this silo: fedparity sketch PLAN --settings FILE. Options of the command line win.\n"
_STANDARD_INPUT = "-"


def _applied(context: click.Context, _: click.Parameter, path: str | None) -> str | None:
    """Make the settings of a file the defaults of a command; a callback of click."""
    if path is None:
        return None
    known = {parameter.name for parameter in context.command.params}
    values = {name: value for name, value in _read(path).items() if name in known}
    context.default_map = {**(context.default_map or {}), **values}
    return path


def _read(path: str) -> dict[str, Any]:
    """The values of a file, by parameter; paths are relative to its folder.

    Raises
    ------
    SettingsError
        If it is not TOML, or a key or value is not valid; with its line.
    """
    try:
        text = read_bounded(path, limit=LARGEST_TOML).decode("utf-8-sig")
        document = parse_toml(text)
    except TomlSyntaxError as error:
        where = "" if error.line is None else f", line {error.line}"
        raise SettingsError(f"{path}{where}: {error.problem}.", fix="correct that line.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not text in UTF-8.", fix="save it as UTF-8.") from None
    except DocumentError as error:
        raise SettingsError(error.message, fix=error.fix) from None
    lines = key_lines(text)
    found: dict[str, Any] = {}
    for key, value in document.items():
        place = f"{path}, line {lines.get((key,), 1)}"
        if key not in KEYS:
            near = nearest(key, KEYS)
            hint = f"write {near[0]!r} instead" if near else f"use one of {', '.join(KEYS)}"
            raise SettingsError(
                f"{place}: {key[:60]!r} is not a setting.", fix=f"{hint}, or remove it."
            )
        found[KEYS[key]] = _value(key, value, place)
    folder = Path(path).parent
    for name in _PATHS:
        if isinstance(found.get(name), str):
            found[name] = _moved(found[name], folder)
    return found


def _value(key: str, value: object, place: str) -> object:
    """A value as click takes it from the command line."""
    if key in PAIRED:
        return _pairs(key, value, place)
    if key in (*REPEATED, "allow-weaker"):
        texts = [value] if isinstance(value, str) else value
        if isinstance(texts, list) and all(isinstance(own, str) for own in texts):
            return texts
        raise SettingsError(
            f"{place}: {key} must be a text or a list of texts.", fix=f"correct {key}."
        )
    if key == "in-period":
        if isinstance(value, bool):
            return value
        raise SettingsError(f"{place}: {key} must be true or false.", fix=f"correct {key}.")
    if key == "threads" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise SettingsError(f"{place}: {key} must be a text.", fix=f'write {key} = "...".')
    if key == "data" and is_address(value):
        from fedparity.tables.databases import Address  # noqa: PLC0415 -- most read files

        if Address(value).has_secret:
            raise SettingsError.secret()
    return value


def _pairs(key: str, value: object, place: str) -> list[str]:
    """A table from names to names, as the option takes it."""
    if not isinstance(value, dict) or not all(isinstance(own, str) for own in value.values()):
        raise SettingsError(
            f"{place}: {key} must be a table of texts.",
            fix=f'write {key} = {{"one name" = "another"}}.',
        )
    if any("=" in label for label in value):
        raise SettingsError(
            f"{place}: a name in {key} contains an equals sign.",
            fix="change that name in a copy of the table.",
        )
    return [f"{label}={group}" for label, group in value.items()]


def _moved(path: str, folder: Path) -> str:
    """A path relative to the folder of the settings; addresses and the standard input stay."""
    return path if path == _STANDARD_INPUT or is_address(path) else os.path.join(folder, path)  # noqa: PTH118 -- a pattern stays one


def settings_toml(values: Mapping[str, Any], folder: Path) -> str:
    """Return the text of a file in ``folder`` with the values of parameters; paths are relative to it.

    Examples
    --------
    >>> values = {"silo": "aurora", "group": ("sex",), "mapping": ("F=female", "=unknown")}
    >>> print(settings_toml(values, Path()).partition("\\n")[2], end="")
    silo = "aurora"
    group = ["sex"]
    map = {"F" = "female", "" = "unknown"}
    """
    lines = [_HEADER]
    for key, name in KEYS.items():
        value = values.get(name)
        if value is None or value in ((), False):
            continue
        if name in _PATHS and value != _STANDARD_INPUT and not is_address(value):
            value = Path(os.path.relpath(value, folder)).as_posix()
        lines.append(f"{key} = {_written(key, value)}\n")
    return "".join(lines)


def _written(key: str, value: Any) -> str:  # noqa: ANN401 -- of any option
    if key in PAIRED:
        pairs = (pair.partition("=") for pair in value)
        return (
            f"{{{', '.join(f'{_quoted(left)} = {_quoted(right)}' for left, _, right in pairs)}}}"
        )
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_quoted, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _quoted(str(value))


def _quoted(text: str) -> str:
    """A basic string of TOML."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"


@dataclass(frozen=True)
class SettingsOptions:
    """The settings of a silo, read from a file."""

    settings: str | None = option(
        "--settings FILE",
        "Options of this silo, from a TOML file; those given here win.",
        is_eager=True,
        callback=_applied,
    )


@dataclass(frozen=True)
class SavedSettingsOptions(SettingsOptions):
    """The settings of a silo, read from a file or written to one."""

    save_settings: str | None = option(
        "--save-settings FILE", "Write the options given here to such a file."
    )

    def check(self, *, force: bool) -> None:
        """Raise if the file to write exists, before anything is read."""
        if self.save_settings is not None and not force:
            refuse_existing(self.save_settings)

    def save(self, context: click.Context, *, force: bool) -> None:
        """Write the options that were given, here or by the settings; no password is among them."""
        if self.save_settings is None:
            return
        given = dict(_given(context))
        text = settings_toml(given, Path(self.save_settings).parent)
        write_whole(self.save_settings, text.encode(), force=force)
        note(f"wrote {self.save_settings}")


def _given(context: click.Context) -> Iterator[tuple[str, Any]]:
    """The parameters that were given, on the command line or by other settings."""
    for name in _PARAMETERS:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            yield name, context.params.get(name)
