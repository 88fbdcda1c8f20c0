"""The evidence of an audit: all that is needed to make its result again."""

from __future__ import annotations

import io
import json
import platform
import zipfile
from importlib.metadata import version

import sqlalchemy as sa

from fedparity.documents.files import FileNames
from fedparity.documents.result import AuditResult
from fedparity.modes.mode import mode_of
from fedparity.report.formats import FORMATS
from fedparity.service import store
from fedparity.service.studies import Studies
from fedparity.version import SOFTWARE

__all__ = ["evidence_archive"]

_README = """What is in this archive was made by {software}.

plan.toml     the plan, as the silos agreed to it
inbox/        the messages of every silo that are in the result, as they were sent
result.json   the result
report.html   the same for people
log.jsonl     who did what; each line has its own digest and that of the line before it in the collector,
              which may be of another study
versions.json the programs that made this archive; result.json states what made the result

The same result again, byte for byte:

  fedparity audit plan.toml inbox -o again.json
"""


def evidence_archive(studies: Studies, study_id: str, number: int) -> bytes | None:
    """Return an archive from which ``fedparity audit`` makes the same result again, byte for byte."""
    table = store.run
    with studies.store.read() as connection:
        row = connection.execute(
            sa.select(table).where(table.c.study == study_id, table.c.number == number)
        ).one_or_none()
    if row is None:
        return None
    result = AuditResult.from_dict(json.loads(bytes(row.result)))
    events = [vars(line) for line in studies.store.events(study_id)]
    files: dict[str, bytes] = {
        "plan.toml": (studies.plan_text(study_id) or "").encode(),
        **_inbox(studies, study_id, set(json.loads(row.digests))),
        "result.json": bytes(row.result),
        "report.html": FORMATS["html"].render(result),
        "log.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in events),
        "versions.json": json.dumps(_versions(), indent=2).encode() + b"\n",
        "README.txt": _README.format(software=SOFTWARE).encode(),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return buffer.getvalue()


def _versions() -> dict[str, str]:
    """The programs on which the numbers and this archive depend."""
    packages = ("fedparity", "numpy", "narwhals", "jinja2", "sqlalchemy", "starlette", "uvicorn")
    found = {"python": platform.python_version(), "system": platform.platform()}
    return found | {name: version(name) for name in packages}


def _inbox(studies: Studies, study_id: str, digests: set[str]) -> dict[str, bytes]:
    """The messages that were measured, by the names of their files."""
    names = FileNames()
    if mode_of(studies.plan(study_id)).in_rounds:
        found = studies.rounds.files(study_id, digests)
        return {
            f"inbox/{names.of(silo)}.{step}.json" if silo else f"inbox/{step}.json": data
            for silo, step, data in found
        }
    table = store.message
    query = sa.select(table.c.silo, table.c.digest, table.c.content).where(
        table.c.study == study_id
    )
    with studies.store.read() as connection:
        rows = connection.execute(query.order_by(table.c.silo)).all()
    return {
        f"inbox/{names.of(row.silo)}.json": bytes(row.content)
        for row in rows
        if row.digest in digests
    }
