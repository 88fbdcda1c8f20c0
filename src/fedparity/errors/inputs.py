"""Numbers, options and group labels that a function does not accept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from fedparity.errors.base import InputError, listed
from fedparity.errors.table_errors import nearest, shortened

__all__ = [
    "CellError",
    "FederationError",
    "GroupError",
    "GroupMismatchError",
    "LabelError",
    "MagnitudeError",
    "MassError",
    "OptionError",
    "RecordsError",
    "ScoreError",
    "look_alike",
]


class ScoreError(InputError):
    """Scores that are not finite numbers, or none at all."""

    @classmethod
    def empty(cls, what: str) -> ScoreError:
        return cls(f"{what} hold no score.", fix="give at least one finite score.")

    @classmethod
    def not_numeric(cls, what: str, dtype: object) -> ScoreError:
        return cls(
            f"{what} must be real numbers, but their type is {dtype}.",
            fix="convert them to float64 before calling, and check how the column was read.",
        )

    @classmethod
    def not_one_dimensional(cls, what: str, shape: tuple[int, ...]) -> ScoreError:
        return cls(
            f"{what} must be one-dimensional, but their shape is {shape}.",
            fix="pass one score per record; for class probabilities, pick one column.",
        )

    @classmethod
    def not_finite(cls, what: str, *, missing: int, infinite: int, total: int) -> ScoreError:
        return cls(
            f"{what} must be finite, but {missing} of {total} are NaN and {infinite} infinite.",
            fix="drop or repair those records before the audit, and record how many there were.",
        )

    @classmethod
    def outside_range(cls, count: int, total: int, low: float, high: float) -> ScoreError:
        return cls(
            f"scores must lie between {low:g} and {high:g}, but {count} of {total} do not.",
            fix="check the scale of the score, or agree on a plan with a wider score_range.",
        )

    @classmethod
    def some_outside_range(cls, low: float, high: float) -> ScoreError:
        return cls(
            f"scores must lie between {low:g} and {high:g}, but some do not; under the plan's "
            "privacy mode it is not said how many.",
            fix="check the scale of the score, or agree on a plan with a wider score_range.",
        )

    @classmethod
    def some_off_grid(cls) -> ScoreError:
        return cls(
            "scores must be points of the plan's grid, but some are not; under the plan's privacy "
            "mode it is not said how many.",
            fix="round the scores to the plan's score_step as 64-bit floats, or agree on a plan with "
            "another score_step, or without one.",
        )

    @classmethod
    def lengths_differ(cls, what: str, length: int, other: str, other_length: int) -> ScoreError:
        return cls(
            f"{what} and {other} must have one entry per record, "
            f"but there are {length} and {other_length}.",
            fix="take both columns from the same rows of the same table.",
        )


class MassError(InputError):
    """Weights that are negative, not finite, or all zero."""

    @classmethod
    def negative(cls, what: str, count: int) -> MassError:
        return cls(
            f"{what} must not be negative, but {count} of them are.",
            fix="check the weight column; a record that must not count has weight 0.",
        )

    @classmethod
    def not_finite(cls, what: str, count: int) -> MassError:
        return cls(
            f"{what} must be finite numbers, but {count} of them are not.",
            fix="replace missing or infinite weights, or drop those records.",
        )

    @classmethod
    def too_large(cls, what: str) -> MassError:
        return cls(
            f"the sum of {what} does not fit 64 bits.",
            fix="divide them all by a common factor; only their ratios matter.",
        )

    @classmethod
    def all_zero(cls, what: str) -> MassError:
        return cls(f"{what} are all zero.", fix="give at least one positive weight.")


class MagnitudeError(InputError):
    """A p-th power that a float64 cannot hold."""


class OptionError(InputError):
    """An order, a number of levels, a trim or a name out of its range."""

    @classmethod
    def unknown(cls, name: str, value: object, known: Iterable[str]) -> OptionError:
        names = ", ".join(repr(choice) for choice in known)
        return cls(f"{name} must be one of {names}, not {value!r}.", fix=f"pass one of {names}.")


class GroupError(InputError):
    """Too few groups, or labels that are missing."""

    @classmethod
    def too_few(cls, found: Collection[object]) -> GroupError:
        names = listed(found) or "none"
        return cls(
            f"a disparity compares two groups or more, but the data hold {names}.",
            fix="check the group column, or the filter applied before the audit.",
        )


class GroupMismatchError(GroupError):
    """Laws and weights that do not name the same groups."""

    @classmethod
    def between(cls, laws: Collection[object], weights: Collection[object]) -> GroupMismatchError:
        unweighted = [label for label in laws if label not in weights]
        lawless = [label for label in weights if label not in laws]
        return cls(
            "laws and weights must name the same groups, but "
            f"{listed(unweighted) or 'none'} have no weight and "
            f"{listed(lawless) or 'none'} have no law.",
            fix="build both from the same set of labels; 1 and '1' are different labels.",
        )


class CellError(InputError):
    """A cell (one silo, one group) that is not a valid sketch."""


class FederationError(InputError):
    """Cells that do not fit together."""

    @classmethod
    def empty(cls) -> FederationError:
        return cls("the federation holds no cell.", fix="give at least one silo with two groups.")


class RecordsError(InputError):
    """Records that cannot be read as often as an exact sketch needs."""


_MOST_LABELS = 5


class LabelError(GroupError):
    """Labels of groups that do not fit the groups of the plan."""

    @classmethod
    def unlisted(
        cls,
        columns: Collection[str],
        counts: Mapping[str, int],
        known: Collection[str],
        *,
        where: str = "",
    ) -> LabelError:
        frequent = sorted(counts, key=lambda text: (-counts[text], text))[:_MOST_LABELS]
        shown = ", ".join(f"{shortened(text)!r} ({counts[text]:,})" for text in frequent)
        more, total = len(counts) - len(frequent), sum(counts.values())
        tail = f" and {more:,} more labels" if more else ""
        return cls(
            f"{listed(columns)} contains labels that are not groups of the plan: {shown}{tail}, in "
            f"{total:,} record{'' if total == 1 else 's'} in all{where}.",
            fix=_mapping_fix(counts, known),
        )

    @classmethod
    def too_many(cls, columns: Collection[str], most: int, shown: Iterable[str]) -> LabelError:
        examples = listed((shortened(text) for text in shown), most=2)
        return cls(
            f"{listed(columns)} contains more than {most:,} labels that are not groups of the plan, such as "
            f"{examples}.",
            fix="name the column of the groups, not one that differs in every record, or send all "
            "other labels to one group with --other LABEL.",
        )

    @classmethod
    def not_a_label(cls, column: str, kind: object) -> LabelError:
        return cls(
            f"labels in column {shortened(column)!r} must be text, numbers, booleans or "
            f"categories, but their type is {kind}.",
            fix="convert the column to text, one label per record.",
        )

    @classmethod
    def maps_to_nothing(cls, target: str, known: Collection[str]) -> LabelError:
        near = nearest(target, known)
        return cls(
            f"labels are mapped to {shortened(target)!r}, which is not among {listed(known)}.",
            fix=f"map them to {near[0]!r}?" if near else "map them to one of the plan's groups.",
        )


def _mapping_fix(counts: Mapping[str, int], known: Collection[str]) -> str:
    """The options that map look-alikes of groups, or else the most frequent label, to a group."""
    frequent = sorted(counts, key=lambda text: (-counts[text], text))
    alike = {text: group for text in frequent if (group := look_alike(text, known)) is not None}
    if alike:
        shown = " ".join(
            f'--map "{text}={group}"' for text, group in [*alike.items()][:_MOST_LABELS]
        )
        kept = (
            ""
            if len(alike) == len(frequent)
            else "; send the others to one group with --other LABEL"
        )
        return f"if they mean the same, pass {shown}{kept}."
    near = next(((text, found[0]) for text in frequent if (found := nearest(text, known))), None)
    example = (
        f"{shortened(frequent[0])}=LABEL" if near is None else f"{shortened(near[0])}={near[1]}"
    )
    return (
        f'map them with --map "{example}", send all others to one group with --other LABEL, or add '
        "them to the plan."
    )


def look_alike(text: str, known: Collection[str]) -> str | None:
    """Return the group that differs from a label only by case or by spaces around it.

    Examples
    --------
    >>> look_alike(" female", ("Female", "Male")), look_alike("F", ("Female", "Male"))
    ('Female', None)
    """
    folded = text.strip().casefold()
    return next((group for group in known if group.strip().casefold() == folded), None)
