"""The data of a command: a file, or a database, whose password never comes from a flag."""

from __future__ import annotations

from typing import Any

import click

from fedparity.errors import DatabaseError, OptionError
from fedparity.sources.sql.address_file import read_address
from fedparity.sources.sql.addresses import Address, is_address
from fedparity.sources.sql.database_table import DatabaseTable

__all__ = ["data_of"]


def data_of(options: dict[str, Any]) -> object:
    """Take the data out of all options: a path, or a table of a database.

    Raises
    ------
    click.UsageError
        If what was given does not go together.
    OptionError
        If the address has a password and stands on the command line, or its file is open to others.
    """
    data, file = options.pop("data"), options.pop("url_file")
    table, query = options.pop("table"), options.pop("query")
    if (data is None) == (file is None):
        raise click.UsageError("give either DATA or --url-file FILE.")
    if file is not None:
        return _database(read_address(file), table, query)
    if is_address(data):
        if Address(data).has_secret:
            raise _secret_on_the_command_line()
        return _database(data, table, query)
    if table is not None or query is not None:
        raise click.UsageError("--table and --query go with the address of a database.")
    return data


def _database(address: str, table: str | None, query: str | None) -> DatabaseTable:
    if (table is None) == (query is None):
        raise click.UsageError(
            "a database holds many tables: give either --table NAME or --query SQL."
        )
    try:
        return DatabaseTable(address, table=table, query=query)
    except DatabaseError as error:
        raise OptionError(error.message, fix=error.fix) from None


def _secret_on_the_command_line() -> OptionError:
    return OptionError(
        "the address holds a password, which everybody on this machine can see in the list of "
        "processes, and which stays in the history of the shell.",
        fix="change the password, write the address to a file of mode 600 and pass --url-file FILE "
        "(- for the standard input), or use the password file of the database's own client.",
    )
