"""The keys of a plan: the values that each may have, one function per key, and how each is written as TOML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import product
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from fedparity.documents.fields import (
    LONGEST_NAME,
    FrozenMapping,
    Label,
    as_group,
    as_increasing,
    as_number,
    as_whole,
    group_text,
    is_name,
)
from fedparity.errors import PlanError
from fedparity.errors.document_errors import shown
from fedparity.laws.labels import Group
from fedparity.sketches.kinds import Kind

__all__ = [
    "EXAMPLES",
    "MOST_LEVELS",
    "MOST_POINTS",
    "MOST_THRESHOLDS",
    "MOST_VALUES",
    "OUTCOMES",
    "SCALARS",
    "SCHEMA",
    "WITHOUT_OUTCOME",
    "Favorable",
    "Outcome",
    "OutcomeName",
    "PlanTable",
    "Problem",
    "ReviewUnit",
    "axes",
    "group_labels",
    "intersections",
    "one_of",
    "outcome",
    "plan_toml",
    "positive",
    "records_of",
    "roster",
    "set_aside",
    "unknown",
]


Favorable: TypeAlias = Literal["above", "below"]
"""On which side of a threshold it is good to be; a score equal to it is above."""
ReviewUnit: TypeAlias = Literal["points", "share", "sd", "squared"]
"""What a review level is compared with: W_2 of the worst pair, in score ``points``, as a ``share`` of
the range or in standard deviations of the score (``sd``); or the disparity G_p, a ``squared`` one."""

OutcomeName: TypeAlias = Literal["positive", "negative"]
OUTCOMES: Final[tuple[OutcomeName, ...]] = ("positive", "negative")
WITHOUT_OUTCOME: Final = "without outcome"
"""The label of records whose outcome is missing."""

SCHEMA = "fedparity/plan/1"
MOST_GROUPS = 1000
MOST_LEVELS = 100_000
MOST_POINTS = 100_000
MOST_THRESHOLDS = 20
MOST_SILOS = 100_000
MOST_VALUES = 2_000_000
"""Values of one message: its bytes then stay below what a reader accepts."""
_MOST_AXES = 5
_MOST_LABELS = 200
_MOST_BINS = 20
_LARGEST_SCORE = 1e140
"""Squares of differences of scores fit a float."""

EXAMPLES = {
    "schema": f'schema = "{SCHEMA}"',
    "title": 'title = "Readmission risk, 2026 Q4"',
    "groups": 'groups = ["A", "B"]',
    "score_range": "score_range = [0.0, 1.0]",
}
"""The keys that every plan has, and a line to copy for each."""
_AXES_EXAMPLE = 'write axes = { sex = ["F", "M"], race = ["A", "B"] }, two axes or more.'
_OUTCOME_EXAMPLE = 'write [outcome], and below it positive = "1" and negative = "0".'


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What happened to a record, as a column of the silo's table says.

    Records without an outcome count in all that does not depend on it.

    Examples
    --------
    >>> Outcome(positive="1", negative="0").to_dict()
    {'positive': '1', 'negative': '0', 'bins': []}
    """

    positive: Label
    """The label of records for which the score warns or promises: they reoffended, paid back, fell ill."""
    negative: Label
    bins: tuple[float, ...] = ()
    """Public scores at which bins of calibration meet, increasing: counts by outcome are requested there."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as a plan's ``[outcome]`` table holds it."""
        return {"positive": self.positive, "negative": self.negative, "bins": list(self.bins)}

    @property
    def labels(self) -> tuple[Label, Label, str]:
        """What a record's outcome can be: positive, negative, missing."""
        return self.positive, self.negative, WITHOUT_OUTCOME


class PlanTable(NamedTuple):
    """One of the tables that a plan requests."""

    by: tuple[str, ...]
    """The axis; none for the groups of the plan."""
    groups: tuple[Group, ...]
    """Its rows, in their order."""


