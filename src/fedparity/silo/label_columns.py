"""The columns of a table whose labels tell the records of a plan apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fedparity.documents.plan import Plan
from fedparity.errors import OptionError

__all__ = ["label_columns"]


def label_columns(
    plan: Plan,
    *,
    group: str | Sequence[str] | None = None,
    axes: Mapping[str, str] | None = None,
    outcome: str | None = None,
) -> str | Sequence[str] | None:
    """Return the columns whose labels tell the records of a plan apart: groups or axes, then the outcome.

    An axis whose column is not named is the column of its own name, and so is the outcome.

    Raises
    ------
    OptionError
        If columns are named that the plan does not ask for.

    Examples
    --------
    >>> plan = Plan(title="Q4", axes={"sex": ["F", "M"], "race": ["A", "B"]}, score_range=(0, 1))
    >>> label_columns(plan, axes={"sex": "gender"})
    ['gender', 'race']
    """
    named = dict(axes or {})
    unknown = [name for name in named if name not in plan.axes]
    if unknown:
        raise OptionError(
            f"the plan has no axis {unknown[0]!r}.",
            fix=f"name one of {', '.join(plan.axes)}."
            if plan.axes
            else "name the column as group.",
        )
    if plan.axes and group is not None:
        raise OptionError(
            "the plan has axes, so its columns are not named as group.",
            fix="name a column for each: --axis "
            + " --axis ".join(f"{n}=COLUMN" for n in plan.axes),
        )
    if outcome is not None and plan.outcome is None:
        raise OptionError(
            "the plan asks for no outcome, so its column is not read.",
            fix="leave the outcome out, or add [outcome] to the plan.",
        )
    columns = [named.get(name, name) for name in plan.axes] if plan.axes else group
    if plan.outcome is None:
        return columns
    groups = ["group"] if columns is None else [columns] if isinstance(columns, str) else columns
    return [*groups, outcome or "outcome"]
