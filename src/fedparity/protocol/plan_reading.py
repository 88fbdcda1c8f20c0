"""Plans read from TOML, with every mistake at once, its line and its fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedparity.errors import PlanError
from fedparity.protocol.files import Path, read_bounded
from fedparity.protocol.labels import hidden_place
from fedparity.protocol.settling import MOST_PROBLEMS, Problem, settle
from fedparity.protocol.toml_text import LARGEST, TomlSyntaxError, key_lines, parse_toml

__all__ = ["Mistake", "check_plan", "read_plan_text", "settled_document", "settled_text"]

_LAYOUT = dict.fromkeys(map(ord, "\t\r\n"), " ")


@dataclass(frozen=True)
class Mistake:
    """One mistake of a plan.

    Attributes
    ----------
    line : int or None
        Where it is, counted from 1; None where something is missing.
    key : str
        The key it is about, with its table, such as ``disclosure.rounding``.
    message : str
        What was expected and what came.
    fix : str
        What to do about it.
    """

    line: int | None
    key: str
    message: str
    fix: str

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.message} Fix: {self.fix}"


def check_plan(text: str) -> tuple[Mistake, ...]:
    """Return every mistake of a plan's TOML text, in the order of its lines; none if it is valid.

    Examples
    --------
    >>> plan = '''schema = "fedparity/plan/1"
    ... title = "Q4"
    ... groups = ["A", "A"]
    ... score_range = [0, 1]
    ... level = 50
    ... '''
    >>> for mistake in check_plan(plan):
    ...     print(mistake.line, mistake.message)
    3 two groups have the same text, 'A'.
    5 'level' is not a key of a plan here.
    """
    return _settled(text)[1]


def settled_text(text: str) -> dict[str, Any]:
    """Return what each key of a plan's TOML text means.

    Raises
    ------
    PlanError
        If there is a mistake; its message lists them all.
    """
    settled, mistakes = _settled(text)
    _refuse(mistakes)
    return settled


def settled_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each key of a plan means that was written as JSON or built in Python.

    Raises
    ------
    PlanError
        If there is a mistake; its message lists them all.
    """
    settled, problems = settle(document)
    _refuse([_mistake(problem, {}) for problem in problems])
    return settled


def read_plan_text(path: Path) -> str:
    """Return the text of a plan file, without the mark that some editors put before it.

    Raises
    ------
    PlanError
        If it cannot be read, is larger than 4 MB, or is not UTF-8.
    """
    data = read_bounded(path, limit=LARGEST, error=PlanError)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise PlanError.not_utf8(problem.start).within(str(path)) from None


def _settled(text: str) -> tuple[dict[str, Any], tuple[Mistake, ...]]:
    if len(text) > LARGEST:
        error = PlanError.too_large(LARGEST)
        return {}, (Mistake(None, "", error.message, error.fix),)
    place = hidden_place(text.translate(_LAYOUT))
    if place is not None:
        line = text.count("\n", 0, place) + 1
        code = f"U+{ord(text[place]):04X}"
        message = f"the plan holds a character that cannot be seen, {code}."
        return {}, (
            Mistake(line, "", message, "remove it; it could make the plan look like another."),
        )
    try:
        settled, problems = settle(parse_toml(text))
    except TomlSyntaxError as error:
        return {}, (_syntax_mistake(error),)
    lines = key_lines(text) if problems else {}
    mistakes = [_mistake(problem, lines) for problem in problems]
    return settled, tuple(sorted(mistakes, key=lambda m: m.line or 0))


def _syntax_mistake(error: TomlSyntaxError) -> Mistake:
    fix = 'write it as TOML: key = value, texts between quotes, lists as ["A", "B"].'
    return Mistake(error.line, "", f"this is not TOML: {error.problem}.", fix)


def _mistake(problem: Problem, lines: Mapping[tuple[str, ...], int]) -> Mistake:
    error = problem.error
    return Mistake(_line(problem.path, lines), ".".join(problem.path), error.message, error.fix)


def _line(path: tuple[str, ...], lines: Mapping[tuple[str, ...], int]) -> int | None:
    """The line of the key, or of the table or inline table that holds it."""
    for size in range(len(path), 0, -1):
        if path[:size] in lines:
            return lines[path[:size]]
    return None


def _refuse(mistakes: Sequence[Mistake]) -> None:
    if len(mistakes) == 1:
        (mistake,) = mistakes
        place = "" if mistake.line is None else f"line {mistake.line}: "
        raise PlanError(f"{place}{mistake.message}", fix=mistake.fix)
    if mistakes:
        raise PlanError.listing(mistakes, most=MOST_PROBLEMS)