class Problem(NamedTuple):
    """A mistake, and the keys that lead to it."""

    path: tuple[str, ...]
    error: PlanError


def positive(key: str, example: float) -> Callable[[object], float]:
    """Return the check of a number above zero."""

    def check(value: object) -> float:
        number = as_number(value)
        if number is None or number <= 0:
            fix = f"set {key} to a positive number such as {example}."
            raise PlanError.wrong(key, "a number above 0", value, fix=fix)
        return number

    return check


def one_of(key: str, *choices: object) -> Callable[[object], Any]:
    """Return the check of a value among a few."""
    listed = " or ".join(f'"{c}"' if isinstance(c, str) else str(c) for c in choices)

    def check(value: object) -> object:
        for choice in choices:
            if type(value) is type(choice) and value == choice:
                return choice
        raise PlanError.wrong(key, listed, value, fix=f"set {key} to {listed}.")

    return check


def whole(key: str, least: int, most: int, example: int) -> Callable[[object], int]:
    """Return the check of a whole number between two bounds."""

    def check(value: object) -> int:
        number = as_whole(value, least, most)
        if number is None:
            expected = f"a whole number from {least:,} to {most:,}"
            raise PlanError.wrong(key, expected, value, fix=f"set {key} to {example}, say.")
        return number

    return check


def title(value: object) -> str:
    """Return the title."""
    if not is_name(value):
        expected = f"a text of 1 to {LONGEST_NAME} characters that can be seen"
        raise PlanError.wrong("title", expected, value, fix=f"write {EXAMPLES['title']}.")
    return str(value)


def score_range(value: object) -> tuple[float, float]:
    """Return the lowest and the highest score there can be."""
    ends = [as_number(end) for end in value] if isinstance(value, list | tuple) else []
    if len(ends) == 2 and ends[0] is not None and ends[1] is not None:
        lowest, highest = ends[0], ends[1]
        if -_LARGEST_SCORE <= lowest < highest <= _LARGEST_SCORE:
            return lowest, highest
    raise PlanError.wrong(
        "score_range",
        "two numbers, the lower one first",
        value,
        fix=f"write {EXAMPLES['score_range']} (--range 0 1), the range the scores can have by definition.",
    )


def thresholds(value: object) -> tuple[float, ...]:
    """Return the scores at which records are counted on both sides; they increase."""
    found = as_increasing(value, MOST_THRESHOLDS)
    if found is None:
        raise PlanError.wrong(
            "thresholds",
            f"a list of at most {MOST_THRESHOLDS} numbers that increase",
            value,
            fix="write the scores from which on a decision changes, such as thresholds = [5.0].",
        )
    return found


def period(value: object) -> tuple[str, str]:
    """Return the first and the last day that records are of, as ISO dates."""
    days = [_day(item) for item in value] if isinstance(value, list | tuple) else []
    if len(days) == 2 and days[0] is not None and days[1] is not None and days[0] <= days[1]:
        return days[0], days[1]
    raise PlanError.wrong(
        "period",
        "two dates, the earlier one first",
        value,
        fix="write period = [2026-10-01, 2026-12-31], the first and the last day of the records.",
    )


def _day(value: object) -> str | None:
    """A date as TOML, Python or JSON writes it; a time of day is not one."""
    if type(value) is date:
        return value.isoformat()
    try:
        return date.fromisoformat(value).isoformat() if isinstance(value, str) else None
    except ValueError:
        return None


def trim(value: object) -> float:
    """Return the share of levels left out at each end."""
    number = as_number(value)
    if number is None or not 0 <= number < 0.5:
        raise PlanError.wrong(
            "trim", "a number from 0 to below 0.5", value, fix="set trim to 0, or to 0.01, say."
        )
    return number


