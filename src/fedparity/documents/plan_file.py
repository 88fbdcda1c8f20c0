"""Plans read from TOML, with every mistake at once, its line and its fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedparity.documents.fields import hidden_place
from fedparity.documents.files import Path, read_bounded
from fedparity.documents.json_text import LARGEST_TOML, TomlSyntaxError, key_lines, parse_toml
from fedparity.documents.plan_rules import MOST_PROBLEMS, Problem, settle
from fedparity.errors import PlanError

__all__ = [
    "Mistake",
    "check_plan",
    "plan_toml",
    "read_plan_text",
    "settled_document",
    "settled_text",
]

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_WIDTH = 95
_COMMENTS = {
    "groups": "labels, in reporting order",
    "score_range": "public, never read from data",
    "score_step": "scores lie on this grid, from the lowest on",
    "levels": "k: values per cell, at most",
    "sketch": '"mean", "quantile" or "counts"',
    "estimator": '"exact" or "grid"',
    "thresholds": "records are counted on both sides; equal is above",
    "favorable": '"above" or "below" a threshold',
    "period": "first and last day of the records",
    "order": "2: squared differences, 1: absolute ones",
    "review_level": "disparity above which you want a review",
    "review_unit": '"points", "share", "sd": the worst pair; "squared": all groups',
    "trim": "share of levels left out at each end",
    "silos": "the roster: then missing ones are reported, and others refused",
    "axes": "a table by each, and one by all of them together",
    "unknown": "labels of what is not known: counted, not compared",
    "set_aside": "share of records below which a category is not compared",
    "positive": "label of the outcome that the score predicts",
    "negative": "label of the other outcome",
    "outcome.bins": "scores at which bins of calibration meet",
    "minimum_cell": "a cell with fewer records is withheld",
    "records_per_level": "at most one value per this many records; 0 turns it off",
    "rounding": "share of the score range; 0 turns it off",
    "mode": '"dp", "secure" or "secure+dp"',
    "epsilon": "the privacy loss of one release",
    "bins": "of the histograms",
    "edges": "public scores at which bins meet",
    "records": "public planning size of the smallest group",
    "budget": "the loss of all releases from one data set",
    "threshold": "silos needed to open the sum",
    "dose": 'of noise: "full" or "split"',
    "honest": "silos whose noise must suffice",
}
_OMITTED = {
    "score_step": "# score_step = 0.01",
    "thresholds": "# thresholds = [0.5]",
    "period": "# period = [2026-10-01, 2026-12-31]",
    "review_level": "# review_level = 0.05",
    "silos": '# silos = ["aurora", "bayside"]',
}
_TABLES = {
    "outcome": "what happened to a record",
    "disclosure": "what a silo holds back",
    "privacy": "how single records are protected",
    "keys": "Ed25519 public keys by silo: then every message must be signed",
    "totals": "public numbers of records by silo",
    "signature": "the auditor's, of all the rest",
}


def plan_toml(document: Mapping[str, Any]) -> str:
    """Return the TOML text of a complete plan, one comment per key.

    ``document`` is what :meth:`Plan.to_dict` returns. Reading the text gives the same plan.
    """
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    for key, value in document.items():
        if key in _TABLES or (key == "groups" and "axes" in document):
            continue
        if key == "period" and value is not None:
            yield _commented(f"period = [{', '.join(value)}]", key)  # TOML's own dates
        elif key == "axes":
            axes = (f"{_name(axis['name'])} = {_value(axis['labels'])}" for axis in value)
            yield _commented("axes = { " + ", ".join(axes) + " }", key)
        elif value is None or value == []:
            yield _commented(_OMITTED[key], key)
        else:
            yield from _entry(key, value)
    for key, meaning in _TABLES.items():
        if document.get(key):
            yield ""
            yield f"[{key}]".ljust(31) + f"# {meaning}"
            for name, value in document[key].items():
                if value != []:
                    yield from _entry(name, value, table=key)


def _entry(key: str, value: object, *, table: str = "") -> Iterator[str]:
    commented = f"{table}.{key}" if f"{table}.{key}" in _COMMENTS else key
    name = _name(key)
    line = f"{name} = {_value(value)}"
    if isinstance(value, list) and len(line) > _WIDTH:
        comment = f"  # {_COMMENTS[commented]}" if commented in _COMMENTS else ""
        yield f"{name} = [{comment}"
        yield from (f"  {_value(item)}," for item in value)
        yield "]"
    else:
        yield _commented(line, commented)


def _name(key: str) -> str:
    return key if _BARE.issuperset(key) else _quoted(key)


def _commented(line: str, key: str) -> str:
    return f"{line.ljust(30)} # {_COMMENTS[key]}" if key in _COMMENTS else line


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)


def _quoted(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, and names hold no control character."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


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
        What was expected and what was found.
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
    data = read_bounded(path, limit=LARGEST_TOML, error=PlanError)
    try:
        return plan_text(data)
    except PlanError as error:
        raise error.within(str(path)) from None


def plan_text(data: bytes) -> str:
    """Return the text of the bytes of a plan file, without the mark that some editors put before it.

    Raises
    ------
    PlanError
        If it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise PlanError.not_utf8(problem.start) from None


def _settled(text: str) -> tuple[dict[str, Any], tuple[Mistake, ...]]:
    if len(text) > LARGEST_TOML:
        error = PlanError.too_large(LARGEST_TOML)
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
        more = " or more" if len(mistakes) >= MOST_PROBLEMS else ""
        lines = "\n".join(f"  {mistake}" for mistake in mistakes)
        raise PlanError(
            f"the plan has {len(mistakes)}{more} mistakes:\n{lines}",
            fix="correct each of them as its line says, then run fedparity plan check.",
        )
