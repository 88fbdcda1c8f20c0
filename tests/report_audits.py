"""Audits of every shape that a report must show: sizes, verdicts, names, what is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from tests.audit_strategies import make_cell, make_message, make_plan

from fedparity import audit
from fedparity.documents.fields import FrozenMapping
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.result import AuditResult
from fedparity.privacy.disclosure import Disclosure

LONG = "St. " + "Mary's and the Holy Redeemer " * 7
NAMES = (
    '"><script>alert(1)</script>',
    "</script><img src=x onerror=alert(2)>",
    "O'Brien & Söhne <b>",
    LONG[:200],
    "x" * 200,
    "بيت لحم 12",
    "two lines",
    "$_{\\frac{1}{2}}$ `code` | pipe",
    "__proto__",
)
"""Names of silos that an author of pages fears."""
GROUPS = ("<i>A</i>", "*/~1 of 'B' & \"C\"")


def synthetic(
    silos: int = 5,
    *,
    groups: tuple[Any, ...] = ("A", "B"),
    names: tuple[str, ...] = (),
    records: int = 120,
    gap: float = 1.5,
    seed: int = 1,
    redraws: int = 60,
    missing: tuple[str, ...] = (),
    small: bool = False,
    aside: tuple[Any, ...] = (),
    steps: int = 0,
    **options: Any,
) -> AuditResult:
    """An audit of silos in which later groups score higher and are in later silos.

    ``small`` makes one cell in five too small to be released; no silo releases the groups of
    ``aside``; scores are rounded to so many ``steps``, or not at all.
    """
    random = np.random.default_rng(seed)
    listed = names or tuple(f"silo {index + 1:04}" for index in range(silos))
    roster = {"silos": [*listed, *missing]} if missing else {}
    plan = make_plan(
        groups=(*groups, *aside), **({"levels": 20, "review_level": 0.001} | roster | options)
    )
    messages = []
    for place, name in enumerate(listed):
        cells = []
        for rank, group in enumerate(groups):
            lean = (place / max(1, len(listed) - 1) - 0.5) * (2 * rank / (len(groups) - 1) - 1)
            count = max(15, int(records * (1 + lean) * random.uniform(0.7, 1.4)))
            if small and (place + rank) % 5 == 0 and place:
                count = 4
            shift = gap * rank / (len(groups) - 1) + 1.2 * place / len(listed)
            scores = random.beta(2 + shift, 4, count)
            cells.append(
                make_cell(plan, group, np.round(scores * steps) / steps if steps else scores)
            )
        cells += [SketchedCell.kept_back(group, "small") for group in aside]
        messages.append(make_message(plan, name, cells))
    return audit(plan, messages, redraws=redraws)


RULES = Disclosure(minimum_cell=11, records_per_level=2, rounding=0.001)


@cache
def plain() -> AuditResult:
    """The audit that most others vary."""
    return synthetic()


AUDITS: dict[str, Callable[[], AuditResult]] = {
    "above": plain,
    "below": lambda: synthetic(review_level=0.5),
    "inconclusive": lambda: synthetic(review_level=0.15),
    "none": lambda: synthetic(review_level=None),
    "one-silo": lambda: synthetic(1),
    "order-1": lambda: synthetic(order=1, review_level=0.02),
    "ten-groups": lambda: synthetic(6, groups=tuple(f"group {i}" for i in range(10))),
    "names": lambda: synthetic(names=NAMES, groups=GROUPS),
    "intersections": lambda: synthetic(
        groups=(("F", "over 60"), ("M", "over 60"), ("F", "young"))
    ),
    "missing": lambda: synthetic(
        8,
        groups=("B", "A"),
        missing=("Ivy Lane", "Jade <Hill>"),
        small=True,
        disclosure=RULES,
        records=60,
    ),
    "quantiles": lambda: synthetic(sketch="quantile", estimator="grid", disclosure=RULES),
    "squared": lambda: synthetic(review_level=0.005, review_unit="squared", thresholds=(0.3, 0.6)),
    "grid": lambda: synthetic(
        score_step=0.1,
        steps=10,
        thresholds=(0.5,),
        favorable="below",
        aside=("rare <b>",),
        missing=("Ivy Lane",),
        review_level=0.05,
        review_unit="share",
        disclosure=Disclosure(),
    ).with_rates(tails=(0.5, 0.9)),
    "parity": lambda: synthetic(gap=0.0, seed=3),
    "dp": lambda: with_guarantee(plain(), mode="dp", epsilon=1.0, bins=256, unit="record"),
    "secure": lambda: seen_only_as_a_sum(plain()),
    "unknown-terms": lambda: with_guarantee(
        plain(), mode="secure+dp", epsilon=0.5, future="<b>", flag=True, unset=None
    ),
}
"""How one audit of each kind is made."""


@cache
def named_audit(name: str) -> AuditResult:
    """The audit of a name, made once for all tests."""
    return AUDITS[name]()


def with_guarantee(result: AuditResult, **terms: Any) -> AuditResult:
    """The same result under other promises, as later versions may state them."""
    return replace(result, guarantee=FrozenMapping(terms))


def seen_only_as_a_sum(result: AuditResult) -> AuditResult:
    """The same result as a secure sum gives it: nothing of a single silo is known."""
    document = result.to_dict()
    unknown = "disparity", "heterogeneity", "wasserstein", "mean_gap", "interval"
    for silo in document["silos"]:
        of_each = dict.fromkeys(silo["n"])
        silo.update(dict.fromkeys(unknown), n=of_each, quantiles=of_each)
        silo.update(levels=dict.fromkeys(silo["n"], 0), note="not seen: secure sum")
    nothing = {"v_mix": None, "v_bar": None, "remainder": None}
    document["decomposition"] = {**nothing, "lower": None, "upper": None}
    parts = {"selection": None, "within": None}
    influences = [{"silo": silo, "influence": None} for silo in document["silos_received"]]
    document["attribution"] = {
        **parts, "intervals": parts, "silos": influences, "stand_ins": []
    }  # fmt: skip
    document["guarantee"] = {"mode": "secure", "threshold": 3}
    document["plan"]["sketch"] = "histogram"
    return AuditResult.from_dict(document)
