"""Results of every shape that a figure must show, made quickly and always the same."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from tests.audit_strategies import make_cell, make_message, make_plan

from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.result import AuditResult
from fedparity.engines.in_process import audit

HARD_NAME = "名前 <script>alert('$x_1$ & \"y\"')</script> " + "long " * 25


@cache
def make_result(
    *,
    silos: int = 5,
    groups: tuple[Any, ...] = ("A", "B"),
    scale: float = 1.0,
    steps: int = 0,
    names: str = "silo",
    lacking: str = "",
    missing: bool = False,
    **options: Any,
) -> AuditResult:
    """An audit of made-up silos.

    Parameters
    ----------
    scale : float
        Of the scores and their range.
    steps : int
        Into how many values scores are rounded; 0 for not at all.
    lacking : str
        What the last silo says of its last group: it is ``withheld``, or there is ``none``.
    missing : bool
        Whether the plan names a silo that sent nothing.
    """
    random = np.random.default_rng(7)
    roster = [f"{names} {j + 1:03d}" for j in range(silos)]
    settings = {
        "levels": 12,
        "review_level": 0.02 * scale**2,
        "review_unit": "squared",
        "score_range": (0.0, scale),
    }
    if lacking == "withheld":  # which the rules must allow
        settings["disclosure"] = {"minimum_cell": 2, "records_per_level": 0, "rounding": 0}
    plan = make_plan(
        groups=groups,
        silos=[*roster, "gone"] if missing else roster,
        **(settings | options),
    )
    messages = []
    for j, silo in enumerate(roster):
        cells = []
        for s, group in enumerate(groups):
            scores = random.beta(2 + s * 1.5 / len(groups) + (j % 4) / 2, 4, 20 + 9 * (j % 7))
            if steps:
                scores = np.ceil(scores * steps) / steps
            cells.append(make_cell(plan, group, scores * scale))
        if lacking and j == silos - 1:
            last = groups[-1]
            cells[-1] = (
                SketchedCell.kept_back(last, "small")
                if lacking == "withheld"
                else SketchedCell.empty(last)
            )
        messages.append(make_message(plan, silo, cells))
    return audit(plan, messages, redraws=20)


def make_equal() -> AuditResult:
    """All scores of all groups are the same."""
    plan = make_plan(levels=3, review_level=0.1, sketch="quantile", estimator="grid")
    cells = [SketchedCell(group=group, count=40, values=[0.4] * 3) for group in plan.groups]
    return audit(plan, [make_message(plan, "only", cells)], redraws=20)


def make_summed() -> AuditResult:
    """What a secure sum leaves of a result: the groups, and nothing of any silo."""
    document = make_result().to_dict()
    parts = document["decomposition"], document["attribution"]
    parts[1]["intervals"] = dict.fromkeys(parts[1]["intervals"])
    parts[0].update(dict.fromkeys(("v_mix", "v_bar", "remainder", "lower", "upper")))
    parts[1].update(selection=None, within=None)
    for silo, influence in zip(document["silos"], parts[1]["silos"], strict=True):
        influence["influence"] = None
        lost = ("disparity", "heterogeneity", "wasserstein", "mean_gap", "interval")
        silo.update(dict.fromkeys(lost), note="not seen: secure sum")
        silo.update({name: dict.fromkeys(silo[name]) for name in ("n", "quantiles")})
        silo["levels"] = dict.fromkeys(silo["levels"], 0)
    return AuditResult.from_dict(document)


SHAPES = {
    "five silos": make_result,
    "order 1": lambda: make_result(order=1),
    "ten groups": lambda: make_result(groups=tuple("ABCDEFGHIJ")),
    "thirty groups": lambda: make_result(groups=tuple(range(30)), silos=3),
    "intersections": lambda: make_result(groups=(("F", True), ("F", False), ("M", True))),
    "sixty silos": lambda: make_result(silos=60),
    "many silos": lambda: make_result(silos=75, lacking="withheld"),
    "one silo": lambda: make_result(silos=1),
    "withheld and missing": lambda: make_result(lacking="withheld", missing=True),
    "no record of a group": lambda: make_result(lacking="none"),
    "no review level": lambda: make_result(review_level=None),
    "quantiles": lambda: make_result(sketch="quantile", estimator="grid"),
    "points": lambda: make_result(review_level=0.05, review_unit="points"),
    "a grid": lambda: make_result(steps=10, score_step=0.1),
    "a fine grid": lambda: make_result(steps=500, score_step=0.002, groups=tuple("ABCDE")),
    "few values": lambda: make_result(steps=5),
    "equal scores": make_equal,
    "a secure sum": make_summed,
    "huge scores": lambda: make_result(scale=1e120),
    "huge scores, quantiles": lambda: make_result(
        scale=1e120, sketch="quantile", estimator="grid"
    ),
    "tiny scores": lambda: make_result(scale=1e-140),
    "hard names": lambda: make_result(names=HARD_NAME, groups=("$a_1$", "<b>&", "c" * 200)),
}
