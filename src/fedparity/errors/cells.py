"""Cells that are not valid sketches, or do not fit together."""

from __future__ import annotations

from collections.abc import Collection

from fedparity.errors.base import InputError, listed

__all__ = ["CellError", "FederationError", "RecordsError"]


class CellError(InputError):
    """A cell (one silo, one group) that is not a valid sketch."""

    @classmethod
    def bad_count(cls, count: object) -> CellError:
        return cls(
            f"a cell's count must be a positive number of at most 10^12, not {count!r}.",
            fix="leave the cell out when the silo has no record of the group.",
        )

    @classmethod
    def bad_rank_error(cls, rank_error: object) -> CellError:
        return cls(
            f"a cell's rank error must lie in [0, 1), not {rank_error!r}.",
            fix="pass 0 when the values are exact.",
        )

    @classmethod
    def bad_value_error(cls) -> CellError:
        return cls(
            "how far a cell's values may be off must be finite numbers of at least 0.",
            fix="pass half of the step to which the silo rounds, or 0 if it does not.",
        )

    @classmethod
    def decreasing(cls, position: int) -> CellError:
        return cls(
            f"a cell's values must not decrease, but they do after level {position}.",
            fix="send the values in the order of their levels, from the lowest to the highest.",
        )


class FederationError(InputError):
    """Cells that do not fit together."""

    @classmethod
    def empty(cls) -> FederationError:
        return cls("the federation holds no cell.", fix="give at least one silo with two groups.")

    @classmethod
    def mixed_kinds(cls, kinds: Collection[str]) -> FederationError:
        return cls(
            f"all cells must hold the same kind of sketch, but they hold {listed(kinds)}.",
            fix="ask every silo for the same kind, the one its plan names.",
        )

    @classmethod
    def unknown_group(
        cls, group: object, silo: object, groups: Collection[object]
    ) -> FederationError:
        return cls(
            f"silo {silo!r} sent group {group!r}, which is not among {listed(groups)}.",
            fix="add the group to the list, or map the silo's label to one of it.",
        )

    @classmethod
    def duplicate_groups(cls, groups: Collection[object]) -> FederationError:
        return cls(f"a group is listed twice among {listed(groups)}.", fix="list each group once.")

    @classmethod
    def unknown_silo(cls, silo: object, silos: Collection[object]) -> FederationError:
        return cls(
            f"silo {silo!r} is not in this federation.",
            fix=f"name one of its {len(silos)} silos: {listed(silos)}.",
        )


class RecordsError(InputError):
    """Records that cannot be read as often as an exact sketch needs."""

    @classmethod
    def changed(cls) -> RecordsError:
        return cls(
            "the records changed while they were read: two passes over them do not agree.",
            fix="sketch a copy or a snapshot of the table that nobody writes to.",
        )