def group_labels(value: object) -> tuple[Group, ...]:
    """Return the groups, whose texts are distinct and which all have the same number of parts."""
    items = list(value) if isinstance(value, list | tuple) else []
    if not 2 <= len(items) <= MOST_GROUPS:
        expected, fix = f"a list of 2 to {MOST_GROUPS:,} labels", f"write {EXAMPLES['groups']}."
        if len(items) > MOST_GROUPS:  # they may be read from data, and name people
            raise PlanError(
                f"groups must be {expected}, not {len(items):,}.",
                fix=f"{fix[:-1]}; name the column of the groups, not one that differs in every record.",
            )
        raise PlanError.wrong("groups", expected, value, fix=fix)
    groups = tuple(_group(item) for item in items)
    widths = {len(group) if isinstance(group, tuple) else 1 for group in groups}
    if len(widths) > 1:
        sizes = ", ".join(map(str, sorted(widths)))
        raise PlanError(
            f"all groups must have as many parts as there are group columns, not {sizes}.",
            fix="write every group as one label, or every group as a list of the same number of labels.",
        )
    texts: set[object] = set()
    for text in map(group_text, groups):
        if text in texts:
            raise PlanError(
                f"two groups have the same text, {shown(text)}.",
                fix="list each group once; labels are compared by their text, so 1 and '1' are one.",
            )
        texts.add(text)
    return groups


def _group(label: object) -> Group:
    group = as_group(label)
    if group is None:
        raise PlanError.wrong(
            "a group",
            "a text, a whole number or a boolean, or a list of 2 to 10 of them",
            label,
            fix='write labels as text, such as "A", or ["F", "65+"] for two columns.',
        )
    return group


def roster(value: object) -> tuple[str, ...]:
    """Return the names of the silos."""
    names = tuple(value) if isinstance(value, list | tuple) else ()
    if not 1 <= len(names) <= MOST_SILOS:
        raise PlanError.wrong(
            "silos",
            f"a list of 1 to {MOST_SILOS:,} names",
            value,
            fix='write silos = ["aurora", "bayside"], or leave it out to accept any silo.',
        )
    seen: set[str] = set()
    for name in names:
        if not is_name(name):
            expected = f"a text of 1 to {LONGEST_NAME} characters that can be seen"
            raise PlanError.wrong("a silo's name", expected, name, fix="name every silo.")
        if name in seen:
            raise PlanError(f"silo {shown(name)} is listed twice.", fix="list each silo once.")
        seen.add(name)
    return tuple(str(name) for name in names)


def axes(value: object) -> FrozenMapping[tuple[Label, ...]]:
    """Return the axes by name, each with its labels in reporting order.

    JSON holds a list of names and labels, since its objects have no order.
    """
    if isinstance(value, list | tuple) and all(
        isinstance(each, Mapping) and each.keys() == {"name", "labels"} for each in value
    ):
        value = {each["name"]: each["labels"] for each in value}
    if not isinstance(value, Mapping) or not 2 <= len(value) <= _MOST_AXES:
        expected = f"2 to {_MOST_AXES} names, each with a list of labels"
        raise PlanError.wrong("axes", expected, value, fix=_AXES_EXAMPLE)
    return FrozenMapping(
        {_axis_name(name): _labels(name, labels) for name, labels in value.items()}
    )


def _axis_name(name: object) -> str:
    if not is_name(name):
        raise PlanError.wrong("the name of an axis", "a short text", name, fix=_AXES_EXAMPLE)
    return str(name)


def _labels(name: object, value: object) -> tuple[Label, ...]:
    items = list(value) if isinstance(value, list | tuple) else []
    labels = tuple(_label(item) for item in items)
    if not 2 <= len(labels) <= _MOST_LABELS:
        raise PlanError.wrong(
            f"axis {name}", f"a list of 2 to {_MOST_LABELS} labels", value, fix=_AXES_EXAMPLE
        )
    texts = [group_text(label) for label in labels]
    for text in texts:
        if texts.count(text) > 1:
            raise PlanError(
                f"axis {shown(name)} has the label {shown(text)} twice.",
                fix="list each label once; labels are compared by their text, so 1 and '1' are one.",
            )
    return labels


