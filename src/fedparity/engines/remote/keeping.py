"""The auditor's folder: every message as it came, the result, and the record of the exchange."""

from __future__ import annotations

import json
import os
from pathlib import Path

from fedparity.auditing.result import AuditResult
from fedparity.engines.remote.record import Record
from fedparity.errors import OutputError
from fedparity.protocol.file_names import FileNames
from fedparity.protocol.files import write_whole
from fedparity.protocol.plan import Plan

__all__ = ["Folder"]


class Folder:
    """A folder of one run: ``messages/``, ``plan.toml``, ``result.json``, ``exchange.json``.

    ``fedparity audit plan.toml messages`` in it gives the same result.
    """

    def __init__(self, path: str | os.PathLike[str], plan: Plan) -> None:
        self.path = Path(path).absolute()
        self._plan = plan
        self._names = FileNames()

    def open(self) -> None:
        """Make the folder, and write the plan to it.

        Raises
        ------
        OutputError
            If it holds an earlier run, or cannot be made.
        """
        for name in ("result.json", "exchange.json", "messages", "plan.toml"):
            if (self.path / name).exists():
                raise OutputError.exists(str(self.path / name))
        try:
            self._messages.mkdir(parents=True)
        except OSError as problem:
            raise OutputError.unwritable(str(self.path), _reason(problem)) from None
        self._plan.write(self.path / "plan.toml")

    def keep_message(self, silo: str, ending: str, data: bytes) -> None:
        """Write a message of a silo, byte for byte as it came.

        Nobody waits for the disk: a run that the machine does not survive is begun anew, and
        thousands of waits would be longer than the audit.
        """
        path = self._messages / f"{self._names.of(silo)}.{ending}.json"
        try:
            with path.open("xb") as file:
                file.write(data)
        except FileExistsError:
            raise OutputError.exists(str(path)) from None
        except OSError as problem:
            raise OutputError.unwritable(str(path), _reason(problem)) from None

    def keep_result(self, result: AuditResult) -> Path:
        """Write the result, and return its file."""
        result.write(self.path / "result.json")
        return self.path / "result.json"

    def keep_record(self, record: Record) -> None:
        """Write what happened."""
        text = json.dumps(record.to_dict(), indent=2, ensure_ascii=False)
        write_whole(self.path / "exchange.json", f"{text}\n".encode(), force=True)

    @property
    def _messages(self) -> Path:
        return self.path / "messages"


def _reason(problem: OSError) -> str:
    return problem.strerror or type(problem).__name__
