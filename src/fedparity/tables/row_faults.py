"""All that is wrong with the rows of a table, in one error: kinds, how many rows each, and the first lines.

No value of a record is shown. A table is read again for this, row by row and slowly, once a fast reading has failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from fedparity.errors import FedparityError, InputError, LabelError, ScoreError, TableError
from fedparity.errors.base import listed
from fedparity.errors.inputs import shortened
from fedparity.laws.law import BoolArray, IntArray
from fedparity.sketches.records import Faults
from fedparity.tables.columns import Block
from fedparity.tables.groups import Listing
from fedparity.text import counted

if TYPE_CHECKING:
    from fedparity.tables.table import Roles, Selection, TableRecords

__all__ = [
    "CheckedBlock",
    "CheckedTable",
    "FaultLog",
    "FaultyRows",
    "combined",
    "fault_errors",
    "search_faults",
]

_SHOWN_LINES = 5


@dataclass(slots=True)
class FaultyRows:
    """Rows with one kind of fault: how many, and where the first of them are."""

    count: int = 0
    lines: list[int] = field(default_factory=list)

    def add(self, count: int, lines: Sequence[int] = ()) -> None:
        """Count more rows."""
        self.count += count
        self.lines.extend(lines[: _SHOWN_LINES - len(self.lines)])

    def words(self, place: str) -> str:
        """Return where the rows are, such as “ (lines 3, 17 and 12 more)”; nothing if that is unknown."""
        if not self.lines:
            return ""
        shown = ", ".join(f"{line:,}" for line in self.lines)
        more = self.count - len(self.lines)
        many = f"{place}s" if self.count > 1 else place
        return f" ({many} {shown}{f' and {more:,} more' if more else ''})"


@dataclass(slots=True)
class FaultLog:
    """What was found so far in all rows; memory does not grow with them."""

    place: str = "line"
    """What rows are counted by: lines of a text, or rows of a sheet."""
    encoding: FaultyRows = field(default_factory=FaultyRows)
    quotes: FaultyRows = field(default_factory=FaultyRows)
    fields: FaultyRows = field(default_factory=FaultyRows)
    numbers: dict[str, FaultyRows] = field(default_factory=dict)
    """Fields that are not numbers, by column."""
    comma_decimals: int = 0
    """How many of them are numbers with a decimal comma."""
    marks: Counter[str] = field(default_factory=Counter)
    """The number of them that are a usual mark of a missing value."""
    missing: FaultyRows = field(default_factory=FaultyRows)
    infinite: FaultyRows = field(default_factory=FaultyRows)
    outside: FaultyRows = field(default_factory=FaultyRows)
    unlabeled: FaultyRows = field(default_factory=FaultyRows)
    unlisted: Counter[str] = field(default_factory=Counter)
    unlisted_rows: FaultyRows = field(default_factory=FaultyRows)
    weights: FaultyRows = field(default_factory=FaultyRows)

    @classmethod
    def from_faults(cls, faults: Faults) -> FaultLog:
        """Return what a reader counted, without the places."""
        log = cls(unlisted=faults.unlisted)
        log.missing.add(faults.missing_scores)
        log.infinite.add(faults.infinite_scores)
        log.unlabeled.add(faults.missing_labels)
        log.unlisted_rows.add(sum(faults.unlisted.values()))
        log.weights.add(faults.bad_weights)
        return log


@dataclass(frozen=True, slots=True)
class CheckedBlock:
    """Rows that could be taken apart, and where they are."""

    block: Block
    lines: IntArray
    unparsed: dict[str, BoolArray]
    """Rows whose field is not a number, by column; these are in the log already."""


@runtime_checkable
class CheckedTable(Protocol):
    """A table that can say in which line a row is."""

    def checked(self, selection: Selection, log: FaultLog) -> Iterator[CheckedBlock]:
        """Yield all rows that can be taken apart, and log those that cannot."""
        ...


def search_faults(records: TableRecords, score_range: tuple[float, float]) -> InputError | None:
    """Read a table again, and return the error that lists its faults; None without faults."""
    log = FaultLog()
    try:
        for block in _blocks(records, log):
            _check(records, block, score_range, log)
    except FedparityError:
        return None
    errors = fault_errors(log, records.roles, records.scheme, score_range)
    return combined(errors) if errors else None


def _blocks(records: TableRecords, log: FaultLog) -> Iterator[CheckedBlock]:
    """All rows, with their lines where the table knows them."""
    selection = records.roles.selection
    for table in getattr(records.table, "parts", (records.table,)):
        if isinstance(table, CheckedTable):
            yield from table.checked(selection, log)
        else:
            for task in table.scan(selection):
                yield CheckedBlock(task(), np.zeros(0, np.int64), {})


def _check(
    records: TableRecords, found: CheckedBlock, score_range: tuple[float, float], log: FaultLog
) -> None:
    """Log the faults of the rows of a block that pass the filter."""
    roles, block = records.roles, found.block
    keep = np.ones(block.length, np.bool_)
    if roles.where is not None:
        keep &= roles.where.keep(block.columns)

    def note(into: FaultyRows, rows: BoolArray) -> None:
        count = int(np.count_nonzero(rows))
        if count:
            lines = found.lines[rows][:_SHOWN_LINES].tolist() if found.lines.size else ()
            into.add(count, lines)

    scores, gone = _floats(found, roles.score)
    note(log.missing, keep & gone & ~found.unparsed.get(roles.score, np.zeros_like(gone)))
    keep &= ~gone
    note(log.infinite, keep & np.isinf(scores))
    low, high = score_range
    note(log.outside, keep & np.isfinite(scores) & ((scores < low) | (scores > high)))
    faults = Faults()
    labels = [block.columns[name].labels(name) for name in roles.groups]
    wrong = _without_group(records, labels, keep, faults)
    note(log.unlabeled, wrong == _UNLABELED)
    note(log.unlisted_rows, wrong == _UNLISTED)
    log.unlisted.update(faults.unlisted)
    if roles.weight is not None:
        weights, none = _floats(found, roles.weight)
        none &= ~found.unparsed.get(roles.weight, np.zeros_like(none))
        note(
            log.weights,
            keep & (none | (~np.isnan(weights) & ~((weights >= 0) & (weights < np.inf)))),
        )


def _floats(found: CheckedBlock, name: str) -> tuple[Any, BoolArray]:
    """The numbers of a column, and which rows have none."""
    numbers = found.block.columns[name].numbers(name)
    values = np.array(numbers.values, dtype=np.float64)
    gone = np.isnan(values)
    if numbers.valid is not None:
        gone |= ~numbers.valid
    values[gone] = np.nan
    return values, gone


_UNLABELED, _UNLISTED = 1, 2


def _without_group(
    records: TableRecords, labels: Sequence[Any], keep: BoolArray, faults: Faults
) -> IntArray:
    """Which rows have no label, and which one that is not a group; in the log's own counts."""
    from fedparity.laws.labels import intersect  # noqa: PLC0415 -- not before it is needed

    codes, keys = intersect(labels)
    counts = np.bincount(codes[keep], minlength=len(keys) or 1)
    kinds = np.zeros(len(keys) or 1, np.int64)
    for place, key in enumerate(keys):
        if not counts[place] or records.scheme.known(key) >= 0:
            continue
        before = faults.missing_labels
        if records.scheme.admit(key, int(counts[place]), faults) < 0:
            kinds[place] = _UNLABELED if faults.missing_labels > before else _UNLISTED
    return np.where(keep, kinds[codes], 0)


