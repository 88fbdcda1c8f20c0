"""Hypothesis strategies for everything a caller can build: scores, laws, cells, federations.

Unless said otherwise the magnitudes are everyday ones (at most a thousand, with steps of a
billionth), so that a squared difference is far from the ends of a float; ``scaled_scores`` and
``magnitudes`` go to those ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.tiers import examples

from fedparity import Cell, Federation, Law, Method, Weights

half = examples(50)
"""For examples that take long to draw: several laws, or a whole federation."""

# -- scores ------------------------------------------------------------------------------------

ticks = st.sampled_from([-1.0, -0.0, 0.0, 0.25, 0.5, 1.0, 1.0, 3.0])
"""A few values only: ties are the rule, and zero comes with both signs."""

deciles = st.integers(0, 10).map(lambda tenth: tenth / 10)
"""Values with no exact binary form, tied often."""

decimals = st.integers(-(10**12), 10**12).map(lambda billionths: billionths / 10**9)
"""Values between -1000 and 1000, rarely tied, down to a billionth apart."""

quarters = st.integers(-40, 40).map(lambda number: number / 4)
"""Values that a power of two multiplies, and an integer shifts, without rounding."""

palettes = st.sampled_from([ticks, deciles, decimals])
"""Where the values of one example come from."""

magnitudes = st.sampled_from([1e-200, 1e-145, 1e-140, 1e-20, 1.0, 1e20, 1e130])
"""Factors down to which, and below which, a float can hold a square; beyond 1e140 all refuse."""

orders = st.sampled_from([1, 2])
"""The p of a distance."""

levels = st.integers(1, 9)
"""A small number k of levels."""

few_levels = st.integers(1, 5)
"""The k of a cell among many."""


def scores(min_size: int = 1, max_size: int = 12) -> st.SearchStrategy[list[float]]:
    """Lists of scores with ties, negative zeros, few distinct values, or nearly none equal."""
    return st.one_of(
        *(
            st.lists(values, min_size=min_size, max_size=max_size)
            for values in (ticks, deciles, decimals, st.one_of(ticks, decimals))
        )
    )


@st.composite
def scaled_scores(draw: st.DrawFn, max_size: int = 6) -> list[float]:
    """Draw scores multiplied by one of ``magnitudes``."""
    factor = draw(magnitudes)
    return [factor * score for score in draw(scores(max_size=max_size))]


# -- laws and weights --------------------------------------------------------------------------

whole_masses = st.integers(1, 20)
"""Counts of records."""

real_masses = st.one_of(
    st.sampled_from([0.1, 0.2, 0.3, 1 / 3]), st.integers(1, 10**6).map(lambda mass: mass / 10**6)
)
"""Masses whose sums round."""


@st.composite
def weighted_scores(
    draw: st.DrawFn,
    masses: st.SearchStrategy[Any] = whole_masses,
    max_size: int = 12,
) -> tuple[list[float], list[Any]]:
    """Draw scores and one positive mass for each."""
    values = draw(scores(max_size=max_size))
    return values, draw(st.lists(masses, min_size=len(values), max_size=len(values)))


def counted_laws(max_size: int = 12) -> st.SearchStrategy[Law]:
    """Laws whose masses are whole numbers: records, tied or not, or one atom."""
    return st.one_of(
        scores(max_size=max_size).map(Law.from_scores),
        weighted_scores(max_size=max_size).map(lambda pair: Law(*pair)),
        st.one_of(ticks, decimals).map(lambda atom: Law([atom], [1])),
    )


def laws(max_size: int = 12) -> st.SearchStrategy[Law]:
    """Laws of any kind: those of ``counted_laws``, and laws with real masses."""
    return st.one_of(
        counted_laws(max_size),
        weighted_scores(real_masses, max_size=max_size).map(lambda pair: Law(*pair)),
    )


@st.composite
def labels(draw: st.DrawFn, min_size: int = 2, max_size: int = 4) -> list[Any]:
    """Draw distinct labels: names, numbers, or tuples for intersections."""
    names = draw(
        st.sampled_from(
            [
                ["a", "b", "c", "d"],
                [3, 1, 10, 2],
                [("f", "old"), ("m", "old"), ("f", "young"), ("m", "young")],
                ["a", 1, ("a", 1), "1"],
            ]
        )
    )
    return draw(st.permutations(names))[: draw(st.integers(min_size, max_size))]


@st.composite
def weights(draw: st.DrawFn, groups: Sequence[Any]) -> Weights:
    """Draw positive shares of ``groups``, from counts or from real numbers."""
    masses = draw(st.sampled_from([whole_masses, real_masses]))
    return Weights({group: draw(masses) for group in groups})


@st.composite
def weighted_laws(
    draw: st.DrawFn,
    each: st.SearchStrategy[Law] | None = None,
    min_groups: int = 2,
    max_groups: int = 4,
) -> tuple[dict[Any, Law], Weights]:
    """Draw two to four labeled laws and their shares."""
    groups = draw(labels(min_groups, max_groups))
    each = laws(max_size=8) if each is None else each
    return {group: draw(each) for group in groups}, draw(weights(groups))


@st.composite
def samples_by_group(
    draw: st.DrawFn, masses: st.SearchStrategy[Any] = whole_masses, max_size: int = 8
) -> tuple[dict[Any, tuple[list[float], list[Any]]], dict[Any, Any]]:
    """Draw, for two to four groups, weighted scores and a share: the raw side of a law."""
    groups = draw(labels())
    samples = {group: draw(weighted_scores(masses, max_size)) for group in groups}
    return samples, {group: draw(whole_masses) for group in groups}


# -- cells and federations ---------------------------------------------------------------------

kinds = st.sampled_from(["quantile", "mean"])


@st.composite
def cells(
    draw: st.DrawFn,
    values: st.SearchStrategy[float] = decimals,
    sizes: st.SearchStrategy[int] = levels,
    counts: st.SearchStrategy[Any] = whole_masses,
    kind: str = "quantile",
) -> Cell:
    """Draw what a silo may release for a group: a count and k values that do not decrease."""
    size = draw(sizes)
    drawn = draw(st.lists(values, min_size=size, max_size=size))
    return atoms(count=draw(counts), values=sorted(drawn), kind=kind)


@st.composite
def membership(draw: st.DrawFn, silos: Sequence[Any], groups: Sequence[Any]) -> list[Any]:
    """Draw which silo holds which group: every silo holds one at least, and so does every group."""
    everywhere = [(silo, group) for silo in silos for group in groups]
    if draw(st.booleans()):
        return everywhere
    held = draw(st.lists(st.sampled_from(everywhere), unique=True))
    return [
        (silo, group)
        for i, silo in enumerate(silos)
        for j, group in enumerate(groups)
        if (silo, group) in held or i % len(groups) == j or (i == 0 and j >= len(silos))
    ]


@st.composite
def federations(
    draw: st.DrawFn,
    *,
    max_silos: int = 5,
    max_groups: int = 4,
    sizes: st.SearchStrategy[int] = few_levels,
    counts: st.SearchStrategy[Any] = whole_masses,
    values: st.SearchStrategy[float] | None = None,
) -> Federation:
    """Draw one to five silos and two to four groups, some silos lacking a group.

    The cells have the same or different numbers of levels, and often share values.
    """
    groups = draw(labels(max_size=max_groups))
    silos = ["north", "east", "south", "west", "x"][: draw(st.integers(1, max_silos))]
    held = draw(membership(silos, groups))
    ks = several(draw, sizes, len(held))
    if draw(st.booleans()):
        ks = [max(ks)] * len(ks)
    masses = several(draw, counts, len(held))
    flat = iter(several(draw, draw(palettes) if values is None else values, sum(ks)))
    kind = draw(kinds)
    return Federation.from_cells(
        {
            key: atoms(count=mass, values=sorted(islice(flat, k)), kind=kind)
            for key, mass, k in zip(held, masses, ks, strict=True)
        }
    )


def atoms(**fields: Any) -> Cell:
    """Return a cell that holds nothing but its values: bin means without anything around them."""
    return Cell(**fields, mean_square=0.0 if fields["kind"] == "mean" else None)


def several(draw: st.DrawFn, each: st.SearchStrategy[Any], number: int) -> list[Any]:
    """Draw exactly ``number`` of them."""
    return draw(st.lists(each, min_size=number, max_size=number))


@st.composite
def tables(draw: st.DrawFn, max_size: int = 24) -> tuple[list[float], list[str], list[int]]:
    """Draw the records of a whole federation: one score, group and silo each."""
    values = draw(palettes)
    extra = draw(
        st.lists(st.tuples(values, st.sampled_from("abc"), st.integers(1, 4)), max_size=max_size)
    )
    first = [(draw(values), group, draw(st.integers(1, 4))) for group in "ab"]
    columns = [list(column) for column in zip(*first, *extra, strict=True)]
    return columns[0], columns[1], columns[2]


@st.composite
def methods(draw: st.DrawFn, **fixed: Any) -> Method:
    """Draw an order, an estimator, a number of levels and a trim, but for those ``fixed``."""
    options = {
        "order": draw(orders),
        "estimator": draw(st.sampled_from(["grid", "exact"])),
        "levels": draw(st.one_of(st.none(), st.integers(1, 12))),
        "trim": draw(st.sampled_from([0.0, 0.0, 0.05, 0.1, 0.25, 0.3])),
    }
    return Method(**(options | fixed))


# -- measures of an example --------------------------------------------------------------------


def reach(*arrays: object) -> float:
    """Return the largest absolute value in ``arrays``: the scale at which their sums round."""
    return max(float(np.abs(np.asarray(array, dtype=np.float64)).max()) for array in arrays)


def off_by(federation: Federation, error: float) -> Federation:
    """The same federation, if each of its values may be off by ``error``."""
    return replace(federation, value_errors=np.full(federation.values.size, error))
