"""What a collector deletes: a study when the auditor says so or when it is old, secrets once they expired.

The log keeps its chain whole: who did what and when, names of silos and digests, and no content.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from fedparity.errors import OptionError
from fedparity.service import access, store
from fedparity.service.studies import Studies

__all__ = ["delete_old", "delete_study"]


def delete_study(studies: Studies, study_id: str, *, actor: str = "auditor") -> None:
    """Delete a study with everything in it; the log keeps that there was one."""
    with studies.store.change() as change:
        change.connection.execute(sa.delete(store.study).where(store.study.c.id == study_id))
        change.log(actor, "deleted", study=study_id)
    studies.forget(study_id)
    studies.store.shrink()


def delete_old(studies: Studies, days: int | None) -> tuple[list[str], int]:
    """Delete expired secrets, and studies in which nothing happened for so many days, if any are stated.

    Returns
    -------
    tuple of list of str and int
        The ids of the studies, and the number of links, sessions and tokens.

    Raises
    ------
    OptionError
        If it is not a number of days.
    """
    if days is not None and not 1 <= days <= 36_500:
        raise OptionError(
            f"studies cannot be kept for {days} days.", fix="state 1 day or more, or leave it out."
        )
    old = [] if days is None else _idle_since(studies, datetime.now(UTC) - timedelta(days=days))
    for study_id in old:
        delete_study(studies, study_id, actor="retention")
    with studies.store.change() as change:
        expired = access.forget_expired(change)
    return old, expired


def _idle_since(studies: Studies, at: datetime) -> list[str]:
    """The studies of which the last line of the log is older, the oldest first."""
    last = (
        sa.select(sa.func.max(store.event.c.at))
        .where(store.event.c.study == store.study.c.id)
        .scalar_subquery()
    )
    query = (
        sa.select(store.study.c.id)
        .where(last < at.strftime("%Y-%m-%dT%H:%M:%SZ"))
        .order_by(store.study.c.created)
    )
    with studies.store.read() as connection:
        return [row.id for row in connection.execute(query)]
