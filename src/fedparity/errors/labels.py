"""Labels of groups that a table holds and a plan does not, or the other way round."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from fedparity.errors.base import listed
from fedparity.errors.numbers import GroupError
from fedparity.errors.tables import nearest, shortened

__all__ = ["LabelError"]

_MOST_LABELS = 5


class LabelError(GroupError):
    """Labels of groups that do not fit the groups of the plan."""

    @classmethod
    def missing(cls, columns: Collection[str], count: int) -> LabelError:
        return cls(
            f"{count:,} records have no label in {listed(columns)}.",
            fix="add the group 'unknown' to the plan, or map the missing label to a group with "
            '--map "=LABEL" (mapping={"": LABEL}).',
        )

    @classmethod
    def unlisted(
        cls, columns: Collection[str], counts: Mapping[str, int], known: Collection[str]
    ) -> LabelError:
        frequent = sorted(counts, key=lambda text: (-counts[text], text))[:_MOST_LABELS]
        shown = ", ".join(f"{shortened(text)!r} ({counts[text]:,})" for text in frequent)
        more = len(counts) - len(frequent)
        tail = f" and {more:,} more labels" if more else ""
        return cls(
            f"{listed(columns)} holds labels that no group has: {shown}{tail}, in "
            f"{sum(counts.values()):,} records in all.",
            fix=_mapping_fix(frequent, known),
        )

    @classmethod
    def too_many(cls, columns: Collection[str], most: int, shown: Iterable[str]) -> LabelError:
        examples = listed((shortened(text) for text in shown), most=2)
        return cls(
            f"{listed(columns)} holds more than {most:,} labels that no group has, such as "
            f"{examples}.",
            fix="name the column of the groups, not one that differs in every record, or send all "
            "other labels to one group with --other LABEL.",
        )

    @classmethod
    def too_many_groups(cls, columns: Collection[str], most: int) -> LabelError:
        return cls(
            f"{listed(columns)} holds more than {most:,} different labels.",
            fix="name the column of the groups, not one that differs in every record.",
        )

    @classmethod
    def not_a_label(cls, column: str, kind: object) -> LabelError:
        return cls(
            f"labels in column {shortened(column)!r} must be text, numbers, booleans or "
            f"categories, but their type is {kind}.",
            fix="convert the column to text, one label per record.",
        )

    @classmethod
    def same_text(cls, first: object, second: object) -> LabelError:
        return cls(
            f"the groups {first!r} and {second!r} have the same text, by which labels are compared.",
            fix="list each group once.",
        )

    @classmethod
    def no_text(cls, group: object) -> LabelError:
        return cls(
            f"the group {group!r} has no text to compare labels with.",
            fix="name the group of records without a label 'unknown' or 'missing'.",
        )

    @classmethod
    def parts_differ(cls, group: object, columns: Collection[str]) -> LabelError:
        return cls(
            f"the group {group!r} does not have one part for each of the {len(columns)} group "
            f"columns, {listed(columns)}.",
            fix="name as many group columns as the plan's groups have parts, in the same order.",
        )

    @classmethod
    def other_not_listed(cls, other: object, known: Collection[str]) -> LabelError:
        return cls(
            f"the group {other!r}, named to take all other labels, is not among {listed(known)}.",
            fix="name one of the plan's groups, or add it to the plan.",
        )

    @classmethod
    def other_without_groups(cls, other: object) -> LabelError:
        return cls(
            f"the group {other!r} cannot take all other labels where no group is listed.",
            fix="list the groups in a plan, or leave --other out.",
        )

    @classmethod
    def maps_to_nothing(cls, target: str, known: Collection[str]) -> LabelError:
        near = nearest(target, known)
        return cls(
            f"labels are mapped to {shortened(target)!r}, which is not among {listed(known)}.",
            fix=f"map them to {near[0]!r}?" if near else "map them to one of the plan's groups.",
        )


def _mapping_fix(frequent: list[str], known: Collection[str]) -> str:
    """The command that would map the most frequent label to the group that looks like it."""
    for text in frequent:
        if near := nearest(text, known):
            example = f"{shortened(text)}={near[0]}"
            break
    else:
        example = f"{shortened(frequent[0])}=LABEL"
    return (
        f'map them with --map "{example}", send all others to one group with --other LABEL, or add '
        "them to the plan."
    )
