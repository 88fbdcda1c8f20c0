"""A federation: the cells of all silos, checked once and laid out for arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from fedparity.documents.fields import typed_label
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.plan import Plan
from fedparity.errors import FederationError, GroupError, ScoreError
from fedparity.errors.base import listed
from fedparity.federated.count_spreading import spread_counts
from fedparity.federated.pool import Pool
from fedparity.federated.reconstruction import BinCuts, CellLayout, mean_shapes
from fedparity.laws.labels import Group, Silo, canonical_order, check_aligned, encode_labels
from fedparity.laws.law import FloatArray, IntArray, as_masses, as_scores, check_magnitude
from fedparity.laws.weights import Weights
from fedparity.privacy.disclosure import mean_square_error, rounding_error
from fedparity.sketches.cell import Cell
from fedparity.sketches.kinds import DEFAULT_LEVELS, Kind, default_kind

__all__ = ["Federation", "takes_federation"]

_Found = TypeVar("_Found")

_ATOMS = 256
"""Bins into which the continuous law of a cell is cut, at least."""
_MOST_ATOMS = 500_000_000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Federation:
    r"""The sketches of d silos and two groups or more: all an auditor ever sees.

    Build it with :meth:`from_scores`, :meth:`from_messages` or :meth:`from_cells`. Silos are kept in the canonical
    order of their labels, so that results do not depend on the order in which they came. A
    silo may lack a group, and cells may have different numbers of levels.

    Cells lie group by group, and silo by silo inside a group; the arrays have one entry per
    cell, but for ``values`` with one entry per level of each.
    """

    groups: tuple[Group, ...]
    silos: tuple[Silo, ...]
    kind: Kind
    group_of: IntArray
    """Position in ``groups`` of each cell's group."""
    silo_of: IntArray
    """Position in ``silos`` of each cell's silo."""
    counts: npt.NDArray[Any]
    """Number of records of each cell (int64), or their weight (float64)."""
    levels: IntArray
    """Number of values of each cell."""
    rank_errors: FloatArray
    values: FloatArray
    """The values of all cells, one after the other."""
    parts: npt.NDArray[Any]
    """How much each value weighs inside its cell: 1, or the records counted at it."""
    value_errors: FloatArray
    """How far each value may be from the one that was computed."""
    mean_squares: FloatArray
    """Mean squared distance of each cell's records from the values of their bins; NaN if unknown."""
    mean_square_errors: FloatArray
    """How far each of them may be from the true one."""
    effective: FloatArray
    """How many equally weighted records each cell amounts to; its count without weights."""
    above: Mapping[float, FloatArray]
    """By threshold, the records of each cell at or above it; NaN where they were not counted."""
    score_range: tuple[float, float] | None = None
    """Public bounds of the scores, where they are known."""

    @classmethod
    def from_messages(cls, plan: Plan, messages: Iterable[SiloSketch]) -> Federation:
        """Return the federation of the cells that silos released, of the groups released.

        Messages are taken as they are; :func:`fedparity.documents.check_messages` compares them with
        the plan, as :func:`fedparity.audit` does.

        Raises
        ------
        FederationError
            If no cell was released.
        GroupError
            If fewer than two groups were.
        """
        sent = list(messages)
        if plan.sketch == "counts" or any(message.kind == "histogram" for message in sent):
            cells: dict[tuple[Silo, Group], Cell] = {}
            for message in sent:
                cells |= message.released(plan)
            groups = _released(plan, {group for _, group in cells})
            return cls.from_cells(cells, groups=groups, score_range=plan.score_range)
        values = {
            (message.silo, cell.group): cell
            for message in sent
            for cell in message.cells
            if isinstance(cell, SketchedCell) and cell.values is not None
        }
        return cls._from_values(plan, values)

    @classmethod
    def _from_values(
        cls, plan: Plan, cells: Mapping[tuple[Silo, Group], SketchedCell]
    ) -> Federation:
        """Return the federation of valid cells of quantiles or bin means, many of them at once."""
        if not cells:
            raise FederationError.empty()
        groups = _released(plan, {group for _, group in cells})
        silos = canonical_order(silo for silo, _ in cells)
        group_of, silo_of, ordered = _in_order(cells, groups, silos)
        levels = np.array([cell.levels for cell in ordered])
        values = np.concatenate([cell.values for cell in ordered])
        counts = np.array([cell.count for cell in ordered])
        amounts = np.array([cell.amount for cell in ordered], dtype=np.float64)
        squares = np.array([np.nan if c.mean_square is None else c.mean_square for c in ordered])
        errors = np.zeros(levels.size)
        starts = np.cumsum(levels) - levels
        for size in np.unique(levels[~np.isnan(squares)]):
            same = np.flatnonzero((levels == size) & ~np.isnan(squares))
            errors[same] = mean_square_error(
                values=values[starts[same, None] + np.arange(size)],
                count=amounts[same],
                score_range=plan.score_range,
                rounding=plan.rounding,
            )
        above = {
            threshold: np.array([np.nan if number is None else number for number in column])
            for threshold, *column in zip(
                plan.thresholds, *(cell.above for cell in ordered), strict=True
            )
            if any(number is not None for number in column)
        }
        return cls(
            groups=groups,
            silos=silos,
            kind=plan.sketch,
            group_of=group_of,
            silo_of=silo_of,
            counts=counts,
            levels=levels,
            rank_errors=np.array([cell.rank_error for cell in ordered]),
            values=values,
            parts=np.ones(values.size, np.int64),
            value_errors=np.full(values.size, rounding_error(plan.score_range, plan.rounding)),
            mean_squares=squares,
            mean_square_errors=errors,
            effective=amounts,
            above=above,
            score_range=plan.score_range,
        )

    @classmethod
    def from_cells(
        cls,
        cells: Mapping[tuple[Silo, Group], Cell],
        *,
        groups: Sequence[Group] | None = None,
        score_range: tuple[float, float] | None = None,
    ) -> Federation:
        """Return the federation of these cells.

        Parameters
        ----------
        cells : mapping of (silo, group) to Cell
            A silo that has no record of a group has no such cell.
        groups : sequence of labels, optional
            The groups in reporting order; the labels found, in canonical order, if absent.
        score_range : pair of numbers, optional
            Public bounds of the scores: laws that are reconstructed from bin means stay inside.

        Raises
        ------
        FederationError
            If there is no cell, kinds are mixed, or a cell's group is not listed.
        GroupError
            If fewer than two groups remain, or a listed one has no record.

        Examples
        --------
        >>> cells = {
        ...     ("north", "a"): Cell(count=10, values=[0.1, 0.5]),
        ...     ("north", "b"): Cell(count=20, values=[0.2, 0.9]),
        ... }
        >>> Federation.from_cells(cells)
        Federation(1 silo, 2 groups, 30 records, quantile sketches)
        """
        if not cells:
            raise FederationError.empty()
        found = canonical_order(group for _, group in cells)
        labels = found if groups is None else _checked_groups(groups, cells)
        silos = canonical_order(silo for silo, _ in cells)
        group_of, silo_of, ordered = _in_order(cells, labels, silos)
        kinds = canonical_order({cell.kind for cell in cells.values()})
        if len(kinds) > 1:
            raise FederationError(
                f"all cells must hold the same kind of sketch, but they hold {listed(kinds)}.",
                fix="ask every silo for the same kind, the one its plan names.",
            )
        return cls(
            groups=labels,
            silos=silos,
            kind=kinds[0],
            group_of=group_of,
            silo_of=silo_of,
            counts=np.array([cell.count for cell in ordered]),
            levels=np.array([cell.levels for cell in ordered]),
            rank_errors=np.array([cell.rank_error for cell in ordered]),
            values=np.concatenate([cell.values for cell in ordered]),
            parts=np.concatenate(
                [np.ones(c.levels, np.int64) if c.masses is None else c.masses for c in ordered]
            ),
            value_errors=np.concatenate(
                [np.broadcast_to(cell.value_error, cell.levels) for cell in ordered]
            ),
            mean_squares=np.array(
                [np.nan if c.mean_square is None else c.mean_square for c in ordered]
            ),
            mean_square_errors=np.array([cell.mean_square_error for cell in ordered]),
            effective=np.array([cell.effective for cell in ordered]),
            above=_above(ordered),
            score_range=score_range,
        )

    @classmethod
    def from_scores(
        cls,
        scores: object,
        *,
        groups: object,
        silos: object,
        levels: int = DEFAULT_LEVELS,
        kind: Kind | None = None,
        weights: object = None,
    ) -> Federation:
        """Return the federation that the silos of one table would form, sketch by sketch.

        ``groups`` and ``silos`` hold one label per score. If no ``kind`` is given, records are
        counted at their scores where no more than ``levels`` scores are different, and sketched
        by bin means otherwise.

        Examples
        --------
        >>> Federation.from_scores(
        ...     [0.1, 0.4, 0.3, 0.8], groups=list("abab"), silos=[1, 1, 2, 2], levels=1
        ... )
        Federation(2 silos, 2 groups, 4 records, mean sketches)
        """
        values = as_scores(scores)
        masses = None if weights is None else as_masses(weights)
        group_labels, group_codes = encode_labels(groups)
        silo_labels, silo_codes = encode_labels(silos)
        columns = {"groups": group_codes, "silos": silo_codes, "weights": masses}
        for name, column in columns.items():
            if column is not None and column.size != values.size:
                raise ScoreError.lengths_differ(name, column.size, "scores", values.size)
        check_aligned({"scores": scores, "groups": groups, "silos": silos, "weights": weights})
        chosen = kind or default_kind(values, levels)
        codes = silo_codes * len(group_labels) + group_codes
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        cells = {}
        for rows in np.split(order, starts[1:]):
            if masses is not None and not masses[rows].any():
                continue  # nobody counts here: the silo lacks the group
            label = silo_labels[silo_codes[rows[0]]], group_labels[group_codes[rows[0]]]
            cells[label] = Cell.from_scores(
                values[rows],
                levels=levels,
                kind=chosen,
                weights=None if masses is None else masses[rows],
            )
        return cls.from_cells(cells)

    def __post_init__(self) -> None:
        check_magnitude(self.values, "values")
        if len(self.groups) < 2:
            raise GroupError.too_few(self.groups)
        present = set(np.unique(self.group_of).tolist())
        for position, group in enumerate(self.groups):
            if position not in present:
                raise GroupError(
                    f"group {group!r} has no record in any silo.",
                    fix="remove the group from the list, or check how its label is spelled in the "
                    "data.",
                )

    @cached_property
    def cells(self) -> dict[tuple[Silo, Group], Cell]:
        """The cells by silo and group."""
        return {
            (self.silos[self.silo_of[i]], self.groups[self.group_of[i]]): self.cell(i)
            for i in range(self.counts.size)
        }

    def cell(self, position: int) -> Cell:
        """Return one cell, by its position."""
        mean_square = float(self.mean_squares[position])
        own = slice(self.offsets[position], self.offsets[position + 1])
        parts = self.parts[own]
        return Cell(
            count=self.counts[position],
            values=self.values[own],
            masses=parts if self.kind == "counts" else None,
            value_error=self.value_errors[own],
            mean_square_error=float(self.mean_square_errors[position]),
            kind=self.kind,
            rank_error=float(self.rank_errors[position]),
            mean_square=None if np.isnan(mean_square) else mean_square,
            effective=float(self.effective[position]),
            above={
                t: row[position] for t, row in self.above.items() if not np.isnan(row[position])
            },
        )

    @cached_property
    def offsets(self) -> IntArray:
        """Where the values of each cell start, and where the last ones end."""
        return np.concatenate(([0], np.cumsum(self.levels)))

    @cached_property
    def units(self) -> npt.NDArray[Any]:
        """What the values of each cell weigh together: its number of levels, or its records."""
        units: npt.NDArray[Any] = np.add.reduceat(self.parts, self.offsets[:-1])
        return units

    @cached_property
    def step_ends(self) -> FloatArray:
        """The level at which each value's step of its cell's quantile function ends."""
        running = np.cumsum(self.parts)
        before = np.concatenate(([0], running[self.offsets[1:-1] - 1]))
        ends: FloatArray = (running - np.repeat(before, self.levels)) / np.repeat(
            self.units, self.levels
        )
        return ends

    @cached_property
    def reconstructed(self) -> Federation:
        """The same cells with the laws that their numbers most likely stand for.

        Bin means get continuous laws, cut into narrow bins, and merged counts are spread over the
        scores at which they may be (:mod:`fedparity.federated.count_spreading`); all others stay as
        they are.
        """
        if self.kind == "counts" and self.value_errors.any():
            return self._spread
        if self.kind != "mean" or self._is_exact:
            return self
        layout = CellLayout.of(self.levels)
        shapes = mean_shapes(
            self.values,
            layout,
            mean_squares=self.mean_squares,
            mean_square_errors=self.mean_square_errors,
            value_error=float(self.value_errors.max()),
            bounds=self.score_range,
        )
        cuts = BinCuts.of(layout, _ATOMS if self.values.size * _ATOMS <= _MOST_ATOMS else 1)
        return replace(
            self,
            values=cuts.values(shapes),
            levels=cuts.layout.levels,
            parts=np.ones(cuts.cell_of.size, np.int64),
            value_errors=np.zeros(cuts.cell_of.size),
            mean_squares=np.zeros(self.levels.size),
            mean_square_errors=np.zeros(self.levels.size),
        )

    @property
    def _is_exact(self) -> bool:
        """Whether the law of each cell is that of its values, in bins as narrow as reconstructed ones."""
        return not (
            self.levels.min() < _ATOMS
            or self.mean_squares.any()  # NaN, which is not known, counts
            or self.mean_square_errors.any()
            or self.value_errors.any()
        )

    @property
    def _spread(self) -> Federation:
        cells = np.repeat(np.arange(self.levels.size), self.levels)
        spread = spread_counts(
            self.values - self.value_errors,
            self.values + self.value_errors,
            self.parts.astype(np.float64),
            cells,
            self.group_of,
        )
        return replace(
            self,
            values=spread.values,
            levels=spread.levels,
            parts=spread.masses,
            value_errors=np.zeros(spread.values.size),
        )

    @cached_property
    def _silo_at(self) -> dict[Silo, int]:
        return {silo: place for place, silo in enumerate(self.silos)}

    @cached_property
    def count_table(self) -> npt.NDArray[Any]:
        """Counts by silo (rows) and group (columns), zero where a silo lacks the group."""
        return self.tabulate(self.counts)

    def tabulate(self, per_cell: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a number per cell by silo (rows) and group (columns), zero where none is."""
        table = np.zeros((len(self.silos), len(self.groups)), dtype=per_cell.dtype)
        table[self.silo_of, self.group_of] = per_cell
        return table

    @cached_property
    def shares(self) -> FloatArray:
        r"""The shares :math:`\hat\alpha_s = n_s/n` of the groups, in their order."""
        totals = self.count_table.sum(axis=0)
        shares: FloatArray = totals / totals.sum()
        return shares

    @property
    def weights(self) -> Weights:
        r"""The shares :math:`\hat\alpha_s` by group."""
        return Weights(dict(zip(self.groups, self.count_table.sum(axis=0).tolist(), strict=True)))

    @property
    def max_levels(self) -> int:
        """The largest number of levels among the cells."""
        return int(self.levels.max())

    @cached_property
    def pool(self) -> Pool:
        """The values of all cells, sorted once for every estimate that reads them."""
        return Pool.from_values(self.values, self.levels, self.parts)

    @cached_property
    def _found(self) -> dict[object, Any]:
        return {}

    def once(self, name: object, find: Callable[[], _Found]) -> _Found:
        """Return what ``find`` returns, which is computed once for this federation and name."""
        if name not in self._found:
            self._found[name] = find()
        found: _Found = self._found[name]
        return found

    def forget(self) -> None:
        """Free what was computed of the cells, many times their size; what is needed again is computed again."""
        for name in ("reconstructed", "pool", "_found"):
            self.__dict__.pop(name, None)

    def without(self, silo: Silo) -> Federation:
        """Return the federation of the other silos.

        Raises
        ------
        FederationError
            If there is no such silo, or no other.
        GroupError
            If fewer than two groups remain.
        """
        if silo not in self.silos:
            raise FederationError(
                f"silo {silo!r} is not in this federation.",
                fix=f"name one of its {len(self.silos)} silos: {listed(self.silos)}.",
            )
        return self.only(each for each in self.silos if each != silo)

    def only(self, silos: Iterable[Silo]) -> Federation:
        """Return the federation of these silos, and of the groups that they have.

        Raises
        ------
        FederationError
            If there is none.
        GroupError
            If they have fewer than two groups.
        """
        kept = np.zeros(len(self.silos), dtype=bool)
        kept[[self._silo_at[silo] for silo in silos if silo in self._silo_at]] = True
        cells = {
            (self.silos[self.silo_of[i]], self.groups[self.group_of[i]]): self.cell(i)
            for i in np.flatnonzero(kept[self.silo_of]).tolist()
        }
        present = {group for _, group in cells}
        groups = [group for group in self.groups if group in present]
        return Federation.from_cells(cells, groups=groups, score_range=self.score_range)

    def __repr__(self) -> str:
        silos = f"{len(self.silos)} silo{'' if len(self.silos) == 1 else 's'}"
        return (
            f"Federation({silos}, {len(self.groups)} groups, "
            f"{self.counts.sum():.12g} records, {self.kind} sketches)"
        )


def _released(plan: Plan, groups: Iterable[Group]) -> tuple[Group, ...]:
    """The groups of the plan, in its order, of which a cell was released."""
    released = set(map(typed_label, groups))
    return tuple(group for group in plan.groups if typed_label(group) in released)


_AnyCell = TypeVar("_AnyCell", Cell, SketchedCell)


def _in_order(
    cells: Mapping[tuple[Silo, Group], _AnyCell], groups: Sequence[Group], silos: Sequence[Silo]
) -> tuple[IntArray, IntArray, list[_AnyCell]]:
    """The positions of each cell's group and silo, and the cells, in their order."""
    group_at = {group: i for i, group in enumerate(groups)}
    silo_at = {silo: i for i, silo in enumerate(silos)}
    ordered = sorted(
        ((group_at[group], silo_at[silo], cell) for (silo, group), cell in cells.items()),
        key=lambda entry: entry[:2],
    )
    group_of, silo_of, kept = zip(*ordered, strict=True)
    return np.array(group_of), np.array(silo_of), list(kept)


def _above(cells: Sequence[Cell]) -> dict[float, FloatArray]:
    """By threshold, what each cell counted at or above it; NaN where it did not."""
    thresholds = sorted({threshold for cell in cells for threshold in cell.above})
    return {t: np.array([cell.above.get(t, np.nan) for cell in cells]) for t in thresholds}


def _checked_groups(
    groups: Sequence[Group], cells: Mapping[tuple[Silo, Group], Cell]
) -> tuple[Group, ...]:
    if len(set(groups)) != len(groups):
        raise FederationError(
            f"a group is listed twice among {listed(groups)}.", fix="list each group once."
        )
    for silo, group in cells:
        if group not in groups:
            raise FederationError(
                f"silo {silo!r} sent group {group!r}, which is not among {listed(groups)}.",
                fix="add the group to the list, or map the silo's label to one of it.",
            )
    return tuple(groups)


_Options = ParamSpec("_Options")


def takes_federation(
    function: Callable[Concatenate[Federation, _Options], _Found],
) -> Callable[Concatenate[Federation, _Options], _Found]:
    """Let a public function say what it takes when it gets a table, a message or a result."""

    @wraps(function)
    def checked(
        federation: Federation, *args: _Options.args, **options: _Options.kwargs
    ) -> _Found:
        if not isinstance(federation, Federation):
            raise FederationError(
                f"{function.__name__} takes a Federation, and got an object of type "
                f"{type(federation).__name__}.",
                fix="build one with Federation.from_scores(scores, groups=…, silos=…), or take that of "
                "a result, result.sketches().",
            )
        return function(federation, *args, **options)

    return checked  # type: ignore[return-value]  # it may be given by its name, too