def _label(value: object) -> Label:
    label = as_group(value)
    if label is None or isinstance(label, tuple):
        raise PlanError.wrong(
            "a label", "a text, a whole number or a boolean", value, fix='write "F", say.'
        )
    return label  # type: ignore[no-any-return]


def unknown(value: object) -> tuple[Label, ...]:
    """Return the labels that mean that an attribute is not known."""
    items = list(value) if isinstance(value, list | tuple) else [value]
    return tuple(_label(item) for item in items)


def set_aside(value: object) -> float:
    """Return the share of records below which a category is not compared."""
    number = as_number(value)
    if number is None or not 0 <= number < 0.5:
        raise PlanError.wrong(
            "set_aside", "a share from 0 to below 0.5", value, fix="write set_aside = 0.02, say."
        )
    return number


def outcome(value: object) -> Outcome:
    """Return what the ``[outcome]`` table says."""
    if isinstance(value, Outcome):
        value = value.to_dict()
    known = {"positive", "negative", "bins"}
    if not isinstance(value, Mapping) or not {"positive", "negative"} <= value.keys() <= known:
        expected = "a table with positive, negative and perhaps bins"
        raise PlanError.wrong("outcome", expected, value, fix=_OUTCOME_EXAMPLE)
    positive, negative = _label(value["positive"]), _label(value["negative"])
    texts = {group_text(positive), group_text(negative), WITHOUT_OUTCOME}
    if len(texts) < 3:
        raise PlanError(
            f"the two outcomes must differ by their text, and from {WITHOUT_OUTCOME!r}.",
            fix=_OUTCOME_EXAMPLE,
        )
    return Outcome(positive=positive, negative=negative, bins=_bins(value.get("bins", ())))


def _bins(value: object) -> tuple[float, ...]:
    found = as_increasing(value, _MOST_BINS)
    if found is None:
        raise PlanError.wrong(
            "bins",
            f"a list of at most {_MOST_BINS} numbers that increase",
            value,
            fix="write the scores at which bins meet, such as bins = [0.2, 0.4, 0.6, 0.8].",
        )
    return found


def intersections(named: Mapping[str, Sequence[Label]]) -> tuple[Group, ...]:
    """Return every combination of the axes' labels, the first axis slowest.

    Examples
    --------
    >>> intersections({"sex": ("F", "M"), "race": ("A", "B")})
    (('F', 'A'), ('F', 'B'), ('M', 'A'), ('M', 'B'))
    """
    return tuple(product(*named.values()))


def records_of(groups: Sequence[Group], asked: Outcome | None) -> tuple[Group, ...]:
    """Return the labels by which a silo distinguishes records: groups, or groups by outcome.

    Examples
    --------
    >>> records_of(("A", "B"), Outcome(positive=1, negative=0))[:3]
    (('A', 1), ('A', 0), ('A', 'without outcome'))
    """
    if asked is None:
        return tuple(groups)
    return tuple(
        ((*group, label) if isinstance(group, tuple) else (group, label))
        for group in groups
        for label in asked.labels
    )


SCALARS: Mapping[str, Callable[[object], Any]] = {
    "schema": one_of("schema", SCHEMA),
    "title": title,
    "groups": group_labels,
    "score_range": score_range,
    "score_step": positive("score_step", 0.01),
    "levels": whole("levels", 1, MOST_LEVELS, 100),
    "sketch": one_of("sketch", *get_args(Kind)),
    "estimator": one_of("estimator", "grid", "exact"),
    "thresholds": thresholds,
    "favorable": one_of("favorable", *get_args(Favorable)),
    "period": period,
    "order": one_of("order", 1, 2),
    "review_level": positive("review_level", 0.5),
    "review_unit": one_of("review_unit", *get_args(ReviewUnit)),
    "trim": trim,
    "silos": roster,
    "axes": axes,
    "unknown": unknown,
    "set_aside": set_aside,
    "outcome": outcome,
}
"""The check of each key that is not a table, in the order in which a plan is written."""

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
