"""Databases that cannot be reached, or refuse what was asked of them.

A driver's own words are never passed on: they may quote a value of a row, or an address with its
password. What is said instead is the kind of the failure.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fedparity.errors.base import listed
from fedparity.errors.tables import TableError, nearest, shortened

__all__ = ["DatabaseError", "DatabaseNameError", "DatabaseUnreachableError"]

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
    def other_session(cls) -> DatabaseError:
        return cls(
            "a Spark session is active already, and it is not that of the address.",
            fix="pass a DataFrame of the active session, or stop it first.",
        )

    @classmethod
    def unknown_kind(cls, kind: str) -> DatabaseError:
        return cls(
            f"there is no driver for databases of the kind {shortened(kind)!r}.",
            fix="check the part of the address before ://, and install the driver that SQLAlchemy "
            "names for it.",
        )

    @classmethod
    def bad_name(cls, name: str) -> DatabaseError:
        return cls(
            f"{shortened(name)!r} is not the name of a table.",
            fix="write NAME or SCHEMA.NAME; a part with a dot in it stands in double quotes, such "
            'as "2026.visits".',
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
