"""Numbers, options and group labels that a function does not accept."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fedparity.errors.base import InputError, listed

__all__ = [
    "GroupError",
    "GroupMismatchError",
    "MagnitudeError",
    "MassError",
    "OptionError",
    "ScoreError",
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
    def off_grid(cls, count: int, total: int) -> ScoreError:
        return cls(
            f"scores must be points of the plan's grid, but {count} of {total} are not.",
            fix="round the scores to the plan's score_step as 64-bit floats, or agree on a plan with "
            "another score_step, or without one.",
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
        names = listed(found) or "none"
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
            f"{listed(unweighted) or 'none'} have no weight and "
            f"{listed(lawless) or 'none'} have no law.",
            fix="build both from the same set of labels; 1 and '1' are different labels.",
        )
