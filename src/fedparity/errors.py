"""Every error fedparity raises on purpose, in one tree.

::

    FedparityError
    └── InputError (also a ValueError)
        ├── ScoreError          scores that are not finite numbers, or none at all
        ├── MassError           weights that are negative, not finite, or all zero
        ├── MagnitudeError      a p-th power that a float64 cannot hold
        ├── OptionError         an order, a number of levels, a trim or a name out of its range
        ├── GroupError          too few groups, missing labels
        │   └── GroupMismatchError   laws and weights that do not name the same groups
        ├── CellError           a cell (one silo, one group) that is not a valid sketch
        └── FederationError     cells that do not fit together

Each carries one sentence that says what was expected and what came, and a ``fix``. Messages name
silos, groups and counts, never the value of a record: they may leave the building.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

__all__ = [
    "CellError",
    "FederationError",
    "FedparityError",
    "GroupError",
    "GroupMismatchError",
    "InputError",
    "MagnitudeError",
    "MassError",
    "OptionError",
    "ScoreError",
]


class FedparityError(Exception):
    """Base of every error raised on purpose.

    Parameters
    ----------
    message : str
        One sentence: what was expected, what came, where.
    fix : str
        What to do about it; printed on a line of its own, after ``fix:``.
    """

    def __init__(self, message: str, *, fix: str) -> None:
        super().__init__(message, fix)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message}\nfix: {self.fix}"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.fix)


def _rebuild(kind: type[FedparityError], message: str, fix: str) -> FedparityError:
    """Unpickle an error: its ``fix`` is keyword-only, which pickle cannot pass by itself."""
    return kind(message, fix=fix)


class InputError(FedparityError, ValueError):
    """The data or options given to a function are not what it accepts."""


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

    @classmethod
    def overflow(cls, what: str) -> MagnitudeError:
        return cls(
            f"{what} is too large for a 64-bit float.",
            fix="rescale the scores (for example to [0, 1]) before measuring.",
        )

    @classmethod
    def underflow(cls, what: str) -> MagnitudeError:
        return cls(
            f"{what} is not zero but too small for a 64-bit float.",
            fix="rescale the scores (for example to [0, 1]) before measuring.",
        )


class OptionError(InputError):
    """An order, a number of levels, a trim or a name out of its range."""

    @classmethod
    def order(cls, order: object) -> OptionError:
        return cls(f"order must be 1 or 2, not {order!r}.", fix="pass order=1 or order=2.")

    @classmethod
    def levels(cls, levels: object) -> OptionError:
        return cls(
            f"levels must be a whole number of at least 1, not {levels!r}.",
            fix="pass levels=100, or any k >= 1.",
        )

    @classmethod
    def trim(cls, trim: object) -> OptionError:
        return cls(
            f"trim must be at least 0 and below 0.5, not {trim!r}.",
            fix="pass trim=0 for the whole law, or for example trim=0.01.",
        )

    @classmethod
    def unknown(cls, name: str, value: object, known: Iterable[str]) -> OptionError:
        names = ", ".join(repr(choice) for choice in known)
        return cls(f"{name} must be one of {names}, not {value!r}.", fix=f"pass one of {names}.")

    @classmethod
    def quantile_level(cls) -> OptionError:
        return cls(
            "quantile levels must be above 0 and at most 1.",
            fix="pass levels in (0, 1]; the lowest atom is law.atoms[0].",
        )


class GroupError(InputError):
    """Too few groups, or labels that are missing."""

    @classmethod
    def too_few(cls, found: Collection[object]) -> GroupError:
        names = _listed(found) or "none"
        return cls(
            f"a disparity compares two groups or more, but the data hold {names}.",
            fix="check the group column, or the filter applied before the audit.",
        )

    @classmethod
    def missing_labels(cls, count: int, total: int) -> GroupError:
        return cls(
            f"every record needs a group, but {count} of {total} labels are missing.",
            fix="give those records a label of their own, such as 'unknown', or drop them.",
        )

    @classmethod
    def labels_needed(cls) -> GroupError:
        return cls(
            "raw scores were given without their groups.",
            fix="pass sensitive_features=, one label per score, or a mapping of laws and weights.",
        )

    @classmethod
    def weights_needed(cls) -> GroupError:
        return cls(
            "laws were given without the shares of their groups.",
            fix="pass Weights as the second argument, for example Weights.from_counts(counts).",
        )

    @classmethod
    def empty(cls, group: object) -> GroupError:
        return cls(
            f"group {group!r} has no record in any silo.",
            fix="remove the group from the list, or check how its label is spelled in the data.",
        )


class GroupMismatchError(GroupError):
    """Laws and weights that do not name the same groups."""

    @classmethod
    def between(cls, laws: Collection[object], weights: Collection[object]) -> GroupMismatchError:
        unweighted = [label for label in laws if label not in weights]
        lawless = [label for label in weights if label not in laws]
        return cls(
            "laws and weights must name the same groups, but "
            f"{_listed(unweighted) or 'none'} have no weight and "
            f"{_listed(lawless) or 'none'} have no law.",
            fix="build both from the same set of labels; 1 and '1' are different labels.",
        )


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
            f"all cells must hold the same kind of sketch, but they hold {_listed(kinds)}.",
            fix="ask every silo for the same kind, the one its plan names.",
        )

    @classmethod
    def unknown_group(
        cls, group: object, silo: object, groups: Collection[object]
    ) -> FederationError:
        return cls(
            f"silo {silo!r} sent group {group!r}, which is not among {_listed(groups)}.",
            fix="add the group to the list, or map the silo's label to one of it.",
        )

    @classmethod
    def duplicate_groups(cls, groups: Collection[object]) -> FederationError:
        return cls(
            f"a group is listed twice among {_listed(groups)}.", fix="list each group once."
        )

    @classmethod
    def unknown_silo(cls, silo: object, silos: Collection[object]) -> FederationError:
        return cls(
            f"silo {silo!r} is not in this federation.",
            fix=f"name one of its {len(silos)} silos: {_listed(silos)}.",
        )


def _listed(labels: Iterable[object], most: int = 5) -> str:
    """The labels, quoted and separated by commas, cut after ``most``."""
    names = [repr(label) for label in labels]
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
