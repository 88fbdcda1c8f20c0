"""Hypothesis strategies for plans, messages and documents."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests import strategies  # noqa: F401 -- loads the settings that all property tests share

from fedparity import Plan, SiloSketch
from fedparity.documents import HistogramCell, SketchedCell
from fedparity.documents.fields import height_of, is_name, is_weak
from fedparity.privacy.count_merging import counts_above, merge_counts
from fedparity.privacy.disclosure import (
    allowed_levels,
    round_mean_square,
    round_values,
    smallest_cell,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
"""Any finite float, down to the subnormal ones."""

names = st.text(
    st.characters(exclude_categories=("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")),
    min_size=1,
    max_size=12,
).filter(is_name)
"""Names of silos and groups, in any script."""

integers = st.integers(-(2**53) + 1, 2**53 - 1)

documents = st.recursive(
    st.none() | st.booleans() | integers | finite | st.text(max_size=8).filter(str.isprintable),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
"""Anything that JSON can hold."""

labels = st.one_of(names, integers, st.booleans())


def text_of(label: Any) -> Any:
    """The text a label is compared by, written anew."""
    if isinstance(label, tuple):
        return tuple(text_of(part) for part in label)
    return {True: "true", False: "false"}[label] if isinstance(label, bool) else str(label)


groups = st.one_of(
    st.lists(labels, min_size=2, max_size=5, unique_by=text_of),
    st.lists(st.tuples(labels, labels), min_size=2, max_size=4, unique_by=text_of),
)
"""The groups of a plan: plain labels, or intersections of two columns."""

score_ranges = (
    st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.sampled_from([1, 1, 1e13, 1e130]))
    .map(lambda drawn: (min(drawn[:2]) * drawn[2], max(drawn[:2]) * drawn[2]))
    .filter(lambda ends: ends[0] < ends[1])
)

stepped_ranges = st.sampled_from(
    [((1.0, 10.0), 1.0), ((0.0, 1.0), 0.1), ((0.0, 1.0), 0.01), ((-2.0, 2.0), 0.5), ((0, 3), 3)]
)
"""Ranges that a step divides."""


def keys_of(owners: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, str]]:
    """Public keys of at most two of these silos: none that is weak, and not one for both."""
    strong = st.binary(min_size=32, max_size=32).filter(lambda data: not is_weak(data))
    apart = st.lists(strong, max_size=2, unique_by=height_of)
    return st.tuples(st.lists(owners, max_size=2, unique=True), apart).map(
        lambda drawn: {silo: b64encode(key).decode() for silo, key in zip(*drawn, strict=False)}
    )


def privacy_tables(silos: list[str] | None) -> st.SearchStrategy[dict[str, Any] | None]:
    """The privacy terms that a plan with this roster may have."""
    noise = {"epsilon": st.floats(0.01, 10)}
    grids = {
        "bins": st.integers(4, 300),  # three thresholds need four
        "records": st.integers(1, 10**9),
        "budget": st.floats(10, 20),
    }
    tables = st.none() | st.fixed_dictionaries({"mode": st.just("dp"), **noise}, optional=grids)
    if silos is None or len(silos) < 3:
        return tables
    summed = st.fixed_dictionaries(
        {"mode": st.just("secure+dp"), **noise},
        optional={**grids, "dose": st.sampled_from(["full", "split"])},
    )
    secure = st.fixed_dictionaries(
        {"mode": st.just("secure")}, optional={"threshold": st.just(len(silos))}
    )
    return tables | summed | secure


@st.composite
def plans(draw: st.DrawFn, *, sketched: bool = False) -> Plan:
    """Draw a plan with any of its keys; if ``sketched``, one that silos answer with a sketch."""
    silos = draw(st.none() | st.lists(names, min_size=1, max_size=4, unique=True))
    owners = names if silos is None else st.sampled_from(silos)
    (low, high), step = draw(stepped_ranges | st.tuples(score_ranges, st.none()))
    terms = draw(privacy_tables(None if sketched else silos))
    summed = terms is not None and terms["mode"] != "dp"
    order = 2 if summed else draw(st.sampled_from([1, 2]))
    if high - low <= 1e-6 * max(abs(low), abs(high)):  # too narrow for bins
        terms = None
    if terms is not None and step is not None:
        terms.pop("bins", None)  # there may be fewer scores
    kinds = ["quantile", "mean", None] if step is None else ["quantile", "mean", "counts", None]
    sketch = draw(st.sampled_from(kinds))
    moved = sketch == "mean" or step is None
    rounding = {"rounding": st.sampled_from([0, 0.001, 0.1])} if moved else {}
    inner = st.floats(low, high, exclude_min=True)
    return Plan(
        title=draw(names),
        groups=draw(groups),
        score_range=(low, high),
        score_step=step,
        levels=draw(st.integers(1, 20)),
        sketch=sketch,
        estimator=draw(st.sampled_from(["grid", "exact"])),
        thresholds=sorted(draw(st.lists(inner, max_size=3, unique=True))),
        favorable=draw(st.sampled_from(["above", "below"])),
        order=order,
        review_level=draw(st.none() | st.floats(1e-9, 10)),
        review_unit=draw(st.sampled_from(["points", "share", "sd", "squared"])),
        trim=draw(st.sampled_from([0, 0.01, 0.25])),
        silos=silos,
        disclosure=draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "minimum_cell": st.integers(1, 50),
                    "records_per_level": st.integers(0, 20),
                    **rounding,
                },
            )
        ),
        privacy=terms,
        keys=draw(keys_of(owners)),
        totals=draw(st.dictionaries(owners, st.integers(1, 10**9), max_size=2)),
    )


@st.composite
def histogram_cells(draw: st.DrawFn, plan: Plan, group: Any) -> HistogramCell:
    """Draw a noisy cell that fits the plan: with values of any sign, or withheld."""
    bins = plan.grid.bins
    values = draw(st.lists(st.integers(-50, 1000), min_size=bins, max_size=bins))
    few = sum(values) < plan.disclosure.minimum_cell > 1
    return HistogramCell.kept_back(group) if few else HistogramCell(group=group, values=values)


@st.composite
def cells(
    draw: st.DrawFn, plan: Plan, group: Any, *, unit: float | None = None
) -> SketchedCell | HistogramCell:
    """Draw a cell that fits the plan: with values, withheld, or empty where that may be said.

    ``unit`` is the weight of a record; None without weights.
    """
    if plan.privacy is not None:
        return draw(histogram_cells(plan, group))
    least = smallest_cell(plan.disclosure, kind=plan.sketch)
    shape = draw(st.sampled_from(["values", "values", "values", "missing"]))
    if shape == "missing":
        hidden = "small" if unit is None else "complementary"
        return SketchedCell.kept_back(group, hidden) if least > 1 else SketchedCell.empty(group)
    draws = counted_cells if plan.sketch == "counts" else told_cells
    return draw(draws(plan, group, unit))


@st.composite
def told_cells(draw: st.DrawFn, plan: Plan, group: Any, unit: float | None) -> SketchedCell:
    """Draw quantiles or means that the rules let out, with the counts at thresholds they allow."""
    size = len(plan.thresholds) + 1
    between = draw(st.lists(st.integers(0, 10**6), min_size=size, max_size=size))
    between[0] += smallest_cell(plan.disclosure, kind=plan.sketch)
    levels = allowed_levels(sum(between), plan.levels, plan.disclosure, kind=plan.sketch)
    on_grid = plan.score_step is not None and plan.sketch == "quantile"
    scores = st.sampled_from(plan.score_points) if on_grid else st.floats(*plan.score_range)
    drawn = np.array(sorted(draw(st.lists(scores, min_size=1, max_size=levels))))
    values = round_values(drawn, plan.score_range, plan.rounding)
    weights = None if unit is None else unit * np.array(between)
    effective = None if unit is None else sum(between)
    rank_error = draw(st.sampled_from([0, 0.01]))
    mean_square = None
    if plan.sketch == "mean" and not rank_error:
        gaps = np.diff(values, prepend=plan.score_range[0], append=plan.score_range[1])
        share = draw(st.floats(0, 1))
        mean_square = round_mean_square(
            share * min(np.mean(gaps[:-1] * gaps[1:]), gaps.sum() ** 2 / 4),
            values=values,
            count=sum(between),
            score_range=plan.score_range,
            rounding=plan.rounding,
        )
    return SketchedCell(
        group=group,
        count=sum(between) if weights is None else weights.sum(),
        values=values,
        effective=effective,
        mean_square=mean_square,
        above=counts_above(between, plan.disclosure, weights=weights, effective=effective),
        rank_error=rank_error,
    )


@st.composite
def counted_cells(draw: st.DrawFn, plan: Plan, group: Any, unit: float | None) -> SketchedCell:
    """Draw counts at the points of the score, merged as the rules ask."""
    points = plan.score_points
    few = st.integers(0, 30) | st.just(0)
    records = np.array(draw(st.lists(few, min_size=points.size, max_size=points.size)))
    records[0] += plan.disclosure.minimum_cell
    weights = None if unit is None else unit * records
    effective = None if unit is None else int(records.sum())
    merged = merge_counts(
        points,
        records,
        plan.disclosure,
        thresholds=plan.thresholds,
        weights=weights,
        effective=effective,
    )
    return SketchedCell(
        group=group,
        count=records.sum() if weights is None else weights.sum(),
        values=merged.values,
        effective=effective,
        counts=merged.counts,
        above=merged.above,
    )


@st.composite
def messages(draw: st.DrawFn, plan: Plan) -> SiloSketch:
    """Draw a message that answers the plan; unsigned."""
    unit = None if plan.privacy is not None else draw(st.sampled_from([None, 0.5, 1.7]))
    silo = draw(names if plan.silos is None else st.sampled_from(plan.silos))
    sent = [draw(cells(plan, group, unit=unit)) for group in plan.groups]
    withheld = sum(each.withheld is not None for each in sent)
    if plan.privacy is None and silo in plan.totals and withheld == 1:
        sent = [SketchedCell.kept_back(group, "complementary") for group in plan.groups]
    return SiloSketch(
        plan=plan.digest,
        silo=silo,
        kind=plan.message_kind,
        cells=sent,
        rows_dropped=0 if plan.privacy is not None else draw(st.integers(0, 1000)),
        guarantee=plan.guarantee if unit is None else {**plan.guarantee, "weighted": True},
        software="fedparity 0.1.0",
    )
