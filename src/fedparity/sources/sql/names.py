"""Names of tables: parts between dots, of which some stand in quotes."""

from __future__ import annotations

import re

from fedparity.errors import DatabaseError

__all__ = ["name_parts", "quoted"]

_PART = re.compile(r'"(?:[^"]|"")+"|[^".]+')
_MOST_PARTS = 3


def name_parts(name: str) -> tuple[str, ...]:
    """Return the parts of a table's name: itself, before it its schema, before that its catalog.

    Raises
    ------
    DatabaseError
        If it is no such name.

    Examples
    --------
    >>> name_parts("clinic.visits"), name_parts('clinic."visits.2026"')
    (('clinic', 'visits'), ('clinic', 'visits.2026'))
    """
    parts = _PART.findall(name)
    if not parts or len(parts) > _MOST_PARTS or ".".join(parts) != name or "\x00" in name:
        raise DatabaseError.bad_name(name)
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts)


def quoted(name: str, mark: str = '"') -> str:
    """Return a name between quotes, so that whatever is in it stays a name.

    Examples
    --------
    >>> quoted('risk" FROM visits; --')
    '"risk"" FROM visits; --"'
    """
    return f"{mark}{name.replace(mark, 2 * mark)}{mark}"
