"""Readers of a study: people whom the auditor lets see report and states, and who change nothing."""

from __future__ import annotations

import sqlalchemy as sa

from fedparity.documents.fields import is_name
from fedparity.errors import OptionError
from fedparity.service import access, store
from fedparity.service.store import Store, now

__all__ = ["invite_reader", "readers_of", "remove_reader"]


def readers_of(database: Store, study_id: str) -> list[tuple[str, str]]:
    """Return the name of every reader of a study, and when they were invited."""
    table = store.reader
    query = (
        sa.select(table.c.name, table.c.invited)
        .where(table.c.study == study_id)
        .order_by(table.c.name)
    )
    with database.read() as connection:
        return [(row.name, row.invited) for row in connection.execute(query)]


def invite_reader(database: Store, study_id: str, name: str) -> str:
    """Return a link for a reader; the links and sessions that they had are void.

    Raises
    ------
    OptionError
        If the name cannot stand on one line.
    """
    if not is_name(name):
        raise OptionError("a reader has a name on one line.", fix="type a name.")
    with database.change() as change:
        _remove(change.connection, study_id, name)
        access.revoke(change, study=study_id, reader=name)
        row = {"study": study_id, "name": name, "invited": now()}
        change.connection.execute(sa.insert(store.reader).values(**row))
        link = access.issue(change, "link", "reader", study=study_id, reader=name)
        change.log("auditor", f"invited reader {name}", study=study_id)
    return link


def remove_reader(database: Store, study_id: str, name: str) -> None:
    """Take the right to read from somebody, at once."""
    if not is_name(name):
        return  # nobody has it, and not every database takes it
    with database.change() as change:
        if _remove(change.connection, study_id, name):
            access.revoke(change, study=study_id, reader=name)
            change.log("auditor", f"removed reader {name}", study=study_id)


def _remove(connection: sa.Connection, study_id: str, name: str) -> bool:
    table = store.reader
    gone = sa.delete(table).where(table.c.study == study_id, table.c.name == name)
    return connection.execute(gone).rowcount > 0
