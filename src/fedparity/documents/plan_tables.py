"""The tables that a plan asks for: by its groups, by each of its axes, and by the outcome of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from fedparity.documents.fields import FrozenMapping, Label, as_group, as_number, is_name
from fedparity.documents.fields import group_text as label_text
from fedparity.errors import PlanError
from fedparity.errors.document_errors import shown
from fedparity.laws.labels import Group

__all__ = [
    "OUTCOMES",
    "WITHOUT_OUTCOME",
    "Outcome",
    "OutcomeName",
    "PlanTable",
    "axes",
    "intersections",
    "outcome",
    "records_of",
    "set_aside",
    "unknown",
]

OutcomeName: TypeAlias = Literal["positive", "negative"]
OUTCOMES: Final[tuple[OutcomeName, ...]] = ("positive", "negative")
WITHOUT_OUTCOME: Final = "without outcome"
"""The label of records whose outcome is missing."""
_MOST_AXES = 5
_MOST_LABELS = 200
_MOST_BINS = 20
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
    """Public scores at which bins of calibration meet, increasing: counts by outcome are asked there."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as a plan's ``[outcome]`` table holds it."""
        return {"positive": self.positive, "negative": self.negative, "bins": list(self.bins)}

    @property
    def labels(self) -> tuple[Label, Label, str]:
        """What a record's outcome can be: positive, negative, missing."""
        return self.positive, self.negative, WITHOUT_OUTCOME


class PlanTable(NamedTuple):
    """One of the tables that a plan asks for."""

    by: tuple[str, ...]
    """The axis; none for the groups of the plan."""
    groups: tuple[Group, ...]
    """Its rows, in their order."""


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
    return FrozenMapping({_axis_name(name): _labels(name, held) for name, held in value.items()})


def _axis_name(name: object) -> str:
    if not is_name(name):
        raise PlanError.wrong("the name of an axis", "a short text", name, fix=_AXES_EXAMPLE)
    return str(name)


def _labels(name: object, held: object) -> tuple[Label, ...]:
    items = list(held) if isinstance(held, list | tuple) else []
    labels = tuple(_label(item) for item in items)
    if not 2 <= len(labels) <= _MOST_LABELS:
        raise PlanError.wrong(
            f"axis {name}", f"a list of 2 to {_MOST_LABELS} labels", held, fix=_AXES_EXAMPLE
        )
    texts = [label_text(label) for label in labels]
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
    """Return the labels that stand for what is not known."""
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
    texts = {label_text(positive), label_text(negative), WITHOUT_OUTCOME}
    if len(texts) < 3:
        raise PlanError(
            f"the two outcomes must differ by their text, and from {WITHOUT_OUTCOME!r}.",
            fix=_OUTCOME_EXAMPLE,
        )
    return Outcome(positive=positive, negative=negative, bins=_bins(value.get("bins", ())))


def _bins(value: object) -> tuple[float, ...]:
    numbers = [as_number(item) for item in value] if isinstance(value, list | tuple) else [None]
    kept = tuple(number for number in numbers if number is not None)
    increasing = all(low < high for low, high in pairwise(kept))
    if not (len(kept) == len(numbers) <= _MOST_BINS and increasing):
        raise PlanError.wrong(
            "bins",
            f"a list of at most {_MOST_BINS} numbers that increase",
            value,
            fix="write the scores at which bins meet, such as bins = [0.2, 0.4, 0.6, 0.8].",
        )
    return kept


def intersections(named: Mapping[str, Sequence[Label]]) -> tuple[Group, ...]:
    """Return every combination of the axes' labels, the first axis slowest.

    Examples
    --------
    >>> intersections({"sex": ("F", "M"), "race": ("A", "B")})
    (('F', 'A'), ('F', 'B'), ('M', 'A'), ('M', 'B'))
    """
    return tuple(product(*named.values()))


def records_of(groups: Sequence[Group], asked: Outcome | None) -> tuple[Group, ...]:
    """Return the labels that a silo's records are told apart by: groups, or groups by outcome.

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
