"""Tables that cannot be read, or do not hold what was asked of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from fedparity.errors.base import FedparityError, InputError, listed

__all__ = [
    "DatabaseError",
    "DatabaseNameError",
    "DatabaseUnreachableError",
    "MissingExtraError",
    "TableError",
    "nearest",
    "shortened",
]

_MOST_COLUMNS = 8
_LONGEST_NAME = 60


class MissingExtraError(FedparityError):
    """An optional package is needed and not installed."""

    @classmethod
    def for_use(cls, package: str, use: str, extra: str = "io") -> MissingExtraError:
        return cls(
            f"{use} needs the package {package}, which is not installed.",
            fix=f"pip install 'fedparity[{extra}]'",
        )


class TableError(InputError):
    """A table that cannot be read, or does not hold what was asked of it."""

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
            f"{place} gave other rows when it was asked again, so there is no result.",
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
            f"column {shortened(name)!r} is asked for in two roles.",
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
    def some_rows(cls, found: Collection[str]) -> TableError:
        return cls(
            f"the table holds {' and '.join(found)}; under the plan's privacy mode it is not said "
            "how many.",
            fix="leave rows without a score out with --missing drop (missing='drop'), map labels "
            "with --map or --other, and repair the rest; fedparity sketch --dry-run with a plan "
            "without [privacy] counts them for you.",
        )

    # -- its filter

    @classmethod
    def bad_condition(cls, condition: str, reason: str) -> TableError:
        return cls(
            f"the filter {shortened(condition)!r} cannot be used: {reason}.",
            fix="give one SQL condition on the columns of a row, such as age >= 18 AND site = 'N'; a "
            'name that is a word of SQL stands in double quotes, such as "group".',
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


# Databases that cannot be reached, or refuse what was asked of them.
#
# A driver's own words are never passed on: they may quote a value of a row, or an address with its
# password. What is said instead is the kind of the failure.

_MOST_TABLES = 5


class DatabaseError(TableError):
    """A database that refuses what was asked of it, or was asked in a way that is not accepted."""

    # -- how it was asked

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
            "the address is not one of a database.",
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
