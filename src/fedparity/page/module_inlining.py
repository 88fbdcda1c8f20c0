"""Modules of JavaScript as one script: what a page that must not fetch anything can hold.

The rule is mechanical, so that a reader can check it. Every module becomes a function of its own that returns
what it exports, after those that it imports. Imports are ``import { a, b } from "./x.js"`` on one line;
exports are declarations (``export function``, ``export class``, ``export const``), or a list (``export { a, b }``).
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["inlined"]

_IMPORT = re.compile(
    r"""^import \{([^{}\n]*)\} from ["'](\.[^"'\n]+)["'];?[^\n]*$""", re.MULTILINE
)
_EXPORT = re.compile(
    r"^export (?=(?:async )?(?:function\*?|class|const|let|var) (\w+))", re.MULTILINE
)
_LIST = re.compile(r"^export \{([^{}\n]*)\};?$", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b[^\n]*", re.MULTILINE)


def inlined(entry: Path, root: Path) -> str:
    """Return a module and all that it imports, as one script.

    Two modules that import each other call each other's functions through a second one.

    Raises
    ------
    ValueError
        If a module imports or exports in another way: a mistake of whoever wrote it.
    """
    texts: dict[Path, str] = {}
    _add(entry.resolve(), root.resolve(), texts)
    return f'"use strict";\n{"".join(texts.values())}'


def _add(module: Path, root: Path, texts: dict[Path, str]) -> None:
    """Put a module after those that it imports; ``texts`` keeps the order."""
    source = module.read_text("utf-8").replace("\r\n", "\n")
    texts[module] = ""  # known, and not there yet
    for found in _IMPORT.finditer(source):
        below = (module.parent / found[2]).resolve()
        if below not in texts:
            _add(below, root, texts)
    names = [*_EXPORT.findall(source), *(_named(each) for each in _LIST.findall(source))]

    def bound(found: re.Match[str]) -> str:
        below = (module.parent / found[2]).resolve()
        return _bound(found[1], _scope(below, root), is_later=not texts[below])

    body = _LIST.sub("", _EXPORT.sub("", _IMPORT.sub(bound, source)))
    if strange := _OTHER.search(body):
        raise ValueError(f"{module.name}: {strange[0]}")
    del texts[module]
    texts[module] = (
        f"// {module.relative_to(root).as_posix()}\n"
        f"const {_scope(module, root)} = (() => {{\n{body.rstrip()}\n"
        f"return {{ {', '.join(names)} }};\n}})();\n"
    )


def _scope(module: Path, root: Path) -> str:
    """The name of what a module exports."""
    return "$" + re.sub(r"\W", "_", module.relative_to(root).with_suffix("").as_posix())


def _named(names: str) -> str:
    """A list of names as an object holds them."""
    return names.strip().rstrip(",").replace(" as ", ": ")


def _bound(names: str, scope: str, *, is_later: bool) -> str:
    """What stands for an import; a function of a module that comes later is looked up when it is called."""
    if not is_later:
        return f"const {{ {_named(names)} }} = {scope};"
    own = [name.strip() for name in names.split(",") if name.strip()]
    return " ".join(f"const {name} = (...given) => {scope}.{name}(...given);" for name in own)
