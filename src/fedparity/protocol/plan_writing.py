"""Plans written as TOML that says what each key means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["plan_toml"]

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_WIDTH = 95
_COMMENTS = {
    "groups": "labels, in reporting order",
    "score_range": "public, never read from data",
    "score_step": "scores lie on this grid, from the lowest on",
    "levels": "k: values per cell, at most",
    "sketch": '"mean", "quantile" or "counts"',
    "estimator": '"exact" or "grid"',
    "thresholds": "records are counted on both sides; equal is above",
    "favorable": '"above" or "below" a threshold',
    "period": "first and last day of the records",
    "order": "p of W_p: 1 or 2",
    "review_level": "what the verdict compares the disparity with",
    "review_unit": '"points", "share", "sd": W_2 of the worst pair; "squared": G_p',
    "trim": "share of levels left out at each end",
    "silos": "the roster: then missing ones are reported, and others refused",
    "minimum_cell": "a cell with fewer records is withheld",
    "records_per_level": "k is cut to records / this; 0 turns it off",
    "rounding": "share of the score range; 0 turns it off",
    "mode": '"dp", "secure" or "secure+dp"',
    "epsilon": "the privacy loss of one release",
    "bins": "of the histograms",
    "edges": "public scores at which bins meet",
    "records": "public planning size of the smallest group",
    "budget": "the loss of all releases from one data set",
    "threshold": "silos needed to open the sum",
    "dose": 'of noise: "full" or "split"',
    "honest": "silos whose noise must suffice",
}
_OMITTED = {
    "score_step": "# score_step = 0.01",
    "thresholds": "# thresholds = [0.5]",
    "period": "# period = [2026-10-01, 2026-12-31]",
    "review_level": "# review_level = 0.05",
    "silos": '# silos = ["aurora", "bayside"]',
}
_TABLES = {
    "disclosure": "what a silo holds back",
    "privacy": "how single records are protected",
    "keys": "Ed25519 public keys by silo: then every message must be signed",
    "totals": "public numbers of records by silo",
    "signature": "the auditor's, of all the rest",
}


def plan_toml(document: Mapping[str, Any]) -> str:
    """Return the TOML text of a complete plan, one comment per key.

    ``document`` is what :meth:`Plan.to_dict` returns. Reading the text gives the same plan.
    """
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    for key, value in document.items():
        if key in _TABLES:
            continue
        if key == "period" and value is not None:
            yield _commented(f"period = [{', '.join(value)}]", key)  # TOML's own dates
        elif value is None or value == []:
            yield _commented(_OMITTED[key], key)
        else:
            yield from _entry(key, value)
    for key, meaning in _TABLES.items():
        if document[key]:
            yield ""
            yield f"[{key}]".ljust(31) + f"# {meaning}"
            for name, value in document[key].items():
                yield from _entry(name, value)


def _entry(key: str, value: object) -> Iterator[str]:
    name = key if _BARE.issuperset(key) else _quoted(key)
    line = f"{name} = {_value(value)}"
    if isinstance(value, list) and len(line) > _WIDTH:
        yield f"{name} = [" + (f"  # {_COMMENTS[key]}" if key in _COMMENTS else "")
        yield from (f"  {_value(item)}," for item in value)
        yield "]"
    else:
        yield _commented(line, key)


def _commented(line: str, key: str) -> str:
    return f"{line.ljust(30)} # {_COMMENTS[key]}" if key in _COMMENTS else line


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)


def _quoted(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, and names hold no control character."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
