"""The files of messages that were named: one by one, by a pattern, or by their folder."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic

import click

from fedparity.cli.output import Progress
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_message
from fedparity.documents.plan import Plan
from fedparity.errors import MessageError
from fedparity.errors.base import printable

__all__ = [
    "Facts",
    "Inspection",
    "inspect_files",
    "inspect_message",
    "message_files",
    "missing_silos",
]


def message_files(names: Iterable[str]) -> list[str]:
    """Return the files, each once, in the order in which they were named.

    Of a folder, those directly in it that end in ``.json``. What a folder or a pattern holds beside
    files (pipes, folders, links that lead nowhere or in a circle) is skipped, and named.

    Raises
    ------
    MessageError
        If a folder or a pattern holds none; a file that is not there is found when it is read.
    """
    files: dict[str, None] = {}
    for name in names:
        files.update(dict.fromkeys(_files(name)))
    return list(files)


def _files(name: str) -> list[str]:
    if os.path.isdir(name):  # noqa: PTH112 -- pathlib takes 7 ms to import
        found = sorted(
            entry.path
            for entry in os.scandir(name)
            if entry.name.endswith(".json") and not entry.name.startswith(".")
        )
    elif has_magic(name) and not os.path.lexists(name):
        found = sorted(glob(name, recursive=True))  # noqa: PTH207 -- may start at the root
    else:
        return [name]
    found = [each for each in found if _is_file(each)]
    if not found:
        raise MessageError(
            f"{name} holds no message.",
            fix="name the files, or a folder or pattern of files that end in .json.",
        )
    return found


def _is_file(path: str) -> bool:
    """Whether it is a file; if not, say so: whoever waits for a message should know."""
    if os.path.isfile(path):  # noqa: PTH113 -- False for a link in a circle too
        return True
    click.echo(f"skipped {printable(path)}: it is not a file", err=True)
    return False


@dataclass(frozen=True)
class Facts:
    """What is said of a message; its numbers are not kept."""

    silo: str
    digest: str
    cells: int
    levels: tuple[int, ...]
    """Of the cells that are not withheld."""
    signed: bool

    @classmethod
    def of(cls, sketch: SiloSketch) -> Facts:
        """Return the facts of a message."""
        return cls(
            silo=sketch.silo,
            digest=sketch.digest,
            cells=len(sketch.cells),
            levels=tuple(cell.levels for cell in sketch.cells if cell.withheld is None),
            signed=sketch.signature is not None,
        )


@dataclass(frozen=True)
class Inspection:
    """One file: what its message is if it could be read, and why it is refused if it is."""

    file: str
    facts: Facts | None
    error: MessageError | None
    """Names the file."""
    sketch: SiloSketch | None = None
    """The message, if it is not refused: others may be of any size."""


def inspect_files(
    plan: Plan, files: Sequence[str], progress: Progress | None = None
) -> list[Inspection]:
    """Return what is found in each file; two messages of one silo are both refused.

    Files are read one after the other, and nothing is kept of one that is refused.
    """
    found = []
    for done, file in enumerate(files, start=1):
        found.append(_inspect_file(plan, file))
        if progress is not None:
            progress(done, len(files), "checking")
    return _refuse_twice(found)


def inspect_message(plan: Plan, file: str, sketch: SiloSketch) -> Inspection:
    """Return whether a message that could be read answers the plan."""
    facts = Facts.of(sketch)
    try:
        check_message(plan, sketch)
    except MessageError as error:
        return Inspection(file, facts, _renewed(error, f"{file}: "))
    return Inspection(file, facts, None, sketch)


def _inspect_file(plan: Plan, file: str) -> Inspection:
    try:
        sketch = SiloSketch.read(file)
    except MessageError as error:
        return Inspection(file, None, _renewed(error))
    return inspect_message(plan, file, sketch)


def _refuse_twice(found: Sequence[Inspection]) -> list[Inspection]:
    """The same, with all messages of a silo refused that has several: one must be wrong."""
    by_silo: dict[str, list[str]] = defaultdict(list)
    for each in found:
        if each.facts is not None:
            by_silo[each.facts.silo].append(each.facts.digest)
    return [_once(each, by_silo) for each in found]


def _once(each: Inspection, by_silo: dict[str, list[str]]) -> Inspection:
    if each.facts is None or each.error is not None:
        return each
    silo = each.facts.silo
    if len(by_silo[silo]) == 1:
        return each
    alike = len(set(by_silo[silo])) == 1
    refuse = MessageError.same_twice if alike else MessageError.silo_twice
    return replace(each, error=_renewed(refuse(silo), f"{each.file}: "), sketch=None)


def _renewed(error: MessageError, place: str = "") -> MessageError:
    """The same error, with the name of the file, and without what led to it.

    The frames of a traceback hold the bytes of the file, for as long as the error is held.
    """
    return type(error)(f"{place}{error.message}", fix=error.fix)


def missing_silos(plan: Plan, received: Iterable[str]) -> list[str]:
    """Return the silos of the roster that sent nothing; none if there is no roster."""
    seen = set(received)
    return [silo for silo in plan.silos or () if silo not in seen]
