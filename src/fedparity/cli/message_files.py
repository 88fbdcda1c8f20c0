"""Messages of silos in files: found by name, pattern or folder, read, and checked against the plan."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic

import click

from fedparity.cli.output import Progress
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_message, check_messages
from fedparity.documents.plan import Plan
from fedparity.errors import MessageError, MissingSiloError
from fedparity.errors.base import listed, printable

__all__ = [
    "Facts",
    "Inspection",
    "check_complete",
    "inspect_files",
    "inspect_message",
    "message_files",
    "missing_silos",
]


def message_files(names: Iterable[str]) -> list[str]:
    """Return the files, each once, in the order in which they were named.

    Of a folder, those directly in it that end in ``.json``. What a folder or a pattern contains besides
    files (pipes, folders, links that lead nowhere or in a circle) is skipped with a message.

    Raises
    ------
    MessageError
        If a folder or a pattern contains none; a file that does not exist is found when it is read.
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
    """Whether it is a file; if not, print it: the auditor may be waiting for that message."""
    if os.path.isfile(path):  # noqa: PTH113 -- False for a link in a circle too
        return True
    click.echo(f"skipped {printable(path)}: it is not a file", err=True)
    return False


@dataclass(frozen=True)
class Facts:
    """Facts about a message, without its numbers."""

    silo: str
    digest: str
    cells: int
    levels: tuple[int, ...]
    """Of the cells that are not withheld."""
    signed: bool

    @classmethod
    def from_message(cls, sketch: SiloSketch) -> Facts:
        """Return the facts about a message."""
        return cls(
            silo=sketch.silo,
            digest=sketch.digest,
            cells=len(sketch.cells),
            levels=tuple(cell.levels for cell in sketch.cells if cell.withheld is None),
            signed=sketch.signature is not None,
        )


@dataclass(frozen=True)
class Inspection:
    """One file: its message if it could be read, and why it is refused if it is."""

    file: str
    facts: Facts | None
    error: MessageError | None
    """Names the file."""
    sketch: SiloSketch | None = None
    """The message, if it is not refused: others may be of any size."""

    @classmethod
    def from_message(cls, file: str, sketch: SiloSketch) -> Inspection:
        """Return the facts about a message that nothing speaks against so far."""
        return cls(file, Facts.from_message(sketch), None, sketch)


def inspect_files(
    plan: Plan, files: Sequence[str], progress: Progress | None = None
) -> list[Inspection]:
    """Return what is found in each file; several messages of one silo are all refused, as one is wrong.

    Invalid files are left out. The numbers of many messages are checked together, which takes a tenth of
    the time; where one of them is not valid, each is checked alone, to name it.
    """
    found: list[Inspection] = []
    waiting: list[Inspection] = []
    values = 0
    for done, file in enumerate(files, start=1):
        try:
            waiting.append(Inspection.from_message(file, SiloSketch.read(file)))
        except MessageError as error:
            waiting.append(Inspection(file, None, _detached(error)))
        if (facts := waiting[-1].facts) is not None:
            values += sum(facts.levels)
        if values >= _VALUES_AT_ONCE or done == len(files):
            found += _checked(plan, waiting)
            waiting, values = [], 0
        if progress is not None:
            progress(done, len(files), "checking")
    digests: dict[str, list[str]] = defaultdict(list)
    for each in found:
        if each.facts is not None:
            digests[each.facts.silo].append(each.facts.digest)
    return [_refuse_twice(each, digests) for each in found]


_VALUES_AT_ONCE = 50_000
"""Values of messages that wait for their check: an invalid message may be of any size."""


def _checked(plan: Plan, found: list[Inspection]) -> list[Inspection]:
    """The files with the errors of their messages."""
    try:
        check_messages(plan, (each.sketch for each in found if each.sketch is not None))
    except MessageError:
        return [
            each if each.sketch is None else inspect_message(plan, each.file, each.sketch)
            for each in found
        ]
    return found


def inspect_message(plan: Plan, file: str, sketch: SiloSketch) -> Inspection:
    """Return whether a message that could be read answers the plan."""
    found = Inspection.from_message(file, sketch)
    try:
        check_message(plan, sketch)
    except MessageError as error:
        return replace(found, error=_detached(error, f"{file}: "), sketch=None)
    return found


def _refuse_twice(each: Inspection, digests: dict[str, list[str]]) -> Inspection:
    if each.facts is None or each.error is not None or len(digests[each.facts.silo]) == 1:
        return each
    silo = each.facts.silo
    alike = len(set(digests[silo])) == 1
    refuse = MessageError.same_twice if alike else MessageError.silo_twice
    return replace(each, error=_detached(refuse(silo), f"{each.file}: "), sketch=None)


def _detached(error: MessageError, place: str = "") -> MessageError:
    """The same error with the name of the file, and without its traceback.

    The frames of a traceback keep the bytes of the file in memory for as long as the error lives.
    """
    return type(error)(f"{place}{error.message}", fix=error.fix)


def missing_silos(plan: Plan, received: Iterable[str]) -> list[str]:
    """Return the silos of the roster that sent nothing; empty without a roster."""
    seen = set(received)
    return [silo for silo in plan.silos or () if silo not in seen]


def check_complete(plan: Plan, missing: Sequence[str]) -> None:
    """Raise if a silo of the roster sent nothing, or if there is no roster.

    Raises
    ------
    MissingSiloError
        If one is missing.
    click.UsageError
        If the plan has no roster.
    """
    if plan.silos is None:
        raise click.UsageError("--require-all needs a plan with a roster (silos = [...]).")
    if missing:
        raise MissingSiloError(
            f"{len(missing):,} of the {len(plan.silos):,} silos of the plan sent no message: "
            f"{listed(missing)}.",
            fix="ask them for it, or leave out --require-all to go on without them.",
        )