def fault_errors(
    log: FaultLog, roles: Roles, scheme: object, score_range: tuple[float, float] | None = None
) -> list[InputError]:
    """Return an error for each kind of fault."""
    errors = [*_text_errors(log)]
    score, weight, place = shortened(roles.score), shortened(roles.weight or ""), log.place
    if log.missing.count and roles.missing == "refuse":
        errors.append(
            TableError(
                f"column {score!r} lacks a score in {counted(log.missing.count, 'row')}{log.missing.words(place)}.",
                fix="pass --missing drop (missing='drop') to leave them out; the message says how many.",
            )
        )
    if log.infinite.count:
        errors.append(
            TableError(
                f"column {score!r} holds {counted(log.infinite.count, 'infinite score')}{log.infinite.words(place)}.",
                fix="repair those records, or leave them out with a filter (--where).",
            )
        )
    if log.outside.count and score_range is not None:
        low, high = score_range
        errors.append(
            ScoreError(
                f"scores must lie between {low:g} and {high:g}, but {_plural(log.outside.count, 'does', 'do')} not"
                f"{log.outside.words(place)}.",
                fix="check the scale of the score, or agree on a plan with a wider score_range.",
            )
        )
    if log.unlabeled.count:
        fix = (
            "add the group 'unknown' to the plan, or map the missing label to a group with --map \"=LABEL\" "
            '(mapping={"": LABEL}).'
        )
        if not isinstance(scheme, Listing):  # there is no plan
            fix = (
                'pass --map "=unknown" (mapping={"": "unknown"}) to make them a group of their own, or leave '
                "them out with a filter (--where)."
            )
        errors.append(
            LabelError(
                f"{counted(log.unlabeled.count, 'record')} {'has' if log.unlabeled.count == 1 else 'have'} no "
                f"label in {listed(roles.groups)}"
                f"{log.unlabeled.words(place)}.",
                fix=fix,
            )
        )
    if log.unlisted:
        known = scheme.texts if isinstance(scheme, Listing) else ()
        where = log.unlisted_rows.words(place)
        errors.append(LabelError.unlisted(roles.groups, log.unlisted, known, where=where))
    if log.weights.count:
        errors.append(
            TableError(
                f"column {weight!r} holds {log.weights.count:,} weights that are missing, negative or not "
                f"finite{log.weights.words(place)}.",
                fix="repair them; a record that must not count has weight 0.",
            )
        )
    return errors


