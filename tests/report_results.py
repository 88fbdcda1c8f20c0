"""Results to report on: measured ones, and ones whose numbers were changed afterwards."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.audit_strategies import make_cell, make_message, make_messages, make_plan, make_table

from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import Compared, Verdict, Verdicts, verdict
from fedparity.documents.tabular import Parts
from fedparity.engines.in_process import audit
from fedparity.laws.bounds import Bounds

REDRAWS = 20


def measured(plan: Any, messages: Any) -> AuditResult:
    """The result of a quick audit."""
    return audit(plan, messages, redraws=REDRAWS)


@cache
def plain_result(**options: Any) -> AuditResult:
    """Three silos, two groups; options go to the plan."""
    plan = make_plan(**({"review_level": 0.01, "levels": 20} | options))
    return measured(plan, make_messages(plan, *make_table(4)))


@cache
def incomplete_result(order: int = 2) -> AuditResult:
    """One silo sent nothing, one withheld a cell and dropped rows."""
    plan = make_plan(
        review_level=0.01,
        levels=20,
        order=order,
        disclosure={},
        silos=["s0", "s1", "s2", "tiny", "absent"],
        totals={"absent": 50},
    )
    cells = [make_cell(plan, "A", np.linspace(0, 1, 50)), SketchedCell.kept_back("B", "small")]
    tiny = make_message(plan, "tiny", cells, rows_dropped=3)
    return measured(plan, [*make_messages(plan, *make_table(4)), tiny])


@cache
def result_of_silos(count: int, *, groups: int = 2, name: str = "silo") -> AuditResult:
    """Many silos of a few records, or many groups."""
    labels = tuple("ABCDEFGHIJKL"[:groups])
    plan = make_plan(groups=labels, levels=4, review_level=0.01, silos=None)
    random = np.random.default_rng(count)
    messages = [
        make_message(
            plan,
            f"{name} {silo:04d}",
            [make_cell(plan, g, random.beta(2 + i, 4, 30)) for i, g in enumerate(labels)],
        )
        for silo in range(count)
    ]
    return measured(plan, messages)


@cache
def weighted_result() -> AuditResult:
    """Counts that are weights, one of them whole."""
    plan = make_plan(levels=2, review_level=0.01, sketch="quantile", estimator="grid")
    cells = [
        SketchedCell(group=group, count=count, values=[low, low + 0.3], effective=300)
        for group, count, low in (("A", 400.5, 0.1), ("B", 599.5, 0.2))
    ]
    weights = {**plan.guarantee, "weighted": True}
    return measured(plan, [make_message(plan, "x", cells, guarantee=weights)])


@cache
def noisy_result() -> AuditResult:
    """Noisy histograms of each silo."""
    result = changed(plain_result(), "plan", sketch="histogram", levels=32)
    terms = {"mode": "dp", "epsilon": 1.0, "bins": 32, "minimum_cell": 11, "rounding": 0}
    return dataclasses.replace(
        result, guarantee={**terms, "seen": "noisy histograms", "limits": "m silos, m epsilon"}
    )


@cache
def summed_result(*, order: int = 2) -> AuditResult:
    """A secure sum: silos are named, and nothing is known of any of them."""
    result = plain_result(order=order)
    nothing = dict.fromkeys(each.group for each in result.groups)
    unknown = {"disparity": None, "heterogeneity": None, "wasserstein": None, "mean_gap": None}
    silos = Parts(
        dataclasses.replace(
            silo,
            **unknown,
            n=nothing,
            interval=None,
            note="not seen: secure sum",
            levels=dict.fromkeys(nothing, 0),
            quantiles=nothing,
        )
        for silo in result.silos
    )
    influence = Parts(dataclasses.replace(s, influence=None) for s in result.attribution.silos)
    intervals = dataclasses.replace(result.attribution.intervals, selection=None, within=None)
    parts = {"silos": influence, "intervals": intervals, "selection": None, "within": None}
    result = changed(result, "attribution", **parts)
    terms = dict.fromkeys(("v_mix", "v_bar", "remainder", "lower", "upper"))
    result = changed(result, "decomposition", **terms)
    warnings = (
        AuditWarning(code="silos_dropped_out", text="1 of 4 silos dropped out: 'late'."),
        AuditWarning(
            code="rows_dropped",
            text="7 rows without a score were dropped: the ranges do not allow for them.",
        ),
    )
    return dataclasses.replace(
        result,
        silos=silos,
        silos_missing=("late",),
        guarantee={"mode": "secure", "bins": 64, "rounding": 0, "seen": "sums over 3 silos"},
        warnings=warnings,
    )


def changed(result: AuditResult, part: str, **values: Any) -> AuditResult:
    """The result with other values in one of its parts."""
    held = dataclasses.replace(getattr(result, part), **values)
    return dataclasses.replace(result, **{part: held})


def judged(result: AuditResult, answered: Verdict, everyone: Verdict | None = None) -> AuditResult:
    """The result with other verdicts; for all the same as among those who answered, if not given."""
    verdicts = Verdicts(answered=answered, all=everyone or answered)
    return changed(result, "disparity", verdict=verdicts)


def with_worst(result: AuditResult, **values: Any) -> AuditResult:
    """The result with other values of the worst pair."""
    worst = dataclasses.replace(result.magnitudes.worst_pair, **values)
    return changed(result, "magnitudes", worst_pair=worst)


def with_gap(result: AuditResult, share: float, higher: Any) -> AuditResult:
    """The result with means of the worst pair whose gap is this share of their distance."""
    worst = result.magnitudes.worst_pair
    distance = worst.value
    sign = 0 if higher is None else 1 if higher == worst.groups[0] else -1
    gap = sign * distance * share ** (1 / result.plan.order)
    pairs = tuple(
        dataclasses.replace(pair, wasserstein=distance, mean_gap=gap)
        if pair.groups == worst.groups
        else pair
        for pair in result.pairs
    )
    means = dict(zip(worst.groups, (0.5 + gap / 2, 0.5 - gap / 2), strict=True))
    groups = tuple(
        dataclasses.replace(each, mean=means.get(each.group, each.mean)) for each in result.groups
    )
    return dataclasses.replace(result, pairs=pairs, groups=groups)


@cache
def aside_result() -> AuditResult:
    """Scores on a grid with rates at a threshold; one group is set aside, one silo is missing."""
    plan = make_plan(
        groups=("A", "B", "rare"),
        score_range=(1.0, 10.0),
        score_step=1,
        thresholds=(5,),
        favorable="below",
        review_level=0.5,
        disclosure={},
        silos=["s0", "s1", "gone"],
    )
    random = np.random.default_rng(6)
    messages = []
    for silo in ("s0", "s1"):
        draws = ((group, random.normal(4.2 + 1.6 * s, 2.2, 300)) for s, group in enumerate("AB"))
        cells = [make_cell(plan, g, np.clip(np.round(scores), 1, 10)) for g, scores in draws]
        messages.append(
            make_message(plan, silo, [*cells, SketchedCell.kept_back("rare", "small")])
        )
    return measured(plan, messages).with_rates(tails=(0.5,))


def with_parts(result: AuditResult, selection: Any, within: Any) -> AuditResult:
    """The result with other parts of the attribution: each a value and its interval."""
    intervals = dataclasses.replace(
        result.attribution.intervals,
        selection=Bounds(*selection[1]),
        within=Bounds(*within[1]),
    )
    return changed(
        result, "attribution", selection=selection[0], within=within[0], intervals=intervals
    )


def with_names(result: AuditResult, names: dict[str, str]) -> AuditResult:
    """The result with other names of silos, everywhere."""
    silos = tuple(dataclasses.replace(s, silo=names.get(s.silo, s.silo)) for s in result.silos)
    influence = tuple(
        dataclasses.replace(s, silo=names.get(s.silo, s.silo)) for s in result.attribution.silos
    )
    return dataclasses.replace(
        changed(result, "attribution", silos=influence),
        silos=silos,
        silos_received=tuple(names.get(silo, silo) for silo in result.silos_received),
    )


_LENGTHS = st.one_of(
    st.just(0.0), st.floats(1e-9, 1.0), st.sampled_from([0.01, 0.0100001, 0.00999999, 0.02])
)
_SIGNED = st.one_of(st.just(0.0), st.floats(-0.1, 1.0))


@st.composite
def _intervals(draw: st.DrawFn, values: st.SearchStrategy[float]) -> Bounds:
    return Bounds(*sorted((draw(values), draw(values))))


@st.composite
def _estimates(draw: st.DrawFn) -> dict[str, Any]:
    """The numbers of an estimate whose ranges nest as those of an audit do."""
    ends = sorted(draw(st.tuples(*[_LENGTHS] * 6)))
    value, corrected = draw(st.permutations(ends[2:4]))
    outer = draw(st.sampled_from([ends[1:5:3], [ends[0], ends[5]]]))
    return {
        "value": value,
        "corrected": corrected,
        "interval": Bounds(ends[1], ends[4]),
        "combined": Bounds(ends[0], ends[5]),
        "certificate": Bounds(ends[1], ends[4]),
        "outer": Bounds(*outer),
    }


@st.composite
def results(draw: st.DrawFn) -> AuditResult:
    """Draw a result whose numbers are anything that an audit could find."""
    result = draw(
        st.sampled_from(
            [
                plain_result(),
                plain_result(review_unit="squared"),
                plain_result(review_unit="share"),
                plain_result(review_unit="sd"),
                plain_result(order=1, sketch="quantile", estimator="grid"),
                plain_result(review_level=None),
                incomplete_result(),
                noisy_result(),
                incomplete_result(order=1),
                aside_result(),
                result_of_silos(1),
                result_of_silos(4, groups=10),
            ]
        )
    )
    worst = result.magnitudes.worst_pair
    pair = draw(_estimates())
    low, high = result.plan.score_range
    higher = draw(st.sampled_from([*worst.groups, None]))
    result = with_worst(
        result, **pair, share_of_range=pair["corrected"] / (high - low), higher=higher
    )
    result = with_gap(result, draw(st.floats(0.01, 1)), higher)
    found = draw(_estimates())
    compared = _compared(result, found, draw(st.sampled_from([0.0, 0.5])))
    level = result.disparity.review_level
    result = changed(
        result,
        "disparity",
        **found,
        compared=compared,
        p_value=draw(st.integers(1, 21)) / 21,
        verdict=Verdicts(
            answered=verdict(compared.answered, level), all=verdict(compared.all, level)
        ),
    )
    silos = tuple(
        silo
        if silo.disparity is None
        else dataclasses.replace(
            silo,
            disparity=draw(_LENGTHS),
            wasserstein=draw(_LENGTHS),
            interval=draw(st.none() | _intervals(_LENGTHS)),
        )
        for silo in result.silos
    )
    parts = [(draw(_SIGNED), draw(_intervals(_SIGNED))) for _ in range(2)]
    return with_parts(dataclasses.replace(result, silos=silos), *parts)


def _compared(result: AuditResult, disparity: dict[str, Any], wider: float) -> Compared:
    """What the review level speaks of, as the numbers of the estimates have it."""
    worst, (low, high) = result.magnitudes.worst_pair, result.plan.score_range
    unit = {"share": high - low, "sd": 0.7}.get(result.disparity.review_unit, 1.0)
    value, ends = worst.corrected, worst.combined
    if result.disparity.review_unit == "squared":
        value, ends = disparity["corrected"], disparity["combined"]
    answered = Bounds(ends.lower / unit, ends.upper / unit)
    everyone = Bounds(max(0.0, answered.lower - wider), answered.upper + wider)
    return Compared(value=value / unit, answered=answered, all=everyone)
