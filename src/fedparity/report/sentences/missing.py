"""What is missing from an audit, and what else a reader must keep in mind."""

from __future__ import annotations

from typing import Final

from fedparity.auditing.parts import SiloResult
from fedparity.auditing.result import AuditResult
from fedparity.report.numbers import counted, span
from fedparity.report.sentences.naming import group_words, is_summed, joined, short

__all__ = ["is_complete", "left_out", "set_aside_words", "what_is_missing", "what_weakens"]

_GROUPS: Final = frozenset({"group_set_aside"})
_SILOS: Final = frozenset({"silos_missing", "silos_dropped_out"})
_CELLS: Final = frozenset({"cells_withheld"})
_ROWS: Final = frozenset({"rows_dropped"})
_DOUBT: Final = frozenset({"implausible_count"})
"""Codes of the warnings that say what is said here from the result's own fields, if these know."""
_REASONS = {"small": "too few records", "complementary": "to protect another cell"}
_CELLS_NAMED = 5


def is_complete(result: AuditResult) -> bool:
    """Return whether every silo that the plan names sent every cell and dropped no row."""
    return not (
        result.silos_missing
        or result.set_aside
        or any(silo.withheld for silo in result.silos)
        or any(silo.rows_dropped for silo in result.silos)
        or any(warning.code in _GROUPS | _SILOS | _CELLS | _ROWS for warning in result.warnings)
    )


def left_out(result: AuditResult) -> tuple[str, ...]:
    """Return what must stand right below the headline, which does not speak of it.

    A sentence for every group set aside, one for the silos that sent nothing, and one if the headline
    hangs on a number that is hard to believe.
    """
    doubts = (warning.text for warning in result.warnings if warning.code in _DOUBT)
    sentences = (*set_aside_words(result), _silos(result), *map(_started, doubts))
    return tuple(filter(None, sentences))


def set_aside_words(result: AuditResult) -> tuple[str, ...]:
    """Return a sentence for every group that was not measured."""
    reason = "too small to be measured" if is_summed(result) else "no silo released it"
    return tuple(
        f"{short(group_words(each.group))}: {reason} ({each.known}). It is in no "
        "estimate, and counts in what holds for all."
        for each in result.set_aside
    )


def what_weakens(result: AuditResult) -> tuple[str, ...]:
    """Return a sentence for everything else that is missing, was cut, or weakens a number."""
    silos, cells, rows = _silos(result), _cells(result), _rows(result)
    said = {
        *_DOUBT,
        *(_GROUPS if result.set_aside else ()),
        *(_SILOS if silos else ()),
        *(_CELLS if cells else ()),
        *(_ROWS if rows else ()),
    }
    sentences = (
        _nothing(result),
        cells,
        _bounds(result),
        rows,
        *(_started(warning.text) for warning in result.warnings if warning.code not in said),
    )
    return tuple(sentence for sentence in sentences if sentence)


def what_is_missing(result: AuditResult) -> tuple[str, ...]:
    """Return a sentence for everything that is missing, was cut, or weakens a number."""
    return (*left_out(result), *what_weakens(result))


def _started(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _nothing(result: AuditResult) -> str:
    if not is_complete(result):
        return ""
    return (
        "No silo that the plan names is missing, no cell was withheld, and no row was dropped for "
        "want of a score."
    )


def _silos(result: AuditResult) -> str:
    missing = result.silos_missing
    if not missing:
        return ""
    total = len(missing) + len(result.silos_received)
    are = "is" if len(missing) == 1 else "are"
    did = "dropped out" if is_summed(result) else "sent nothing"
    return (
        f"{len(missing):,} of {counted(total, 'silo')} {did} and {are} in no estimate: "
        f"{joined(missing)}."
    )


def _cells(result: AuditResult) -> str:
    groups = [
        *(each.group for each in result.groups),
        *(each.group for each in result.set_aside),
    ]
    cells = [
        f"{short(silo.silo)} ({short(group_words(group))}: {_REASONS[silo.withheld[group]]})"
        for silo in result.silos
        for group in groups  # in one order, wherever the result comes from
        if group in silo.withheld
    ]
    if not cells:
        return ""
    total = sum(len(silo.n) for silo in result.silos)
    were = "was" if len(cells) == 1 else "were"
    listed = "; ".join(cells[:_CELLS_NAMED])
    more = f"; and {len(cells) - _CELLS_NAMED:,} more" if len(cells) > _CELLS_NAMED else ""
    return f"{len(cells):,} of {counted(total, 'cell')} {were} withheld: {listed}{more}."


def _bounds(result: AuditResult) -> str:
    """What the missing records could do; nothing where they are too few to move a bound."""
    worst = result.magnitudes.worst_pair
    if worst.outer == worst.certificate:
        return ""
    return (
        "With what is missing, the two groups furthest apart in all raw data could be "
        f"{span(worst.outer)} points apart."
    )


def _rows(result: AuditResult) -> str:
    silos = [silo for silo in result.silos if silo.rows_dropped]
    if not silos:
        return ""
    rows = sum(silo.rows_dropped for silo in silos)
    were = "was" if rows == 1 else "were"
    return (
        f"{counted(rows, 'row')} without a score {were} dropped: {joined([*map(_dropped, silos)])}. "
        "No bound counts them."
    )


def _dropped(silo: SiloResult) -> str:
    return f"{short(silo.silo)} ({silo.rows_dropped:,})"
