"""What ``fedparity verify`` found, in 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from fedparity.auditing.cautions import implausible_counts
from fedparity.cli.fitting import counted, cut, left, right, width_of, wrapped
from fedparity.cli.inspecting import Inspection
from fedparity.cli.plan_words import named
from fedparity.errors import SignatureError
from fedparity.errors.base import printable
from fedparity.protocol.plan import Plan

__all__ = ["doubts", "signed_words", "verify_text"]

_ALL = 40
"""Up to so many messages all are shown; of more, those refused and a count of the others."""
_LONGEST_NAME = 24
_COLUMNS = (("cells", 7), ("levels", 8), ("withheld", 10), ("signed", 11))


def verify_text(
    plan: Plan, found: Sequence[Inspection], missing: Sequence[str], width: int = 80
) -> str:
    """Return a table of the messages, then why some are refused, then who is missing."""
    shown = [each for each in found if len(found) <= _ALL or each.error is not None]
    names = min(max(4, *map(width_of, map(_name, shown))) if shown else 4, _LONGEST_NAME)
    heading = left("silo", names) + "".join(right(name, wide) for name, wide in _COLUMNS)
    lines = [f"{heading}  status"] if shown else []
    lines += [cut(_row(plan, each, names), width) for each in shown]
    if len(shown) < len(found):
        lines.append(f"{counted(len(found) - len(shown), 'message')} ok, not listed")
    lines += chain.from_iterable(_refusal(each, width) for each in shown if each.error)
    doubt = doubts(found)
    if doubt:
        lines += ["", *wrapped(doubt, width, first="! ")]
    return "\n".join([*lines, "", *_ending(plan, found, missing, width)])


def doubts(found: Sequence[Inspection]) -> str:
    """Return a warning of numbers of records that are hard to believe; nothing if there are none."""
    return implausible_counts([each.sketch for each in found if each.sketch is not None])


def signed_words(plan: Plan, each: Inspection) -> str:
    """Return whether a message is signed, as far as the plan lets one tell."""
    if each.facts is None or not each.facts.signed:
        return "no"
    if not plan.keys:
        return "unchecked"
    return "wrongly" if isinstance(each.error, SignatureError) else "yes"


def _name(each: Inspection) -> str:
    return printable(each.file) if each.facts is None else each.facts.silo


def _row(plan: Plan, each: Inspection, names: int) -> str:
    numbers = ["-", "-", "-", "-"]
    if (seen := each.facts) is not None:
        withheld = seen.cells - len(seen.levels)
        numbers = [str(seen.cells), _spread(seen.levels), str(withheld), signed_words(plan, each)]
    columns = "".join(right(text, wide) for text, (_, wide) in zip(numbers, _COLUMNS, strict=True))
    status = "ok" if each.error is None else "refused"
    if each.sketch is not None and each.sketch.replaces is not None:
        status += f", replaces {each.sketch.replaces[:19]}"
    return f"{left(_name(each), names)}{columns}  {status}"


def _spread(levels: Sequence[int]) -> str:
    """The levels of a message's cells, which may differ."""
    lowest, highest = min(levels, default=0), max(levels, default=0)
    return str(lowest) if lowest == highest else f"{lowest}-{highest}"


def _refusal(each: Inspection, width: int) -> list[str]:
    if each.error is None:
        return []
    return [
        "",
        *wrapped(each.error.message, width),
        *wrapped(each.error.fix, width, first="  fix: "),
    ]


def _ending(
    plan: Plan, found: Sequence[Inspection], missing: Sequence[str], width: int
) -> list[str]:
    valid = sum(each.error is None for each in found)
    words = f"{valid:,} of {counted(len(found), 'message')} ok"
    if plan.silos is None:
        return wrapped(f"{words}; the plan has no roster, so nobody can be missing.", width)
    if missing:
        return wrapped(f"{words}; {len(missing):,} missing: {named(list(missing))}.", width)
    return wrapped(f"{words}; no silo of the roster is missing.", width)
