"""Numbers, options, group labels and tables that a function does not accept, and a collector's refusals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches

from fedparity.errors.base import FedparityError, InputError, listed

__all__ = [
    "CellError",
    "CollectorUnreachableError",
    "ConflictError",
    "DatabaseError",
    "DatabaseNameError",
    "DatabaseUnreachableError",
    "FederationError",
    "GroupError",
    "GroupMismatchError",
    "LabelError",
    "MagnitudeError",
    "MassError",
    "NotAllowedError",
    "OptionError",
    "RecordsError",
    "ScoreError",
    "TableError",
    "look_alike",
    "nearest",
    "shortened",
]


class ScoreError(InputError):
    """Scores that are not finite numbers, or none at all."""

    @classmethod
    def empty(cls, what: str) -> ScoreError:
        return cls(f"{what} hold no score.", fix="give at least one finite score.")

    @classmethod
    def not_numeric(cls, what: str, dtype: object) -> ScoreError:
        return cls(
            f"{what} must be real numbers, but their type is {dtype}.",
            fix="convert them to float64 before calling, and check how the column was read.",
        )

    @classmethod
    def not_one_dimensional(cls, what: str, shape: tuple[int, ...]) -> ScoreError:
        return cls(
            f"{what} must be one-dimensional, but their shape is {shape}.",
            fix="pass one score per record; for class probabilities, pick one column.",
        )

    @classmethod
    def not_finite(cls, what: str, *, missing: int, infinite: int, total: int) -> ScoreError:
        return cls(
            f"{what} must be finite, but {missing} of {total} are NaN and {infinite} infinite.",
            fix="drop or repair those records before the audit, and record how many there were.",
        )

    @classmethod
    def outside_range(cls, count: int, total: int, low: float, high: float) -> ScoreError:
        return cls(
            f"scores must lie between {low:g} and {high:g}, but {count} of {total} do not.",
            fix="check the scale of the score, or agree on a plan with a wider score_range.",
        )

    @classmethod
    def lengths_differ(cls, what: str, length: int, other: str, other_length: int) -> ScoreError:
        return cls(
            f"{what} and {other} must have one entry per record, "
            f"but there are {length} and {other_length}.",
            fix="take both columns from the same rows of the same table.",
        )


class MassError(InputError):
    """Weights that are negative, not finite, or all zero."""

    @classmethod
    def negative(cls, what: str, count: int) -> MassError:
        return cls(
            f"{what} must not be negative, but {count} of them are.",
            fix="check the weight column; a record that must not count has weight 0.",
        )

    @classmethod
    def not_finite(cls, what: str, count: int) -> MassError:
        return cls(
            f"{what} must be finite numbers, but {count} of them are not.",
            fix="replace missing or infinite weights, or drop those records.",
        )

    @classmethod
    def too_large(cls, what: str) -> MassError:
        return cls(
            f"the sum of {what} does not fit 64 bits.",
            fix="divide them all by a common factor; only their ratios matter.",
        )

    @classmethod
    def all_zero(cls, what: str) -> MassError:
        return cls(f"{what} are all zero.", fix="give at least one positive weight.")


class MagnitudeError(InputError):
    """A p-th power that a float64 cannot hold."""


class OptionError(InputError):
    """An order, a number of levels, a trim or a name out of its range."""

    @classmethod
    def unknown(cls, name: str, value: object, known: Iterable[str]) -> OptionError:
        names = ", ".join(repr(choice) for choice in known)
        return cls(f"{name} must be one of {names}, not {value!r}.", fix=f"pass one of {names}.")


class GroupError(InputError):
    """Too few groups, or labels that are missing."""

    @classmethod
    def too_few(cls, found: Collection[object]) -> GroupError:
        names = listed(found) or "none"
        return cls(
            f"a disparity compares two groups or more, but the data hold {names}.",
            fix="check the group column, or the filter applied before the audit.",
        )


class GroupMismatchError(GroupError):
    """Laws and weights that do not name the same groups."""

    @classmethod
    def between(cls, laws: Collection[object], weights: Collection[object]) -> GroupMismatchError:
        unweighted = [label for label in laws if label not in weights]
        lawless = [label for label in weights if label not in laws]
        return cls(
            "laws and weights must name the same groups, but "
            f"{listed(unweighted) or 'none'} have no weight and "
            f"{listed(lawless) or 'none'} have no law.",
            fix="build both from the same set of labels; 1 and '1' are different labels.",
        )


class CellError(InputError):
    """A cell (one silo, one group) that is not a valid sketch."""


class FederationError(InputError):
    """Cells that do not fit together."""

    @classmethod
    def empty(cls) -> FederationError:
        return cls("the federation holds no cell.", fix="give at least one silo with two groups.")


class RecordsError(InputError):
    """Records that cannot be read as often as an exact sketch needs."""


_MOST_LABELS = 5
_FEWEST_RECORDS = 11
"""A label of fewer records may be a value of single people, such as a name, and is not printed."""


class LabelError(GroupError):
    """Labels of groups that do not fit the groups of the plan."""

    @classmethod
    def unlisted(
        cls,
        columns: Collection[str],
        counts: Mapping[str, int],
        known: Collection[str],
        *,
        where: str = "",
    ) -> LabelError:
        shown = _printable_labels(counts, known)[:_MOST_LABELS]
        words = ", ".join(f"{shortened(text)!r} ({counts[text]:,})" for text in shown)
        more, total = len(counts) - len(shown), sum(counts.values())
        if more:
            rest = f"{more:,} {'more ' if shown else ''}label{'' if more == 1 else 's'}"
            words = f"{words} and {rest}" if shown else rest
        return cls(
            f"{listed(columns)} contains labels that are not groups of the plan: {words}, in "
            f"{total:,} record{'' if total == 1 else 's'} in all{where}.",
            fix=_mapping_fix(counts, known),
        )

    @classmethod
    def too_many(cls, columns: Collection[str], most: int) -> LabelError:
        return cls(
            f"{listed(columns)} contains more than {most:,} labels that are not groups of the plan.",
            fix="name the column of the groups, not one that differs in every record, or send all "
            "other labels to one group with --other LABEL.",
        )

    @classmethod
    def not_a_label(cls, column: str, kind: object) -> LabelError:
        return cls(
            f"labels in column {shortened(column)!r} must be text, numbers, booleans or "
            f"categories, but their type is {kind}.",
            fix="convert the column to text, one label per record.",
        )


def _printable_labels(counts: Mapping[str, int], known: Collection[str]) -> list[str]:
    """The labels that name nobody, the most frequent first: spellings of groups, and those of many records."""
    frequent = sorted(counts, key=lambda text: (-counts[text], text))
    return [
        text
        for text in frequent
        if counts[text] >= _FEWEST_RECORDS or look_alike(text, known) is not None
    ]


_MOST_OPTIONS = 20


def _mapping_fix(counts: Mapping[str, int], known: Collection[str]) -> str:
    """The options that map look-alikes of groups, or else the most frequent label, to a group."""
    frequent = _printable_labels(counts, known)
    alike = {text: group for text in frequent if (group := look_alike(text, known)) is not None}
    if alike:
        shown = " ".join(
            f'--map "{text}={group}"' for text, group in [*alike.items()][:_MOST_OPTIONS]
        )
        kept = (
            ""
            if len(alike) == len(counts)
            else "; send the others to one group with --other LABEL"
        )
        return f"if they mean the same, pass {shown}{kept}."
    if not frequent:
        return (
            'look at those lines, then map their labels with --map "LABEL=GROUP", send all others to one '
            "group with --other LABEL, or add them to the plan."
        )
    near = next(((text, found[0]) for text in frequent if (found := nearest(text, known))), None)
    example = (
        f"{shortened(frequent[0])}=LABEL" if near is None else f"{shortened(near[0])}={near[1]}"
    )
    return (
        f'map them with --map "{example}", send all others to one group with --other LABEL, or add '
        "them to the plan."
    )


def look_alike(text: str, known: Collection[str]) -> str | None:
    """Return the group that differs from a label only by case or by spaces around it.

    Examples
    --------
    >>> look_alike(" female", ("Female", "Male")), look_alike("F", ("Female", "Male"))
    ('Female', None)
    """
    folded = text.strip().casefold()
    return next((group for group in known if group.strip().casefold() == folded), None)


class CollectorUnreachableError(InputError):
    """A collector that does not answer, or not as one."""


class ConflictError(InputError):
    """A message of a silo where another one is already."""


class NotAllowedError(FedparityError):
    """A collector that does not know the sender of a request, or does not allow it."""


_MOST_COLUMNS = 8
_LONGEST_NAME = 60


class TableError(InputError):
    """A table that cannot be read, or lacks what was requested."""

    # -- where the table is

    @classmethod
    def not_found(cls, path: object) -> TableError:
        return cls(
            f"there is no file or folder {str(path)!r}.",
            fix="check the path; it is relative to the current folder.",
        )

    @classmethod
    def unreadable(cls, path: object, reason: str) -> TableError:
        return cls(f"{str(path)!r} cannot be opened: {reason}.", fix="check its permissions.")

    @classmethod
    def unsupported(cls, kind: str) -> TableError:
        return cls(
            f"a table is needed, but the data are of type {kind}.",
            fix="pass a path, a dict of arrays, a pandas, polars or Arrow table, or an iterator of "
            "such tables.",
        )

    # -- what it looks like

    @classmethod
    def malformed(cls, path: object, columns: int) -> TableError:
        return cls(
            f"some lines of {str(path)!r} do not hold the {columns:,} fields that its header "
            "names, or a quote in them is not closed.",
            fix="put quotes around fields that hold the delimiter, double the quotes inside fields, "
            "and give every column a name.",
        )

    @classmethod
    def line_too_long(cls, path: object, megabytes: int) -> TableError:
        return cls(
            f"a line of {str(path)!r} does not end within {megabytes} MB.",
            fix="check that lines end with \\n or \\r\\n, and that every quote is closed.",
        )

    @classmethod
    def encoding(cls, path: object, likely: str = "cp1252") -> TableError:
        return cls(
            f"{str(path)!r} is not text in UTF-8.",
            fix=f"pass the encoding that it was saved in: --encoding {likely}, perhaps (in Python, "
            f"fedparity.FileTable(path, encoding={likely!r})).",
        )

    @classmethod
    def changed(cls, path: object) -> TableError:
        return cls(
            f"{str(path)!r} changed while it was read, so there is no result.",
            fix="read a copy of the file, or wait until it is written.",
        )

    @classmethod
    def read_once(cls) -> TableError:
        return cls(
            "the batches can be read only once, and they were read before.",
            fix="make a new iterator, or pass a table or a file.",
        )

    @classmethod
    def unsteady(cls, place: str) -> TableError:
        return cls(
            f"{place} returned other rows when it was read again, so there is no result.",
            fix="write the rows to a table that nobody changes meanwhile, without random numbers or "
            "a LIMIT, and give that.",
        )

    @classmethod
    def failed(cls, what: str) -> TableError:
        return cls(f"{what} could not be read.", fix="collect it to a table first, and pass that.")

    @classmethod
    def empty(cls, what: str) -> TableError:
        return cls(f"{what} has no row.", fix="give at least one record.")

    # -- its columns

    @classmethod
    def missing_columns(
        cls,
        wanted: Sequence[str],
        columns: Sequence[str],
        *,
        what: str = "the table",
        hint: str = "",
    ) -> TableError:
        near = list(
            dict.fromkeys(name for own in wanted for name in nearest(own, columns, most=3))
        )
        fix = f"did you mean {listed(near)}?" if near else "name one of its columns."
        names = ", ".join(repr(shortened(name)) for name in wanted)
        return cls(f"{what} has no column {names}; it has {_columns(columns)}.", fix=hint or fix)

    @classmethod
    def column_needed(cls, role: str, columns: Sequence[str]) -> TableError:
        return cls(
            f"no {role} column was named; the table has {_columns(columns)}.",
            fix=f"pass {role}= (--{role} on the command line).",
        )

    @classmethod
    def used_twice(cls, name: str) -> TableError:
        return cls(
            f"column {shortened(name)!r} is named in two roles.",
            fix="name different columns for the score, the groups and the weight.",
        )

    @classmethod
    def unparsable(cls, name: str, path: object) -> TableError:
        return cls(
            f"column {shortened(name)!r} of {str(path)!r} must hold numbers, but some of its fields "
            "are something else.",
            fix="check the name of the column; pass --na NA for marks of missing values and --decimal , "
            "for decimal commas.",
        )

    # -- its records

    @classmethod
    def bad_condition(cls, condition: str, reason: str) -> TableError:
        return cls(
            f"the filter {shortened(condition)!r} cannot be used: {reason}.",
            fix="give one SQL condition on the columns of a row, such as age >= 18 AND site = 'N'; a "
            'name that is a keyword of SQL is written in double quotes, such as "group".',
        )

    @classmethod
    def nothing_kept(cls, condition: str) -> TableError:
        return cls(
            f"the filter {shortened(condition)!r} keeps no row.",
            fix="check its values and how the columns are typed; text is compared as it is written.",
        )


def nearest(word: str, words: Iterable[str], *, most: int = 1) -> list[str]:
    """Return the words that look most like ``word``, whatever their case."""
    by_folded: dict[str, str] = {}
    for known in words:
        by_folded.setdefault(known.strip().casefold(), known)
    matches = get_close_matches(word.strip().casefold(), by_folded, n=most)
    return [by_folded[match] for match in matches]


def shortened(text: str) -> str:
    """Return ``text``, cut if it is too long for a message."""
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def _columns(columns: Sequence[str]) -> str:
    if not columns:
        return "no column"
    shown = ", ".join(repr(shortened(name)) for name in columns[:_MOST_COLUMNS])
    more = len(columns) - _MOST_COLUMNS
    return f"{shown} and {more:,} more" if more > 0 else shown


_MOST_TABLES = 5


class DatabaseError(TableError):
    """A database that refuses a request, or a request that is not accepted."""

    # -- the request

    @classmethod
    def table_or_query(cls) -> DatabaseError:
        return cls(
            "a database holds many tables, and it was not said which one to read.",
            fix="give either --table NAME or --query SQL (in Python, "
            "fedparity.DatabaseTable(address, table=…) or query=…).",
        )

    @classmethod
    def bad_address(cls) -> DatabaseError:
        return cls(
            "the address is not that of a database.",
            fix="write it as postgresql://user@host/name, mysql+pymysql://user@host/name, "
            "sqlite:///file.db, duckdb:///file.duckdb, spark://host:7077 or sc://host:15002.",
        )

    @classmethod
    def bad_query(cls, reason: str) -> DatabaseError:
        return cls(
            f"the query cannot be used: {reason}.",
            fix="give one statement that reads: SELECT …, WITH … SELECT …, VALUES … or TABLE ….",
        )

    # -- what it answered

    @classmethod
    def not_permitted(cls, kind: str) -> DatabaseError:
        return cls(
            f"the {kind} database does not permit this user to read that.",
            fix="ask its administrator for the right to SELECT from the table, and for no other.",
        )

    @classmethod
    def login_refused(cls, kind: str) -> DatabaseError:
        return cls(
            f"the {kind} database did not accept the user, the password or the database's name.",
            fix="check the address; keep the password in a file (--url-file FILE), or in the "
            "password file of the database's own client.",
        )

    @classmethod
    def would_write(cls, kind: str) -> DatabaseError:
        return cls(
            f"the {kind} database refused the query, because it would change something.",
            fix="give a query that only reads.",
        )

    @classmethod
    def stopped(cls, kind: str) -> DatabaseError:
        return cls(
            f"the {kind} database stopped the query: it took too long, or waited for a lock.",
            fix="try again when it is less busy, or ask its administrator for more time.",
        )

    @classmethod
    def refused(cls, kind: str, what: Collection[str] = ()) -> DatabaseError:
        code = f" ({', '.join(what)})" if what else ""
        return cls(
            f"the {kind} database refused the statement, or failed at it{code}.",
            fix="run the query in the database's own client: its message may hold values of "
            "records, so it is not shown here.",
        )


class DatabaseNameError(DatabaseError):
    """A table or a column that a database does not have."""

    @classmethod
    def no_table(cls, name: str, kind: str, tables: Sequence[str]) -> DatabaseNameError:
        near = nearest(name, tables, most=3)
        if near:
            fix = f"did you mean {listed(near)}?"
        elif tables:
            fix = f"name one of its tables: {listed(tables, most=_MOST_TABLES)}."
        else:
            fix = "check the name, its schema, and whether this user may see it."
        return cls(f"the {kind} database has no table {shortened(name)!r}.", fix=fix)

    @classmethod
    def nothing_there(cls, kind: str, what: str) -> DatabaseNameError:
        return cls(
            f"the query names {what} that the {kind} database does not have.",
            fix="check its names; run it in the database's own client first.",
        )


class DatabaseUnreachableError(DatabaseError):
    """A database that does not answer, or stopped answering."""

    @classmethod
    def at_start(cls, kind: str) -> DatabaseUnreachableError:
        return cls(
            f"the {kind} database cannot be reached.",
            fix="check the host, the port and the file in the address, and that the server runs.",
        )

    @classmethod
    def lost(cls, kind: str) -> DatabaseUnreachableError:
        return cls(
            f"the connection to the {kind} database was lost, so there is no result.",
            fix="run it again; nothing was written.",
        )
