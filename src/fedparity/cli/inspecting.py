"""Messages checked one by one: all of them, even if one is refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fedparity.cli.progress import Progress
from fedparity.errors import MessageError
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.message_checks import check_message
from fedparity.protocol.plan import Plan

__all__ = ["Inspection", "inspect_files", "inspect_message", "missing_silos", "refuse_twice"]


@dataclass(frozen=True)
class Inspection:
    """One file: its message if it could be read, and why it is refused if it is."""

    file: str
    sketch: SiloSketch | None
    error: MessageError | None
    """Names the file."""


def inspect_files(
    plan: Plan, files: Sequence[str], progress: Progress | None = None
) -> list[Inspection]:
    """Return what is found in each file; two messages of one silo are both refused."""
    found = []
    for done, file in enumerate(files, start=1):
        found.append(_inspect_file(plan, file))
        if progress is not None:
            progress(done, len(files), "checking")
    return refuse_twice(found)


def inspect_message(plan: Plan, file: str, sketch: SiloSketch) -> Inspection:
    """Return whether a message that could be read answers the plan."""
    try:
        check_message(plan, sketch)
    except MessageError as error:
        return Inspection(file, sketch, _within(error, file))
    return Inspection(file, sketch, None)


def _inspect_file(plan: Plan, file: str) -> Inspection:
    try:
        sketch = SiloSketch.read(file)
    except MessageError as error:
        return Inspection(file, None, error)
    return inspect_message(plan, file, sketch)


def refuse_twice(found: Sequence[Inspection]) -> list[Inspection]:
    """Return the same, with all messages of a silo refused that has several: one must be wrong."""
    by_silo: dict[str, list[SiloSketch]] = defaultdict(list)
    for each in found:
        if each.sketch is not None:
            by_silo[each.sketch.silo].append(each.sketch)
    return [_once(each, by_silo) for each in found]


def _once(each: Inspection, by_silo: dict[str, list[SiloSketch]]) -> Inspection:
    if each.sketch is None or each.error is not None:
        return each
    same = by_silo[each.sketch.silo]
    if len(same) == 1:
        return each
    alike = all(other == same[0] for other in same)
    refuse = MessageError.same_twice if alike else MessageError.silo_twice
    return replace(each, error=_within(refuse(each.sketch.silo), each.file))


def _within(error: MessageError, file: str) -> MessageError:
    """The same error, of the same class, with the name of the file."""
    return type(error)(f"{file}: {error.message}", fix=error.fix)


def missing_silos(plan: Plan, received: Iterable[str]) -> list[str]:
    """Return the silos of the roster that sent nothing; none if there is no roster."""
    seen = set(received)
    return [silo for silo in plan.silos or () if silo not in seen]
