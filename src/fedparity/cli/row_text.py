"""What became of the rows of a silo's table, and how they were read: for the operator alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedparity.documents.fields import group_words
from fedparity.errors.base import printable
from fedparity.sketches.records import RowCounts
from fedparity.text import counted, width_of, wrapped

__all__ = ["reading_words", "row_lines", "row_words"]

_WHY = {
    "map": "--map",
    "other": "--other",
    "missing": "the plan's group for missing labels",
    "spelling": "another spelling",
}
_MOST_LABELS = 20


def reading_words(reading: Mapping[str, Any]) -> str:
    """Return how a table was read, as the options that say so.

    Examples
    --------
    >>> reading_words({"score": "risk", "where": "year = 2026", "map": {"F": "female", "": "unknown"}})
    '--score risk, --where "year = 2026", --map "F=female", --map "=unknown"'
    """
    words = []
    for name in ("score", "group", "weight", "where", "map", "missing", "other"):
        value = reading.get(name)
        if name == "map":
            words += [f'--map "{label}={group}"' for label, group in (value or {}).items()]
        elif name == "where" and value:
            words.append(f'--where "{value}"')
        elif value:
            words += [
                f"--{name} {each}" for each in ([value] if isinstance(value, str) else value)
            ]
    return printable(", ".join(words))


def row_lines(rows: RowCounts, width: int) -> list[str]:
    """Return the accounting of all rows, one reason per line, in numbers that add up."""
    counts = {
        "rows read": rows.read,
        "left out by the filter": rows.filtered,
        "left out without a score": rows.without_score,
        "of weight 0, which count for nothing": rows.weightless,
        "records": rows.records,
    }
    shown = {text: n for text, n in counts.items() if n or text in ("rows read", "records")}
    wide = max(map(len, shown))
    lines = ["Rows of the table"]
    lines += [f"  {text:{wide}}  {n:>{len(f'{rows.read:,}')},}" for text, n in shown.items()]
    if rows.relabeled:
        lines += ["", "Labels that count as a group of another name"]
        common = rows.relabeled.most_common(_MOST_LABELS)
        digits = len(f"{common[0][1]:,}")
        for own, number in common:
            label = "no label" if own.label is None else f"“{own.label}”"
            text = f"{label} counts as {group_words(own.group)} ({_WHY[own.reason]})"
            first = f"  {number:>{digits},}  "
            lines += wrapped(printable(text), width, first=first, rest=" " * width_of(first))
        if more := len(rows.relabeled) - len(common):
            lines.append(f"  and {counted(more, 'label')} more")
    return lines


def row_words(rows: Mapping[str, Any]) -> str:
    """Return the same of an entry of the ledger, as a sentence."""
    words = [f"{rows['read']:,} rows read"]
    words += [f"{rows['filtered']:,} left out by the filter"] if rows["filtered"] else []
    words += [f"{rows['without_score']:,} without a score"] if rows["without_score"] else []
    words += [f"{rows['weightless']:,} of weight 0"] if rows["weightless"] else []
    for own in rows["relabeled"][:_MOST_LABELS]:
        label = "no label" if own["label"] is None else f"“{own['label']}”"
        group = tuple(own["group"]) if isinstance(own["group"], list) else own["group"]
        words.append(f"{own['rows']:,} with {label} as {group_words(group)} ({own['reason']})")
    if (more := len(rows["relabeled"]) - _MOST_LABELS) > 0:
        words.append(f"and {counted(more, 'label')} more")
    return printable(", ".join(words))
