"""One table of the paper's experiments: scores, groups, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import GroupError, ScoreError
from fedparity.laws.arrays import FloatArray, as_scores, check_magnitude
from fedparity.laws.labels import Group

__all__ = ["Dataset", "Provenance"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where the records come from, and what was done to them."""

    file: str | None
    """Name of the file that was read; None for made-up data."""
    sha256: str | None
    """Digest of its bytes."""
    rows_read: int
    rows_dropped: int
    specification: str
    """How scores come about, in words."""
    licence: str


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Dataset:
    """Scores of people in two groups or more: valid once built.

    Parameters
    ----------
    name : str
        The name that :func:`load_dataset` knows it by.
    title : str
        The name that readers know it by.
    scores : array of finite numbers
    codes : array of int
        Position in ``group_names`` of each record's group.
    group_names : tuple of labels
        In the paper's order; the last is the one that the ``negative`` regime sorts the other way.
    provenance : Provenance

    Examples
    --------
    >>> made = Provenance(
    ...     file=None, sha256=None, rows_read=4, rows_dropped=0, specification="", licence=""
    ... )
    >>> Dataset(
    ...     name="tiny",
    ...     title="Tiny",
    ...     scores=[0.1, 0.4, 0.3, 0.8],
    ...     codes=[0, 1, 0, 1],
    ...     group_names=("a", "b"),
    ...     provenance=made,
    ... )
    Dataset('tiny', 4 records: 2 a, 2 b)
    """

    name: str
    title: str
    scores: FloatArray
    codes: IntArray
    group_names: tuple[Group, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        scores = as_scores(self.scores) + 0.0  # a copy without negative zeros
        check_magnitude(scores, "scores")
        codes = np.array(self.codes, dtype=np.int64)
        if codes.shape != scores.shape:
            raise ScoreError.lengths_differ("codes", codes.size, "scores", scores.size)
        if len(self.group_names) < 2:
            raise GroupError.too_few(self.group_names)
        counts = np.bincount(codes, minlength=len(self.group_names))
        if counts.size > len(self.group_names) or not counts.all():
            raise GroupError(
                f"codes must name each of the {len(self.group_names)} groups, and no other.",
                fix="pass codes from 0 to the number of groups less one, each at least once.",
            )
        for name, array in (("scores", scores), ("codes", codes)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def groups(self) -> npt.NDArray[Any]:
        """The label of each record's group."""
        labels: npt.NDArray[Any] = np.array(self.group_names)[self.codes]
        return labels

    @property
    def counts(self) -> dict[Group, int]:
        """Records of each group."""
        found = np.bincount(self.codes, minlength=len(self.group_names)).tolist()
        return dict(zip(self.group_names, found, strict=True))

    @property
    def flipped(self) -> Group:
        """The group that the ``negative`` regime sorts the other way: the last."""
        return self.group_names[-1]

    @property
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return float(self.scores.min()), float(self.scores.max())

    @cached_property
    def digest(self) -> str:
        """The sha256 of scores and groups: equal for equal data, whatever their source."""
        content = sha256(repr(self.group_names).encode())
        content.update(self.scores.astype("<f8").tobytes())
        content.update(self.codes.astype("<i8").tobytes())
        return content.hexdigest()

    def __len__(self) -> int:
        return self.scores.size

    def __repr__(self) -> str:
        groups = ", ".join(f"{count:,} {group}" for group, count in self.counts.items())
        return f"Dataset({self.name!r}, {len(self):,} records: {groups})"