def _text_errors(log: FaultLog) -> Iterator[InputError]:
    """Errors of fields and lines that could not be taken apart."""
    if log.encoding.count:
        yield TableError(
            f"{counted(log.encoding.count, 'line')} {'is' if log.encoding.count == 1 else 'are'} not text in UTF-8{log.encoding.words(log.place)}.",
            fix="pass the encoding that the file was saved in, such as --encoding cp1252 for a file of "
            "Excel on Windows (encoding='cp1252').",
        )
    if log.quotes.count:
        yield TableError(
            f"a quote is not closed in {counted(log.quotes.count, 'record')}"
            f"{log.quotes.words(log.place)}.",
            fix="double the quotes inside fields, and close every quote.",
        )
    if log.fields.count:
        yield TableError(
            f"{counted(log.fields.count, 'line')} {'does' if log.fields.count == 1 else 'do'} not hold as many "
            f"fields as the header{log.fields.words(log.place)}.",
            fix="put quotes around fields that hold the delimiter, and give every column a name.",
        )
    for name, found in log.numbers.items():
        fix = (
            "check the name of the column, and repair those fields; a text that means a missing "
            "value is named by --na TEXT (na=[...])."
        )
        if log.comma_decimals:
            fix = "pass --decimal , (decimal=',') for numbers with a decimal comma."
        if log.marks:
            options = " ".join(f"--na {_quoted(mark)}" for mark in sorted(log.marks))
            fix = f"pass {options} (na={sorted(log.marks)!r}) for marks of missing values."
        yield TableError(
            f"column {shortened(name)!r} must hold numbers, but {found.count:,} of its fields "
            f"{'is' if found.count == 1 else 'are'} something else{found.words(log.place)}.",
            fix=fix,
        )


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _quoted(text: str) -> str:
    return text if text.isalnum() else f"'{text}'"


def combined(errors: Sequence[InputError]) -> InputError:
    """Return one error of all; itself if it is the only one."""
    if len(errors) == 1:
        return errors[0]
    messages = "".join(f"\n  {place}. {e.message}" for place, e in enumerate(errors, start=1))
    fixes = "\n     ".join(f"{place}. {e.fix}" for place, e in enumerate(errors, start=1))
    return TableError(f"the table has {len(errors)} kinds of faults:{messages}", fix=fixes)
