"""A software bill of materials (CycloneDX) of fedparity and what it needs, from installed metadata.

``python docs/_ext/sbom.py sign report > sbom.cdx.json`` writes that of fedparity with two extras, of the
environment in which it runs. The manual is built with that of the core and of all extras that are installed
(``security/sbom.cdx.json``).
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "fedparity"
_CLASSIFIER = "License :: OSI Approved :: "
_VENDORED = re.compile(r"^\| `[^`]+` \| ([\w-]+) \| ([\w.]+) \| ([\w.-]+) \|", re.MULTILINE)
_LONGEST = 60
"""A longer license field is the text of the license."""


def extras_of(name: str = ROOT) -> list[str]:
    """Return the extras that silos and auditors may install."""
    return sorted(distribution(name).metadata.get_all("Provides-Extra") or [])


def needs(found: Distribution, extras: Iterable[str] = ()) -> list[Requirement]:
    """Return what a distribution needs in this environment, with the extras named."""
    wanted = ["", *extras]
    return [
        each
        for each in map(Requirement, found.requires or [])
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in wanted)
    ]


def license_of(found: Distribution) -> str:
    """Return the license that a distribution states, as an SPDX expression if it does so."""
    stated = found.metadata
    expression = stated.get("License-Expression")
    short = (stated.get("License") or "").strip()
    if expression:
        return str(expression)
    if short and len(short) <= _LONGEST and "\n" not in short:
        return short
    classified = [
        each.removeprefix(_CLASSIFIER)
        for each in stated.get_all("Classifier") or []
        if each.startswith(_CLASSIFIER)
    ]
    return " AND ".join(classified) or "not stated"


def closure(extras: Iterable[str]) -> dict[str, tuple[Distribution, list[str]]]:
    """Return every distribution that is needed and installed, by name, with the names of its needs."""
    found: dict[str, tuple[Distribution, list[str]]] = {}
    waiting = [(ROOT, tuple(extras))]
    asked: set[tuple[str, tuple[str, ...]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in asked:
            continue
        asked.add((name, wanted))
        try:
            held = distribution(name)
        except PackageNotFoundError:  # an extra that is not installed here
            continue
        below = needs(held, wanted)
        _, known = found.setdefault(name, (held, []))
        known += [canonicalize_name(each.name) for each in below]
        waiting += [(canonicalize_name(each.name), tuple(sorted(each.extras))) for each in below]
    return found


def bill(extras: Iterable[str] = ()) -> dict[str, Any]:
    """Return the bill of materials; equal environments give equal bills."""
    found = closure(extras)
    vendored = list(vendored_code())
    components = {name: _component(name, held) for name, (held, _) in sorted(found.items())}
    document: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": components.pop(ROOT)},
        "components": [*components.values(), *vendored],
        "dependencies": [
            {
                "ref": _purl(name, held),
                "dependsOn": sorted(
                    {
                        _purl(each, found[each][0])
                        for each in below
                        if each in found and each != name
                    }
                    | {each["bom-ref"] for each in vendored if name == ROOT}
                ),
            }
            for name, (held, below) in sorted(found.items())
        ]
        + [{"ref": each["bom-ref"], "dependsOn": []} for each in vendored],
    }
    content = json.dumps(document, sort_keys=True)
    document["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, content).urn
    return document


def vendored_code() -> Iterator[dict[str, Any]]:
    """Yield the code of others that is part of fedparity itself: the table of its README lists it."""
    text = (files(ROOT) / "page" / "vendor" / "README.md").read_text("utf-8")
    for name, version, stated in _VENDORED.findall(text):
        purl = f"pkg:npm/{name}@{version}"
        yield {
            "type": "library",
            "bom-ref": purl,
            "name": name,
            "version": version,
            "purl": purl,
            "licenses": [{"license": {"name": stated}}],
        }


def _component(name: str, held: Distribution) -> dict[str, Any]:
    purl = _purl(name, held)
    return {
        "type": "application" if name == ROOT else "library",
        "bom-ref": purl,
        "name": name,
        "version": held.version,
        "purl": purl,
        "licenses": [{"license": {"name": license_of(held)}}],
    }


def _purl(name: str, held: Distribution) -> str:
    return f"pkg:pypi/{name}@{held.version}"


def _written(app: Any, problem: Exception | None) -> None:  # noqa: ANN401 -- Sphinx's
    """Put the bill beside the page that links to it."""
    if problem is None and app.builder.format == "html":
        target = Path(app.outdir) / "security" / "sbom.cdx.json"
        target.write_text(json.dumps(bill(extras_of()), indent=1) + "\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:  # noqa: ANN401 -- Sphinx's
    """Write the bill when the manual is built."""
    app.connect("build-finished", _written)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    json.dump(bill(sys.argv[1:]), sys.stdout, indent=1)
