"""Audits with axes and outcomes, made quickly and always the same."""

from functools import cache

import numpy as np

import fedparity as fp


def outcome_plan(**more):
    return fp.Plan(
        **{
            "title": "Risk by sex and region",
            "axes": {"sex": ("f", "m"), "region": ("east", "west", "n/a")},
            "unknown": ("n/a",),
            "set_aside": 0.02,
            "score_range": (0.0, 1.0),
            "score_step": 0.05,
            "thresholds": (0.5,),
            "favorable": "below",
            "outcome": {"positive": "yes", "negative": "no", "bins": (0.25, 0.5, 0.75)},
            **more,
        }
    )


@cache
def outcome_tables(silos=3, size=3000):
    """A table per silo."""
    random = np.random.default_rng(11)
    found = {}
    for silo in range(silos):
        sex = random.choice(["f", "m"], size)
        region = random.choice(["east", "west", "n/a"], size, p=[0.5, 0.4, 0.1])
        outcome = random.random(size) < 0.3 + 0.15 * (sex == "m")
        score = random.beta(2 + 2 * outcome, 3 - outcome + (region == "west"), size)
        found[f"silo {silo}"] = {
            "sex": sex,
            "region": region,
            "outcome": np.where(outcome, "yes", "no"),
            "score": np.round(score * 20) / 20,
        }
    return found


@cache
def outcome_result(*, tail=True):
    """The result of auditing them."""
    plan = outcome_plan()
    messages = [
        fp.sketch(table, plan=plan, silo=silo, score="score")
        for silo, table in outcome_tables().items()
    ]
    result = fp.audit(plan, messages, redraws=30)
    return result.with_rates(tails=[0.5]) if tail else result
