"""What is compared: digests of everything that an audit or a command gives.

The last bits of a number, and where a figure has its points, may differ between machines and versions
of NumPy and matplotlib. So numbers are compared to nine digits, and of figures in pages only the words.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.golden.audits import AUDITS, Artifacts
from tests.golden.refusals import command_help, other_commands, refusals

__all__ = ["CASES", "FILE", "compared", "digests_of", "made_with"]

FILE = Path(__file__).with_name("digests.json")
CASES: dict[str, Callable[[], Artifacts]] = {
    **AUDITS,
    "help": command_help,
    "refusals": refusals,
    "commands": other_commands,
}
_DIGITS = 9
_LEAST = 1e-12
"""Below it, a number of these audits is nothing but rounding."""
_LONG = re.compile(r"-?\d+\.\d{6,}(?:e[+-]?\d+)?")
_NOTHING = re.compile(r"[-−]?\d(?:\.\d+)?e[-−](?:1[3-9]|[2-9]\d) *")
"""A number that is nothing but rounding."""
_SVG = re.compile(r"<svg\b[^>]*>(?:(?!<svg\b).)*?</svg>", re.DOTALL)
_DATA = re.compile(r'(<script[^>]*type="application/json"[^>]*>).*?(</script>)', re.DOTALL)
_AXES = re.compile(r'data-axes="[^"]*"')
_EXACT = "message ", "fp.sketch ", "plan"
"""How the names of artifacts begin of which every byte counts."""


def compared(name: str, text: str) -> str:
    """Return the part of an artifact that must stay as it is."""
    if name.startswith(_EXACT):
        return text
    if name.endswith(".json"):
        return json.dumps(_rounded(json.loads(text)), indent=1, ensure_ascii=False)
    if name.endswith(".html"):
        text = _AXES.sub("", _DATA.sub(r"\1\2", text))
        while (fewer := _SVG.sub(_words, text)) != text:
            text = fewer
    return _LONG.sub(lambda found: _short(float(found.group())), _NOTHING.sub("0 ", text))


def digests_of(artifacts: Artifacts) -> dict[str, str]:
    """Return the digest of each artifact."""
    return {
        name: hashlib.sha256(compared(name, text).encode()).hexdigest()
        for name, text in artifacts.items()
    }


def made_with() -> dict[str, str]:
    """Return the versions that some of the words and numbers may depend on."""
    packages = "click", "flwr", "jinja2", "matplotlib", "numpy", "opendp", "rich"
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def _words(figure: re.Match[str]) -> str:
    """The words of a figure, without what is drawn."""
    return " ".join(re.sub(r"<[^>]*>", " ", figure.group()).split())


def _short(number: float) -> str:
    return f"{number:.{_DIGITS}g}"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    if isinstance(value, float):
        return float(_short(value)) if abs(value) > _LEAST else 0.0
    return value
