"""One statement that reads, and nothing else: what a query may be.

Three locks hold a query, and this is the first. The second is the transaction, which is read-only;
the third is the driver, which prepares one statement, or takes no second one. A query also
becomes a subquery of ours, where a statement that writes is an error of syntax.
"""

from __future__ import annotations

import re

from fedparity.errors import DatabaseError

__all__ = ["gives_the_same_rows_again", "single_query"]

_QUOTED = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*.*?\*/ )
  | (?P<dollar>  \$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?\$(?P=tag)\$ )
  | (?P<string>  '(?:[^']|'')*' )
  | (?P<name>    "(?:[^"]|"")*" | `(?:[^`]|``)*` )
    """,
    re.VERBOSE | re.DOTALL,
)
_OPEN = re.compile(r"['\"`]|/\*|\*/|\$[A-Za-z_]*\$")
"""What is left of a quote or comment that is not closed."""
_DISPUTED = "\\", "--", "/*", "#", "$", "`"
"""Signs that do not mean the same to all databases; beside a semicolon they are not accepted."""
_WORD = re.compile(r"(?<![\w.$])[A-Za-z_]+")
_READING = "select", "with", "values", "table"
_WRITING = frozenset(
    [
        "alter",
        "create",
        "delete",
        "drop",
        "exec",
        "execute",
        "grant",
        "insert",
        "into",
        "merge",
        "revoke",
        "truncate",
        "update",
    ]
)
_UNSTEADY = frozenset(
    [
        "limit",
        "offset",
        "fetch",
        "top",
        "sample",
        "tablesample",
        "rownum",
        "random",
        "rand",
        "newid",
        "uuid",
        "gen_random_uuid",
        "nextval",
        "clock_timestamp",
        "sysdate",
    ]
)


def single_query(sql: str) -> str:
    """Return a query without the semicolon at its end.

    A semicolon is accepted at the end, and inside a string, provided that the query holds no sign
    by which databases might differ about where that string ends.

    Raises
    ------
    DatabaseError
        If it is more than one statement, or one that does not read; the message shows nothing of it.

    Examples
    --------
    >>> single_query("SELECT risk, sex FROM visits WHERE note <> 'a;b';")
    "SELECT risk, sex FROM visits WHERE note <> 'a;b'"
    """
    query = sql.strip().removesuffix(";").strip()
    if "\x00" in query:
        raise DatabaseError.bad_query("it holds a character that no statement may hold")
    if re.search(r"/\*M?!", query):
        raise DatabaseError.bad_query("it holds a comment that a server would carry out")
    if re.search(r"\\['\"`]", query):
        raise DatabaseError.bad_query("a quote in it follows a backslash; write the quote twice")
    bare = _bare(query)
    if ";" in bare or (";" in query and any(sign in query for sign in _DISPUTED)):
        raise DatabaseError.bad_query("it holds more than one statement, or seems to")
    _refuse_open_parentheses(bare)
    words = [word.lower() for word in _WORD.findall(bare)]
    if not words or words[0] not in _READING:
        raise DatabaseError.bad_query("it does not start with SELECT, WITH, VALUES or TABLE")
    if writing := sorted(_WRITING.intersection(words)):
        raise DatabaseError.bad_query(
            f"it holds the word {writing[0].upper()}; a column of that name stands in quotes"
        )
    return query


def gives_the_same_rows_again(query: str) -> bool:
    """Return False if a query, asked twice of the same tables, may give other rows.

    ``LIMIT`` without an order, samples and random numbers do. It is a guess from words; that two
    scans agree is checked again when they are counted.

    Examples
    --------
    >>> gives_the_same_rows_again("SELECT risk, sex FROM visits")
    True
    >>> gives_the_same_rows_again("SELECT risk, sex FROM visits LIMIT 1000")
    False
    """
    return not _UNSTEADY.intersection(word.lower() for word in _WORD.findall(_bare(query)))


def _bare(query: str) -> str:
    """The query without its strings, quoted names and comments."""
    bare = _QUOTED.sub(lambda found: " x " if found["name"] else " ", query)
    if _OPEN.search(bare):
        raise DatabaseError.bad_query("a quote or a comment in it is not closed")
    return bare


def _refuse_open_parentheses(bare: str) -> None:
    depth = 0
    for sign in re.findall(r"[()]", bare):
        depth += 1 if sign == "(" else -1
        if depth < 0:
            break
    if depth:
        raise DatabaseError.bad_query("its parentheses do not match")
